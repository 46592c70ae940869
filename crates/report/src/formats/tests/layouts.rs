use writebench_model::{CaseRecord, Durability, Outcome, RunRecord, RunStatus, Sample};
use writebench_testkit::{example_case, example_run, section_of};

use super::plain;
use crate::Report;
use crate::formats::terminal::{self, Detail};
use crate::numbers::{LatencyEstimate, has_percentile};

const NARROW: usize = 80;
/// Wider than all columns and the longest bar.
const WIDE: usize = 220;

fn case(suite: &str, label: Option<&str>, name: &str, write_ms: u64) -> CaseRecord {
    let samples = [100, 102, 98, 101, 99, 103]
        .into_iter()
        .zip(0..)
        .map(|(percent, round)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            sample.bytes = 1 << 30;
            sample.phases_ns.write = write_ms * percent * 10_000;
            sample.system_cpu_ns = sample.phases_ns.write;
            sample
        });
    let mut case = example_case("A section", name, samples.collect());
    (case.origin, case.label) = (section_of(suite, "A section"), label.map(str::to_owned));
    case
}

fn shown(cases: Vec<CaseRecord>, width: usize) -> String {
    let run = RunRecord {
        cases,
        status: RunStatus::Complete,
        ..example_run()
    };
    let text = plain(&terminal::report(
        &Report::from_run(Some(7), run),
        Detail::Usual,
        Some(width),
    ));
    assert!(
        text.lines().all(|line| line.chars().count() <= width),
        "{text}"
    );
    text
}

fn narrow_and_wide(cases: Vec<CaseRecord>) -> String {
    format!(
        "{}\n{:=<80}\n{}",
        shown(cases.clone(), NARROW),
        "",
        shown(cases, WIDE)
    )
}

#[test]
fn cases_with_syncs_between_writes_show_records() {
    let synced = || {
        let mut case = case("run", None, "write,chunk=4KiB,sync=fsync/1", 900);
        case.workload.durability = Durability::Durable;
        case.workload.durable_every_bytes = Some(4096);
        case
    };
    let all = shown(vec![synced()], NARROW);
    assert!(all.contains("records/s") && !all.contains("GB/s"), "{all}");
    let mixed = shown(vec![synced(), case("run", None, "write", 200)], WIDE);
    assert!(
        mixed.contains("records/s") && mixed.contains("GB/s"),
        "{mixed}"
    );
}

#[test]
fn phases_fit_their_terminal() {
    let mut cut = case("write", None, "fwrite,chunk=1KiB", 900);
    cut.samples[2].bytes /= 2;
    let mut disturbed = case("write", None, "mmap", 400);
    for sample in &mut disturbed.samples {
        sample.disturbed = Some("steal".to_owned());
    }
    let cases = vec![
        case("write", None, "write,chunk=4KiB,prepare=fallocate", 300),
        case("write", None, "write,prepare=fallocate", 200),
        disturbed,
        cut,
    ];
    insta::assert_snapshot!(narrow_and_wide(cases));
}

#[test]
fn long_names_are_above_their_values() {
    let long = "pwrite,chunk=4KiB,threads=16,files=per-thread,prepare=fallocate,sync=fdatasync";
    let case = |name, ms| case("parallel", None, name, ms);
    insta::assert_snapshot!(shown(
        vec![case(long, 300), case("pwrite,threads=8", 200)],
        NARROW
    ));
}

#[test]
fn ranks_fit_their_terminal() {
    insta::assert_snapshot!(narrow_and_wide(vec![
        case(
            "copy",
            Some("pipe+splice + advices + falloc"),
            "splice,prepare=posix-fallocate,advice=sequential",
            200
        ),
        case("copy", Some("read+write"), "read-write,chunk=4KiB", 500),
    ]));
}

#[test]
fn records_fit_their_terminal() {
    insta::assert_snapshot!(narrow_and_wide(vec![
        case(
            "durable",
            Some("append"),
            "write,chunk=4KiB,sync=fsync/1",
            900
        ),
        case(
            "durable",
            Some("overwrite, O_DIRECT"),
            "write,chunk=4KiB,prepare=overwrite,cache=direct,sync=o-dsync",
            300
        ),
    ]));
}

#[test]
fn a_matrix_fits_its_terminal() {
    let cell = |label: &str, chunk: &str, ms| {
        case("direct", Some(label), &format!("write,chunk={chunk}"), ms)
    };
    let chunks = [
        "4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB",
    ];
    let row = |label: &'static str, ms: u64| chunks.iter().map(move |chunk| cell(label, chunk, ms));
    insta::assert_snapshot!(narrow_and_wide(
        row("BUFFERED", 200)
            .chain(row("FSYNC + O_DIRECT", 900))
            .collect()
    ));
}

#[test]
fn cpu_times_fit_their_terminal() {
    insta::assert_snapshot!(narrow_and_wide(vec![
        case("buffer", None, "write,chunk=4KiB", 900),
        case("buffer", None, "write,chunk=1MiB", 300),
    ]));
}

#[test]
fn no_table_is_wider_than_the_terminal_and_all_have_values() {
    let report = |suite: &str, label: Option<&str>| {
        vec![
            case(suite, label, "write,chunk=4KiB", 900),
            case(suite, label, "mmap,chunk=1MiB", 300),
        ]
    };
    for (suite, label) in [
        ("write", None),
        ("copy", Some("a label")),
        ("durable", Some("a label")),
        ("buffer", None),
    ] {
        for width in 50..240 {
            let text = shown(report(suite, label), width);
            assert!(
                text.contains("95% CI") && text.contains("write,chunk=4KiB"),
                "{width}: {text}"
            );
        }
    }
}

/// A case that joined a contest has no label of its own.
#[test]
fn a_row_without_a_label_has_its_case_in_front() {
    let two = || {
        vec![
            case("flags", Some("plain"), "write", 200),
            case("flags", None, "pwrite,chunk=4KiB", 300),
        ]
    };
    let alone = shown(two(), WIDE);
    assert!(
        alone
            .lines()
            .any(|line| line.starts_with("pwrite,chunk=4KiB ")),
        "{alone}"
    );
    let mut side_by_side = RunRecord {
        cases: two(),
        status: RunStatus::Complete,
        ..example_run()
    };
    side_by_side.missing = vec![writebench_model::MissingTarget {
        name: "xfs".to_owned(),
        reason: "no mkfs.xfs".to_owned(),
    }];
    let report = Report::from_run(None, side_by_side);
    let text = plain(&terminal::report(&report, Detail::All, None));
    assert!(
        text.lines()
            .any(|line| line.starts_with("pwrite,chunk=4KiB ")),
        "{text}"
    );
}

/// The other cases' rounds show that both of its samples are from slow ones.
#[test]
fn a_value_outside_its_samples_has_a_reason_beside_it() {
    let rounds = |name: &str, times_us: &[(u32, u64)]| {
        let sample = |&(round, us): &(u32, u64)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            (sample.bytes, sample.phases_ns.write) = (1 << 20, us * 1000);
            sample
        };
        let mut case = example_case("A section", name, times_us.iter().map(sample).collect());
        (case.origin, case.workload.bytes) = (section_of("write", "A section"), 1 << 20);
        case
    };
    let all = [
        (0, 100),
        (1, 101),
        (2, 99),
        (3, 100),
        (4, 160),
        (5, 161),
        (6, 100),
    ];
    let run = RunRecord {
        cases: vec![
            rounds("write", &all),
            rounds("fwrite", &all),
            rounds("pwrite", &[(4, 150), (5, 151)]),
        ],
        status: RunStatus::Complete,
        ..example_run()
    };
    let report = Report::from_run(None, run);
    let text = plain(&terminal::report(&report, Detail::All, None));
    assert!(text.contains("Outside its samples:\n  pwrite"), "{text}");
    let estimate = report.cases[2].estimate.as_ref().unwrap();
    let (low, high) = estimate.total_ns.ends();
    assert!(
        low <= estimate.total_ns.value
            && estimate.total_ns.value <= high
            && low < estimate.total_ns.min
    );
}

/// p99 of 26 files was the longest of them.
#[test]
fn a_table_has_no_percentile_of_too_few_values() {
    let records = |count: u64| {
        let mut case = case("run", None, "write,chunk=4KiB,sync=fsync/1", 900);
        (case.workload.durability, case.workload.durable_every_bytes) =
            (Durability::Durable, Some(4096));
        let mut report = Report::from_run(
            None,
            RunRecord {
                cases: vec![case],
                ..example_run()
            },
        );
        let of = |in_calls: u64, ns: u64| has_percentile(count, in_calls).then_some(ns);
        let latency = LatencyEstimate {
            count,
            p50_ns: of(2, 1_001_000),
            p90_ns: of(10, 1_002_000),
            p99_ns: of(100, 1_003_000),
            p99_9_ns: of(1000, 1_004_000),
            max_ns: 1_005_000,
            max_record: None,
        };
        report.cases[0].estimate.as_mut().unwrap().latency = Some(latency);
        let text = plain(&terminal::report(&report, Detail::All, None));
        ["1001", "1002", "1003", "1004", "1005"].map(|number| text.contains(number))
    };
    assert_eq!(records(26), [true, true, false, false, true]);
    assert_eq!(records(100), [true, true, true, false, true]);
    assert_eq!(records(1000), [true; 5]);
}

#[test]
fn a_failed_case_is_not_in_a_column_of_the_fastest() {
    let failed = CaseRecord {
        samples: Vec::new(),
        ..case("run", None, "write,size=1MiB", 1)
    };
    let heading = |cases: Vec<CaseRecord>| {
        let text = shown(cases, WIDE);
        text.lines()
            .find(|line| line.contains("best measured") && line.contains("vs. plain write"))
            .map(str::to_owned)
    };
    let with_failure = heading(vec![failed]).expect("the first screen");
    assert!(
        with_failure.contains("best measured, or why none"),
        "{with_failure}"
    );
    let good = heading(vec![case("run", None, "write,size=1MiB", 1)]).expect("the first screen");
    assert!(!good.contains("why none"), "{good}");
}
