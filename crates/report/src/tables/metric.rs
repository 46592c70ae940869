//! The figures that tables show of every case, in one column or one table each.

use writebench_model::{Layout, Sample};
use writebench_stats::as_f64;

use crate::numbers::estimate::{Estimate, Figure};
use crate::numbers::rounds::total;
use crate::sentences::number::{GIGABYTES_PER_S, NUMBER, Quantity, SECONDS};

type FigureOf = fn(&Estimate) -> Option<&Figure>;

/// The figure that a table shows of every case, and how it compares.
#[derive(Clone, Copy)]
pub(super) struct Metric {
    pub title: &'static str,
    pub unit: &'static str,
    pub figure: FigureOf,
    pub text: &'static Quantity,
    /// The figure of one sample, up to a factor that is the same for all samples of a case.
    pub of_sample: fn(&Sample) -> f64,
}

/// The figures of [`Layout::CpuTime`].
pub(super) const TIMES: [Metric; 3] = [
    time("total elapsed time", |it| Some(&it.total_ns), total),
    time("user CPU time", |it| Some(&it.user_cpu_figure_ns), |it| as_f64(it.user_cpu_ns)),
    time("system CPU time", |it| Some(&it.system_cpu_figure_ns), |it| as_f64(it.system_cpu_ns)),
];

const fn time(title: &'static str, figure: FigureOf, of_sample: fn(&Sample) -> f64) -> Metric {
    Metric { title, unit: "s", figure, text: &SECONDS, of_sample }
}

/// The figures of a layout with targets side by side.
pub(super) fn shown(layout: Layout) -> Vec<Metric> {
    let speed = |sample: &Sample| as_f64(sample.bytes.max(1)) / total(sample);
    match layout {
        Layout::CpuTime => TIMES.to_vec(),
        Layout::Records => vec![Metric {
            title: "records per second, total",
            unit: "records/s",
            figure: |it| it.records_per_s.as_ref(),
            text: &NUMBER,
            of_sample: speed,
        }],
        Layout::Phases | Layout::Ranked | Layout::Matrix => vec![Metric {
            title: "total throughput",
            unit: "GB/s",
            figure: |it| Some(&it.throughput_bytes_per_s),
            text: &GIGABYTES_PER_S,
            of_sample: speed,
        }],
    }
}
