use super::*;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use writebench_model::{Case, CaseOrigin, ContestAnswer, Decision, Latency, Outcome, Settings};
use writebench_testkit::{example_case, example_run};

use crate::numbers::cases::cases;
use crate::sentences::Report;

const RECORDS: &str = "write,size=4000KiB,chunk=4KiB,sync=fsync/1";

fn case(name: &str, samples: Vec<Sample>) -> CaseRecord {
    let case = Case::parse(name).unwrap();
    CaseRecord {
        workload: case.workload(),
        case: case.into(),
        ..example_case("test", "write", samples)
    }
}

/// A sample of so many records, of which one in a hundred takes ten times as long.
fn sample(round: u32, records: u64, ms: u64) -> Sample {
    let mut histogram: Histogram<u64> =
        Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    for record in 0..records {
        let times = if record % 100 == 99 { 10 } else { 1 };
        histogram.record(ms * 1_000_000 * times).unwrap();
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    let latency = Latency {
        count: records,
        p50_ns: 0,
        p90_ns: 0,
        p99_ns: 0,
        p99_9_ns: 0,
        max_ns: 0,
        max_record: None,
        histogram: base64::engine::general_purpose::STANDARD.encode(bytes),
    };
    let mut sample = Sample::without_figures(round, Outcome::Ok);
    sample.phases_ns.write = records * ms * 1_000_000;
    sample.bytes = records * 4096;
    sample.latency = Some(Box::new(latency));
    sample
}

fn samples(count: u32, records: u64) -> Vec<Sample> {
    (0..count).map(|round| sample(round, records, 2)).collect()
}

fn judged_samples(require: &str, samples: Vec<Sample>) -> Judged {
    let watched = Watched::with_samples(&case(RECORDS, samples));
    watched.judge(require.parse().unwrap(), 1)
}

fn verdict(require: &str) -> LimitVerdict {
    judged_samples(require, samples(20, 1000)).verdict
}

#[test]
fn each_metric_is_judged_by_its_samples() {
    use LimitVerdict::{Met, Missed, Undecided};
    for (require, expected) in [
        ("p50<10ms", Met),
        ("p50<1ms", Missed),
        // The slow records are exactly one in a hundred.
        ("p99<10ms", Undecided),
        ("p99<30ms", Met),
        ("p99<1ms", Missed),
        ("p99.9<30ms", Met),
        ("p99.9<10ms", Missed),
        ("rate>400/s", Met),
        ("rate>600/s", Missed),
        ("throughput>1MB/s", Met),
        ("throughput>1GB/s", Missed),
        ("time<9s", Met),
        ("time<10ms", Missed),
    ] {
        assert_eq!(verdict(require), expected, "{require}");
    }
}

#[test]
fn few_samples_or_calls_never_decide() {
    for require in ["p50<1ns", "p50<9s", "rate>1/s", "time<1ns"] {
        for count in [0, 1, 11] {
            let judged = judged_samples(require, samples(count, 1000));
            assert_eq!(judged.verdict, LimitVerdict::Undecided, "{require}");
            assert_eq!(judged.interval, None);
            assert_eq!(
                judged.undecided,
                Some(Undecided::FewSamples { needed: 12 }),
                "{require}"
            );
        }
    }
    let few = judged_samples("p99<1ns", samples(12, 8));
    assert_eq!(
        (few.calls, few.undecided),
        (Some(96), Some(Undecided::FewCalls { needed: 100 }))
    );
    let without_end = judged_samples("p99<9s", samples(12, 20));
    assert_eq!(without_end.undecided, Some(Undecided::NoUpperEnd));
    let slow = judged_samples("p99<1ms", samples(12, 20));
    assert_eq!(slow.verdict, LimitVerdict::Missed, "all are slower");
}

#[test]
fn disturbed_and_failed_samples_do_not_count() {
    let mut some = samples(13, 1000);
    some[0].disturbed = Some("noise".to_owned());
    some[1].outcome = Outcome::WorkerDied {
        phase: writebench_model::Phase::Write,
        signal: None,
        detail: String::new(),
    };
    let judged = judged_samples("p50<9s", some);
    assert_eq!((judged.samples, judged.disturbed_samples), (11, 1));
    assert_eq!(judged.verdict, LimitVerdict::Undecided);
}

#[test]
fn a_near_limit_says_how_much_more_would_decide() {
    let mut noisy = samples(20, 1000);
    for (place, sample) in (0..).zip(&mut noisy) {
        sample.phases_ns.write += 100_000_000 * (place % 7);
    }
    let judged = judged_samples("time<2350ms", noisy);
    assert_eq!(judged.undecided, Some(Undecided::WithinInterval));
    assert!(judged.times_samples.unwrap() > 1.0, "{judged:?}");
}

/// A run of the goal `records`: plain write takes 20 ms, and the recommended method 2 ms.
fn run_of_goal(require: &str) -> RunRecord {
    let goal = |name: &str, ms: u64| {
        let samples = (0..20).map(|round| sample(round, 1000, ms)).collect();
        let mut case = case(name, samples);
        case.origin = CaseOrigin::of_suite(
            CaseOrigin::GOALS,
            "Append records",
            writebench_model::Layout::Records,
        );
        case
    };
    let plain = goal("write,size=4000KiB,chunk=4KiB,sync=fsync/1", 20);
    let other = goal("pwrite,size=4000KiB,chunk=4KiB,sync=fdatasync/1", 2);
    let decision = Decision {
        target: plain.target.clone(),
        workload: plain.workload.clone(),
        answer: Some(ContestAnswer::new(
            other.case.name().to_owned(),
            1.0,
            Vec::new(),
        )),
        compared: 2,
        candidates: 2,
        counts_disturbed: false,
    };
    let settings = Settings {
        requirements: require.split(',').map(|one| one.parse().unwrap()).collect(),
        ..example_run().settings
    };
    RunRecord {
        settings,
        decisions: vec![decision],
        cases: vec![plain, other],
        ..example_run()
    }
}

#[test]
fn plain_write_is_judged_and_the_recommended_method_follows_if_it_misses() {
    let mut run = run_of_goal("p50<10ms,p50<1s");
    let cases = cases(&mut run);
    let found: Vec<(String, &str, bool, LimitVerdict)> = required(&run, &cases)
        .into_iter()
        .map(|one| {
            let method = if one.case.starts_with("pwrite") {
                "pwrite"
            } else {
                "write"
            };
            let requirement = one.requirement.to_string();
            (requirement, method, one.is_recommended, one.judged.verdict)
        })
        .collect();
    let short = "p50<10ms".to_owned();
    assert_eq!(
        found,
        [
            (short.clone(), "write", false, LimitVerdict::Missed),
            (short, "pwrite", true, LimitVerdict::Met),
            ("p50<1s".to_owned(), "write", false, LimitVerdict::Met),
        ]
    );
}

#[test]
fn each_verdict_is_a_sentence_at_the_beginning() {
    let report = Report::from_run(None, run_of_goal("p50<10ms,p50<1s"));
    insta::assert_snapshot!(report.requirements.join("\n"));
    assert_eq!(report.conclusions[..3], report.requirements[..]);
    let text =
        crate::formats::terminal::report(&report, crate::formats::terminal::Detail::Usual, None);
    let first = text.lines().next().unwrap();
    assert!(first.contains("p50 < 10 ms: missed."), "{first}");
}

#[test]
fn the_first_verdict_stays_whatever_follows() {
    let mut many = samples(12, 1000);
    many.extend((12..60).map(|round| sample(round, 1000, 400)));
    let judged = judged_samples("p50<10ms", many);
    assert_eq!((judged.verdict, judged.samples), (LimitVerdict::Met, 12));
}

#[test]
fn many_samples_have_few_looks() {
    assert!((1..64).all(is_look));
    let looks = (64..64_000).filter(|&count| is_look(count)).count();
    assert!(looks < 400, "{looks}");
}
