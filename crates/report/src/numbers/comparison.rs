//! Two sides of one or several runs, case by case.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use writebench_model::{CaseRecord, Sample};
use writebench_stats::{CONFIDENCE, Interval, Verdict, as_f64};

use crate::numbers::grouped::distinct;
use crate::numbers::in_rounds::total;
use crate::numbers::sides::{
    CaseOn, CompareError, ComparedRun, Side, different, is_target_by_target, same_work,
};

/// The unit of observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A sample, where each side is one run.
    Sample,
    /// The median of a run. Runs differ by more than their samples do (Kalibera and Jones, *Rigorous Benchmarking in
    /// Reasonable Time*, 2013).
    Run,
}

/// A case with figures on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCase {
    /// Programs get the case's fields beside the figures.
    #[serde(flatten)]
    pub case: CaseOn,
    /// A's median, in bytes per second.
    pub a_bytes_per_s: f64,
    /// B's median, in bytes per second.
    pub b_bytes_per_s: f64,
    /// The number of A's observations.
    pub a_count: usize,
    /// The number of B's observations.
    pub b_count: usize,
    /// B's speed over A's.
    #[serde(with = "Ratio")]
    pub speed_ratio: Interval,
    /// How B's time compares with A's.
    #[serde(serialize_with = "name")]
    pub verdict: Verdict,
}

fn name<S: serde::Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.name())
}

/// The form of the interval for programs.
#[derive(Serialize)]
#[serde(remote = "Interval")]
struct Ratio {
    estimate: f64,
    low: f64,
    high: f64,
    confidence: f64,
}

/// A case of a run without a comparable figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The case in words.
    pub case: String,
    pub run: String,
    pub why: String,
}

/// Two sides, compared.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The reference side.
    pub a: Side,
    /// The compared side.
    pub b: Side,
    pub unit: Unit,
    /// The cases with figures on both sides, in A's order.
    pub cases: Vec<ComparedCase>,
    pub only_in_a: Vec<CaseOn>,
    pub only_in_b: Vec<CaseOn>,
    /// Cases of single runs without a figure, or without a ranked one.
    pub left_out: Vec<LeftOut>,
}

impl Comparison {
    /// Compares B with A.
    ///
    /// # Errors
    /// A run is given twice, a case of the same name is different work, or there is no common case.
    pub fn of(a: Side, b: Side) -> Result<Self, CompareError> {
        let runs: Vec<&ComparedRun> = a.runs.iter().chain(&b.runs).collect();
        different(&runs)?;
        same_work(&runs)?;
        let with_target = is_target_by_target(&runs)?;
        let (names_of_a, names_of_b) = (case_names(&a, with_target), case_names(&b, with_target));
        let (common, only_in_a) = parted(&names_of_a, &names_of_b);
        let (_, only_in_b) = parted(&names_of_b, &names_of_a);
        if common.is_empty() {
            return Err(CompareError::NothingInCommon { a: a.name, b: b.name });
        }
        let unit = if a.runs.len() == 1 && b.runs.len() == 1 { Unit::Sample } else { Unit::Run };
        let mut left_out = Vec::new();
        let mut cases = Vec::new();
        let (records_of_a, records_of_b) = (records(&a, with_target), records(&b, with_target));
        for case in common {
            let of_a = Observed::of(&records_of_a, &case, unit, &mut left_out);
            let of_b = Observed::of(&records_of_b, &case, unit, &mut left_out);
            cases.extend(compared(case, &of_a, &of_b));
        }
        Ok(Self { a, b, unit, cases, only_in_a, only_in_b, left_out })
    }

    /// The same comparison with another margin than [`Verdict::MARGIN`] for cases that are as fast.
    #[must_use]
    pub fn with_margin(mut self, margin: f64) -> Self {
        for case in &mut self.cases {
            case.verdict = verdict(&case.speed_ratio, margin);
        }
        self
    }

    /// Whether the sides are two targets of the same run.
    #[must_use]
    pub fn is_of_one_run(&self) -> bool {
        matches!((self.a.runs.as_slice(), self.b.runs.as_slice()), ([a], [b]) if a.run.id == b.run.id)
    }

    /// The number of cases with that verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.cases.iter().filter(|case| case.verdict == verdict).count()
    }

    /// The number of A's cases without a verdict, because figures or B's case are missing.
    #[must_use]
    pub fn undecided_cases(&self) -> usize {
        let is_compared = |case: &str| self.cases.iter().any(|it| it.case.to_string() == case);
        let left_out = distinct(self.left_out.iter().map(|it| it.case.as_str()), |case| *case);
        let without_figures = left_out.into_iter().filter(|case| !is_compared(case)).count();
        self.only_in_a.len() + without_figures + self.count(Verdict::TooFew)
    }

    /// The cases whose whole interval is slower by more than that share, so that noise does not add cases.
    #[must_use]
    pub fn slower_than(&self, share: f64) -> Vec<&ComparedCase> {
        let is_slower =
            |case: &&ComparedCase| case.verdict == Verdict::Slower && case.speed_ratio.high < 1.0 - share;
        self.cases.iter().filter(is_slower).collect()
    }
}

/// Each case once, in order: it may be in several tables and runs.
fn case_names(side: &Side, with_target: bool) -> Vec<CaseOn> {
    let cases = side.runs.iter().flat_map(|it| &it.run.cases);
    distinct(cases.map(|case| CaseOn::of(case, with_target)), Clone::clone)
}

/// Splits names into those that are among the others and those that are not.
fn parted(names: &[CaseOn], others: &[CaseOn]) -> (Vec<CaseOn>, Vec<CaseOn>) {
    let others: HashSet<&CaseOn> = others.iter().collect();
    names.iter().cloned().partition(|name| others.contains(name))
}

/// For each run of a side, its name and its cases. A case in several tables has the same samples in each.
type Records<'r> = Vec<(&'r str, HashMap<CaseOn, &'r CaseRecord>)>;

fn records(side: &Side, with_target: bool) -> Records<'_> {
    let named = |case| (CaseOn::of(case, with_target), case);
    side.runs.iter().map(|it| (it.name.as_str(), it.run.cases.iter().map(named).collect())).collect()
}

/// The observations of a case on a side.
struct Observed {
    times_ns: Vec<f64>,
    bytes: f64,
}

impl Observed {
    fn of(runs: &Records<'_>, case: &CaseOn, unit: Unit, left_out: &mut Vec<LeftOut>) -> Self {
        let mut observed = Self { times_ns: Vec::new(), bytes: 0.0 };
        for (run, cases) in runs {
            let mut leave_out = |why: String| {
                left_out.push(LeftOut { case: case.to_string(), run: (*run).to_owned(), why });
            };
            let Some(record) = cases.get(case) else {
                leave_out("the run does not have it".to_owned());
                continue;
            };
            let usable = Sample::usable(&record.samples);
            if let Some(why) = why_left_out(record, &usable) {
                leave_out(why);
                continue;
            }
            // No work takes zero time, but a file may say so.
            let time = |sample: &Sample| total(sample).max(1.0);
            let times: Vec<f64> = usable.into_iter().map(time).collect();
            match unit {
                Unit::Sample => observed.times_ns = times,
                Unit::Run => observed.times_ns.extend(writebench_stats::median(&times)),
            }
            observed.bytes = as_f64(record.contract.bytes);
        }
        observed
    }

    fn bytes_per_s(&self) -> Option<f64> {
        writebench_stats::median(&self.times_ns).map(|ns| self.bytes * 1e9 / ns)
    }
}

fn compared(case: CaseOn, a: &Observed, b: &Observed) -> Option<ComparedCase> {
    // A slower side takes longer: A's time over B's is B's speed over A's.
    let speed_ratio = writebench_stats::independent_ratio(&a.times_ns, &b.times_ns, CONFIDENCE)?;
    Some(ComparedCase {
        case,
        a_bytes_per_s: a.bytes_per_s()?,
        b_bytes_per_s: b.bytes_per_s()?,
        a_count: a.times_ns.len(),
        b_count: b.times_ns.len(),
        verdict: verdict(&speed_ratio, Verdict::MARGIN),
        speed_ratio,
    })
}

/// The verdict is about time, which is shorter on a faster side.
fn verdict(speed_ratio: &Interval, margin: f64) -> Verdict {
    let Interval { estimate, low, high, confidence } = *speed_ratio;
    // A ratio of 0 means infinite time.
    let time_ratio = Interval { estimate: 1.0 / estimate, low: 1.0 / high, high: 1.0 / low, confidence };
    Verdict::of(&time_ratio, margin)
}

/// The reason why a case has no rank; none if it has one.
fn why_left_out(case: &CaseRecord, usable: &[&Sample]) -> Option<String> {
    let Some(last) = case.samples.last() else {
        return Some("not measured: the run ended before its turn".to_owned());
    };
    if let Some(reason) = last.reason() {
        return Some(format!("{}: {reason}", last.outcome.name()));
    }
    if usable.iter().any(|sample| sample.bytes < case.contract.bytes) {
        return Some("the budget cut its records short".to_owned());
    }
    let calm = usable.iter().any(|sample| sample.disturbed.is_none());
    (!calm).then(|| "every sample was disturbed".to_owned())
}

#[cfg(test)]
mod tests;
