//! On terminals of several widths and in a pipe.

use writebench_model::{
    CaseOrigin, CaseRecord, Content, Durability, FoldedRun, KernelThreads, Layout, Outcome,
    RunRecord, RunStatus, Sample, Stage, Start, Visibility,
};
use writebench_testkit::{example_case, example_run, example_target, section_of};

use super::plain;
use crate::Report;
use crate::formats::terminal::{self, Detail};

fn case(name: &str, write_ms: u64) -> CaseRecord {
    let samples = [100, 102, 98, 101, 99, 103]
        .into_iter()
        .zip(0..)
        .map(|(percent, round)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            (sample.bytes, sample.phases_ns.write) = (128 << 20, write_ms * percent * 10_000);
            sample
        });
    let mut case = example_case(
        "A section",
        &format!("{name},size=128MiB"),
        samples.collect(),
    );
    case.origin = section_of(CaseOrigin::GOALS, "A section");
    if let Some(known) = case.case.known() {
        case.workload = known.workload();
    }
    case.workload.bytes = 128 << 20;
    case
}

fn report_of(cases: Vec<CaseRecord>) -> Report {
    Report::from_run(
        Some(5),
        RunRecord {
            cases,
            status: RunStatus::Complete,
            ..example_run()
        },
    )
}

/// The five goals of a run without --for.
fn usual_goals() -> Vec<CaseRecord> {
    vec![
        case("write", 33),
        case(
            "mmap,chunk=64KiB,threads=4,prepare=fallocate,huge=advise,store=nontemporal",
            25,
        ),
        case("write,sync=fsync", 115),
        case(
            "io_uring,prepare=fallocate,cache=direct,depth=2,sync=fdatasync",
            77,
        ),
        case("read-write", 60),
        case("read-write,prepare=fallocate", 59),
        case("write,chunk=4KiB,sync=fsync/1", 900),
        case("write,chunk=4KiB,prepare=zero-fill,sync=fdatasync/1", 500),
        case("write-files,file-size=16KiB,sync-files=each", 300),
        case("write-files,file-size=16KiB,sync-files=syncfs", 100),
    ]
}

fn other_goals() -> Vec<CaseRecord> {
    vec![
        case("write,prepare=overwrite", 27),
        case("write,prepare=overwrite,sync=fsync", 100),
        case(
            "pwrite,prepare=overwrite,chunk=4MiB,cache=direct,sync=fdatasync",
            60,
        ),
        case("read-write,sync=fsync", 130),
        case("mmap-write,sync=fsync,prepare=fallocate", 90),
        case("write-files,file-size=16KiB", 40),
        case(
            "write-files,file-size=16KiB,threads=4,directory=per-thread",
            20,
        ),
        case(
            "write-files,file-size=whole,naming=rename,prepare=overwrite",
            50,
        ),
        case(
            "write-files,file-size=whole,naming=exchange-background,prepare=overwrite",
            20,
        ),
        case(
            "write-files,file-size=whole,naming=rename,sync-files=each,prepare=overwrite",
            90,
        ),
    ]
}

fn at(width: Option<usize>, report: &Report) -> String {
    let text = plain(&terminal::report(report, Detail::Usual, width));
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(width.is_none_or(|width| longest <= width), "{text}");
    text
}

fn at_all_widths(report: &Report) -> String {
    let widths = [Some(80), Some(100), Some(160), None];
    widths
        .map(|width| at(width, report))
        .join(&format!("{:=<80}\n", ""))
}

/// The answers fit into 24 lines together with those about the run's cost and the next commands.
#[test]
fn the_answers_to_the_usual_goals_are_on_one_screen() {
    let mut cases = usual_goals();
    for case in &mut cases {
        if case.case.name().contains("/1") {
            case.samples.truncate(4);
        }
    }
    let report = report_of(cases);
    let screen = at(Some(80), &report);
    assert!(screen.lines().count() <= 20, "{screen}");
    insta::assert_snapshot!(at_all_widths(&report));
}

#[test]
fn an_answer_in_kernel_threads_is_called_so_and_explained() {
    let mut cases = usual_goals();
    let of_ring = cases
        .iter_mut()
        .find(|case| case.case.method() == "io_uring");
    for sample in &mut of_ring.unwrap().samples {
        sample.kernel_threads = Some(Box::new(KernelThreads {
            count: 2,
            written_bytes: 128 << 20,
            all_written_bytes: 128 << 20,
            ..KernelThreads::default()
        }));
    }
    let report = report_of(cases);
    let screen = at(Some(80), &report);
    assert!(screen.lines().count() <= 22, "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn each_of_eleven_goals_has_one_line() {
    let report = report_of([usual_goals(), other_goals()].concat());
    let screen = at(Some(80), &report);
    assert!(screen.lines().count() <= 25, "{screen}");
    insta::assert_snapshot!(screen + "\n" + &at(Some(40), &report));
}

#[test]
fn only_all_tables_have_the_candidates_with_one_or_two_samples() {
    let of_goal = |name: &str, write_ms: u64| CaseRecord {
        origin: CaseOrigin::of_suite(CaseOrigin::GOALS, "A section", Layout::Ranked),
        ..case(name, write_ms)
    };
    let mut run = RunRecord {
        cases: vec![of_goal("write", 33), of_goal("pwrite,threads=2", 22)],
        status: RunStatus::Complete,
        ..example_run()
    };
    for (name, samples) in [("writev", 2), ("mmap", 3)] {
        let joined = case(name, 40);
        let known = joined.case.known().unwrap().clone();
        let row = FoldedRun::new(run.clone()).row_of_contest(0, &known);
        run.cases.push(CaseRecord {
            samples: joined.samples[..samples].to_vec(),
            ..row.unwrap()
        });
    }
    let report = Report::from_run(None, run);
    let shown = |detail| plain(&terminal::report(&report, detail, None));
    let tables = shown(Detail::Tables);
    assert!(
        tables.contains("mmap") && !tables.contains("writev"),
        "{tables}"
    );
    let all = shown(Detail::All);
    assert!(all.contains("mmap") && all.contains("writev"), "{all}");
}

#[test]
fn a_search_has_a_line_for_each_step_to_the_recommended_method() {
    let stage = |stage, is_baseline, case: CaseRecord| CaseRecord {
        origin: CaseOrigin::of_search(stage, is_baseline),
        ..case
    };
    insta::assert_snapshot!(at_all_widths(&report_of(vec![
        stage(Stage::Screening, false, case("mmap", 1)),
        stage(Stage::Final, true, case("write", 33)),
        stage(
            Stage::Final,
            false,
            case(
                "io_uring,prepare=fallocate,cache=direct,registered=both",
                21
            )
        ),
        stage(
            Stage::Final,
            false,
            case("write,prepare=fallocate,cache=direct", 22)
        ),
    ])));
}

/// Searches of earlier versions did not record what they searched for.
#[test]
fn an_interrupted_search_is_known_by_its_cases() {
    let case = CaseRecord {
        origin: CaseOrigin::of_search(Stage::Screening, false),
        ..case("mmap", 1)
    };
    let run = RunRecord {
        cases: vec![case],
        status: RunStatus::Interrupted,
        ..example_run()
    };
    let report = Report::from_run(None, run);
    assert!(report.is_search());
    let warning = "The search was cut off and cannot be resumed. Start it again.";
    assert!(
        report.warnings.iter().any(|said| said == warning),
        "{:?}",
        report.warnings
    );
}

fn on(target: &str, case: CaseRecord) -> CaseRecord {
    CaseRecord {
        target: target.to_owned(),
        ..case
    }
}

/// The usual goals on three targets, and on tmpfs only those without a power loss.
#[test]
fn goals_are_rows_and_targets_are_columns() {
    let names = ["/data", "/mnt/xfs", "/dev/shm/x"];
    let is_durable = |case: &CaseRecord| case.workload.durability == Durability::Durable;
    let cases = names.into_iter().flat_map(|name| {
        let all = usual_goals().into_iter();
        all.filter(move |case| name != "/dev/shm/x" || !is_durable(case))
            .map(move |case| on(name, case))
    });
    let mut targets = names.map(example_target);
    targets[1].environment.filesystem.kind = "xfs".to_owned();
    targets[2].environment.filesystem.kind = "tmpfs".to_owned();
    targets[2].environment.device = None;
    let run = RunRecord {
        cases: cases.collect(),
        targets: targets.to_vec(),
        status: RunStatus::Complete,
        ..example_run()
    };
    let report = Report::from_run(Some(6), run);
    let screen = at(Some(80), &report);
    assert!(screen.lines().count() <= 30, "{screen}");
    let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        said.matches("No durable goals on /dev/shm/x: tmpfs is in memory.")
            .count(),
        1,
        "{screen}"
    );
    insta::assert_snapshot!(at_all_widths(&report) + &at(Some(50), &report));
}

#[test]
fn a_suite_on_several_targets_has_a_row_for_each_workload() {
    let cases = ["ext4", "xfs"]
        .into_iter()
        .zip([100, 70])
        .flat_map(|(target, ms)| {
            let of_suite = |name: &str, ms: u64| CaseRecord {
                origin: section_of("write", "A section"),
                ..on(target, case(name, ms))
            };
            [
                of_suite("write", ms),
                of_suite("write,prepare=overwrite", ms / 2),
            ]
        });
    let run = RunRecord {
        cases: cases.collect(),
        targets: ["ext4", "xfs"].map(example_target).to_vec(),
        status: RunStatus::Complete,
        ..example_run()
    };
    insta::assert_snapshot!(at(Some(80), &Report::from_run(Some(6), run)));
}

/// Labels and names of cases are as long as those of real runs.
#[test]
fn everything_fits_into_the_terminal() {
    let long = "pwrite,chunk=256KiB,threads=16,files=per-thread,prepare=fallocate,cache=direct,sync=fdatasync";
    let of_suite = |name: &str, ms: u64| CaseRecord {
        origin: section_of("parallel", "A section"),
        ..case(name, ms)
    };
    let report = report_of(vec![
        of_suite(long, 30),
        of_suite("write,sync=fsync,threads=1", 40),
    ]);
    let all = |width| plain(&terminal::report(&report, Detail::All, Some(width)));
    for width in [50, 80, 160, 400] {
        let text = all(width);
        assert!(
            text.lines().all(|line| line.chars().count() <= width),
            "{text}"
        );
    }
    insta::assert_snapshot!(all(80));
}

/// The run's target with another kind of filesystem, and mount options.
fn run_on(kind: &str, mount_options: &str, cases: Vec<CaseRecord>) -> RunRecord {
    let mut run = RunRecord {
        cases,
        ..example_run()
    };
    run.targets[0].environment.filesystem.kind = kind.to_owned();
    run.targets[0].environment.filesystem.mount_options = mount_options.to_owned();
    run
}

#[test]
fn a_broken_promise_of_durability_has_its_reason_and_no_value() {
    for (kind, mount_options, name, expected) in [
        ("tmpfs", "rw", "write,sync=fsync", "tmpfs is in memory"),
        (
            "overlay",
            "rw,volatile",
            "write,sync=fsync",
            "mounted with volatile, so overlayfs ignores syncs",
        ),
        (
            "ext4",
            "rw,nobarrier",
            "write,sync=fsync",
            "mounted with nobarrier, so a sync leaves data in the write cache of sda",
        ),
        (
            "fuse.bindfs",
            "rw",
            "write-files,sync-files=syncfs",
            "syncfs(2) sends a FUSE server no request",
        ),
    ] {
        let report = Report::from_run(None, run_on(kind, mount_options, vec![case(name, 9)]));
        let text = at(Some(80), &report);
        let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains(&format!("not durable here: {expected}")),
            "{text}"
        );
        assert!(
            said.contains(&format!(
                "1 case is not durable here, and not ranked: {expected}."
            )),
            "{text}"
        );
        assert!(!text.contains("GB/s"), "{text}");
        let json = crate::formats::json::render(&report);
        assert!(
            json.contains(&format!("\"not_durable\": \"{expected}\"")),
            "{json}"
        );
    }
}

#[test]
fn a_server_or_an_unknown_filesystem_keeps_its_own_promise() {
    for (kind, expected) in [
        ("xfs", "durable new file, disk"),
        ("fuse.sshfs", "durable new file, as the server promises"),
        ("nfs4", "durable new file, as the server promises"),
        ("zfs", "durable new file, as the filesystem promises"),
    ] {
        let report = Report::from_run(None, run_on(kind, "rw", vec![case("write,sync=fsync", 9)]));
        assert_eq!(report.findings[0].goal, expected);
        assert!(
            !crate::formats::json::render(&report).contains("not_durable"),
            "{kind}"
        );
        let is_disk = expected.ends_with("disk");
        let screen = at(Some(200), &report);
        assert_eq!(screen.contains("promises"), !is_disk, "{screen}");
    }
    let mut run = run_on("xfs", "rw", vec![case("write,sync=fsync", 9)]);
    run.targets.push(example_target("/mnt"));
    run.targets[1].environment.filesystem.kind = "nfs4".to_owned();
    run.cases.push(CaseRecord {
        target: "/mnt".to_owned(),
        ..case("write,sync=fsync", 9)
    });
    let goal = Report::from_run(None, run).findings[0].goal.clone();
    assert!(
        goal.contains("disk") || goal.ends_with("as each target promises"),
        "{goal}"
    );
}

#[test]
fn a_case_beyond_a_limit_leaves_no_share_of_it() {
    let limit = writebench_model::Limit {
        kind: writebench_model::LimitKind::MemoryCopy,
        threads: 1,
        bytes_per_s: Some(4_500_000_000),
        description: String::new(),
    };
    let mut run = RunRecord {
        cases: vec![case("write", 33), case("mmap", 27)],
        ..example_run()
    };
    run.targets[0].limits = vec![limit];
    // 128 MiB in 27 ms are 4.97 GB/s.
    let report = Report::from_run(None, run);
    assert!(
        report
            .cases
            .iter()
            .all(|case| case.estimate.as_ref().unwrap().limit.is_none())
    );
    let all = plain(&terminal::report(&report, Detail::All, None));
    assert!(
        all.contains(
            "no share of a limit: a case was faster than a plain copy of memory, 4.50 GB/s"
        ),
        "{all}"
    );
}

#[test]
fn goals_name_the_final_state() {
    let goal = |change: fn(&mut CaseRecord)| {
        let mut case = case("write", 9);
        change(&mut case);
        report_of(vec![case]).findings[0].goal.clone()
    };
    for (change, expected) in [
        ((|_| {}) as fn(&mut CaseRecord), "new file, page cache"),
        (
            |case| case.workload.start = Start::Existing,
            "existing file, page cache",
        ),
        (|case| case.workload.files = 4, "4 new files, page cache"),
        (
            |case| {
                (case.workload.start, case.workload.visibility) =
                    (Start::Existing, Visibility::Complete);
            },
            "replaced file, not safe against power loss",
        ),
        (
            |case| case.workload.durability = Durability::Durable,
            "durable new file, disk",
        ),
        (
            |case| case.workload.durability = Durability::Device,
            "new file, on the device",
        ),
        (
            |case| case.workload.content = Content::Zero,
            "new file of zeros, page cache",
        ),
        (
            |case| case.workload.content = Content::Copy,
            "new file by copying, page cache",
        ),
    ] {
        assert_eq!(goal(change), expected);
    }
    let of_size = |bytes| {
        let mut case = case("write", 9);
        case.workload.bytes = bytes;
        case
    };
    let goals = report_of(vec![of_size(1 << 20), of_size(4097)]).findings;
    assert_eq!(
        (goals[0].goal.as_str(), goals[1].goal.as_str()),
        (
            "new file, page cache, 1 MiB",
            "new file, page cache, 4097 bytes"
        )
    );
}

#[test]
fn a_run_without_a_case_has_no_empty_table_and_is_not_one_to_continue() {
    for (status, said) in [
        (
            RunStatus::Interrupted,
            "The run was interrupted before its first sample. Start it again.",
        ),
        (
            RunStatus::Failed,
            "The run was cut off before its first sample. Start it again.",
        ),
    ] {
        let report = Report::from_run(
            Some(2),
            RunRecord {
                cases: Vec::new(),
                status,
                ..example_run()
            },
        );
        for width in [None, Some(80), Some(160)] {
            let text = plain(&terminal::report(&report, Detail::Usual, width));
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                words.contains(said) && !words.contains("--resume"),
                "{text}"
            );
            let has_header = text.contains("95% CI") || text.contains("Goal");
            assert!(!has_header, "a header without rows: {text}");
        }
    }
}
