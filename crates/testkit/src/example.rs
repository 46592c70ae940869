//! Records of an invented run.

use std::collections::BTreeMap;

use writebench_model::{
    Axes, Axis, Case, CaseOrigin, CaseRecord, Layout, Method, RecordedCase, RunRecord, RunStatus,
    Sample, Settings, TargetRecord, built_in_suites,
};

const TARGET: &str = "/data/<b>|`x`";

/// The target has markup.
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

/// Unknown names are cases of a later version.
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
    let with = |other: &[(Axis, &str)]| -> Vec<(Case, Case)> {
        let pair = |method, threads| {
            let usual = [(Axis::Size, "8MiB"), (Axis::Threads, threads)];
            let fits =
                |(other, _): &&(Axis, &str)| *other != axis && Method::has_axis(method, *other);
            let usual: Vec<_> = usual.iter().chain(other).filter(fits).copied().collect();
            let case = Case::example(method, &[&usual[..], &[(axis, value)]].concat()).ok()?;
            let default = Axes::defaults(method.card().prepares[0]).get(axis);
            Some((
                Case::example(method, &[&usual[..], &[(axis, &default)]].concat()).ok()?,
                case,
            ))
        };
        let pairs = Method::ALL
            .iter()
            .flat_map(|&method| ["1", "2"].map(|threads| pair(method, threads)));
        pairs
            .flatten()
            .filter(|(usual, case)| usual != case)
            .collect()
    };
    let alone = with(&[]);
    if !alone.is_empty() {
        return alone;
    }
    let others = Axis::ALL.iter().filter(|&&other| other != axis);
    let others =
        others.flat_map(|&other| other.examples().iter().map(move |&value| (other, value)));
    others
        .flat_map(|(other, value)| with(&[(other, value)]))
        .collect()
}

#[must_use]
pub fn section_of(suite: &str, section: &str) -> CaseOrigin {
    let layout = built_in_suites()
        .iter()
        .find(|known| known.name == suite)
        .map_or(Layout::Phases, |suite| suite.layout);
    CaseOrigin::of_suite(suite, section, layout)
}

/// In the suite `write`, for 1 GiB in a new file, left in the page cache.
#[must_use]
pub fn example_case(section: &str, name: &str, samples: Vec<Sample>) -> CaseRecord {
    CaseRecord {
        target: TARGET.to_owned(),
        origin: section_of("write", section),
        label: None,
        case: recorded(name),
        contract: Case::parse("write,size=1GiB").expect("a case").contract(),
        samples,
    }
}
