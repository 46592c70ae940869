//! The size of the page of `writebench run` with its default goals.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use writebench_model::{
    Case, CaseOrigin, CaseRecord, Latency, Layout, Outcome, RunRecord, Sample, Workload,
};
use writebench_testkit::{example_case, example_run};

use super::{page_data, render};
use crate::Report;

/// The cases of a real first answer on ext4, below the titles of their goals.
const CASES: &str = include_str!("../../../../tests/first_answer/cases.txt");

/// Samples of each case. On an idle machine, most of the 59 cases get fewer.
const SAMPLES: u32 = 20;

/// Calls of a sample with records or with several files.
const CALLS: u64 = 256;

/// The largest size of the page, in bytes. The documents say 350 kB at most.
const MOST: usize = 350_000;

#[test]
fn the_page_of_a_first_answer_is_small() {
    let report = first_answer();
    let page = render(std::slice::from_ref(&report));
    assert_eq!(report.answers.len(), 11, "one for each goal");
    let data = page_data(&page);
    for of in ["ranked", "phases", "latency"] {
        let charts = data["charts"].as_array().unwrap();
        assert!(charts.iter().any(|chart| chart["of"] == of), "{of}");
    }
    assert!(page.len() < MOST, "{} bytes", page.len());
}

fn first_answer() -> Report {
    let goals = CASES.split("# ").skip(1);
    let cases = goals.flat_map(|goal| {
        let mut lines = goal.lines();
        let section = lines.next().unwrap();
        let names: Vec<&str> = lines.collect();
        // All cases of a goal do the work of plain write, which is the first.
        let workload = Case::parse(names[0]).unwrap().workload();
        names
            .into_iter()
            .map(|name| case(section, name, &workload))
            .collect::<Vec<_>>()
    });
    let run = RunRecord {
        cases: cases.collect(),
        ..example_run()
    };
    Report::from_run(None, run)
}

fn case(section: &str, name: &str, workload: &Workload) -> CaseRecord {
    let number = name.bytes().map(u64::from).sum();
    CaseRecord {
        origin: CaseOrigin::of_suite(CaseOrigin::GOALS, section, Layout::Ranked),
        workload: workload.clone(),
        ..example_case(
            section,
            name,
            (0..SAMPLES)
                .map(|round| sample(number, round, workload))
                .collect(),
        )
    }
}

/// Digits of noise, as real times have them.
fn noise(number: u64, round: u32) -> u64 {
    let mixed = (number * 7919 + u64::from(round)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) % 1_000_003
}

fn sample(number: u64, round: u32, workload: &Workload) -> Sample {
    let ns = |phase: u64, usual: u64| usual + noise(number + phase, round) * usual / 1_500_000;
    let mut sample = Sample::without_figures(round, Outcome::Ok);
    sample.bytes = workload.bytes;
    sample.phases_ns.prepare = ns(1, 28_000);
    sample.phases_ns.open = ns(2, 65_000);
    sample.phases_ns.write = ns(3, 5_000_000 + number % 17 * 1_000_000);
    sample.phases_ns.sync = ns(4, 12_000_000);
    sample.phases_ns.close = ns(5, 12_000);
    sample.user_cpu_ns = ns(6, 400_000);
    sample.system_cpu_ns = ns(7, 3_000_000);
    if workload.files > 1 || workload.durable_every_bytes.is_some() {
        sample.latency = Some(Box::new(latency(number, round)));
    }
    sample
}

fn latency(number: u64, round: u32) -> Latency {
    let mut durations: Histogram<u64> =
        Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    for call in 0..CALLS {
        let ns = 100_000 + noise(number + call, round);
        durations.record(ns * ns / 100_000).unwrap();
    }
    let mut histogram = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&durations, &mut histogram)
        .unwrap();
    Latency {
        count: CALLS,
        p50_ns: durations.value_at_quantile(0.5),
        p90_ns: durations.value_at_quantile(0.9),
        p99_ns: durations.value_at_quantile(0.99),
        p99_9_ns: durations.value_at_quantile(0.999),
        max_ns: durations.max(),
        max_record: None,
        histogram: STANDARD.encode(histogram),
    }
}
