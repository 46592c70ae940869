use writebench_model::{CaseRecord, Objective, Sample};
use writebench_stats::as_f64;

use crate::numbers::{CaseReport, Estimate, Figure, total};
use crate::sentences::number::{
    GIGABYTES_PER_S, MILLISECONDS, NUMBER, Quantity, mark, or_nothing, range,
};

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
pub(crate) const RECORDS: Metric = rate("records per second, total", "records/s", |estimate| {
    estimate.records_per_s.as_ref()
});
pub(crate) const FILES: Metric = rate("files per second, total", "files/s", |estimate| {
    estimate.files_per_s.as_ref()
});
pub(crate) const ELAPSED: Metric = TIMES[0];

/// Of layout `cpu-time`.
pub(crate) const TIMES: [Metric; 3] = [
    time(
        "total elapsed time",
        |estimate| Some(&estimate.total_ns),
        total,
    ),
    time(
        "user CPU time",
        |estimate| Some(&estimate.user_cpu_ns),
        |sample| as_f64(sample.user_cpu_ns),
    ),
    time(
        "system CPU time",
        |estimate| Some(&estimate.system_cpu_ns),
        |sample| as_f64(sample.system_cpu_ns),
    ),
];

/// Of a search that does not minimize the time.
const CPU: Metric = Metric {
    unit: "ms CPU",
    ..time("CPU time", |estimate| estimate.minimized_ns.as_ref(), total)
};
/// The median over samples, unlike the percentiles of all records together.
const P99: Metric = Metric {
    unit: "ms at p99 of a sample",
    ..time("latency", |estimate| estimate.minimized_ns.as_ref(), total)
};
/// Of samples with fewer than a hundred records or files.
const LONGEST: Metric = Metric {
    unit: "ms, the longest of a sample",
    ..P99
};

const fn rate(title: &'static str, unit: &'static str, figure: FigureOf) -> Metric {
    Metric {
        title,
        unit,
        figure,
        text: &NUMBER,
        of_sample: speed,
    }
}

const fn time(title: &'static str, figure: FigureOf, of_sample: fn(&Sample) -> f64) -> Metric {
    Metric {
        title,
        unit: "ms",
        figure,
        text: &MILLISECONDS,
        of_sample,
    }
}

fn has_percentile(estimate: &Estimate) -> bool {
    estimate
        .latency
        .is_none_or(|all| all.count >= 100 * estimate.samples as u64)
}

fn speed(sample: &Sample) -> f64 {
    as_f64(sample.bytes.max(1)) / total(sample)
}

impl Metric {
    /// The contract's. Durable records count per second, calls without data by time.
    pub(crate) fn for_case(case: &CaseRecord, estimate: &Estimate) -> &'static Self {
        match case
            .contract
            .durable_every_bytes
            .and(estimate.records_per_s)
        {
            _ if estimate.objective == Objective::Cpu => &CPU,
            _ if estimate.objective == Objective::P99 && has_percentile(estimate) => &P99,
            _ if estimate.objective == Objective::P99 => &LONGEST,
            Some(_) => &RECORDS,
            _ if estimate.files_per_s.is_some() => &FILES,
            None if !case.contract.content.has_own_bytes() => &ELAPSED,
            None => &THROUGHPUT,
        }
    }

    /// The rate of files in a table with sets of them, or else the other.
    pub(crate) fn of_files_or(cases: &[&CaseReport], other: &'static Self) -> &'static Self {
        let is_set = |case: &&CaseReport| case.record.contract.file_size.is_some();
        if cases.iter().any(is_set) {
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

    /// Also the number of samples of a range.
    pub(crate) fn interval_or_samples(&self, estimate: &Estimate) -> String {
        match ((self.figure)(estimate), estimate.samples) {
            (_, 1) => "one sample".to_owned(),
            (Some(figure @ Figure { low: None, .. }), few) => {
                format!("{}, {few} samples", range(figure, self.text))
            }
            _ => self.interval(estimate),
        }
    }

    /// `least – most` of all samples.
    pub(crate) fn extremes(&self, estimate: &Estimate) -> String {
        or_nothing((self.figure)(estimate), |figure| {
            self.text.between(figure.min, figure.max)
        })
    }
}
