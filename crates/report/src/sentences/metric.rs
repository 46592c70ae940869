use std::cmp::Ordering;
use std::fmt;

use writebench_model::{CaseRecord, Objective, Sample, Workload};
use writebench_stats::as_f64;

use crate::numbers::{CaseReport, Estimate, Figure, has_percentile, total};
use crate::sentences::number::{
    GIGABYTES_PER_S, MEGABYTES, MILLISECONDS, NUMBER, Quantity, mark, or_nothing, range,
};

type FigureOf = fn(&Estimate) -> Option<&Figure>;

/// A quantity of a case that tables and sentences show, with its unit.
#[derive(Clone, Copy)]
pub(crate) struct Metric {
    /// The name in JSON, with the unit of the figure's values.
    pub key: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub figure: FigureOf,
    pub text: &'static Quantity,
    /// The quantity of one sample. It may differ by a factor that all samples of a case have, so only ratios of it
    /// count.
    pub sample_value: fn(&Sample) -> f64,
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

pub(crate) const THROUGHPUT: Metric = Metric {
    key: "throughput_bytes_per_s",
    title: "total throughput",
    unit: "GB/s",
    figure: |estimate| Some(&estimate.throughput_bytes_per_s),
    text: &GIGABYTES_PER_S,
    sample_value: speed,
};
pub(crate) const RECORDS: Metric = rate(
    "records_per_s",
    "records per second, total",
    "records/s",
    |estimate| estimate.records_per_s.as_ref(),
);
/// Pages are counted as records are.
pub(crate) const PAGES: Metric = Metric {
    title: "pages per second, total",
    unit: "pages/s",
    ..RECORDS
};
pub(crate) const FILES: Metric = rate(
    "files_per_s",
    "files per second, total",
    "files/s",
    |estimate| estimate.files_per_s.as_ref(),
);
pub(crate) const ELAPSED: Metric = TIMES[0];

/// The times of layout `cpu-time`.
pub(crate) const TIMES: [Metric; 3] = [
    time(
        "total_ns",
        "total elapsed time",
        |estimate| Some(&estimate.total_ns),
        total,
    ),
    time(
        "user_cpu_ns",
        "user CPU time",
        |estimate| Some(&estimate.user_cpu_ns),
        |sample| as_f64(sample.user_cpu_ns),
    ),
    time(
        "system_cpu_ns",
        "system CPU time",
        |estimate| Some(&estimate.system_cpu_ns),
        |sample| as_f64(sample.system_cpu_ns),
    ),
];

/// The quantity of a search that minimizes the CPU time.
const CPU: Metric = Metric {
    unit: "ms CPU",
    ..time(
        "cpu_ns",
        "CPU time",
        |estimate| estimate.minimized.as_ref(),
        total,
    )
};
/// The quantity of a search that minimizes p99. It is the median over samples, unlike the percentiles of all records
/// together.
const P99: Metric = Metric {
    unit: "ms at p99 of a sample",
    ..time(
        "p99_ns",
        "latency",
        |estimate| estimate.minimized.as_ref(),
        total,
    )
};
/// The same for samples with fewer than a hundred records or files, whose p99 is their longest.
const LONGEST: Metric = Metric {
    key: "longest_ns",
    unit: "ms, the longest of a sample",
    ..P99
};
/// The quantity of a search that minimizes the bytes on the device.
const DEVICE_BYTES: Metric = Metric {
    key: "device_bytes",
    title: "bytes written to the device",
    unit: "MB on the device",
    figure: |estimate| estimate.minimized.as_ref(),
    text: &MEGABYTES,
    sample_value: |sample| as_f64(sample.device_bytes.unwrap_or(0)),
};

const fn rate(
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    figure: FigureOf,
) -> Metric {
    Metric {
        key,
        title,
        unit,
        figure,
        text: &NUMBER,
        sample_value: speed,
    }
}

const fn time(
    key: &'static str,
    title: &'static str,
    figure: FigureOf,
    sample_value: fn(&Sample) -> f64,
) -> Metric {
    Metric {
        key,
        title,
        unit: "ms",
        figure,
        text: &MILLISECONDS,
        sample_value,
    }
}

/// Whether a typical sample has a p99.
fn has_p99_of_sample(estimate: &Estimate) -> bool {
    estimate.latency.is_none_or(|all| {
        let of_sample = all.count / (estimate.samples as u64).max(1);
        has_percentile(of_sample, 100)
    })
}

fn speed(sample: &Sample) -> f64 {
    as_f64(sample.bytes.max(1)) / total(sample)
}

impl Metric {
    pub(crate) fn is_rate(&self) -> bool {
        [THROUGHPUT, RECORDS, FILES].contains(self)
    }

    pub(crate) fn is_elapsed(&self) -> bool {
        *self == ELAPSED
    }

    /// Which values are better: `higher` or `lower`.
    pub(crate) fn better(&self) -> &'static str {
        if self.is_rate() { "higher" } else { "lower" }
    }

    /// Orders two values of the quantity, the better one first.
    pub(crate) fn better_first(&self, a: f64, b: f64) -> Ordering {
        if self.is_rate() {
            b.total_cmp(&a)
        } else {
            a.total_cmp(&b)
        }
    }

    /// The quantity that a search minimizes, or else that of the workload: durable records and sets of files count per
    /// second, and calls without data by time.
    pub(crate) fn for_case(case: &CaseRecord, estimate: &Estimate) -> &'static Self {
        let workload = &case.workload;
        match estimate.objective {
            Objective::Cpu => &CPU,
            Objective::P99 if has_p99_of_sample(estimate) => &P99,
            Objective::P99 => &LONGEST,
            Objective::DeviceBytes => &DEVICE_BYTES,
            Objective::Time => {
                if workload.durable_every_bytes.is_some() && estimate.records_per_s.is_some() {
                    Self::of_records(workload)
                } else if estimate.files_per_s.is_some() {
                    &FILES
                } else if !workload.content.has_own_bytes() {
                    &ELAPSED
                } else {
                    &THROUGHPUT
                }
            }
        }
    }

    /// The rate of durable records, or of pages.
    pub(crate) fn of_records(workload: &Workload) -> &'static Self {
        if workload.pages.is_some() {
            &PAGES
        } else {
            &RECORDS
        }
    }

    /// The rate of files in a table with sets of them, or that of records or pages.
    pub(crate) fn files_or_records(cases: &[&CaseReport]) -> &'static Self {
        let records = cases
            .first()
            .map_or(&RECORDS, |case| Self::of_records(&case.record.workload));
        Self::files_or(cases, records)
    }

    /// The rate of files in a table with sets of them, or else the other.
    pub(crate) fn files_or(cases: &[&CaseReport], other: &'static Self) -> &'static Self {
        if cases
            .iter()
            .any(|case| case.record.workload.file_size.is_some())
        {
            &FILES
        } else {
            other
        }
    }

    pub(crate) fn value(&self, estimate: &Estimate) -> String {
        or_nothing((self.figure)(estimate), |figure| {
            mark(estimate, self.text.text(figure.value))
        })
    }

    pub(crate) fn interval(&self, estimate: &Estimate) -> String {
        or_nothing((self.figure)(estimate), |figure| range(figure, self.text))
    }

    /// The interval, or the range of samples with their number.
    pub(crate) fn interval_or_samples(&self, estimate: &Estimate) -> String {
        match ((self.figure)(estimate), estimate.samples) {
            (_, 1) => "one sample".to_owned(),
            (Some(figure @ Figure { low: None, .. }), few) => {
                format!("{}, {few} samples", range(figure, self.text))
            }
            _ => self.interval(estimate),
        }
    }

    /// `least – most` of all samples. One sample has none.
    pub(crate) fn extremes(&self, estimate: &Estimate) -> String {
        let of_several = (self.figure)(estimate).filter(|_| estimate.samples > 1);
        or_nothing(of_several, |figure| {
            self.text.between(figure.min, figure.max)
        })
    }
}
