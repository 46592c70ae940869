use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use writebench_model::{CaseRecord, Contract, RunRecord};

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
    #[serde(rename = "id")]
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
    pub(super) fn from_record(case: &CaseRecord, with_target: bool) -> Self {
        Self { case: case.case.to_string(), target: with_target.then(|| case.target.clone()) }
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CompareError {
    #[error(
        "case {case} is different work in {first} and {second} ({differing}): unequal work is not compared"
    )]
    Contract { case: String, first: String, second: String, differing: String },
    #[error("{first} and {second} are the same run: name it once, on one side")]
    SameRun { first: String, second: String },
    #[error("{run} has the targets {targets}, the other side has one: name one after the run, as in …@{first}")]
    SeveralTargets { run: String, first: String, targets: String },
    #[error("{a} and {b} have no common case: `writebench show` lists the cases of a run")]
    NothingInCommon { a: String, b: String },
}

pub(super) fn different(runs: &[&ComparedRun]) -> Result<(), CompareError> {
    for (index, second) in runs.iter().enumerate() {
        // Targets of one run can be compared with each other.
        let has_in_common = |first: &&&ComparedRun| {
            first.run.id == second.run.id
                && first.run.targets.iter().any(|target| second.run.target(&target.name).is_some())
        };
        if let Some(first) = runs[..index].iter().find(has_in_common) {
            return Err(CompareError::SameRun { first: first.name.clone(), second: second.name.clone() });
        }
    }
    Ok(())
}

/// True if targets are compared by name.
pub(super) fn is_target_by_target(runs: &[&ComparedRun]) -> Result<bool, CompareError> {
    let Some(several) = runs.iter().find(|run| run.run.targets.len() > 1) else { return Ok(false) };
    if runs.iter().all(|run| run.run.targets.len() > 1) {
        return Ok(true);
    }
    let names: Vec<&str> = several.run.targets.iter().map(|target| target.name.as_str()).collect();
    let (run, first) = (several.name.clone(), names[0].to_owned());
    Err(CompareError::SeveralTargets { run, first, targets: names.join(", ") })
}

/// Data or defaults may differ.
pub(super) fn same_work(runs: &[&ComparedRun]) -> Result<(), CompareError> {
    let mut first_seen: HashMap<&str, (&Contract, &str)> = HashMap::new();
    for run in runs {
        for case in &run.run.cases {
            let (contract, first) = *first_seen.entry(case.case.name()).or_insert((&case.contract, &run.name));
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
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (Ok(a), Ok(b)) = (serde_json::to_value(a), serde_json::to_value(b)) else { return String::new() };
    let fields = a.as_object().into_iter().flatten().filter(|(name, value)| b[name.as_str()] != **value);
    let changed: Vec<String> =
        fields.map(|(name, value)| format!("{name}: {} → {}", text(value), text(&b[name.as_str()]))).collect();
    changed.join(", ")
}
