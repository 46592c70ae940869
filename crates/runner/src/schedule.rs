use std::ops::Range;
use std::time::Duration;

use writebench_model::{Decision, Objective, Sample, Settings, Workload};
use writebench_stats::{CONFIDENCE, ContestSample, as_f64};

use crate::planned_target::PlannedTarget;
use crate::round_order::PlannedCase;

#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// The time since the run began or was resumed, plus time reserved for work after the samples.
    pub elapsed: Duration,
    /// The bytes of all samples.
    pub bytes: u64,
    /// The bytes that the run may still write. Checks and sources beside the samples also count for its limit. None if there
    /// is no limit.
    pub left_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSummary {
    /// The time of the whole work in nanoseconds, or another quantity to minimize. 0 if the sample ended before its first
    /// record.
    pub total_ns: u64,
    /// The time inside the clock, whatever is minimized.
    pub timed_ns: u64,
    pub round: u32,
    pub is_ok: bool,
    /// Whether the worker died, and the case need not be the reason.
    pub is_accident: bool,
    pub is_disturbed: bool,
    /// Whether the file shares blocks or has holes, and so fewer bytes were written than the workload says.
    pub shares_blocks: bool,
}

impl SampleSummary {
    pub fn new(sample: &Sample, workload: &Workload, objective: Objective) -> Self {
        Self {
            total_ns: whole_ns(sample.whole_work_ns(workload, objective)),
            timed_ns: sample.phases_ns.total(),
            round: sample.round,
            is_ok: sample.outcome.is_ok(),
            is_accident: sample.outcome.is_accident(),
            is_disturbed: sample.disturbed.is_some(),
            shares_blocks: sample.lacks_bytes(workload),
        }
    }

    /// The sample of a contest. None if it failed or ended before its first record.
    pub(crate) fn in_contest(&self) -> Option<ContestSample> {
        (self.is_ok && self.total_ns > 0).then(|| ContestSample {
            round: self.round,
            time: as_f64(self.total_ns),
            is_disturbed: self.is_disturbed,
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and saturating"
)]
fn whole_ns(time_ns: Option<f64>) -> u64 {
    time_ns.map_or(0, |time_ns| time_ns.round() as u64)
}

#[cfg(test)]
impl SampleSummary {
    pub(crate) fn good(round: u32, total_ns: u64) -> Self {
        Self {
            total_ns,
            timed_ns: total_ns,
            round,
            is_ok: true,
            is_accident: false,
            is_disturbed: false,
            shares_blocks: false,
        }
    }
}

/// Decides how many more samples each case wants. A run ends when no case wants any.
pub trait Schedule {
    /// The number for each case of the plan, 0 for a finished one. Called before each sample, with at least the samples
    /// of the last call.
    fn wanted(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) -> &[usize];

    /// A case of the plan has a new sample, before its summary is in `taken`. Most schedules need only the summary.
    fn see(&mut self, _position: usize, _sample: &Sample) {}

    /// The cases that joined since the last call. The caller puts them at the end of its plan, in this order, and asks
    /// again which cases want samples.
    fn added(&mut self) -> Vec<PlannedCase> {
        Vec::new()
    }

    /// What the contests found. Called once, after the last sample. Empty for schedules that compare nothing.
    fn decisions(&self, _: &[Vec<SampleSummary>], _: &[PlannedTarget]) -> Vec<Decision> {
        Vec::new()
    }

    /// The time limit of loops over records, if the schedule divides the time. Otherwise each has an equal
    /// share of the budget.
    fn loop_limit(&self) -> Option<Duration> {
        None
    }

    /// Whether a case that does not fit into the free space is left out, instead of ending the run. The user has not named
    /// it.
    fn leaves_out_what_does_not_fit(&self) -> bool {
        false
    }

    /// Whether samples count although the budget ends within their round. Otherwise the run ends before a
    /// round that would not be complete.
    fn uses_part_of_round(&self) -> bool {
        false
    }
}

/// Each case gets as many undisturbed samples as requested. If a precision is requested too, cases with wider intervals
/// get more.
#[derive(Debug, Default)]
pub struct EachCase {
    samples: usize,
    most: usize,
    precision: Option<f64>,
    // The positions of its cases in the plan. None for all.
    among: Option<Range<usize>>,
    // The samples of each case at the last call, and the number wanted then.
    looked: Vec<Option<usize>>,
    wanted: Vec<usize>,
}

/// The most samples of a case with disturbed ones, in multiples of the requested number.
const MOST_SAMPLES_FACTOR: usize = 2;
/// The number of a worker's deaths at which the case is the likely reason and ends.
const MOST_ACCIDENTS: usize = 2;

impl EachCase {
    pub fn for_settings(settings: &Settings) -> Self {
        let precision = settings.precision_ppm.map(|ppm| f64::from(ppm) / 1e6);
        let samples = settings.samples as usize;
        let most =
            (settings.most_samples() as usize).max(samples.saturating_mul(MOST_SAMPLES_FACTOR));
        Self {
            samples,
            most,
            precision,
            ..Self::default()
        }
    }

    /// The same for only these positions in the plan.
    pub fn among(self, positions: Range<usize>) -> Self {
        Self {
            among: Some(positions),
            ..self
        }
    }

    fn has(&self, position: usize) -> bool {
        self.among
            .as_ref()
            .is_none_or(|among| among.contains(&position))
    }

    fn still_wanted(&self, samples: &[SampleSummary]) -> usize {
        if is_given_up(samples) {
            return 0;
        }
        let good = samples
            .iter()
            .filter(|sample| sample.is_ok && !sample.is_disturbed)
            .count();
        let most = self.most.saturating_sub(samples.len());
        let wanted = match self.precision {
            _ if good < self.samples => self.samples - good,
            Some(precision) => usize::from(!is_narrow(samples, precision)),
            None => 0,
        };
        wanted.min(most)
    }
}

impl Schedule for EachCase {
    fn wanted(&mut self, taken: &[Vec<SampleSummary>], _: Spent) -> &[usize] {
        self.looked.resize(taken.len(), None);
        self.wanted.resize(taken.len(), 0);
        // With ten thousand cases, only one has changed since the last sample.
        for (index, samples) in taken.iter().enumerate() {
            let has_changed = self.looked[index].replace(samples.len()) != Some(samples.len());
            if has_changed && self.has(index) {
                self.wanted[index] = self.still_wanted(samples);
            }
        }
        &self.wanted
    }
}

/// Whether the case gets no more samples: a call failed, or a second worker died.
pub fn is_given_up(samples: &[SampleSummary]) -> bool {
    let accidents = samples.iter().filter(|sample| sample.is_accident).count();
    accidents >= MOST_ACCIDENTS
        || samples
            .iter()
            .any(|sample| !sample.is_ok && !sample.is_accident)
}

fn is_narrow(samples: &[SampleSummary], precision: f64) -> bool {
    let calm = samples
        .iter()
        .filter(|sample| sample.is_ok && !sample.is_disturbed);
    let times_ns: Vec<f64> = calm.map(|sample| as_f64(sample.total_ns)).collect();
    writebench_stats::median_interval(&times_ns, CONFIDENCE).is_some_and(|interval| {
        interval.confidence >= CONFIDENCE
            && interval.high - interval.low <= 2.0 * precision * interval.estimate
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Case, Outcome, Verify};

    fn settings(samples: u32, precision_ppm: Option<u32>) -> Settings {
        Settings {
            samples,
            precision_ppm,
            budget_ns: None,
            max_bytes: None,
            seed: 1,
            verify: Verify::Never,
            timeout_ns: None,
            copy_from: None,
            copy_to: None,
            search_bytes: None,
            ..Settings::default()
        }
    }

    fn samples(times_ns: &[u64]) -> Vec<SampleSummary> {
        (0..)
            .zip(times_ns)
            .map(|(round, &total_ns)| SampleSummary::good(round, total_ns))
            .collect()
    }

    fn wanted(settings: &Settings, samples: Vec<SampleSummary>) -> usize {
        EachCase::for_settings(settings).wanted(&[samples], Spent::default())[0]
    }

    #[test]
    fn a_schedule_holds_little_of_a_sample() {
        assert_eq!(size_of::<SampleSummary>(), 24);
        let mut sample = Sample::without_figures(
            3,
            Outcome::TimedOut {
                phase: writebench_model::Phase::Write,
                limit_ns: 1,
            },
        );
        (sample.phases_ns.write, sample.phases_ns.close) = (7, 2);
        sample.disturbed = Some("noise".to_owned());
        let taken = SampleSummary {
            is_ok: false,
            is_disturbed: true,
            ..SampleSummary::good(3, 9)
        };
        let workload = Case::parse("null,size=0").unwrap().workload();
        assert_eq!(
            SampleSummary::new(&sample, &workload, Objective::Time),
            taken
        );
    }

    #[test]
    fn a_case_wants_the_requested_samples_and_replaces_disturbed_ones() {
        let plain = settings(6, None);
        assert_eq!(wanted(&plain, Vec::new()), 6);
        assert_eq!(wanted(&plain, samples(&[9; 6])), 0);
        let mut disturbed = samples(&[9; 6]);
        disturbed[2].is_disturbed = true;
        assert_eq!(wanted(&plain, disturbed), 1);
        let mut all = samples(&[9; 12]);
        all.iter_mut().for_each(|sample| sample.is_disturbed = true);
        assert_eq!(wanted(&plain, all), 0, "twice as many at most");
    }

    #[test]
    fn each_sample_of_a_case_reduces_its_wanted_number() {
        let mut schedule = EachCase::for_settings(&settings(2, None));
        let mut taken = vec![Vec::new(), Vec::new()];
        assert_eq!(schedule.wanted(&taken, Spent::default()), [2, 2]);
        taken[1] = samples(&[9]);
        assert_eq!(schedule.wanted(&taken, Spent::default()), [2, 1]);
        taken[0] = samples(&[9; 2]);
        assert_eq!(schedule.wanted(&taken, Spent::default()), [0, 1]);
    }

    #[test]
    fn a_failed_case_wants_no_more() {
        let mut failed = samples(&[9; 2]);
        failed[1].is_ok = false;
        assert_eq!(wanted(&settings(6, Some(1)), failed), 0);
    }

    #[test]
    fn a_case_ends_when_a_second_worker_dies() {
        let mut died = samples(&[9; 3]);
        (died[1].is_ok, died[1].is_accident) = (false, true);
        assert_eq!(
            wanted(&settings(6, None), died.clone()),
            4,
            "two of six are good"
        );
        (died[2].is_ok, died[2].is_accident) = (false, true);
        assert_eq!(wanted(&settings(6, None), died), 0);
    }

    #[test]
    fn a_precision_needs_a_narrow_interval_and_enough_samples() {
        let precise = settings(6, Some(20_000));
        assert_eq!(
            wanted(&precise, samples(&[1000, 1010, 1005, 995, 1000, 990])),
            0
        );
        assert_eq!(
            wanted(&precise, samples(&[1000, 1100, 1005, 995, 1000, 900])),
            1
        );
        assert_eq!(
            wanted(&settings(3, Some(20_000)), samples(&[1000; 3])),
            1,
            "six are the least for 95 %"
        );
        assert_eq!(wanted(&settings(3, Some(20_000)), samples(&[1000; 6])), 0);
    }

    #[test]
    fn a_wide_case_ends_at_twenty_times_the_requested_samples() {
        let precise = settings(6, Some(10_000));
        let wide: Vec<u64> = (0..120).map(|index| 1000 + 500 * (index % 2)).collect();
        assert_eq!(wanted(&precise, samples(&wide[..119])), 1);
        assert_eq!(wanted(&precise, samples(&wide)), 0);
    }
}
