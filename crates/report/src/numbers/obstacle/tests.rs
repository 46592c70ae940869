use super::*;
use proptest::prelude::*;
use writebench_model::{CaseRecord, Failure, Phase};
use writebench_testkit::{example_case, example_run};

use crate::numbers::cases::cases;

fn good(round: u32, disturbed: Option<&str>) -> Sample {
    let mut sample = Sample::without_figures(round, Outcome::Ok);
    (sample.phases_ns.write, sample.bytes) = (1_000_000 + u64::from(round), 1 << 30);
    Sample {
        disturbed: disturbed.map(str::to_owned),
        ..sample
    }
}

fn disturbed(name: &str, count: u32, reason: &str) -> CaseRecord {
    example_case(
        "test",
        name,
        (0..count).map(|round| good(round, Some(reason))).collect(),
    )
}

fn calm(name: &str, count: u32) -> CaseRecord {
    example_case(
        "test",
        name,
        (0..count).map(|round| good(round, None)).collect(),
    )
}

fn ended(name: &str, outcome: Outcome) -> CaseRecord {
    example_case("test", name, vec![Sample::without_figures(0, outcome)])
}

fn error(call: &str, errno: i32, offset: Option<u64>) -> Box<Failure> {
    let message = Failure::errno_message(errno);
    Box::new(Failure {
        phase: Phase::Write,
        call: call.to_owned(),
        path: None,
        offset,
        errno: Some(errno),
        message,
    })
}

fn failed(name: &str, errno: i32) -> CaseRecord {
    ended(
        name,
        Outcome::Failed(error("write", errno, Some(4096 * name.len() as u64))),
    )
}

#[test]
fn documents_have_an_obstacle_in_numbers() {
    let document = |kind, count, of| {
        serde_json::to_value(Obstacle { kind, count, of }).expect("every key is a text")
    };
    let too_few = ObstacleKind::TooFewRounds {
        ended_by: EndedBy::Budget { ns: 5_000_000_000 },
        wait_ppm: None,
    };
    assert_eq!(
        document(too_few, 4, 6),
        serde_json::json!({
            "kind": "too-few-rounds",
            "ended_by": { "limit": "budget", "ns": 5_000_000_000_u64 },
            "wait_ppm": null,
            "count": 4,
            "of": 6,
        })
    );
    assert_eq!(
        document(ObstacleKind::CpuPressure { wait_ppm: 880_000 }, 5, 7),
        serde_json::json!({ "kind": "cpu-pressure", "wait_ppm": 880_000, "count": 5, "of": 7 })
    );
}

fn run() -> RunRecord {
    RunRecord {
        status: RunStatus::Complete,
        ..example_run()
    }
}

fn found(mut run: RunRecord, records: Vec<CaseRecord>) -> Option<Obstacle> {
    run.cases = records;
    let cases = cases(&mut run);
    obstacle(&run, &cases.iter().collect::<Vec<_>>())
}

fn said(run: RunRecord, records: Vec<CaseRecord>) -> String {
    found(run, records).map_or("nothing".to_owned(), |obstacle| obstacle.text())
}

const SLOW: &str = "memory copy 3.2 times slower than usual";
const HELD_UP: &str = "delayed for 85 % of its time by its group's CPU limit";

#[test]
fn six_usable_samples_of_each_case_need_nothing() {
    assert_eq!(
        said(run(), vec![calm("write", 6), calm("pwrite", 8)]),
        "nothing"
    );
    assert_eq!(said(run(), Vec::new()), "nothing");
}

#[test]
fn other_programs_are_to_be_stopped_and_no_budget_raised() {
    let records = || vec![disturbed("write", 30, SLOW), disturbed("pwrite", 41, SLOW)];
    let limited = || RunRecord {
        status: RunStatus::Limited,
        settings: writebench_model::Settings {
            budget_ns: Some(45_000_000_000),
            ..run().settings
        },
        ..run()
    };
    assert_eq!(
        said(
            RunRecord {
                cpu_wait_ppm: Some(900_000),
                ..limited()
            },
            records()
        ),
        "71 of 71 samples were disturbed: other programs used the CPUs, and tasks waited for a CPU 90 % of the time. Stop \
         them, or measure while the machine is idle."
    );
    assert_eq!(
        said(
            RunRecord {
                cpu_wait_ppm: Some(20_000),
                ..limited()
            },
            records()
        ),
        "71 of 71 samples were disturbed: copies in memory next to them took longer than usual in this run. Stop other \
         programs, or measure while the machine is idle."
    );
    let own = RunRecord {
        cpu_wait_ppm: Some(900_000),
        ..limited()
    };
    let of_threads = vec![disturbed("pwrite,chunk=1MiB,threads=8", 30, SLOW)];
    assert!(
        !said(own, of_threads).contains("other programs used the CPUs"),
        "eight threads on two CPUs"
    );
}

#[test]
fn a_cpu_quota_is_told_from_other_programs_though_its_tasks_wait_too() {
    let mut quota = RunRecord {
        cpu_wait_ppm: Some(900_000),
        ..run()
    };
    let records = || vec![disturbed("write", 9, SLOW), disturbed("pwrite", 3, HELD_UP)];
    assert!(
        said(quota.clone(), records()).starts_with(
            "12 of 12 samples were disturbed: a CPU limit of its control group delayed this process. Raise the CPU limit"
        ),
        "{}",
        said(quota, records())
    );
    quota.targets[0].environment.cpu.limit_ppm = Some(150_000);
    assert!(
        said(quota.clone(), records())
            .contains(": the control group of this process may use 15 % of a CPU. Raise"),
        "{}",
        said(quota, records())
    );
}

/// Samples of 0.4 ms end between two delays of 85 ms, in which only the program around them waits.
#[test]
fn a_quota_below_one_cpu_is_the_cause_though_no_short_sample_was_delayed() {
    let mut quota = RunRecord {
        cpu_wait_ppm: Some(913_905),
        ..run()
    };
    quota.targets[0].environment.cpu.limit_ppm = Some(150_000);
    let records = || {
        vec![
            disturbed("write", 6, SLOW),
            disturbed("pwrite", 9, "writebench itself did not run for 0.3 s"),
        ]
    };
    let text = said(quota.clone(), records());
    assert!(
        text.contains(": the control group of this process may use 15 % of a CPU. Raise"),
        "{text}"
    );
    quota.targets[0].environment.cpu.limit_ppm = None;
    let text = said(quota.clone(), records());
    assert!(text.contains("other programs used the CPUs"), "{text}");
    quota.cpu_wait_ppm = None;
    let text = said(quota, records());
    assert!(
        text.contains("disturbed: writebench itself did not run for 0.3 s. Remove"),
        "{text}"
    );
}

#[test]
fn other_disturbances_have_their_own_remedies() {
    let with = |reason| said(run(), vec![disturbed("write", 7, reason)]);
    assert!(with("hypervisor took 40 % of the time of a CPU").contains("CPUs of its own"));
    assert!(with("CPUs slowed down 3 times because of heat").contains("cool down"));
    assert!(
        with("90 MiB of free memory returned to the hypervisor").contains("free page reporting")
    );
    let stopped = "the worker was stopped by a signal for about 0.4 s";
    assert_eq!(
        with(stopped),
        format!("7 of 7 samples were disturbed: {stopped}. Remove this cause, and measure again.")
    );
}

#[test]
fn a_failure_is_named_by_its_kind_and_needs_no_budget() {
    let with = |errno| {
        said(
            run(),
            vec![failed("write", errno), failed("pwrite,chunk=4KiB", errno)],
        )
    };
    assert_eq!(
        with(28),
        "2 of 2 cases failed: no space is left on the filesystem (ENOSPC). Free space (or inodes, see df -i), use a \
         smaller --size, or another directory."
    );
    assert!(
        with(122).contains("quota is used up (EDQUOT). Remove files"),
        "{}",
        with(122)
    );
    assert!(
        with(12).contains("memory ran out (ENOMEM). Free memory"),
        "{}",
        with(12)
    );
    assert!(with(27).contains("ulimit -f"), "{}", with(27));
    assert!(with(30).contains("read-only (EROFS)"), "{}", with(30));
    assert!(
        with(5).starts_with("2 of 2 cases failed: write: Input/output error (5). More time"),
        "{}",
        with(5)
    );
    let died = |signal| {
        let died = Outcome::WorkerDied {
            phase: Phase::Write,
            signal: Some(signal),
            detail: String::new(),
        };
        said(
            run(),
            vec![ended("write", died.clone()), ended("pwrite", died)],
        )
    };
    assert!(
        died(9).contains("for lack of memory. Free memory"),
        "{}",
        died(9)
    );
    assert!(died(25).contains("ulimit -f"), "{}", died(25));
    let mut small = run();
    small.targets[0].environment.memory.limit_bytes = Some(512 << 20);
    assert!(said(small, vec![failed("write", 12)]).contains("control group (512 MiB)"));
}

#[test]
fn a_case_that_lost_its_only_rival_is_not_short_of_rounds() {
    let text = said(run(), vec![calm("write", 6), failed("pwrite", 28)]);
    assert!(text.starts_with("1 of 2 cases failed: no space"), "{text}");
    let unsupported = ended(
        "pwrite",
        Outcome::Unsupported(error("open with O_DIRECT", 22, None)),
    );
    let text = said(run(), vec![calm("write", 2), unsupported]);
    assert!(
        text.starts_with("1 of 2 cases are not supported here: open with O_DIRECT: Invalid arg"),
        "{text}"
    );
}

#[test]
fn too_little_free_space_is_no_property_of_the_target() {
    let unsupported = Outcome::Unsupported(error("free space", 0, None));
    let text = said(run(), vec![calm("write", 2), ended("pwrite", unsupported)]);
    assert!(
        text.starts_with("1 of 2 cases had too little free space: ")
            && text.ends_with("or a smaller --reserve."),
        "{text}"
    );
}

#[test]
fn a_limit_is_raised_only_if_it_ended_good_samples() {
    let with = |budget_ns, max_bytes, written_bytes| {
        let settings = writebench_model::Settings {
            budget_ns,
            max_bytes,
            ..run().settings
        };
        let run = RunRecord {
            status: RunStatus::Limited,
            settings,
            written_bytes,
            ..run()
        };
        said(run, vec![calm("write", 3), calm("pwrite", 4)])
    };
    assert_eq!(
        with(Some(1_500_000_000), None, None),
        "The budget of 1.5s ended after 3 of the 6 rounds that an answer needs. Use a larger --budget, or a smaller --size."
    );
    let bytes = with(Some(60_000_000_000), Some(8 << 30), Some(7 << 30));
    assert!(
        bytes.contains("--budget"),
        "a sample of 1 GiB fits: {bytes}"
    );
    let bytes = with(Some(60_000_000_000), Some(8 << 30), Some((7 << 30) + 1));
    assert!(
        bytes.starts_with("--max-bytes 8GiB was reached after 3 of"),
        "{bytes}"
    );
    let few = RunRecord {
        settings: writebench_model::Settings {
            samples: 3,
            ..run().settings
        },
        ..run()
    };
    assert!(
        said(few, vec![calm("write", 3), calm("pwrite", 3)]).ends_with("Use --samples 6 or more.")
    );
    let busy = RunRecord {
        cpu_wait_ppm: Some(930_000),
        ..run()
    };
    let busy = said(busy, vec![calm("write", 3), calm("pwrite", 3)]);
    assert!(
        busy.contains("waited for a CPU 93 % of the time)") && busy.contains("machine is idle"),
        "{busy}"
    );
}

#[test]
fn a_run_that_was_cut_off_is_to_be_started_again() {
    let cut = RunRecord {
        status: RunStatus::Interrupted,
        ..run()
    };
    assert_eq!(
        said(cut, vec![calm("write", 2), calm("pwrite", 2)]),
        "The run was cut off after 2 of 6 rounds. Start it again."
    );
}

proptest! {
    /// Whatever the samples are, more time or bytes are advised only if most good samples were usable.
    #[test]
    fn no_larger_limit_against_disturbances(calm in 0u32..9, lost in 0u32..9, wait_ppm in 0u32..1_000_000) {
        let mut record = disturbed("write", lost, SLOW);
        record.samples.extend((0..calm).map(|round| good(100 + round, None)));
        let settings = writebench_model::Settings { budget_ns: Some(1), ..run().settings };
        let run = RunRecord { status: RunStatus::Limited, settings, cpu_wait_ppm: Some(wait_ppm), ..run() };
        let text = said(run, vec![record]);
        prop_assert_eq!(text == "nothing", calm >= 6 || calm + lost == 0 && text == "nothing");
        prop_assert!(!text.contains("--budget") || calm >= lost, "{}", text);
    }
}
