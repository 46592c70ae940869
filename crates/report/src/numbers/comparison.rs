use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Serialize;
use writebench_model::{CaseRecord, Contract, Objective, RunRecord};
use writebench_stats::{CONFIDENCE, Interval, Verdict, distinct, independent_ratio, log_median};

use crate::numbers::case::{CaseReport, cases};
use crate::numbers::obstacle::{Obstacle, disturbance, failure};

#[derive(Debug, Clone)]
pub struct Side {
    /// As the user gave it.
    pub name: String,
    pub runs: Vec<ComparedRun>,
}

#[derive(Debug, Clone)]
pub struct ComparedRun {
    /// `run 3`, or a file's name.
    pub name: String,
    pub run: RunRecord,
}

/// The target only if runs have several.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct CaseOn {
    #[serde(rename = "name")]
    pub case: String,
    /// None if every run has one target, whose name may differ.
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
    Contract {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationUnit {
    /// For two targets of one run.
    Round,
    /// Runs differ by more than their samples (Kalibera and Jones, *Rigorous Benchmarking in Reasonable Time*,
    /// 2013): one run per side proves nothing.
    Run,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCase {
    #[serde(flatten)]
    pub case: CaseOn,
    /// Of several runs, the median of the logarithms.
    pub a_bytes_per_s: f64,
    pub b_bytes_per_s: f64,
    pub a_count: usize,
    pub b_count: usize,
    /// B's speed over A's.
    pub speed_ratio: Interval,
    pub verdict: Verdict,
}

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
    /// Of `--fail-if-slower`, in millionths.
    pub limit_ppm: Option<u32>,
    /// In A's order.
    pub cases: Vec<ComparedCase>,
    pub only_in_a: Vec<CaseOn>,
    pub only_in_b: Vec<CaseOn>,
    /// Cases of single runs without a ranked value.
    pub excluded: Vec<Excluded>,
    /// What kept them from one, by the run's name.
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
        let (names_of_a, names_of_b) = (case_names(&a, with_target), case_names(&b, with_target));
        let (common, only_in_a) = parted(&names_of_a, &names_of_b);
        let (_, only_in_b) = parted(&names_of_b, &names_of_a);
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
            let of_a = with_rank(&cases_of_a, &case, &mut excluded);
            let of_b = with_rank(&cases_of_b, &case, &mut excluded);
            cases.extend(compared(case, unit, &of_a, &of_b));
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

    /// Drift between two runs looks like a difference.
    pub fn is_of_single_runs(&self) -> bool {
        self.unit == ObservationUnit::Run && self.a.runs.len() == 1 && self.b.runs.len() == 1
    }

    /// Cases with too few rounds or runs for a 95% interval.
    pub fn too_few(&self) -> usize {
        self.cases
            .iter()
            .filter(|case| !case.speed_ratio.is_sure())
            .count()
    }

    /// Replaces [`Verdict::MARGIN`].
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

    /// A's cases without a value on both sides.
    pub fn undecided_cases(&self) -> usize {
        let is_compared = |case: &str| {
            self.cases
                .iter()
                .any(|other| other.case.to_string() == case)
        };
        let excluded = distinct(
            self.excluded.iter().map(|excluded| excluded.case.as_str()),
            |case| *case,
        );
        let undecided = excluded
            .into_iter()
            .filter(|case| !is_compared(case))
            .count();
        self.only_in_a.len() + undecided + self.too_few()
    }

    /// By more than the limit, with the whole interval: noise adds no cases.
    pub fn slower(&self) -> Vec<&ComparedCase> {
        let Some(limit_ppm) = self.limit_ppm else {
            return Vec::new();
        };
        let least = 1.0 - f64::from(limit_ppm) / 1e6;
        let is_slower =
            |case: &&ComparedCase| case.verdict == Verdict::Slower && case.speed_ratio.high < least;
        self.cases.iter().filter(is_slower).collect()
    }
}

fn different(runs: &[&ComparedRun]) -> Result<(), CompareError> {
    for (index, second) in runs.iter().enumerate() {
        // Targets of one run can be compared with each other.
        let has_in_common = |first: &&&ComparedRun| {
            first.run.id == second.run.id
                && first
                    .run
                    .targets
                    .iter()
                    .any(|target| second.run.target(&target.name).is_some())
        };
        if let Some(first) = runs[..index].iter().find(has_in_common) {
            return Err(CompareError::SameRun {
                first: first.name.clone(),
                second: second.name.clone(),
            });
        }
    }
    Ok(())
}

/// True if targets are compared by name.
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
    let (run, first) = (several.name.clone(), names[0].to_owned());
    Err(CompareError::SeveralTargets {
        run,
        first,
        targets: names.join(", "),
    })
}

/// Data or defaults may differ.
fn same_work(runs: &[&ComparedRun]) -> Result<(), CompareError> {
    let mut first_seen: HashMap<&str, (&Contract, &str)> = HashMap::new();
    for run in runs {
        for case in &run.run.cases {
            let (contract, first) = *first_seen
                .entry(case.case.name())
                .or_insert((&case.contract, &run.name));
            if *contract != case.contract {
                return Err(CompareError::Contract {
                    case: case.case.to_string(),
                    first: first.to_owned(),
                    second: run.name.clone(),
                    differing: differing(contract, &case.contract),
                });
            }
        }
    }
    Ok(())
}

/// `durability: cached → durable`, for each field.
fn differing(a: &Contract, b: &Contract) -> String {
    let text = |value: &serde_json::Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let (Ok(a), Ok(b)) = (serde_json::to_value(a), serde_json::to_value(b)) else {
        return String::new();
    };
    let fields = a
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| b[name.as_str()] != **value);
    let changed: Vec<String> = fields
        .map(|(name, value)| format!("{name}: {} → {}", text(value), text(&b[name.as_str()])))
        .collect();
    changed.join(", ")
}

/// A case may be in several tables and runs.
fn case_names(side: &Side, with_target: bool) -> Vec<CaseOn> {
    let cases = side.runs.iter().flat_map(|run| &run.run.cases);
    distinct(
        cases.map(|case| CaseOn::from_record(case, with_target)),
        Clone::clone,
    )
}

fn parted(names: &[CaseOn], others: &[CaseOn]) -> (Vec<CaseOn>, Vec<CaseOn>) {
    let others: HashSet<&CaseOn> = others.iter().collect();
    names
        .iter()
        .cloned()
        .partition(|name| others.contains(name))
}

/// Name and cases of each run.
type Cases = Vec<(String, HashMap<CaseOn, CaseReport>)>;

fn take_cases(side: &mut Side, with_target: bool) -> Cases {
    let of_run = |run: &mut ComparedRun| {
        // Speeds are compared, also those of a search for another quantity.
        run.run.settings.objective = Objective::Time;
        let cases = cases(&mut run.run)
            .into_iter()
            .map(|case| (CaseOn::from_record(&case.record, with_target), case));
        (run.name.clone(), cases.collect())
    };
    side.runs.iter_mut().map(of_run).collect()
}

/// Of each run's common cases without a rank.
fn obstacles(side: &Side, cases: &Cases, common: &[CaseOn]) -> Vec<(String, Obstacle)> {
    let of_run = |(run, (name, cases)): (&ComparedRun, &(String, HashMap<CaseOn, CaseReport>))| {
        let unranked = common
            .iter()
            .filter_map(|case| cases.get(case))
            .filter(|case| !case.is_ranked());
        let unranked: Vec<&CaseReport> = unranked.collect();
        let obstacle = disturbance(&run.run, &unranked).or_else(|| failure(&run.run, &unranked));
        Some((name.clone(), obstacle?))
    };
    side.runs.iter().zip(cases).filter_map(of_run).collect()
}

fn with_rank<'r>(
    runs: &'r Cases,
    case: &CaseOn,
    excluded: &mut Vec<Excluded>,
) -> Vec<&'r CaseReport> {
    let mut ranked = Vec::new();
    for (run, cases) in runs {
        let report = cases.get(case);
        match report.map_or(Some("not in the run".to_owned()), why_excluded) {
            Some(reason) => excluded.push(Excluded {
                case: case.to_string(),
                run: run.clone(),
                reason,
            }),
            None => ranked.extend(report),
        }
    }
    ranked
}

/// Speed is inverse time: A's time over B's. The same median of both, so that the ratio is B's value over A's.
fn compared(
    case: CaseOn,
    unit: ObservationUnit,
    a: &[&CaseReport],
    b: &[&CaseReport],
) -> Option<ComparedCase> {
    let times = |side: &[&CaseReport]| side.iter().map(|case| case.time_ns()).collect::<Vec<f64>>();
    let bytes_per_s = |side: &[&CaseReport]| {
        let value = |case: &&CaseReport| Some(case.estimate.as_ref()?.throughput_bytes_per_s.value);
        log_median(&side.iter().filter_map(value).collect::<Vec<f64>>())
    };
    let times_of_a = times(a);
    let times_of_b = times(b);
    let ratio = log_median(&times_of_a)? / log_median(&times_of_b)?;
    let speed_ratio = match unit {
        ObservationUnit::Round => a.first()?.ratio_to(b.first()?)?,
        ObservationUnit::Run => {
            independent_ratio(&times_of_a, &times_of_b, CONFIDENCE)?.around(ratio)
        }
    };
    let [a_count, b_count] = match unit {
        ObservationUnit::Round => [speed_ratio.count; 2],
        ObservationUnit::Run => [a.len(), b.len()],
    };
    Some(ComparedCase {
        case,
        a_bytes_per_s: bytes_per_s(a)?,
        b_bytes_per_s: bytes_per_s(b)?,
        a_count,
        b_count,
        verdict: verdict(&speed_ratio, Verdict::MARGIN),
        speed_ratio,
    })
}

/// The verdict is about time, which is shorter on a faster side.
fn verdict(speed_ratio: &Interval, margin: f64) -> Verdict {
    Verdict::from_ratio(&speed_ratio.inverse(), margin)
}

/// None with a rank.
fn why_excluded(case: &CaseReport) -> Option<String> {
    if case.is_ranked() {
        return None;
    }
    let other = || match &case.not_durable {
        Some(why) => format!("not durable there: {why}"),
        None => "every sample was disturbed".to_owned(),
    };
    Some(case.cause().unwrap_or_else(other))
}

#[cfg(test)]
mod tests;
