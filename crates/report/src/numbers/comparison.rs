//! Two sides of one or several runs, case by case.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use writebench_stats::{CONFIDENCE, Interval, Verdict, distinct};

use crate::numbers::case::{CaseReport, cases};
use crate::numbers::sides::{
    CaseOn, CompareError, ComparedRun, Side, different, is_target_by_target, same_work,
};

/// The unit of observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationUnit {
    /// A round, where the sides are two targets of one run.
    Round,
    /// A run. Runs differ by more than their samples do (Kalibera and Jones, *Rigorous Benchmarking in Reasonable
    /// Time*, 2013), so one run per side proves nothing.
    Run,
}

/// A case with figures on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCase {
    /// Programs get the case's fields beside the figures.
    #[serde(flatten)]
    pub case: CaseOn,
    /// A's value, in bytes per second; of several runs the median of their values.
    pub a_bytes_per_s: f64,
    pub b_bytes_per_s: f64,
    /// The number of A's observations.
    pub a_count: usize,
    /// The number of B's observations.
    pub b_count: usize,
    /// B's speed over A's.
    pub speed_ratio: Interval,
    /// How B's time compares with A's.
    pub verdict: Verdict,
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
    pub unit: ObservationUnit,
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
    pub fn from_sides(mut a: Side, mut b: Side) -> Result<Self, CompareError> {
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
        let is_of_one_run =
            matches!((a.runs.as_slice(), b.runs.as_slice()), ([a], [b]) if a.run.id == b.run.id);
        let unit = if is_of_one_run { ObservationUnit::Round } else { ObservationUnit::Run };
        let (cases_of_a, cases_of_b) = (take_cases(&mut a, with_target), take_cases(&mut b, with_target));
        let mut left_out = Vec::new();
        let mut cases = Vec::new();
        for case in common {
            let of_a = with_rank(&cases_of_a, &case, &mut left_out);
            let of_b = with_rank(&cases_of_b, &case, &mut left_out);
            cases.extend(compared(case, unit, &of_a, &of_b));
        }
        Ok(Self { a, b, unit, cases, only_in_a, only_in_b, left_out })
    }

    /// Whether each side is one run, so that a drift between them looks like a difference.
    pub fn is_of_single_runs(&self) -> bool {
        self.unit == ObservationUnit::Run && self.a.runs.len() == 1 && self.b.runs.len() == 1
    }

    /// The number of cases with too few rounds or runs for an interval of 95 %.
    pub fn too_few(&self) -> usize {
        self.cases.iter().filter(|case| !case.speed_ratio.is_sure()).count()
    }

    /// The same comparison with another margin than [`Verdict::MARGIN`] for cases that are the same.
    #[must_use]
    pub fn with_margin(mut self, margin: f64) -> Self {
        for case in &mut self.cases {
            case.verdict = verdict(&case.speed_ratio, margin);
        }
        self
    }

    /// The number of cases with that verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.cases.iter().filter(|case| case.verdict == verdict).count()
    }

    /// The number of A's cases without a verdict, because figures or B's case are missing.
    pub fn undecided_cases(&self) -> usize {
        let is_compared = |case: &str| self.cases.iter().any(|other| other.case.to_string() == case);
        let left_out = distinct(self.left_out.iter().map(|left| left.case.as_str()), |case| *case);
        let without_figures = left_out.into_iter().filter(|case| !is_compared(case)).count();
        self.only_in_a.len() + without_figures + self.too_few()
    }

    /// The cases whose whole interval is slower by more than that share, so that noise does not add cases.
    pub fn slower_than(&self, share: f64) -> Vec<&ComparedCase> {
        let is_slower =
            |case: &&ComparedCase| case.verdict == Verdict::Slower && case.speed_ratio.high < 1.0 - share;
        self.cases.iter().filter(is_slower).collect()
    }
}

/// Each case once, in order: it may be in several tables and runs.
fn case_names(side: &Side, with_target: bool) -> Vec<CaseOn> {
    let cases = side.runs.iter().flat_map(|run| &run.run.cases);
    distinct(cases.map(|case| CaseOn::from_record(case, with_target)), Clone::clone)
}

/// Splits names into those that are among the others and those that are not.
fn parted(names: &[CaseOn], others: &[CaseOn]) -> (Vec<CaseOn>, Vec<CaseOn>) {
    let others: HashSet<&CaseOn> = others.iter().collect();
    names.iter().cloned().partition(|name| others.contains(name))
}

/// For each run of a side, its name and its cases.
type Cases = Vec<(String, HashMap<CaseOn, CaseReport>)>;

/// Takes the cases out of the runs of a side.
fn take_cases(side: &mut Side, with_target: bool) -> Cases {
    let of_run = |run: &mut ComparedRun| {
        let cases =
            cases(&mut run.run).into_iter().map(|case| (CaseOn::from_record(&case.record, with_target), case));
        (run.name.clone(), cases.collect())
    };
    side.runs.iter_mut().map(of_run).collect()
}

/// The case in each run that gives it a rank.
fn with_rank<'r>(runs: &'r Cases, case: &CaseOn, left_out: &mut Vec<LeftOut>) -> Vec<&'r CaseReport> {
    let mut ranked = Vec::new();
    for (run, cases) in runs {
        let report = cases.get(case);
        match report.map_or(Some("the run does not have it".to_owned()), why_left_out) {
            Some(why) => left_out.push(LeftOut { case: case.to_string(), run: run.clone(), why }),
            None => ranked.extend(report),
        }
    }
    ranked
}

/// A slower side takes longer: A's time over B's is B's speed over A's.
fn compared(case: CaseOn, unit: ObservationUnit, a: &[&CaseReport], b: &[&CaseReport]) -> Option<ComparedCase> {
    let times = |side: &[&CaseReport]| side.iter().map(|case| case.time_ns()).collect::<Vec<f64>>();
    let bytes_per_s = |side: &[&CaseReport]| {
        let estimates = side.iter().filter_map(|case| case.estimate.as_ref());
        writebench_stats::median(
            &estimates.map(|estimate| estimate.throughput_bytes_per_s.value).collect::<Vec<f64>>(),
        )
    };
    let (times_of_a, times_of_b) = (times(a), times(b));
    let ratio = writebench_stats::median(&times_of_a)? / writebench_stats::median(&times_of_b)?;
    let speed_ratio = match unit {
        ObservationUnit::Round => a.first()?.ratio_to(b.first()?)?,
        ObservationUnit::Run => {
            writebench_stats::independent_ratio(&times_of_a, &times_of_b, CONFIDENCE)?.around(ratio)
        }
    };
    let count =
        |side: &[&CaseReport]| if unit == ObservationUnit::Round { speed_ratio.count } else { side.len() };
    Some(ComparedCase {
        case,
        a_bytes_per_s: bytes_per_s(a)?,
        b_bytes_per_s: bytes_per_s(b)?,
        a_count: count(a),
        b_count: count(b),
        verdict: verdict(&speed_ratio, Verdict::MARGIN),
        speed_ratio,
    })
}

/// The verdict is about time, which is shorter on a faster side.
fn verdict(speed_ratio: &Interval, margin: f64) -> Verdict {
    Verdict::from_ratio(&speed_ratio.inverse(), margin)
}

/// The reason why a case has no rank; none if it has one.
fn why_left_out(case: &CaseReport) -> Option<String> {
    if case.is_ranked() {
        return None;
    }
    let other =
        if case.breaks_its_promise { "not durable on this filesystem" } else { "every sample was disturbed" };
    Some(case.cause().unwrap_or_else(|| other.to_owned()))
}

#[cfg(test)]
mod tests;
