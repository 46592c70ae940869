//! A JSON export, read back into the run that it was made of.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use writebench_model::{
    CaseRecord, Contract, Environment, Extent, Failure, Latency, Limit, MOST_ROWS, MOST_TARGETS, MissingTarget,
    Outcome, Phase, PhasesNs, ReadBack, RunRecord, RunStatus, Sample, Settings, TargetRecord, Timeline, Watch,
};

use crate::formats::json::SCHEMA;

/// Why a text is no export that can be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ImportError {
    /// No JSON, or other JSON.
    #[error("is no JSON export of writebench: {0}")]
    Foreign(String),
    /// Written by a later version.
    #[error("has schema {found}, this writebench reads schemas up to {SCHEMA}; use a newer writebench")]
    Newer {
        /// Its schema.
        found: u64,
    },
    /// Of ours by its schema, but with a part that is missing or makes no sense.
    #[error("is an export of writebench with something wrong in it: {0}")]
    Content(String),
}

/// What every document of ours begins with, whatever its schema.
#[derive(Deserialize)]
struct Beginning {
    schema: u64,
}

#[derive(Deserialize)]
struct Document {
    run: Run,
    #[serde(deserialize_with = "targets")]
    targets: Vec<TargetRecord>,
    #[serde(deserialize_with = "targets")]
    missing: Vec<MissingTarget>,
    #[serde(deserialize_with = "rows")]
    cases: Vec<Case>,
}

fn targets<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_seq(AtMost { most: MOST_TARGETS, what: "targets", of: PhantomData })
}

fn rows<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_seq(AtMost { most: MOST_ROWS, what: "cases", of: PhantomData })
}

/// A list that ends the reading where it is too long, before it takes all memory.
struct AtMost<T> {
    most: usize,
    what: &'static str,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtMost<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.what)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == self.most {
                return Err(A::Error::custom(format_args!("it has more than {} {}", self.most, self.what)));
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// What schema 1 had in place of targets: there was always one.
#[derive(Deserialize)]
struct OneTarget {
    run: OneTargetsRun,
    environment: Environment,
    #[serde(default)]
    limits: Vec<Limit>,
    #[serde(deserialize_with = "rows")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct OneTargetsRun {
    target: String,
    #[serde(flatten)]
    run: Run,
}

#[derive(Deserialize)]
struct Run {
    id: String,
    label: Option<String>,
    status: RunStatus,
    started: String,
    version: String,
    arguments: Vec<String>,
    settings: Settings,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    #[serde(default)]
    target: String,
    suite: String,
    section: String,
    label: Option<String>,
    method: String,
    axes: std::collections::BTreeMap<String, String>,
    contract: Contract,
    samples: Vec<SampleRow>,
}

#[derive(Deserialize)]
struct SampleRow {
    outcome: String,
    reason: Option<String>,
    cause: Option<Outcome>,
    round: u32,
    phases_ns: PhasesNs,
    bytes: u64,
    user_cpu_ns: u64,
    system_cpu_ns: u64,
    page_faults: u64,
    context_switches: u64,
    device_bytes: Option<u64>,
    read_back: Option<ReadBack>,
    // What schemas 1 and 2 had in its place: all of it, or nothing.
    verified: Option<bool>,
    probe_ns: [u64; 2],
    steal_ns: u64,
    settle_ns: u64,
    disturbed: Option<String>,
    latency: Option<Latency>,
    #[serde(default)]
    watch: Watch,
    timeline: Option<Timeline>,
}

/// Reads a document of schema 1, 2 or 3. Fields that came later may be missing, and those that are computed are not read:
/// a report of the run computes them again.
///
/// # Errors
/// The text is no such document.
pub fn run_of_export(text: &str) -> Result<RunRecord, ImportError> {
    let foreign = |error: serde_json::Error| ImportError::Foreign(error.to_string());
    let beginning: Beginning = serde_json::from_str(text).map_err(foreign)?;
    if !(1..=u64::from(SCHEMA)).contains(&beginning.schema) {
        return Err(ImportError::Newer { found: beginning.schema });
    }
    let content = |error: serde_json::Error| ImportError::Content(error.to_string());
    let document = match beginning.schema {
        1 => serde_json::from_str(text).map(with_one_target),
        _ => serde_json::from_str(text),
    };
    let run = record(document.map_err(content)?)?;
    run.check_size().map_err(|too_much| ImportError::Content(too_much.to_string()))?;
    Ok(run)
}

fn with_one_target(document: OneTarget) -> Document {
    let OneTarget { run: OneTargetsRun { target: path, run }, environment, limits, mut cases } = document;
    cases.iter_mut().for_each(|case| case.target.clone_from(&path));
    let name = path.clone();
    let target = TargetRecord { name, path, environment, limits, making: None, properties: None };
    Document { run, targets: vec![target], missing: Vec::new(), cases }
}

fn record(document: Document) -> Result<RunRecord, ImportError> {
    let Document { run, targets, missing, cases } = document;
    let mut names = HashSet::new();
    if let Some(twice) = targets.iter().find(|target| !names.insert(&target.name)) {
        return Err(ImportError::Content(format!("it has the target '{}' twice", twice.name)));
    }
    if let Some(case) = cases.iter().find(|case| !names.contains(&case.target)) {
        let what = format!("case {} is of the target '{}', which is not listed", case.id, case.target);
        return Err(ImportError::Content(what));
    }
    if targets.is_empty() {
        return Err(ImportError::Content("it has no target".to_owned()));
    }
    Ok(RunRecord {
        id: run.id,
        label: run.label,
        status: run.status,
        started: run.started,
        version: run.version,
        arguments: run.arguments,
        settings: run.settings,
        targets,
        missing,
        cases: cases.into_iter().map(case).collect::<Result<_, _>>()?,
    })
}

fn case(case: Case) -> Result<CaseRecord, ImportError> {
    let samples = case.samples.into_iter().map(sample).collect::<Result<_, _>>();
    let samples = samples.map_err(|what| ImportError::Content(format!("case {}: {what}", case.id)))?;
    Ok(CaseRecord {
        target: case.target,
        suite: case.suite,
        section: case.section,
        label: case.label,
        case: case.id,
        method: case.method,
        axes: case.axes,
        contract: case.contract,
        samples,
    })
}

fn sample(row: SampleRow) -> Result<Sample, String> {
    let PhasesNs { prepare, open, write, sync, close } = row.phases_ns;
    let phases = [prepare, open, write, sync, close];
    if phases.iter().try_fold(0u64, |sum, &phase| sum.checked_add(phase)).is_none() {
        return Err("phases_ns add up to more than a number holds".to_owned());
    }
    Ok(Sample {
        outcome: outcome(&row)?,
        round: row.round,
        phases_ns: row.phases_ns,
        bytes: row.bytes,
        user_cpu_ns: row.user_cpu_ns,
        system_cpu_ns: row.system_cpu_ns,
        page_faults: row.page_faults,
        context_switches: row.context_switches,
        device_bytes: row.device_bytes,
        read_back: read_back(&row),
        probe_ns: row.probe_ns,
        steal_ns: row.steal_ns,
        settle_ns: row.settle_ns,
        disturbed: row.disturbed,
        latency: row.latency.map(Box::new),
        watch: row.watch,
        timeline: row.timeline.map(Box::new),
    })
}

/// Documents before schema 3 do not say where the data came from.
fn read_back(row: &SampleRow) -> Option<ReadBack> {
    let whole = ReadBack { extent: Extent::Whole, bytes: row.bytes, from: None };
    row.read_back.or_else(|| row.verified.filter(|&verified| verified).map(|_| whole))
}

/// The outcome. Documents without `cause` have its words only; then a sample that has no figure is one that failed, or is
/// unsupported, with these words.
fn outcome(row: &SampleRow) -> Result<Outcome, String> {
    if let Some(cause) = &row.cause {
        return Ok(cause.clone());
    }
    let words = row.reason.clone().unwrap_or_default();
    let (call, message) = words.split_once(": ").unwrap_or((row.outcome.as_str(), &words));
    let failure = Failure {
        phase: Phase::Write,
        call: call.to_owned(),
        path: None,
        offset: None,
        errno: None,
        message: message.to_owned(),
    };
    match row.outcome.as_str() {
        "ok" => Ok(Outcome::Ok),
        "unsupported" => Ok(Outcome::Unsupported(failure.into())),
        "failed" | "timed-out" | "worker-died" => Ok(Outcome::Failed(failure.into())),
        other => Err(format!("unknown outcome '{other}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use crate::formats::json::render;
    use writebench_model::ReadFrom;
    use writebench_testkit::{example_case, example_run};

    fn run() -> RunRecord {
        let mut good = Sample::without_figures(0, Outcome::Ok);
        good.phases_ns.write = 17;
        good.bytes = 1 << 30;
        good.watch.dirty_bytes = Some(4096);
        good.read_back = Some(ReadBack { extent: Extent::Part, bytes: 1 << 26, from: Some(ReadFrom::Device) });
        good.timeline = Some(Timeline { interval_ns: 5, bytes: vec![1, 2] }.into());
        let failure = Failure {
            phase: Phase::Prepare,
            call: "fallocate".to_owned(),
            path: Some("sample".to_owned()),
            offset: None,
            errno: Some(28),
            message: "No space left on device".to_owned(),
        };
        let late = Outcome::TimedOut { phase: Phase::Sync, limit_ns: 10_000_000_000 };
        let outcomes = [Outcome::Failed(failure.clone().into()), Outcome::Unsupported(failure.into()), late];
        let others = outcomes.into_iter().map(|outcome| Sample::without_figures(1, outcome));
        let cases = vec![
            example_case("a section", "write", vec![good]),
            example_case("a section", "mmap", others.collect()),
        ];
        RunRecord { cases, label: Some("before".to_owned()), ..example_run() }
    }

    fn document() -> serde_json::Value {
        serde_json::from_str(&render(&Report::of(Some(3), run())).unwrap()).unwrap()
    }

    #[test]
    fn an_export_reads_back_as_the_run_that_it_was_made_of() {
        assert_eq!(run_of_export(&document().to_string()), Ok(run()));
    }

    #[test]
    fn schema_1_had_one_target_and_what_came_later_may_be_missing() {
        let mut document = document();
        document["schema"] = 1.into();
        let targets = document.as_object_mut().unwrap().remove("targets").unwrap();
        document["environment"] = targets[0]["environment"].clone();
        document["run"]["target"] = targets[0]["path"].clone();
        document.as_object_mut().unwrap().remove("missing");
        document["run"].as_object_mut().unwrap().remove("label");
        for case in document["cases"].as_array_mut().unwrap() {
            case.as_object_mut().unwrap().remove("target").unwrap();
            for sample in case["samples"].as_array_mut().unwrap() {
                for field in ["watch", "timeline", "latency", "cause", "read_back"] {
                    sample.as_object_mut().unwrap().remove(field);
                }
                sample["verified"] = if sample["outcome"] == "ok" { true.into() } else { None::<bool>.into() };
            }
        }
        let read = run_of_export(&document.to_string()).unwrap();
        assert_eq!((read.label.as_ref(), &read.targets), (None, &run().targets));
        assert!(read.cases.iter().all(|case| case.target == read.targets[0].name));
        assert_eq!(read.cases[0].samples[0].phases_ns, run().cases[0].samples[0].phases_ns);
        let whole = ReadBack { extent: Extent::Whole, bytes: 1 << 30, from: None };
        assert_eq!(read.cases[0].samples[0].read_back, Some(whole), "verified, and nobody knows from where");
        assert_eq!(read.cases[1].samples[0].read_back, None);
        let reasons = |run: &RunRecord| {
            run.cases[1].samples[..2]
                .iter()
                .map(|it| (it.outcome.name(), it.outcome.reason()))
                .collect::<Vec<_>>()
        };
        assert_eq!(reasons(&read), reasons(&run()), "in words, it is the same");
    }

    #[test]
    fn what_is_no_export_is_told_in_one_line() {
        let mut newer = document();
        newer["schema"] = 4.into();
        let mut broken = document();
        broken["targets"][0]["environment"].as_object_mut().unwrap().remove("system");
        let mut lost = document();
        lost["cases"][0]["target"] = "/nowhere".into();
        let mut unknown = document();
        unknown["cases"][0]["samples"][0]["outcome"] = "wonderful".into();
        let mut endless = document();
        endless["cases"][0]["samples"][0]["phases_ns"]["open"] = u64::MAX.into();
        for (text, told) in [
            (endless.to_string(), "more than a number holds"),
            (String::new(), "no JSON export of writebench"),
            ("{\"cases\": []}".to_owned(), "missing field `schema`"),
            (newer.to_string(), "has schema 4, this writebench reads schemas up to 3"),
            (lost.to_string(), "case write is of the target '/nowhere', which is not listed"),
            (broken.to_string(), "missing field `system`"),
            (unknown.to_string(), "unknown outcome 'wonderful'"),
        ] {
            let error = run_of_export(&text).unwrap_err().to_string();
            assert!(error.contains(told) && error.lines().count() == 1, "{error}");
        }
    }
}
