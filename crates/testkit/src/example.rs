//! Records of an invented run.

use std::collections::BTreeMap;

use writebench_model::{
    Axis, Case, CaseOrigin, CaseRecord, Layout, Method, RecordedCase, RunRecord, RunStatus, Sample,
    Settings, Strategy, TargetRecord, built_in_suites,
};

const TARGET: &str = "/data/<b>|`x`";

/// A run whose target has markup in its name.
#[must_use]
pub fn example_run() -> RunRecord {
    RunRecord {
        id: "0f0e".to_owned(),
        label: None,
        status: RunStatus::Limited,
        started: "2026-11-21T00:00:00Z".to_owned(),
        version: "0.1.0".to_owned(),
        arguments: vec!["writebench".to_owned(), "run".to_owned()],
        settings: Settings {
            samples: 6,
            seed: 42,
            ..Settings::default()
        },
        targets: vec![example_target(TARGET)],
        cluster: None,
        written_bytes: None,
        cpu_wait_ppm: None,
        decisions: Vec::new(),
        missing: Vec::new(),
        cases: Vec::new(),
    }
}

#[must_use]
pub fn example_target(name: &str) -> TargetRecord {
    TargetRecord {
        name: name.to_owned(),
        path: name.to_owned(),
        environment: serde_json::from_str(include_str!("environment.json"))
            .expect("an environment"),
        limits: Vec::new(),
        made_filesystem: None,
    }
}

/// The record of a case with this name. An unknown name is that of a later version's case.
#[must_use]
pub fn recorded(name: &str) -> RecordedCase {
    let (method, axes) = match Case::parse(name).map(RecordedCase::from) {
        Ok(case) => (case.method().to_owned(), case.axes().clone()),
        Err(_) => (
            "write".to_owned(),
            BTreeMap::from([("chunk".to_owned(), "4KiB".to_owned())]),
        ),
    };
    let mut case = RecordedCase::unknown(name.to_owned(), method, axes);
    case.resolve();
    case
}

/// Cases of 8 MiB, each after the same case with the default. If no method has such a case, both also have a
/// value of another axis.
#[must_use]
pub fn example_pairs(axis: Axis, value: &str) -> Vec<(Case, Case)> {
    let alone = pairs_with(axis, value, None);
    if !alone.is_empty() {
        return alone;
    }
    let mut pairs = Vec::new();
    for &other in Axis::ALL.iter().filter(|&&other| other != axis) {
        for &other_value in other.examples() {
            pairs.extend(pairs_with(axis, value, Some((other, other_value))));
        }
    }
    pairs
}

/// The pairs of all methods, with one and two threads.
fn pairs_with(axis: Axis, value: &str, other: Option<(Axis, &str)>) -> Vec<(Case, Case)> {
    let mut pairs = Vec::new();
    for &method in Method::ALL {
        for threads in ["1", "2"] {
            let mut usual = vec![(Axis::Size, "8MiB"), (Axis::Threads, threads)];
            usual.extend(other);
            usual.retain(|(other, _)| *other != axis && method.has_axis(*other));
            pairs.extend(pair(method, &usual, axis, value));
        }
    }
    pairs
}

/// The case with the default of an axis and the case with a value of it, if they differ.
fn pair(method: Method, usual: &[(Axis, &str)], axis: Axis, value: &str) -> Option<(Case, Case)> {
    let default = Strategy::default_of(method).value(axis);
    let with_default = Case::example(method, &[usual, &[(axis, &default)]].concat()).ok()?;
    let case = Case::example(method, &[usual, &[(axis, value)]].concat()).ok()?;
    (with_default != case).then_some((with_default, case))
}

/// The origin of a case in a section of a suite.
#[must_use]
pub fn section_of(suite: &str, section: &str) -> CaseOrigin {
    let layout = built_in_suites()
        .iter()
        .find(|known| known.name == suite)
        .map_or(Layout::Phases, |suite| suite.layout);
    CaseOrigin::of_suite(suite, section, layout)
}

/// A case in the suite `write` with the workload for 1 GiB in a new file, left in the page cache.
#[must_use]
pub fn example_case(section: &str, name: &str, samples: Vec<Sample>) -> CaseRecord {
    CaseRecord {
        target: TARGET.to_owned(),
        origin: section_of("write", section),
        label: None,
        case: recorded(name),
        workload: Case::parse("write,size=1GiB").expect("a case").workload(),
        samples,
    }
}
