use super::*;
use crate::Report;
use writebench_model::{
    CaseRecord, ContestAnswer, Failure, Limit, LimitKind, Outcome, Phase, Sample,
};
use writebench_testkit::{example_case, example_run, example_target};

fn case(name: &str, write_ms: &[u64]) -> CaseRecord {
    let sample = |(round, &ms): (u32, &u64)| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        (sample.bytes, sample.phases_ns.write) = (1 << 30, ms * 1_000_000);
        sample
    };
    example_case("test", name, (0..).zip(write_ms).map(sample).collect())
}

fn failed(name: &str) -> CaseRecord {
    let failure = Failure {
        phase: Phase::Write,
        call: "write".to_owned(),
        path: None,
        offset: None,
        errno: Some(28),
        message: Failure::errno_message(28),
    };
    example_case(
        "test",
        name,
        vec![Sample::without_figures(0, Outcome::Failed(failure.into()))],
    )
}

fn on_data(cases: Vec<CaseRecord>) -> Report {
    let mut targets = vec![example_target("/data")];
    let limit = |threads| Limit {
        kind: LimitKind::MemoryCopy,
        threads,
        bytes_per_s: Some(6_000_000_000),
        description: String::new(),
    };
    targets[0].limits = vec![limit(1), limit(2)];
    let cases = cases.into_iter().map(|case| CaseRecord {
        target: "/data".to_owned(),
        ..case
    });
    Report::from_run(
        None,
        RunRecord {
            targets,
            cases: cases.collect(),
            ..example_run()
        },
    )
}

fn answer(cases: Vec<CaseRecord>) -> WorkloadAnswer {
    on_data(cases).answers[0].clone()
}

const FAST: [u64; 6] = [200, 204, 198, 203, 199, 201];
/// A slightly longer median, without a difference in rounds.
const AS_FAST: [u64; 6] = [202, 203, 199, 204, 201, 200];
const SLOW: [u64; 6] = [300, 310, 296, 300, 299, 301];

#[test]
fn the_fastest_is_compared_with_plain_write_and_the_limit() {
    let answer = answer(vec![
        case("write", &SLOW),
        case("pwrite,threads=2", &FAST),
        case("mmap", &SLOW),
    ]);
    assert_eq!(
        answer.sentence,
        "To stream 1 GiB into a new file on /data, in the page cache: pwrite,threads=2 at 5.36 GB/s (5.26 – 5.43), \
         1.50 × plain write (1.49 – 1.51), 89 % of the limit."
    );
    assert_eq!(
        answer.certainty,
        "It is faster than all other cases. The next, write, takes 1.50 times as long (1.49 – 1.51, 6 rounds)."
    );
}

#[test]
fn plain_write_may_be_the_fastest_or_as_fast_or_not_there() {
    let first = |cases| answer(cases).sentence;
    let baseline = first(vec![case("write,size=1GiB", &FAST), case("mmap", &SLOW)]);
    assert!(
        baseline.contains(": write,size=1GiB at 5.36 GB/s (5.26 – 5.43), plain write, 89 %"),
        "{baseline}"
    );
    let same = first(vec![case("write", &AS_FAST), case("mmap", &FAST)]);
    assert!(
        same.contains(
            ": mmap at 5.36 GB/s (5.26 – 5.43), the same as plain write (1.00 ×, 0.98 – 1.02), "
        ),
        "{same}"
    );
    let copy = first(vec![case("read-write", &SLOW), case("sendfile", &FAST)]);
    assert!(
        copy.contains(": sendfile at 5.36 GB/s (5.26 – 5.43), 1.50 × plain read and write"),
        "{copy}"
    );
    for not_plain in [
        "write,chunk=4KiB",
        "write,prepare=fallocate",
        "write,sync=o-dsync",
        "pwrite",
    ] {
        let sentence = first(vec![case(not_plain, &SLOW), case("mmap", &FAST)]);
        assert!(!sentence.contains("plain write"), "{sentence}");
    }
    let few = first(vec![case("write", &SLOW[..2]), case("mmap", &FAST[..2])]);
    assert!(
        few.contains(", vs. plain write inconclusive after 2 rounds, "),
        "{few}"
    );
}

#[test]
fn plain_write_is_the_fastest_only_if_proven() {
    let compared = |other: &[u64]| {
        answer(vec![case("write", &FAST), case("mmap", other)])
            .finding
            .speed_ratio()
    };
    assert_eq!(compared(&SLOW), "plain is fastest");
    assert_eq!(compared(&AS_FAST), "none is faster");
    let scattered = [180, 300, 170, 320, 190, 310];
    assert_eq!(compared(&scattered), "none proven faster");
    assert_eq!(compared(&FAST[..2]), "too few rounds (2)");
    let mut elsewhere = case("pwrite", &SLOW);
    elsewhere
        .samples
        .iter_mut()
        .for_each(|sample| sample.round += 100);
    let cases = vec![case("write", &FAST), case("mmap", &SLOW), elsewhere];
    assert_eq!(answer(cases).finding.speed_ratio(), "none proven faster");
}

#[test]
fn a_single_case_has_its_value() {
    let answer = answer(vec![case("write", &FAST[..1])]);
    assert!(
        answer
            .sentence
            .contains(": write at 5.37 GB/s (one sample), 89 % of the limit."),
        "{answer:?}"
    );
    assert_eq!(answer.certainty, "No other case for comparison.");
}

#[test]
fn a_run_with_only_failures_has_a_reason() {
    let report = on_data(vec![failed("write"), failed("mmap"), failed("mmap")]);
    let [answer] = report.answers.as_slice() else {
        panic!("{:?}", report.answers)
    };
    assert_eq!(
        answer.text(),
        "To stream 1 GiB into a new file on /data, in the page cache: no answer. write: failed: write: No space left \
         on device (28), and 1 more case without a result."
    );
    assert_eq!(
        report.warnings[1],
        "2 of 2 cases failed: write: failed: write: No space left on device (28), and 1 more. Free space (or inodes, \
         see df -i), use a smaller --size, or another directory."
    );
}

#[test]
fn disturbed_samples_alone_give_a_value_and_no_rank() {
    let mut disturbed = case("write", &FAST);
    disturbed
        .samples
        .iter_mut()
        .for_each(|sample| sample.disturbed = Some("steal".to_owned()));
    let answer = answer(vec![disturbed, failed("mmap")]);
    assert!(
        answer
            .sentence
            .ends_with(": write at ~5.36 GB/s (5.26 – 5.43), without a rank."),
        "{answer:?}"
    );
    assert_eq!(
        answer.certainty,
        "Not ranked, because every sample was disturbed."
    );
    assert_eq!(answer.finding.case, None);
}

#[test]
fn a_goal_without_a_sample_has_no_answer() {
    let mut durable = case("write,sync=fsync", &SLOW);
    durable.workload.durability = writebench_model::Durability::Durable;
    let mut not_reached = case("write,size=4GiB", &[]);
    not_reached.workload.bytes *= 4;
    let report = on_data(vec![
        durable,
        case("write", &SLOW),
        case("mmap", &FAST),
        not_reached,
    ]);
    assert_eq!(report.answers.len(), 2);
    assert_eq!(report.answers[1].finding.case.as_deref(), Some("mmap"));
}

#[test]
fn records_in_files_of_two_sizes_have_two_goals() {
    let records = |bytes| {
        let mut records = case("write,sync=fsync/1", &SLOW);
        records.workload.durability = writebench_model::Durability::Durable;
        records.workload.durable_every_bytes = Some(4096);
        records.workload.bytes = bytes;
        records
    };
    let report = on_data(vec![records(1 << 20), records(4 << 20)]);
    assert_ne!(report.findings[0].goal, report.findings[1].goal);
}

fn of_goal(name: &str, times: &[u64]) -> CaseRecord {
    CaseRecord {
        origin: writebench_testkit::section_of(writebench_model::CaseOrigin::GOALS, "A goal"),
        ..case(name, times)
    }
}

#[test]
fn the_answer_to_a_goal_names_what_each_choice_contributes() {
    let cases = [
        ("write", SLOW),
        ("pwrite,threads=2", FAST),
        ("pwrite", SLOW),
        ("mmap,threads=2", AS_FAST),
    ];
    let answer = answer(cases.map(|(name, times)| of_goal(name, &times)).to_vec());
    assert_eq!(answer.finding.case.as_deref(), Some("pwrite,threads=2"));
    assert_eq!(
        answer.certainty,
        "No other of the 4 methods compared is more than 1 % faster (95 %). With one choice less, you get:\n  0.67 × the speed (0.66 – 0.68) with pwrite"
    );
}

/// Reports show what the scheduler decided, even if they would choose differently.
#[test]
fn a_recorded_decision_is_shown_and_never_made_again() {
    let cases = [
        ("write", SLOW),
        ("pwrite,threads=2", FAST),
        ("mmap,threads=2", AS_FAST),
    ];
    let mut run = on_data(cases.map(|(name, times)| of_goal(name, &times)).to_vec()).whole_run();
    let [decision] = run.decisions.as_mut_slice() else {
        panic!("{:?}", run.decisions)
    };
    assert_eq!(decision.answer.as_ref().unwrap().case, "pwrite,threads=2");
    decision.answer = Some(ContestAnswer::new(
        "mmap,threads=2".to_owned(),
        1.07,
        Vec::new(),
    ));
    decision.compared = 9;
    let answer = &Report::from_run(None, run.clone()).answers[0];
    assert_eq!(answer.finding.case.as_deref(), Some("mmap,threads=2"));
    assert!(
        answer
            .certainty
            .starts_with("No other of the 9 methods compared is more than 7 % faster"),
        "{}",
        answer.certainty
    );
    run.decisions[0].answer = None;
    let answer = &Report::from_run(None, run).answers[0];
    assert_eq!(answer.finding.case, None);
    assert!(answer.finding.description.starts_with(NO_ANSWER_YET));
}

#[test]
fn a_goal_has_no_answer_while_plain_write_has_fewer_than_six_samples() {
    for count in 0..6 {
        // The samples of the others are even faster.
        let plain = of_goal("write", &SLOW[..count]);
        let report = on_data(vec![
            plain,
            of_goal("pwrite,threads=2", &FAST),
            of_goal("mmap", &FAST[..1]),
        ]);
        let [answer] = report.answers.as_slice() else {
            panic!("{:?}", report.answers)
        };
        assert_eq!(
            answer.finding.description,
            format!("no answer yet: {count} of 6 usable samples")
        );
        assert_eq!(
            (answer.finding.case.as_ref(), answer.finding.value()),
            (None, String::new())
        );
        assert!(
            report
                .warnings
                .iter()
                .any(|line| line.starts_with("No answer yet for 1 goal. ")),
            "{report:?}"
        );
    }
}

#[test]
fn a_busy_machine_gets_an_answer_that_compares_disturbed_samples_with_disturbed_ones() {
    let disturb = |mut case: CaseRecord| {
        case.samples[1..]
            .iter_mut()
            .for_each(|sample| sample.disturbed = Some("noise".to_owned()));
        case
    };
    // By its only undisturbed sample, mmap would be the fastest.
    let mmap = disturb(of_goal("mmap", &[100, 300, 310, 296, 300, 299]));
    let report = on_data(vec![
        disturb(of_goal("write", &FAST)),
        mmap,
        disturb(of_goal("pwrite", &SLOW)),
    ]);
    let [answer] = report.answers.as_slice() else {
        panic!("{:?}", report.answers)
    };
    assert_eq!(answer.finding.case.as_deref(), Some("write"));
    assert_eq!(answer.finding.samples, 6);
    let warning = "15 of 18 samples in contests were disturbed. They count, because too few others remain: the bounds are wider.";
    assert!(
        report.warnings.iter().any(|line| line == warning),
        "{:?}",
        report.warnings
    );
}

#[test]
fn goals_without_time_are_named_with_the_budget_that_would_do() {
    let mut other = of_goal("write", &[]);
    other.workload.durability = writebench_model::Durability::Durable;
    let cases = vec![of_goal("write", &SLOW), of_goal("mmap", &FAST), other];
    let cases = cases
        .into_iter()
        .map(|case| CaseRecord {
            target: "/data".to_owned(),
            ..case
        })
        .collect();
    let targets = vec![example_target("/data")];
    let mut run = RunRecord {
        targets,
        cases,
        status: RunStatus::Limited,
        ..example_run()
    };
    run.settings.budget_ns = Some(45_000_000_000);
    assert_eq!(
        Report::from_run(None, run.clone()).warnings[0],
        "The limits left no time for 1 goal: durable-stream. To measure all, use --budget 6m.",
        "12 samples took 45 s, and two answers take 90"
    );
    let mut stalled = run.clone();
    for sample in &mut stalled.cases[0].samples {
        sample.settle_ns = 20_000_000_000;
    }
    let warnings = Report::from_run(None, stalled).warnings;
    assert!(
        warnings[0].ends_with("To measure all, use --budget 16m."),
        "6 of 12 samples took a little more than 20 s each: {warnings:?}"
    );
    (run.settings.max_bytes, run.written_bytes) = (Some(4 << 30), Some(3 << 30));
    assert_eq!(
        Report::from_run(None, run).warnings[0],
        "The limit on bytes left out 1 goal: durable-stream. To measure all, use --max-bytes 48GiB."
    );
}

/// The search for a simpler winner adds plain write with fdatasync, and drops it after three rounds.
#[test]
fn a_case_with_fdatasync_is_not_the_baseline_of_a_goal() {
    let faster = SLOW.map(|time| time - 1);
    let answer = answer(vec![
        of_goal("write,sync=fsync", &SLOW),
        of_goal("pwrite,sync=fdatasync", &FAST),
        of_goal("write,sync=fdatasync", &faster[..3]),
    ]);
    assert_eq!(
        answer.finding.case.as_deref(),
        Some("pwrite,sync=fdatasync"),
        "{}",
        answer.sentence
    );
    assert!(
        answer.sentence.contains("1.50 × plain write (1.49 – 1.51)"),
        "{}",
        answer.sentence
    );
}

#[test]
fn the_answer_names_one_of_several_targets() {
    let on = |target: &str, times: &[u64]| CaseRecord {
        target: target.to_owned(),
        ..case("write", times)
    };
    let targets = vec![example_target("ext4"), example_target("xfs")];
    let cases = vec![on("ext4", &SLOW), on("xfs", &FAST)];
    let report = Report::from_run(
        None,
        RunRecord {
            targets,
            cases,
            ..example_run()
        },
    );
    let sentence = &report.answers[0].sentence;
    assert!(
        sentence.starts_with("To stream 1 GiB into a new file, in the page cache: write on xfs at"),
        "{sentence}"
    );
    assert!(
        !sentence.contains("plain write"),
        "it is that on another target: {sentence}"
    );
}
