use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Serialize;
use writebench_model::{CaseRecord, Objective, RunRecord, Workload};
use writebench_stats::{CONFIDENCE, Interval, Verdict, distinct, independent_ratio, log_median};

use crate::numbers::case::CaseReport;
use crate::numbers::cases::cases;
use crate::numbers::obstacle::{Obstacle, disturbance, failure};

/// One of the two sides of a comparison: a run, or several of the same kind.
#[derive(Debug, Clone)]
pub struct Side {
    /// The side's name as the user gave it.
    pub name: String,
    pub runs: Vec<ComparedRun>,
}

#[derive(Debug, Clone)]
pub struct ComparedRun {
    /// `run 3`, or a file's name.
    pub name: String,
    pub run: RunRecord,
}

/// A case, with its target if runs have several.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct CaseOn {
    #[serde(rename = "name")]
    pub case: String,
    /// The target's name. It is None if every run has one target, because its name may differ between runs.
    pub target: Option<String>,
}

impl fmt::Display for CaseOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Some(target) => write!(f, "{} on {target}", self.case),
            None => f.write_str(&self.case),
        }
    }
}

impl CaseOn {
    fn from_record(case: &CaseRecord, with_target: bool) -> Self {
        Self {
            case: case.case.to_string(),
            target: with_target.then(|| case.target.clone()),
        }
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CompareError {
    #[error(
        "case {case} is different work in {first} and {second} ({differing}): unequal work is not compared"
    )]
    Workload {
        case: String,
        first: String,
        second: String,
        differing: String,
    },
    #[error("{first} and {second} are the same run: name it once, on one side")]
    SameRun { first: String, second: String },
    #[error(
        "{run} has the targets {targets}, the other side has one: name one after the run, as in …@{first}"
    )]
    SeveralTargets {
        run: String,
        first: String,
        targets: String,
    },
    #[error("{a} and {b} have no common case: `writebench show` lists the cases of a run")]
    NothingInCommon { a: String, b: String },
}

/// What a comparison counts as one observation of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationUnit {
    /// Two targets of one run are compared round by round.
    Round,
    /// Runs differ by more than their samples (Kalibera and Jones, *Rigorous Benchmarking in Reasonable Time*,
    /// 2013): one run per side proves nothing.
    Run,
}

/// A case with a rank on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCase {
    #[serde(flatten)]
    pub case: CaseOn,
    /// The throughput of side A. Several runs have the median of its logarithms.
    pub a_bytes_per_s: f64,
    pub b_bytes_per_s: f64,
    pub a_count: usize,
    pub b_count: usize,
    /// B's speed over A's.
    pub speed_ratio: Interval,
    pub verdict: Verdict,
}

/// A common case that has no rank in one of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excluded {
    pub case: String,
    pub run: String,
    pub reason: String,
}

#[derive(Debug, Clone)]
pub struct Comparison {
    pub a: Side,
    pub b: Side,
    pub unit: ObservationUnit,
    /// The limit of `--fail-if-slower`, in millionths.
    pub limit_ppm: Option<u32>,
    /// The cases with a rank on both sides, in A's order.
    pub cases: Vec<ComparedCase>,
    pub only_in_a: Vec<CaseOn>,
    pub only_in_b: Vec<CaseOn>,
    /// Cases of single runs without a ranked value.
    pub excluded: Vec<Excluded>,
    /// What kept each run's excluded cases from a rank, with the run's name.
    pub(crate) obstacles: Vec<(String, Obstacle)>,
}

impl Comparison {
    /// # Errors
    /// A run is given twice, a case of the same name is different work, or no case is common.
    pub fn from_sides(mut a: Side, mut b: Side) -> Result<Self, CompareError> {
        let runs: Vec<&ComparedRun> = a.runs.iter().chain(&b.runs).collect();
        different(&runs)?;
        same_work(&runs)?;
        let with_target = is_target_by_target(&runs)?;
        let names_of_a = case_names(&a, with_target);
        let names_of_b = case_names(&b, with_target);
        let (common, only_in_a) = split_by_presence(&names_of_a, &names_of_b);
        let (_, only_in_b) = split_by_presence(&names_of_b, &names_of_a);
        if common.is_empty() {
            return Err(CompareError::NothingInCommon {
                a: a.name,
                b: b.name,
            });
        }
        let unit = match (a.runs.as_slice(), b.runs.as_slice()) {
            ([a], [b]) if a.run.id == b.run.id => ObservationUnit::Round,
            _ => ObservationUnit::Run,
        };
        let cases_of_a = take_cases(&mut a, with_target);
        let cases_of_b = take_cases(&mut b, with_target);
        let obstacles = [
            obstacles(&a, &cases_of_a, &common),
            obstacles(&b, &cases_of_b, &common),
        ]
        .concat();
        let mut excluded = Vec::new();
        let mut cases = Vec::new();
        for case in common {
            let ranked_of_a = with_rank(&a, &cases_of_a, &case, &mut excluded);
            let ranked_of_b = with_rank(&b, &cases_of_b, &case, &mut excluded);
            cases.extend(compared(case, unit, &ranked_of_a, &ranked_of_b));
        }
        Ok(Self {
            a,
            b,
            unit,
            limit_ppm: None,
            cases,
            only_in_a,
            only_in_b,
            excluded,
            obstacles,
        })
    }

    /// Whether each side is a single run, so that drift between the two looks like a difference.
    pub fn is_of_single_runs(&self) -> bool {
        self.unit == ObservationUnit::Run && self.a.runs.len() == 1 && self.b.runs.len() == 1
    }

    /// The number of cases with too few rounds or runs for a 95% interval.
    pub fn too_few(&self) -> usize {
        self.cases
            .iter()
            .filter(|case| !case.speed_ratio.is_sure())
            .count()
    }

    /// Judges all cases again with this margin instead of [`Verdict::MARGIN`].
    #[must_use]
    pub fn with_margin(mut self, margin: f64) -> Self {
        for case in &mut self.cases {
            case.verdict = verdict(&case.speed_ratio, margin);
        }
        self
    }

    pub fn count(&self, verdict: Verdict) -> usize {
        self.cases
            .iter()
            .filter(|case| case.verdict == verdict)
            .count()
    }

    /// The number of A's cases without a verdict at 95 %: B lacks them, one side has no value, or too few rounds or
    /// runs.
    pub fn undecided_cases(&self) -> usize {
        let excluded = distinct(
            self.excluded.iter().map(|excluded| excluded.case.as_str()),
            |case| *case,
        );
        let not_compared = excluded
            .into_iter()
            .filter(|case| !self.compares(case))
            .count();
        self.only_in_a.len() + not_compared + self.too_few()
    }

    fn compares(&self, case: &str) -> bool {
        self.cases
            .iter()
            .any(|other| other.case.to_string() == case)
    }

    /// The cases that are slower by more than the limit, with their whole interval, so that noise adds none.
    pub fn slower(&self) -> Vec<&ComparedCase> {
        let Some(limit_ppm) = self.limit_ppm else {
            return Vec::new();
        };
        let least_ratio = 1.0 - f64::from(limit_ppm) / 1e6;
        self.cases
            .iter()
            .filter(|case| case.verdict == Verdict::Slower && case.speed_ratio.high < least_ratio)
            .collect()
    }
}

fn different(runs: &[&ComparedRun]) -> Result<(), CompareError> {
    for (index, second) in runs.iter().enumerate() {
        let earlier = &runs[..index];
        if let Some(first) = earlier.iter().find(|first| are_same(first, second)) {
            return Err(CompareError::SameRun {
                first: first.name.clone(),
                second: second.name.clone(),
            });
        }
    }
    Ok(())
}

/// Whether both are the same target of the same run. Different targets of one run can be compared with each other.
fn are_same(first: &ComparedRun, second: &ComparedRun) -> bool {
    first.run.id == second.run.id
        && first
            .run
            .targets
            .iter()
            .any(|target| second.run.target(&target.name).is_some())
}

/// Whether targets are compared by name, because each run has several.
fn is_target_by_target(runs: &[&ComparedRun]) -> Result<bool, CompareError> {
    let Some(several) = runs.iter().find(|run| run.run.targets.len() > 1) else {
        return Ok(false);
    };
    if runs.iter().all(|run| run.run.targets.len() > 1) {
        return Ok(true);
    }
    let names: Vec<&str> = several
        .run
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    Err(CompareError::SeveralTargets {
        run: several.name.clone(),
        first: names[0].to_owned(),
        targets: names.join(", "),
    })
}

/// Refuses cases of the same name with different workloads, which other data or other defaults cause.
fn same_work(runs: &[&ComparedRun]) -> Result<(), CompareError> {
    let mut first_seen: HashMap<&str, (&Workload, &str)> = HashMap::new();
    for run in runs {
        for case in &run.run.cases {
            let (workload, first) = *first_seen
                .entry(case.case.name())
                .or_insert((&case.workload, &run.name));
            if *workload != case.workload {
                return Err(CompareError::Workload {
                    case: case.case.to_string(),
                    first: first.to_owned(),
                    second: run.name.clone(),
                    differing: differing(workload, &case.workload),
                });
            }
        }
    }
    Ok(())
}

/// The fields that differ, such as `durability: cached → durable`.
fn differing(a: &Workload, b: &Workload) -> String {
    let (Ok(a), Ok(b)) = (serde_json::to_value(a), serde_json::to_value(b)) else {
        return String::new();
    };
    let changed: Vec<String> = a
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name, value, &b[name.as_str()]))
        .filter(|(_, value, other)| value != other)
        .map(|(name, value, other)| format!("{name}: {} → {}", unquoted(value), unquoted(other)))
        .collect();
    changed.join(", ")
}

fn unquoted(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The names of a side's cases, each once, although a case may be in several tables and runs.
fn case_names(side: &Side, with_target: bool) -> Vec<CaseOn> {
    let cases = side.runs.iter().flat_map(|run| &run.run.cases);
    distinct(
        cases.map(|case| CaseOn::from_record(case, with_target)),
        Clone::clone,
    )
}

/// The names that are also among the others, and those that are not.
fn split_by_presence(names: &[CaseOn], others: &[CaseOn]) -> (Vec<CaseOn>, Vec<CaseOn>) {
    let others: HashSet<&CaseOn> = others.iter().collect();
    names
        .iter()
        .cloned()
        .partition(|name| others.contains(name))
}

type CasesByName = HashMap<CaseOn, CaseReport>;

/// Takes the cases out of each run of the side.
fn take_cases(side: &mut Side, with_target: bool) -> Vec<CasesByName> {
    let mut by_run = Vec::new();
    for run in &mut side.runs {
        // Speeds are compared, also those of a search for another quantity.
        run.run.settings.objective = Objective::Time;
        let cases = cases(&mut run.run)
            .into_iter()
            .map(|case| (CaseOn::from_record(&case.record, with_target), case))
            .collect();
        by_run.push(cases);
    }
    by_run
}

/// What kept each run's common cases from a rank, with the run's name.
fn obstacles(
    side: &Side,
    cases_of_runs: &[CasesByName],
    common: &[CaseOn],
) -> Vec<(String, Obstacle)> {
    let mut obstacles = Vec::new();
    for (ComparedRun { run, name }, cases) in side.runs.iter().zip(cases_of_runs) {
        let unranked: Vec<&CaseReport> = common
            .iter()
            .filter_map(|case| cases.get(case))
            .filter(|case| !case.is_ranked())
            .collect();
        let obstacle = disturbance(run, &unranked).or_else(|| failure(run, &unranked));
        obstacles.extend(obstacle.map(|obstacle| (name.clone(), obstacle)));
    }
    obstacles
}

/// The reports of the case in the runs where it has a rank. The other runs are added to `excluded`.
fn with_rank<'r>(
    side: &Side,
    cases_of_runs: &'r [CasesByName],
    case: &CaseOn,
    excluded: &mut Vec<Excluded>,
) -> Vec<&'r CaseReport> {
    let mut ranked = Vec::new();
    for (run, cases) in side.runs.iter().zip(cases_of_runs) {
        let report = cases.get(case);
        match report.map_or(Some("not in the run".to_owned()), why_excluded) {
            Some(reason) => excluded.push(Excluded {
                case: case.to_string(),
                run: run.name.clone(),
                reason,
            }),
            None => ranked.extend(report),
        }
    }
    ranked
}

fn compared(
    case: CaseOn,
    unit: ObservationUnit,
    a: &[&CaseReport],
    b: &[&CaseReport],
) -> Option<ComparedCase> {
    let speed_ratio = match unit {
        ObservationUnit::Round => a.first()?.ratio_to(b.first()?)?,
        ObservationUnit::Run => speed_ratio_of_runs(a, b)?,
    };
    let [a_count, b_count] = match unit {
        ObservationUnit::Round => [speed_ratio.count; 2],
        ObservationUnit::Run => [a.len(), b.len()],
    };
    Some(ComparedCase {
        case,
        a_bytes_per_s: median_bytes_per_s(a)?,
        b_bytes_per_s: median_bytes_per_s(b)?,
        a_count,
        b_count,
        verdict: verdict(&speed_ratio, Verdict::MARGIN),
        speed_ratio,
    })
}

/// B's speed over A's. Speed is inverse time, so this is A's time over B's. It uses the same median as
/// `median_bytes_per_s`, so that the ratio is B's value over A's.
fn speed_ratio_of_runs(a: &[&CaseReport], b: &[&CaseReport]) -> Option<Interval> {
    let times_of_a: Vec<f64> = a.iter().map(|case| case.time_ns()).collect();
    let times_of_b: Vec<f64> = b.iter().map(|case| case.time_ns()).collect();
    let ratio = log_median(&times_of_a)? / log_median(&times_of_b)?;
    Some(independent_ratio(&times_of_a, &times_of_b, CONFIDENCE)?.around(ratio))
}

fn median_bytes_per_s(side: &[&CaseReport]) -> Option<f64> {
    let values: Vec<f64> = side
        .iter()
        .filter_map(|case| Some(case.estimate.as_ref()?.throughput_bytes_per_s.value))
        .collect();
    log_median(&values)
}

/// The verdict is about time, which is shorter on a faster side.
fn verdict(speed_ratio: &Interval, margin: f64) -> Verdict {
    Verdict::from_ratio(&speed_ratio.inverse(), margin)
}

/// Why the case has no rank in its run. The reason is None if it has one.
fn why_excluded(case: &CaseReport) -> Option<String> {
    if case.is_ranked() {
        return None;
    }
    Some(case.cause().unwrap_or_else(|| match &case.not_durable {
        Some(why) => format!("not durable there: {why}"),
        None => "every sample was disturbed".to_owned(),
    }))
}

#[cfg(test)]
mod tests;
