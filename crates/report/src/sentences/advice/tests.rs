use super::*;
use proptest::prelude::*;
use writebench_model::{CaseOrigin, CaseRecord, Outcome, RunRecord, Sample};
use writebench_testkit::{example_case, example_run};

const BASELINE: Option<&str> = Some("baseline");
use Stage::{Final, Screening};

fn case(stage: Stage, name: &str, label: Option<&str>, times_ns: &[u64]) -> CaseRecord {
    let sample = |(round, &time_ns): (u32, &u64)| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        (sample.phases_ns.write, sample.bytes) = (time_ns, 1 << 30);
        sample
    };
    let record = example_case("", name, (0..).zip(times_ns).map(sample).collect());
    let origin = CaseOrigin::of_search(stage, label == BASELINE);
    CaseRecord {
        origin,
        label: label.map(str::to_owned),
        ..record
    }
}

fn conclusions(cases: Vec<CaseRecord>) -> Vec<String> {
    crate::Report::from_run(
        None,
        RunRecord {
            cases,
            ..example_run()
        },
    )
    .conclusions
}

const FAST: [u64; 8] = [100, 104, 98, 103, 99, 101, 97, 102];
const AS_FAST: [u64; 8] = [101, 103, 99, 102, 100, 100, 98, 103];

fn times(times: [u64; 8], factor: u64) -> Vec<u64> {
    times.iter().map(|time| time * factor * 1_000_000).collect()
}

#[test]
fn the_simplest_of_the_fastest_is_recommended() {
    let sentences = conclusions(vec![
        case(Screening, "io_uring,size=16MiB,depth=4", None, &[1]),
        case(Screening, "write,size=16MiB", None, &[1]),
        case(Final, "io_uring,depth=4", None, &times(FAST, 1)),
        case(Final, "write,chunk=4MiB", None, &times(AS_FAST, 1)),
        case(Final, "write,chunk=8KiB", BASELINE, &times(FAST, 3)),
    ]);
    assert_eq!(
        sentences,
        [
            "Recommended: write,chunk=4MiB, at 10.6 GB/s in the page cache, 2.97 times as fast as plain write (write,chunk=8KiB), 95% CI 2.95 – 3.03, 8 rounds.",
            "No other of the 3 methods compared is more than 2 % faster (95 %).",
            "Same or inconclusive:\n  io_uring,depth=4",
            "To repeat this comparison:\n  writebench run '/data/<b>|`x`' --case write,chunk=4MiB --case \
             write,chunk=8KiB",
            "To print it as code, `int write_file(const char *path, const void *data, size_t size)` (or in cpp, rust, \
             python, node, go, java):\n  writebench code write,chunk=4MiB --lang c",
        ]
    );
}

#[test]
fn each_measured_step_to_the_recommended_method_has_a_line() {
    let cases = vec![
        case(Final, "write", BASELINE, &times(FAST, 6)),
        case(
            Final,
            "pwrite,chunk=4MiB,threads=2,prepare=fallocate",
            None,
            &times(FAST, 2),
        ),
        case(
            Final,
            "pwrite,threads=2,prepare=fallocate",
            None,
            &times(FAST, 3),
        ),
        case(
            Final,
            "pwrite,chunk=4MiB,prepare=fallocate",
            None,
            &times(FAST, 4),
        ),
        case(Final, "pwrite,prepare=fallocate", None, &times(FAST, 5)),
        case(
            Final,
            "pwrite,chunk=4MiB,threads=2,prepare=fallocate,cache=dontcache",
            None,
            &times(AS_FAST, 2),
        ),
    ];
    let report = crate::Report::from_run(
        None,
        RunRecord {
            cases,
            ..example_run()
        },
    );
    let lines = report.findings.iter().map(|line| {
        format!(
            "{}: {}: {}",
            line.goal,
            line.description,
            line.speed_ratio()
        )
    });
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "plain write: write(2): –",
            "step: pwrite(2) instead of write(2), fallocate(2) first: 1.20x (1.20 – 1.20)",
            "step: + 2 threads: 1.67x the line above (1.66 – 1.67)",
            "recommended: + in 4 MiB chunks: 1.50x the line above (1.50 – 1.50)",
            ": − 2 threads: 0.50x the recommended (0.50 – 0.50)",
        ]
    );
}

#[test]
fn the_recommendation_names_the_required_memory() {
    let needs = |name: &str, baseline: &str| {
        let cases = vec![
            case(Final, name, None, &times(FAST, 1)),
            case(Final, baseline, BASELINE, &times(FAST, 3)),
        ];
        let sentences = conclusions(cases);
        assert!(
            sentences[0].starts_with(&format!("Recommended: {name}, ")),
            "{sentences:?}"
        );
        assert_eq!(
            sentences[1],
            "The other method compared is at most 1 % faster (95 %)."
        );
        sentences[2].clone()
    };
    let copied = needs("pwrite,cache=direct", "write");
    assert!(
        copied.contains("includes its copy to aligned memory"),
        "{copied}"
    );
    let aligned = needs(
        "pwrite,cache=direct,memory=page-aligned",
        "write,memory=page-aligned",
    );
    assert!(
        aligned.starts_with("It needs your data at the start of a page: "),
        "{aligned}"
    );
    let huge = needs("pwrite,memory=huge-pages", "write,memory=huge-pages");
    assert!(
        huge.starts_with("It needs your data in huge pages, "),
        "{huge}"
    );
    assert!(
        needs("pwrite,chunk=4MiB", "write").starts_with("To repeat this comparison:"),
        "any memory will do"
    );
}

#[test]
fn fewer_than_six_rounds_give_no_advice() {
    let sentences = conclusions(vec![
        case(Final, "io_uring,depth=4", None, &times(FAST, 1)[..5]),
        case(Final, "write,chunk=8KiB", BASELINE, &times(FAST, 3)[..5]),
    ]);
    assert_eq!(
        sentences,
        [
            "The search ended too early for advice: the run ended after 5 of the 6 rounds that an answer needs. Measure these cases alone, by --case."
        ]
    );
}

#[test]
fn an_interval_around_one_leaves_the_baseline() {
    let noisy = [50, 104, 98, 60, 130, 101, 140, 102];
    let sentences = conclusions(vec![
        case(Final, "io_uring,depth=4", None, &times(noisy, 1)),
        case(Final, "write", BASELINE, &times(FAST, 1)),
    ]);
    assert_eq!(
        sentences[0],
        "Recommended: plain write, write, at 10.6 GB/s in the page cache. No method was measurably faster here (tried 2 candidates, fastest: \
         io_uring,depth=4, 1.00 × (0.70 – 1.55) in 8 rounds)."
    );
    assert_eq!(
        sentences[1],
        "The other method compared is at most 22 % faster (95 %)."
    );
    assert!(
        sentences[2].ends_with("--case write --case io_uring,depth=4"),
        "{}",
        sentences[2]
    );
}

#[test]
fn a_baseline_with_too_few_samples_gives_no_advice_however_fast_another_method_is() {
    let mut few = case(Final, "write", BASELINE, &times(FAST, 3));
    few.samples.truncate(5);
    let sentences = conclusions(vec![
        case(Final, "io_uring,depth=4", None, &times(FAST, 1)),
        few,
    ]);
    assert!(
        sentences[0].starts_with("The search ended too early for advice: "),
        "{sentences:?}"
    );
}

#[test]
fn one_lucky_sample_makes_no_fastest_method() {
    let sentences = conclusions(vec![
        case(Final, "io_uring,depth=4", None, &times(FAST, 1)[..1]),
        case(Final, "write,chunk=8KiB", None, &times(FAST, 2)),
        case(Final, "write", BASELINE, &times(FAST, 2)),
    ]);
    assert!(
        sentences[0].contains("(tried 3 candidates, fastest: write,chunk=8KiB, 1.00 ×"),
        "{}",
        sentences[0]
    );
}

#[test]
fn a_simpler_method_outside_the_final_is_not_as_fast() {
    let long: Vec<u64> = [times(FAST, 1), times(FAST, 1)].concat();
    let slow: Vec<u64> = [times(FAST, 3), times(FAST, 3)].concat();
    // Two lucky rounds of so few do not distinguish it from the fastest.
    let dropped: Vec<u64> = [130, 99, 135, 98, 99].map(|time| time * 1_000_000).into();
    let sentences = conclusions(vec![
        case(Final, "io_uring,depth=4", None, &long),
        case(Final, "write,chunk=4MiB", None, &dropped),
        case(Final, "write", BASELINE, &slow),
    ]);
    assert!(
        sentences[0].starts_with("Recommended: io_uring,depth=4, "),
        "{sentences:?}"
    );
    assert!(
        !sentences.concat().contains("inconclusive"),
        "{sentences:?}"
    );
}

#[test]
fn a_gain_that_is_certain_and_small_changes_no_program() {
    let slower: Vec<u64> = times(FAST, 1).iter().map(|time| time + time / 50).collect();
    let sentences = conclusions(vec![
        case(Final, "io_uring,depth=4", None, &times(FAST, 1)),
        case(Final, "write", BASELINE, &slower),
    ]);
    assert!(
        sentences[0].contains(". No method was so much faster that it pays for its effort ("),
        "{}",
        sentences[0]
    );
}

#[test]
fn the_best_median_with_lost_rounds_is_not_the_fastest() {
    // The machine slowed down after the first rounds, in which `mmap` has no sample.
    let late: Vec<u64> = vec![400, 400, 400, 300, 300, 300, 300, 300, 300];
    let baseline: Vec<u64> = vec![100, 100, 100, 330, 330, 330, 330, 330, 330];
    let mut others = case(Final, "pwrite,threads=2", None, &[200; 6]);
    others
        .samples
        .iter_mut()
        .for_each(|sample| sample.round += 3);
    let sentences = conclusions(vec![
        case(Final, "mmap", None, &late),
        others,
        case(Final, "write", BASELINE, &baseline),
    ]);
    assert!(
        sentences[0].starts_with("Recommended: pwrite,threads=2, "),
        "{}",
        sentences[0]
    );
    assert!(
        sentences[0]
            .contains("1.65 times as fast as plain write (write), 95% CI 1.65 – 1.65, 6 rounds"),
        "{}",
        sentences[0]
    );
}

#[test]
fn a_baseline_that_failed_leaves_the_simplest_of_the_fastest() {
    let mut failed = case(Final, "write", BASELINE, &[1]);
    failed.samples[0].outcome = Outcome::TimedOut {
        phase: writebench_model::Phase::Write,
        limit_ns: 1_000_000_000,
    };
    let sentences = conclusions(vec![
        case(Final, "io_uring,depth=4", None, &times(FAST, 1)),
        case(Final, "pwrite", None, &times(AS_FAST, 1)),
        failed,
    ]);
    assert!(
        sentences[0].ends_with(
            ", the simplest of the fastest, without a result of plain write (write) for comparison."
        ),
        "{}",
        sentences[0]
    );
    assert!(
        sentences[0].starts_with("Recommended: pwrite, at "),
        "{}",
        sentences[0]
    );
}

#[test]
fn a_search_that_reached_no_finals_recommends_nothing() {
    assert_eq!(
        conclusions(vec![case(Screening, "write,size=16MiB", None, &[1])]).len(),
        1
    );
    let sentences = conclusions(vec![case(Screening, "write,size=16MiB", None, &[1])]);
    assert!(
        sentences[0].starts_with("The search ended too early for advice: "),
        "{sentences:?}"
    );
}

#[test]
fn a_search_without_a_good_sample_has_a_reason() {
    let died = |name: &str| {
        let outcome = Outcome::WorkerDied {
            phase: writebench_model::Phase::Settle,
            signal: Some(9),
            detail: String::new(),
        };
        CaseRecord {
            samples: vec![Sample::without_figures(0, outcome)],
            ..case(Screening, name, None, &[])
        }
    };
    let not_run = case(Final, "write", None, &[]);
    let sentences = conclusions(vec![
        died("write,size=16MiB"),
        died("pwrite,size=16MiB"),
        not_run.clone(),
    ]);
    assert_eq!(
        sentences,
        [
            "No advice: 2 of 2 cases failed: the worker was killed (SIGKILL) by another process, or by the kernel for lack \
             of memory. Free memory, or use a smaller --size. The kernel's log (dmesg) names what it killed.",
            "2 of 2 candidates lost the worker: SIGKILL (9): killed by another process, or by the kernel for lack of \
             memory, in phase settle:\n  write,size=16MiB\n  and 1 more",
        ]
    );
    let sentences = conclusions(vec![
        died("write,size=16MiB"),
        case(Screening, "pwrite", None, &[1]),
        not_run,
    ]);
    assert!(
        sentences[0].starts_with("No advice: 1 of 2 cases failed: "),
        "one candidate has no rival: {sentences:?}"
    );
}

#[test]
fn a_finalist_without_a_rival_is_no_answer_and_has_the_limit_as_the_reason() {
    let settings = writebench_model::Settings {
        budget_ns: Some(10_000_000_000),
        ..example_run().settings
    };
    let cases = vec![
        case(Final, "write", BASELINE, &times(FAST, 1)),
        case(Screening, "pwrite,size=16MiB", None, &[1]),
        case(Screening, "mmap,size=16MiB", None, &[1]),
    ];
    let sentences = crate::Report::from_run(
        None,
        RunRecord {
            settings,
            cases,
            ..example_run()
        },
    )
    .conclusions;
    let expected = "The search ended too early for advice: the budget of 10s ended after 1 of the 6 rounds that an answer \
                    needs. Use a larger --budget, or a smaller --size.";
    assert_eq!(sentences, [expected]);
}

/// Most candidates of a search have one sample. What an answer lacks is counted of the others.
#[test]
fn a_search_without_advice_says_how_many_rounds_the_best_cases_have() {
    let sentences = conclusions(vec![
        case(Final, "write", BASELINE, &times(FAST, 3)[..5]),
        case(Final, "io_uring,depth=4", None, &times(FAST, 1)),
        case(Final, "pwrite,threads=2", None, &times(FAST, 1)[..1]),
    ]);
    assert!(
        sentences[0].contains("after 5 of the 6 rounds"),
        "{sentences:?}"
    );
}

#[test]
fn a_search_without_a_sample_says_what_ended_it() {
    let settings = writebench_model::Settings {
        budget_ns: Some(5_000_000_000),
        search_bytes: Some(1 << 26),
        ..example_run().settings
    };
    let run = RunRecord {
        settings,
        cases: Vec::new(),
        ..example_run()
    };
    assert_eq!(
        crate::Report::from_run(None, run).conclusions,
        [
            "The search ended too early for advice: the budget of 5s ended after 0 of the 6 rounds that an answer needs. \
             Use a larger --budget, or a smaller --size."
        ]
    );
}

fn first_conclusion_of_disturbed(samples: usize) -> String {
    let mut disturbed = case(Final, "write", BASELINE, &times(FAST, 1)[..samples]);
    for sample in &mut disturbed.samples {
        sample.disturbed = Some("memory copy 2.5 times slower than usual".to_owned());
    }
    let settings = writebench_model::Settings {
        budget_ns: Some(90_000_000_000),
        ..example_run().settings
    };
    let cases = vec![disturbed, case(Screening, "pwrite,size=16MiB", None, &[1])];
    let run = RunRecord {
        settings,
        cpu_wait_ppm: Some(820_000),
        cases,
        ..example_run()
    };
    let report = crate::Report::from_run(None, run);
    report.conclusions[0].clone()
}

#[test]
fn a_search_of_few_disturbed_samples_names_the_disturbance() {
    assert_eq!(
        first_conclusion_of_disturbed(4),
        "No advice: 4 of 4 samples were disturbed: other programs used the CPUs, and tasks waited for a CPU 82 % of the \
         time. Stop them, or measure while the machine is idle."
    );
}

/// Disturbed samples count if there are at least six, so only time is missing.
#[test]
fn a_search_of_many_disturbed_samples_asks_for_more_time() {
    assert_eq!(
        first_conclusion_of_disturbed(8),
        "The search ended too early for advice: the budget of 90s ended after 1 of the 6 rounds that an answer needs, \
         while other programs used the CPUs (tasks waited for a CPU 82 % of the time). Measure while the machine is idle. \
         Use a larger --budget, or a smaller --size."
    );
}

proptest! {
    /// Times of each case in each round. A race adds rounds to finalists: some have few.
    #[test]
    fn rows_agree_with_each_other_and_with_the_recommendation(
        table in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.8, 50u64..500), 12), 2..6)
    ) {
        let names = ["write", "pwrite", "mmap", "io_uring,depth=4", "write,chunk=4MiB"];
        let record = |(name, times): (&&str, &Vec<Option<u64>>)| {
            let label = BASELINE.filter(|_| *name == "write");
            let mut record = case(Final, name, label, &vec![0; times.len()]);
            for (sample, time) in record.samples.iter_mut().zip(times) {
                sample.phases_ns.write = time.unwrap_or(0) * 1_000_000;
            }
            record.samples.retain(|sample| sample.phases_ns.write > 0);
            record
        };
        let cases: Vec<CaseRecord> = names.iter().zip(&table).map(record).collect();
        let report = crate::Report::from_run(None, RunRecord { cases, ..example_run() });
        let Some(advice) = &report.advice else { return Ok(()) };
        let finding = |name: &str| report.findings.iter().find(|finding| finding.case.as_deref() == Some(name));
        let case_named = |name: &str| report.cases.iter().find(|case| case.record.case.name() == name).unwrap();
        prop_assert_eq!(&finding(&advice.recommended).unwrap().goal, "recommended");
        prop_assert!(finding(&advice.baseline).is_some());
        for row in &report.findings {
            let case = case_named(row.case.as_deref().unwrap());
            let value = |case: &CaseReport| case.estimate.as_ref().unwrap().throughput_bytes_per_s.value;
            let Some(ratio) = case_named(&advice.baseline).ratio_to(case) else { continue };
            prop_assert!((value(case) / value(case_named(&advice.baseline)) / ratio.estimate - 1.0).abs() < 1e-9);
            let is_beaten = report.findings.iter().any(|other| {
                other.goal != "recommended" && case_named(other.case.as_deref().unwrap()).time_ns() < case.time_ns()
            });
            prop_assert!(row.goal != "best measured" || !is_beaten);
        }
    }

    #[test]
    fn the_fastest_of_a_run_is_the_first_of_its_table_and_slower_than_none(
        table in prop::collection::vec(prop::collection::vec(prop::option::of(50u64..500), 10), 1..6)
    ) {
        let names = ["write", "pwrite", "mmap", "io_uring,depth=4", "write,chunk=4MiB"];
        let record = |(name, times): (&&str, &Vec<Option<u64>>)| {
            let sample = |(round, time): (u32, &Option<u64>)| {
                let mut sample = Sample::without_figures(round, Outcome::Ok);
                (sample.phases_ns.write, sample.bytes) = ((*time)? * 1_000_000, 1 << 30);
                Some(sample)
            };
            example_case("", name, (0..).zip(times).filter_map(sample).collect())
        };
        let cases: Vec<CaseRecord> = names.iter().zip(&table).map(record).collect();
        let report = crate::Report::from_run(None, RunRecord { cases, ..example_run() });
        let Some(fastest) = report.answers[0].finding.case.as_deref() else { return Ok(()) };
        let fastest = report.cases.iter().find(|case| case.name == fastest).unwrap();
        for other in report.cases.iter().filter(|case| case.is_ranked()) {
            prop_assert!(fastest.time_ns() <= other.time_ns());
            prop_assert!(fastest.verdict_to(other) != Verdict::Slower);
        }
    }
}
