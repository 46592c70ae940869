//! Whether the requirements of `--require` are met.

use serde::Serialize;
use writebench_model::{CaseRecord, Measure, Objective, Requirement, RunRecord, Sample};
use writebench_stats::{
    Cumulative, Interval, LimitVerdict, as_f64, confidence_of_each, distinct, fewest_for_limit,
    grouped, limit_interval, quantile_interval,
};

use crate::numbers::case::CaseReport;
use crate::numbers::estimate::{per_s, record_bytes, records};
use crate::numbers::latency::{Durations, has_percentile};

/// A requirement of a run, judged for a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Required {
    pub requirement: Requirement,
    /// The quantity with the unit of its values.
    pub metric: &'static str,
    /// In the same unit.
    pub limit: u64,
    pub case: String,
    /// The case's name, or the command of a program.
    #[serde(skip)]
    pub name: String,
    pub target: String,
    /// The recommended case of a goal whose plain write did not meet the requirement. It does not count for the exit code.
    pub is_recommended: bool,
    /// Its calls are files instead of records.
    #[serde(skip)]
    pub(crate) is_of_files: bool,
    #[serde(flatten)]
    pub judged: Judged,
}

/// What the samples of a case say about a requirement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub verdict: LimitVerdict,
    /// The value and its interval. It is None with too few samples or calls.
    #[serde(flatten)]
    pub interval: Option<Interval>,
    /// The undisturbed samples, which alone count.
    pub samples: usize,
    pub disturbed_samples: usize,
    /// The calls of these samples. None unless the requirement is about a percentile.
    pub calls: Option<u64>,
    /// Why there is no verdict. None if there is one.
    pub undecided: Option<Undecided>,
    /// So many times the samples would probably decide. None if nobody knows.
    #[serde(skip)]
    pub times_samples: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Undecided {
    /// There is no interval with so few samples.
    FewSamples { needed: usize },
    /// There is no percentile of so few calls.
    FewCalls { needed: u64 },
    /// So few calls do not show how large the percentile may be.
    NoUpperEnd,
    /// The limit is within the interval.
    WithinInterval,
}

/// The samples of a case, as far as requirements need them.
#[derive(Debug)]
pub struct Watched {
    case: CaseRecord,
    samples: Vec<WatchedSample>,
    disturbed: usize,
}

#[derive(Debug)]
struct WatchedSample {
    bytes: u64,
    total_ns: u64,
    whole_work_ns: f64,
    durations: Option<Durations>,
    /// How many disturbed samples were before it.
    disturbed: usize,
}

impl Watched {
    /// `case` is a row without samples.
    pub fn new(case: CaseRecord) -> Self {
        Self {
            case,
            samples: Vec::new(),
            disturbed: 0,
        }
    }

    fn with_samples(record: &CaseRecord) -> Self {
        let mut watched = Self::new(record.without_samples());
        record.samples.iter().for_each(|sample| watched.see(sample));
        watched
    }

    pub fn see(&mut self, sample: &Sample) {
        if !sample.outcome.is_ok() {
            return;
        }
        if sample.disturbed.is_some() {
            self.disturbed += 1;
            return;
        }
        let whole_work_ns = sample.whole_work_ns(&self.case.workload, Objective::Time);
        self.samples
            .extend(whole_work_ns.map(|whole_work_ns| WatchedSample {
                bytes: sample.bytes,
                total_ns: sample.phases_ns.total().max(1),
                whole_work_ns,
                durations: sample.latency.as_deref().and_then(Durations::read),
                disturbed: self.disturbed,
            }));
    }

    /// The number of samples that count.
    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Judges a requirement, as one of so many judgements of the run. The first verdict counts, because samples end there,
    /// unless a contest or another requirement needs more of them.
    pub fn judge(&self, requirement: Requirement, of: usize) -> Judged {
        let fewest = fewest_for_limit(confidence_of_each(of));
        let looks = (fewest..self.samples.len()).filter(|&count| is_look(count));
        let mut judged = looks.map(|count| self.first(count).judge(requirement, of));
        judged
            .find(|judged| judged.verdict != LimitVerdict::Undecided)
            .unwrap_or_else(|| self.first(self.samples.len()).judge(requirement, of))
    }

    /// The verdict on all samples so far. None if one does not look at so many.
    pub fn verdict_now(&self, requirement: Requirement, of: usize) -> Option<LimitVerdict> {
        let count = self.samples.len();
        is_look(count).then(|| self.first(count).judge(requirement, of).verdict)
    }

    fn first(&self, count: usize) -> Look<'_> {
        Look {
            case: &self.case,
            samples: &self.samples[..count],
            disturbed: self
                .samples
                .get(count)
                .map_or(self.disturbed, |next| next.disturbed),
        }
    }
}

/// Whether one looks after so many samples: after each of a few, and of many after each thirtieth part.
fn is_look(count: usize) -> bool {
    const EACH: usize = 64;
    count < EACH || count.is_multiple_of(count.next_power_of_two() / EACH)
}

/// The first samples of a case.
struct Look<'w> {
    case: &'w CaseRecord,
    samples: &'w [WatchedSample],
    disturbed: usize,
}

impl<'w> Look<'w> {
    fn judge(&self, requirement: Requirement, of: usize) -> Judged {
        let confidence = confidence_of_each(of);
        let calls = requirement
            .measure
            .percentile_in_calls()
            .map(|in_calls| (in_calls, self.calls()));
        let found = match calls {
            _ if self.samples.len() < fewest_for_limit(confidence) => Err(Undecided::FewSamples {
                needed: fewest_for_limit(confidence),
            }),
            Some((in_calls, calls)) if !has_percentile(calls, in_calls) => {
                Err(Undecided::FewCalls { needed: in_calls })
            }
            Some((in_calls, _)) => self.percentile(in_calls, confidence),
            None => self.typical(requirement.measure, confidence),
        };
        let limit = as_f64(requirement.limit);
        let verdict = match &found {
            Ok(found) if requirement.measure.is_time() => {
                LimitVerdict::below(&found.interval, limit)
            }
            Ok(found) => LimitVerdict::above(&found.interval, limit),
            Err(_) => LimitVerdict::Undecided,
        };
        let undecided = match &found {
            Err(why) => Some(*why),
            Ok(_) if verdict != LimitVerdict::Undecided => None,
            Ok(found) if found.lacks_upper_end(limit) => Some(Undecided::NoUpperEnd),
            Ok(_) => Some(Undecided::WithinInterval),
        };
        let calls = calls.map(|(_, calls)| calls);
        Judged {
            verdict,
            interval: found.as_ref().ok().map(|found| found.interval),
            samples: self.samples.len(),
            disturbed_samples: self.disturbed,
            calls,
            undecided,
            times_samples: undecided
                .and_then(|why| self.times_samples(why, found.ok()?, limit))
                .or_else(|| self.times_for(undecided?, calls)),
        }
    }

    fn calls(&self) -> u64 {
        self.durations().map(Durations::count).sum()
    }

    fn durations(&self) -> impl Iterator<Item = &'w Durations> {
        self.samples
            .iter()
            .filter_map(|sample| sample.durations.as_ref())
    }

    fn percentile(&self, in_calls: u64, confidence: f64) -> Result<Found, Undecided> {
        let samples: Vec<&Cumulative> = self.durations().map(Durations::cumulative).collect();
        let found = quantile_interval(&samples, in_calls, confidence);
        let found = found.ok_or(Undecided::FewSamples {
            needed: fewest_for_limit(confidence),
        })?;
        Ok(Found {
            interval: found.interval,
            times_for_end: (found.reach * as_f64(in_calls)).powi(2),
        })
    }

    fn typical(&self, measure: Measure, confidence: f64) -> Result<Found, Undecided> {
        let values: Vec<f64> = self
            .samples
            .iter()
            .map(|sample| self.value(sample, measure))
            .collect();
        let interval = limit_interval(&values, confidence).ok_or(Undecided::FewSamples {
            needed: fewest_for_limit(confidence),
        })?;
        Ok(Found {
            interval,
            times_for_end: 1.0,
        })
    }

    fn value(&self, sample: &WatchedSample, measure: Measure) -> f64 {
        let total_ns = as_f64(sample.total_ns);
        match measure {
            Measure::Throughput => per_s(sample.bytes, total_ns),
            Measure::Rate if self.case.workload.file_size.is_some() => {
                per_s(self.case.workload.files.into(), total_ns)
            }
            Measure::Rate => {
                let record_bytes = record_bytes(self.case).unwrap_or(sample.bytes);
                per_s(records(sample.bytes, record_bytes), total_ns)
            }
            _ => sample.whole_work_ns,
        }
    }

    /// How many times the samples would probably decide, where the interval did not: its reach shrinks with the root of
    /// their number.
    fn times_samples(&self, why: Undecided, found: Found, limit: f64) -> Option<f64> {
        let Interval {
            estimate,
            low,
            high,
            ..
        } = found.interval;
        if why == Undecided::NoUpperEnd {
            return Some(found.times_for_end);
        }
        let (reach, distance) = if estimate < limit {
            (high - estimate, limit - estimate)
        } else {
            (estimate - low, estimate - limit)
        };
        Some((reach / distance).powi(2)).filter(|times| times.is_finite())
    }

    /// The same, where there are too few samples or calls.
    fn times_for(&self, why: Undecided, calls: Option<u64>) -> Option<f64> {
        let (needed, have) = match why {
            Undecided::FewSamples { needed } => (as_f64(needed as u64), self.samples.len() as u64),
            Undecided::FewCalls { needed } => (as_f64(needed), calls?),
            Undecided::NoUpperEnd | Undecided::WithinInterval => return None,
        };
        (have > 0).then(|| needed / as_f64(have))
    }
}

#[derive(Debug, Clone, Copy)]
struct Found {
    interval: Interval,
    /// So many times the samples would probably show an upper end.
    times_for_end: f64,
}

impl Found {
    fn lacks_upper_end(&self, limit: f64) -> bool {
        self.interval.high.is_infinite() && self.interval.estimate < limit
    }
}

/// The cases of a run that are judged: plain write of each goal, or all cases that were named, on each target.
pub(crate) fn judged(cases: &[CaseReport]) -> Vec<&CaseReport> {
    let different = distinct(cases, |case| (&case.record.target, &case.record.case));
    if cases.iter().any(|case| !case.record.origin.is_of_goal()) {
        return different;
    }
    let goals = grouped(different, |case| {
        (
            case.record.origin.section(),
            &case.record.workload,
            &case.record.target,
        )
    });
    // Plain write is the first of its goal.
    goals.into_iter().map(|(_, cases)| cases[0]).collect()
}

/// Judges each requirement for each of these cases. Where plain write does not meet one, the recommended case follows.
pub(crate) fn required(run: &RunRecord, cases: &[CaseReport]) -> Vec<Required> {
    let requirements = &run.settings.requirements;
    if requirements.is_empty() {
        return Vec::new();
    }
    let judged = judged(cases);
    let of = requirements.len() * judged.len();
    let mut all = Vec::new();
    for &requirement in requirements {
        for &case in &judged {
            let found = judge(requirement, case, of);
            let is_met = found.judged.verdict == LimitVerdict::Met;
            all.push(found);
            if let Some((recommended, compared)) = recommended(run, case, cases).filter(|_| !is_met)
            {
                // It is the best of those that were compared, which alone makes it look better.
                let of = requirements.len() * compared.max(1);
                all.push(Required {
                    is_recommended: true,
                    ..judge(requirement, recommended, of)
                });
            }
        }
    }
    all
}

fn judge(requirement: Requirement, case: &CaseReport, of: usize) -> Required {
    Required {
        requirement,
        metric: metric(requirement.measure, &case.record),
        limit: requirement.limit,
        case: case.record.case.name().to_owned(),
        name: case.record.program().map_or_else(
            || case.record.case.to_string(),
            |command| format!("`{command}`"),
        ),
        target: case.record.target.clone(),
        is_recommended: false,
        is_of_files: case.record.workload.file_size.is_some(),
        judged: Watched::with_samples(&case.record).judge(requirement, of),
    }
}

fn metric(measure: Measure, case: &CaseRecord) -> &'static str {
    match measure {
        Measure::P50 => "p50_ns",
        Measure::P90 => "p90_ns",
        Measure::P99 => "p99_ns",
        Measure::P99_9 => "p99_9_ns",
        Measure::Rate if case.workload.file_size.is_some() => "files_per_s",
        Measure::Rate => "records_per_s",
        Measure::Throughput => "throughput_bytes_per_s",
        Measure::Time => "total_ns",
    }
}

/// The recommended case of the goal of plain write, and the number of compared ones. None if it is plain write.
fn recommended<'c>(
    run: &RunRecord,
    plain: &CaseReport,
    cases: &'c [CaseReport],
) -> Option<(&'c CaseReport, usize)> {
    let record = &plain.record;
    if !record.origin.is_of_goal() {
        return None;
    }
    let decision = run.decision(&record.target, &record.workload)?;
    let answer = decision.answer.as_ref()?;
    let is_answer = |case: &&CaseReport| {
        case.record.case.name() == answer.case
            && case.record.target == record.target
            && case.is_ranked()
    };
    let case = cases.iter().find(is_answer)?;
    let is_other = case.record.case != record.case;
    is_other.then_some((case, decision.compared as usize))
}

#[cfg(test)]
mod tests;
