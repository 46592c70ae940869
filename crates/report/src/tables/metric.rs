use writebench_model::{Layout, Sample};
use writebench_stats::as_f64;

use crate::numbers::{CaseReport, Estimate, Figure, total};
use crate::sentences::{GIGABYTES_PER_S, MILLISECONDS, NUMBER, Quantity, mark, or_nothing, range};

type FigureOf = fn(&Estimate) -> Option<&Figure>;

#[derive(Clone, Copy)]
pub(crate) struct Metric {
    pub title: &'static str,
    pub unit: &'static str,
    pub figure: FigureOf,
    pub text: &'static Quantity,
    /// Up to a factor common to a case's samples.
    pub of_sample: fn(&Sample) -> f64,
}

pub(crate) const THROUGHPUT: Metric = Metric {
    title: "total throughput",
    unit: "GB/s",
    figure: |estimate| Some(&estimate.throughput_bytes_per_s),
    text: &GIGABYTES_PER_S,
    of_sample: speed,
};
pub(crate) const RECORDS: Metric = Metric {
    title: "records per second, total",
    unit: "records/s",
    figure: |estimate| estimate.records_per_s.as_ref(),
    text: &NUMBER,
    of_sample: speed,
};
pub(crate) const ELAPSED: Metric = TIMES[0];

/// Of [`Layout::CpuTime`].
pub(crate) const TIMES: [Metric; 3] = [
    time("total elapsed time", |estimate| Some(&estimate.total_ns), total),
    time("user CPU time", |estimate| Some(&estimate.user_cpu_figure_ns), |sample| as_f64(sample.user_cpu_ns)),
    time(
        "system CPU time",
        |estimate| Some(&estimate.system_cpu_figure_ns),
        |sample| as_f64(sample.system_cpu_ns),
    ),
];

const fn time(title: &'static str, figure: FigureOf, of_sample: fn(&Sample) -> f64) -> Metric {
    Metric { title, unit: "ms", figure, text: &MILLISECONDS, of_sample }
}

fn speed(sample: &Sample) -> f64 {
    as_f64(sample.bytes.max(1)) / total(sample)
}

pub(crate) fn shown(layout: Layout) -> &'static [Metric] {
    match layout {
        Layout::CpuTime => &TIMES,
        Layout::Records => &[RECORDS],
        Layout::Phases | Layout::Ranked | Layout::Matrix => &[THROUGHPUT],
    }
}

impl Metric {
    pub(crate) fn value(&self, estimate: &Estimate) -> String {
        or_nothing((self.figure)(estimate), |figure| mark(estimate, self.text.text(figure.value)))
    }

    pub(crate) fn interval(&self, estimate: &Estimate) -> String {
        or_nothing((self.figure)(estimate), |figure| range(figure, self.text))
    }

    /// `least – most` of all samples.
    pub(crate) fn extremes(&self, estimate: &Estimate) -> String {
        or_nothing((self.figure)(estimate), |figure| self.text.between(figure.min, figure.max))
    }
}

/// Of one scale from 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    /// The value of a full bar.
    pub full: String,
    /// A share, and whether every sample was disturbed. None without a value, or with less work than other rows.
    pub of_rows: Vec<Option<(f64, bool)>>,
    /// As of columns: dropped first if the width is short.
    pub rank: u8,
}

impl Bars {
    /// None if fewer than two rows are comparable.
    pub(super) fn for_rows(rows: &[(&CaseReport, &Estimate)], rank: u8, metric: &Metric) -> Option<Self> {
        let is_comparable = |estimate: &Estimate| estimate.cut == 0 || metric.unit != ELAPSED.unit;
        let value =
            |estimate: &Estimate| Some((metric.figure)(estimate).filter(|_| is_comparable(estimate))?.value);
        let full = rows.iter().filter_map(|(_, estimate)| value(estimate)).fold(0.0, f64::max);
        let bar = |(_, estimate): &(_, &Estimate)| Some((value(estimate)? / full, estimate.only_disturbed));
        let of_rows: Vec<_> = rows.iter().map(bar).collect();
        let is_comparison = full > 0.0 && of_rows.iter().flatten().count() > 1;
        is_comparison.then(|| Self { full: metric.text.text(full), of_rows, rank })
    }
}
