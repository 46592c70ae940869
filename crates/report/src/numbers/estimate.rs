use serde::Serialize;
use writebench_model::{Axis, CaseRecord, Choices, Objective, PhasesNs, Sample};
use writebench_stats::{CONFIDENCE, as_f64};

use crate::numbers::latency::{LatencyCurve, LatencyEstimate, latency};
use crate::numbers::limit_share::LimitShare;
use crate::numbers::over_time::OverTime;

/// One quantity of a case, such as its throughput, with the spread of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// The total time, and each speed over it, come from the model of all cases with the same workload
    /// (`writebench_stats::Rounds`). Other values are medians.
    pub value: f64,
    /// The lower end of the median's 95% interval, which is widened to hold the value. It is None with too few samples.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    /// The sample standard deviation.
    pub sd: f64,
}

/// What the good samples of a case show together. Disturbed samples count only if all were disturbed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    pub throughput_bytes_per_s: Figure,
    /// The bytes over the time of phase `write`.
    pub write_alone_bytes_per_s: Figure,
    pub total_ns: Figure,
    pub phases_ns: PhasesNs,
    pub user_cpu_ns: Figure,
    pub system_cpu_ns: Figure,
    /// The fewest bytes that a sample wrote: fewer than the case's size if the time was limited.
    pub bytes: u64,
    /// The number of samples that a time limit cut short. They are compared by their rate.
    pub truncated_samples: usize,
    /// A record is a chunk. This is None if a chunk is as large as the file.
    pub records_per_s: Option<Figure>,
    /// This is None unless the case writes a set of files.
    pub files_per_s: Option<Figure>,
    /// The durations of the calls of all samples together.
    pub latency: Option<LatencyEstimate>,
    /// What the search minimizes. Other runs minimize the time.
    #[serde(skip)]
    pub(crate) objective: Objective,
    /// The quantity that the search minimizes, if it is not the time.
    #[serde(skip)]
    pub(crate) minimized: Option<Figure>,
    /// The distribution of the calls' durations, as the charts draw it.
    #[serde(skip)]
    pub(crate) latency_curve: Option<LatencyCurve>,
    /// How the speed changed during a sample. This is None if no sample took enough time and calls to tell.
    pub over_time: Option<OverTime>,
    /// The share of the hardware's limit. This is None if the limit was not measured.
    pub limit: Option<LimitShare>,
    pub confidence: f64,
    pub samples: usize,
    pub disturbed_samples: usize,
    /// Every good sample was disturbed, so the values are those of disturbed samples.
    pub all_disturbed: bool,
    /// The number of outliers, which all values include.
    pub outliers: usize,
}

/// Reads one phase of a sample, or the total.
pub(crate) type PhaseNs = fn(&PhasesNs) -> u64;

pub(crate) const PHASES: [(&str, PhaseNs); 5] = [
    ("prepare", |phases| phases.prepare),
    ("open", |phases| phases.open),
    ("write", |phases| phases.write),
    ("sync", |phases| phases.sync),
    ("close", |phases| phases.close),
];

/// The bytes of a chunk. They are None for a whole file in one call, and for a method without chunks.
pub(crate) fn record_bytes(case: &CaseRecord) -> Option<u64> {
    let case = case
        .case
        .known()
        .filter(|case| case.method().has_axis(Axis::Chunk))?;
    Some(case.choices().chunk_size_bytes).filter(|&bytes| bytes != Choices::WHOLE)
}

pub(crate) fn records(bytes: u64, record_bytes: u64) -> u64 {
    bytes.div_ceil(record_bytes.max(1))
}

pub(crate) fn per_s(number: u64, ns: f64) -> f64 {
    as_f64(number) * 1e9 / ns
}

impl Estimate {
    /// Sets the total time to the model's time for the whole work, and the speeds to follow from it.
    pub(crate) fn adjust(&mut self, case: &CaseRecord, value_ns: f64) {
        let bytes = if self.truncated_samples == 0 {
            self.bytes
        } else {
            case.workload.bytes
        };
        self.throughput_bytes_per_s.set(per_s(bytes, value_ns));
        if self.truncated_samples == 0 {
            self.total_ns.set(value_ns);
        }
        if let (Some(figure), Some(record_bytes)) = (&mut self.records_per_s, record_bytes(case)) {
            figure.set(per_s(records(bytes, record_bytes), value_ns));
        }
        if let Some(figure) = &mut self.files_per_s {
            figure.set(per_s(case.workload.files.into(), value_ns));
        }
    }

    /// The median of the total times, from which time and speeds follow if every sample was disturbed, because no model
    /// has such a case. It is None if a sample was cut short.
    pub(crate) fn unmodelled_ns(&self, case: &CaseRecord) -> Option<f64> {
        let times = Sample::usable(&case.samples)
            .into_iter()
            .map(|sample| as_f64(sample.phases_ns.total()));
        let typical_ns = writebench_stats::log_median(&times.collect::<Vec<f64>>())?;
        Some(typical_ns).filter(|&ns| self.truncated_samples == 0 && ns > 0.0)
    }

    /// An estimate whose limit is not yet set. It is None without a good sample.
    pub(crate) fn from_case(case: &CaseRecord, objective: Objective) -> Option<Self> {
        Self::from_samples(case, &Sample::usable(&case.samples), objective)
    }

    /// The estimate from `usable`, the case's good samples that count.
    pub(crate) fn from_samples(
        case: &CaseRecord,
        usable: &[&Sample],
        objective: Objective,
    ) -> Option<Self> {
        let totals_ns = values(usable, |sample| sample.phases_ns.total());
        let latency = latency(usable);
        Some(Self {
            throughput_bytes_per_s: speed(usable, |sample| sample.bytes, PhasesNs::total)?,
            write_alone_bytes_per_s: speed(usable, |sample| sample.bytes, |phases| phases.write)?,
            total_ns: Figure::from_values(&totals_ns)?,
            phases_ns: median_phases(usable)?,
            user_cpu_ns: Figure::from_values(&values(usable, |sample| sample.user_cpu_ns))?,
            system_cpu_ns: Figure::from_values(&values(usable, |sample| sample.system_cpu_ns))?,
            bytes: usable.iter().map(|sample| sample.bytes).min()?,
            truncated_samples: usable
                .iter()
                .filter(|sample| sample.bytes < case.workload.bytes)
                .count(),
            records_per_s: records_per_s(case, usable),
            files_per_s: files_per_s(case, usable),
            objective,
            minimized: minimized(usable, objective),
            latency: latency.as_ref().map(|(estimate, _)| *estimate),
            latency_curve: latency.map(|(_, curve)| curve),
            over_time: OverTime::from_samples(usable),
            limit: None,
            confidence: writebench_stats::median_interval(&totals_ns, CONFIDENCE)?.confidence,
            samples: usable.len(),
            disturbed_samples: count_disturbed(&case.samples),
            all_disturbed: usable.iter().all(|sample| sample.disturbed.is_some()),
            outliers: writebench_stats::count_outliers(&totals_ns),
        })
    }
}

fn values(samples: &[&Sample], value: impl Fn(&Sample) -> u64) -> Vec<f64> {
    samples.iter().map(|sample| as_f64(value(sample))).collect()
}

/// What each sample wrote, such as bytes or records, over one of its times.
fn speed(
    samples: &[&Sample],
    written: impl Fn(&Sample) -> u64,
    time_ns: PhaseNs,
) -> Option<Figure> {
    let speeds: Vec<f64> = samples
        .iter()
        .map(|sample| per_s(written(sample), as_f64(time_ns(&sample.phases_ns).max(1))))
        .collect();
    Figure::from_values(&speeds)
}

fn records_per_s(case: &CaseRecord, samples: &[&Sample]) -> Option<Figure> {
    let record_bytes = record_bytes(case)?;
    let written = |sample: &Sample| records(sample.bytes, record_bytes);
    speed(samples, written, PhasesNs::total)
}

fn files_per_s(case: &CaseRecord, samples: &[&Sample]) -> Option<Figure> {
    case.workload.file_size?;
    speed(samples, |_| case.workload.files.into(), PhasesNs::total)
}

/// The median of each phase.
fn median_phases(samples: &[&Sample]) -> Option<PhasesNs> {
    Some(PhasesNs {
        prepare: median_phase(samples, |phases| phases.prepare)?,
        open: median_phase(samples, |phases| phases.open)?,
        write: median_phase(samples, |phases| phases.write)?,
        sync: median_phase(samples, |phases| phases.sync)?,
        close: median_phase(samples, |phases| phases.close)?,
    })
}

fn median_phase(samples: &[&Sample], time_ns: PhaseNs) -> Option<u64> {
    let times_ns = values(samples, |sample| time_ns(&sample.phases_ns));
    writebench_stats::median(&times_ns).map(as_u64)
}

/// The quantity that a search minimizes: the CPU time, p99 of the calls' durations, or the bytes on the device. It is None
/// for the time, which [`Estimate::total_ns`] has.
fn minimized(samples: &[&Sample], objective: Objective) -> Option<Figure> {
    let minimized = match objective {
        Objective::Time => return None,
        Objective::Cpu | Objective::DeviceBytes => samples
            .iter()
            .filter_map(|sample| sample.minimized(objective).map(as_f64))
            .collect(),
        Objective::P99 => values(samples, p99_ns),
    };
    Figure::from_values(&minimized)
}

fn p99_ns(sample: &Sample) -> u64 {
    sample.latency.as_ref().map_or(0, |latency| latency.p99_ns)
}

fn count_disturbed(samples: &[Sample]) -> usize {
    samples
        .iter()
        .filter(|sample| sample.outcome.is_ok() && sample.disturbed.is_some())
        .count()
}

impl Figure {
    /// The median with its spread. It is None without values.
    pub(crate) fn from_values(values: &[f64]) -> Option<Self> {
        let interval = writebench_stats::median_interval(values, CONFIDENCE)?;
        let (mean, sd) = writebench_stats::mean_and_sd(values)?;
        let (min, max) = least_and_most(values.iter().copied())?;
        let has_enough_values = interval.confidence >= CONFIDENCE;
        Some(Self {
            value: interval.estimate,
            low: has_enough_values.then_some(interval.low),
            high: has_enough_values.then_some(interval.high),
            min,
            max,
            mean,
            sd,
        })
    }

    /// Replaces the value, and widens the interval to hold it.
    fn set(&mut self, value: f64) {
        self.value = value;
        self.low = self.low.map(|low| low.min(value));
        self.high = self.high.map(|high| high.max(value));
    }

    /// The ends of the interval, or else of the samples' range. Like the interval, the range is widened to hold the
    /// value, which is that of a typical round: all of a few samples may be from slow ones. One sample has no range, so
    /// both ends are the value.
    pub(crate) fn ends(&self) -> (f64, f64) {
        match self.low.zip(self.high) {
            Some(interval) => interval,
            None if self.has_range() => (self.min.min(self.value), self.max.max(self.value)),
            None => (self.value, self.value),
        }
    }

    /// Whether the samples differ. A single one cannot.
    pub(crate) fn has_range(&self) -> bool {
        self.min < self.max
    }

    pub(crate) fn is_outside_its_samples(&self) -> bool {
        // The model's logarithms lose a digit.
        self.value < self.min * (1.0 - 1e-9) || self.value > self.max * (1.0 + 1e-9)
    }

    /// Half of the interval's width, as a share of the value.
    pub(crate) fn half_width(&self) -> Option<f64> {
        self.low
            .zip(self.high)
            .map(|(low, high)| (high - low) / 2.0 / self.value)
    }
}

/// The least and the greatest value. It is None without values.
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
    fn one_sample_has_no_range() {
        let mut figure = Figure::from_values(&[150.0]).unwrap();
        figure.set(95.0);
        assert_eq!((figure.ends(), figure.has_range()), ((95.0, 95.0), false));
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
