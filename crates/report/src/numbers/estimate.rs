use serde::Serialize;
use writebench_model::{Axes, Axis, CaseRecord, Objective, PhasesNs, Sample};
use writebench_stats::{CONFIDENCE, as_f64};

use crate::numbers::latency::{LatencyCurve, LatencyEstimate, latency};
use crate::numbers::over_time::OverTime;
use crate::numbers::reached::Reached;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// From the model of all cases with the same contract (`writebench_stats::Rounds`) for the total time.
    /// Other values are medians.
    pub value: f64,
    /// Of the median's 95% interval, widened to hold the value. None with too few samples.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    /// The sample standard deviation.
    pub sd: f64,
}

/// From good samples. Disturbed samples count only if all were disturbed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    pub throughput_bytes_per_s: Figure,
    /// Over the time of phase `write`.
    pub write_alone_bytes_per_s: Figure,
    pub total_ns: Figure,
    pub phases_ns: PhasesNs,
    pub user_cpu_ns: Figure,
    pub system_cpu_ns: Figure,
    /// Fewer than the case's size if the time was limited.
    pub bytes: u64,
    /// Samples with limited time, compared by rate.
    pub truncated_samples: usize,
    /// None if a chunk is as large as the file.
    pub records_per_s: Option<Figure>,
    /// Of a set of files.
    pub files_per_s: Option<Figure>,
    /// Over all samples together.
    pub latency: Option<LatencyEstimate>,
    /// Of a search.
    #[serde(skip)]
    pub(crate) objective: Objective,
    /// Another quantity than the time.
    #[serde(skip)]
    pub(crate) minimized_ns: Option<Figure>,
    /// For charts.
    #[serde(skip)]
    pub(crate) latency_curve: Option<LatencyCurve>,
    /// None without a sample of enough time and calls.
    pub over_time: Option<OverTime>,
    /// None if not measured.
    pub limit: Option<Reached>,
    pub confidence: f64,
    pub samples: usize,
    pub disturbed_samples: usize,
    /// Values use disturbed samples.
    pub all_disturbed: bool,
    /// Included in all values.
    pub outliers: usize,
}

pub(crate) type PhaseNs = fn(&PhasesNs) -> u64;

pub(crate) const PHASES: [(&str, PhaseNs); 5] = [
    ("prepare", |phases| phases.prepare),
    ("open", |phases| phases.open),
    ("write", |phases| phases.write),
    ("sync", |phases| phases.sync),
    ("close", |phases| phases.close),
];

/// None for whole files, or without calls.
fn record_bytes(case: &CaseRecord) -> Option<u64> {
    let case = case
        .case
        .known()
        .filter(|case| case.method().has_axis(Axis::Chunk))?;
    Some(case.axes().chunk_size_bytes).filter(|&bytes| bytes != Axes::WHOLE)
}

fn records(bytes: u64, record_bytes: u64) -> u64 {
    bytes.div_ceil(record_bytes.max(1))
}

impl Estimate {
    /// Uses the model's time for the whole work.
    pub(crate) fn adjust(&mut self, case: &CaseRecord, value_ns: f64) {
        let per_s = |number: u64| as_f64(number) * 1e9 / value_ns;
        let bytes = if self.truncated_samples == 0 {
            self.bytes
        } else {
            case.contract.bytes
        };
        self.throughput_bytes_per_s.set(per_s(bytes));
        if self.truncated_samples == 0 {
            self.total_ns.set(value_ns);
        }
        if let (Some(figure), Some(record_bytes)) = (&mut self.records_per_s, record_bytes(case)) {
            figure.set(per_s(records(bytes, record_bytes)));
        }
        if let Some(figure) = &mut self.files_per_s {
            figure.set(per_s(case.contract.files.into()));
        }
    }

    /// Of disturbed samples only, which no model has: one median, from which time and speeds follow. None for samples
    /// that were cut short.
    pub(crate) fn unmodelled_ns(&self, case: &CaseRecord) -> Option<f64> {
        let times = Sample::usable(&case.samples)
            .into_iter()
            .map(|sample| as_f64(sample.phases_ns.total()));
        let typical_ns = writebench_stats::log_median(&times.collect::<Vec<f64>>())?;
        Some(typical_ns).filter(|&ns| self.truncated_samples == 0 && ns > 0.0)
    }

    /// Without its limit. None without a good sample.
    pub(crate) fn from_case(case: &CaseRecord, objective: Objective) -> Option<Self> {
        Self::from_samples(case, &Sample::usable(&case.samples), objective)
    }

    /// From these good samples of the case.
    pub(crate) fn from_samples(
        case: &CaseRecord,
        usable: &[&Sample],
        objective: Objective,
    ) -> Option<Self> {
        let values = |value: &dyn Fn(&Sample) -> f64| -> Vec<f64> {
            usable.iter().map(|sample| value(sample)).collect()
        };
        let figure = |value: &dyn Fn(&Sample) -> f64| Figure::from_values(&values(value));
        let median = |value: fn(&Sample) -> u64| {
            writebench_stats::median(&values(&|sample| as_f64(value(sample)))).map(as_u64)
        };
        let per_s = |number: u64, ns: u64| as_f64(number) * 1e9 / as_f64(ns.max(1));
        let total_ns = values(&|sample| as_f64(sample.phases_ns.total()));
        let latency = latency(usable);
        let disturbed_samples = case
            .samples
            .iter()
            .filter(|sample| sample.outcome.is_ok() && sample.disturbed.is_some())
            .count();
        let throughput_bytes_per_s =
            figure(&|sample| per_s(sample.bytes, sample.phases_ns.total()))?;
        Some(Self {
            throughput_bytes_per_s,
            write_alone_bytes_per_s: figure(&|sample| per_s(sample.bytes, sample.phases_ns.write))?,
            total_ns: Figure::from_values(&total_ns)?,
            phases_ns: PhasesNs {
                prepare: median(|sample| sample.phases_ns.prepare)?,
                open: median(|sample| sample.phases_ns.open)?,
                write: median(|sample| sample.phases_ns.write)?,
                sync: median(|sample| sample.phases_ns.sync)?,
                close: median(|sample| sample.phases_ns.close)?,
            },
            user_cpu_ns: figure(&|sample| as_f64(sample.user_cpu_ns))?,
            system_cpu_ns: figure(&|sample| as_f64(sample.system_cpu_ns))?,
            bytes: usable.iter().map(|sample| sample.bytes).min()?,
            truncated_samples: usable
                .iter()
                .filter(|sample| sample.bytes < case.contract.bytes)
                .count(),
            records_per_s: record_bytes(case).and_then(|bytes| {
                figure(&|sample| per_s(records(sample.bytes, bytes), sample.phases_ns.total()))
            }),
            files_per_s: case.contract.file_size.and_then(|_| {
                figure(&|sample| per_s(case.contract.files.into(), sample.phases_ns.total()))
            }),
            objective,
            minimized_ns: match objective {
                Objective::Time => None,
                Objective::Cpu => figure(&|sample| as_f64(sample.objective_ns(objective))),
                Objective::P99 => figure(&|sample| {
                    sample
                        .latency
                        .as_ref()
                        .map_or(0.0, |latency| as_f64(latency.p99_ns))
                }),
            },
            latency: latency.as_ref().map(|(estimate, _)| *estimate),
            latency_curve: latency.map(|(_, curve)| curve),
            over_time: OverTime::from_samples(usable),
            limit: None,
            confidence: writebench_stats::median_interval(&total_ns, CONFIDENCE)?.confidence,
            samples: usable.len(),
            disturbed_samples,
            all_disturbed: usable.iter().all(|sample| sample.disturbed.is_some()),
            outliers: writebench_stats::count_outliers(&total_ns),
        })
    }
}

impl Figure {
    /// None without values.
    pub(crate) fn from_values(values: &[f64]) -> Option<Self> {
        let interval = writebench_stats::median_interval(values, CONFIDENCE)?;
        let (mean, sd) = writebench_stats::mean_and_sd(values)?;
        let (min, max) = least_and_most(values.iter().copied())?;
        let end = |end: f64| (interval.confidence >= CONFIDENCE).then_some(end);
        let (low, high) = (end(interval.low), end(interval.high));
        Some(Self {
            value: interval.estimate,
            low,
            high,
            min,
            max,
            mean,
            sd,
        })
    }

    /// Widens the interval to hold the value.
    fn set(&mut self, value: f64) {
        self.value = value;
        self.low = self.low.map(|low| low.min(value));
        self.high = self.high.map(|high| high.max(value));
    }

    /// Of the interval, or else of the samples' range. As the interval, the range is widened to hold the value, which is
    /// of a typical round: all of a few samples may be from slow ones.
    pub(crate) fn ends(&self) -> (f64, f64) {
        self.low
            .zip(self.high)
            .unwrap_or((self.min.min(self.value), self.max.max(self.value)))
    }

    pub(crate) fn is_outside_its_samples(&self) -> bool {
        // The model's logarithms lose a digit.
        self.value < self.min * (1.0 - 1e-9) || self.value > self.max * (1.0 + 1e-9)
    }

    /// As a share of the value.
    pub(crate) fn half_width(&self) -> Option<f64> {
        self.low
            .zip(self.high)
            .map(|(low, high)| (high - low) / 2.0 / self.value)
    }
}

/// None without values.
pub(crate) fn least_and_most(mut values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(least, most), value| {
        (least.min(value), most.max(value))
    }))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a median of u64s"
)]
fn as_u64(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Failure, Outcome, Phase};

    fn sample(write_ns: u64, disturbed: bool) -> Sample {
        let mut sample = Sample::without_figures(0, Outcome::Ok);
        sample.phases_ns.write = write_ns;
        sample.phases_ns.prepare = 10;
        sample.bytes = 1000;
        sample.disturbed = disturbed.then(|| "noise".to_owned());
        sample
    }

    fn estimated(case: &str, samples: Vec<Sample>) -> Option<Estimate> {
        Estimate::from_case(
            &writebench_testkit::example_case("test", case, samples),
            Objective::Time,
        )
    }

    #[test]
    fn a_failed_sample_gives_no_value() {
        let failure = Failure {
            phase: Phase::Prepare,
            call: "fallocate".to_owned(),
            path: None,
            offset: None,
            errno: Some(28),
            message: String::new(),
        };
        let failed = Sample::without_figures(0, Outcome::Failed(failure.into()));
        assert_eq!(estimated("write", vec![failed.clone()]), None);
        let estimate = estimated("write", vec![sample(90, false), failed]).unwrap();
        assert_eq!(estimate.samples, 1);
    }

    #[test]
    fn the_total_counts_every_phase_and_write_alone_one() {
        let estimate = estimated("write", vec![sample(90, false)]).unwrap();
        assert!((estimate.throughput_bytes_per_s.value - 1e10).abs() < 1.0);
        assert!((estimate.write_alone_bytes_per_s.value - 1000.0 * 1e9 / 90.0).abs() < 1.0);
    }

    /// 0.095 ms stood next to 0.150 … 0.151.
    #[test]
    fn the_ends_of_few_samples_hold_the_value_of_a_typical_round() {
        let mut figure = Figure::from_values(&[150.0, 151.0]).unwrap();
        assert_eq!(
            (figure.ends(), figure.is_outside_its_samples()),
            ((150.0, 151.0), false)
        );
        figure.set(95.0);
        assert_eq!(
            (figure.ends(), figure.is_outside_its_samples()),
            ((95.0, 151.0), true)
        );
        assert_eq!(
            (figure.min, figure.max),
            (150.0, 151.0),
            "of the samples, as they are"
        );
    }

    #[test]
    fn disturbed_samples_count_only_without_others() {
        let estimate = estimated("write", vec![sample(90, false), sample(900, true)]).unwrap();
        assert_eq!(
            (
                estimate.samples,
                estimate.disturbed_samples,
                estimate.phases_ns.write
            ),
            (1, 1, 90)
        );
        assert!(!estimate.all_disturbed);
        let estimate = estimated("write", vec![sample(900, true), sample(900, true)]).unwrap();
        assert_eq!(
            (
                estimate.samples,
                estimate.disturbed_samples,
                estimate.phases_ns.write
            ),
            (2, 2, 900)
        );
        assert!(estimate.all_disturbed);
    }

    #[test]
    fn records_per_second_count_the_last_short_one_and_all_phases() {
        let estimate = estimated("write,chunk=300", vec![sample(90, false)]).unwrap();
        // Four records in 100 ns.
        assert!((estimate.records_per_s.unwrap().value - 4.0 * 1e9 / 100.0).abs() < 1e-3);
    }
}
