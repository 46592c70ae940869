use super::*;
use writebench_model::{CaseRecord, Durability, Outcome, Sample};
use writebench_testkit::{example_case, example_run};

fn case(name: &str, durability: Durability, write_ns: &[u64]) -> CaseRecord {
    let samples = (0u32..).zip(write_ns).map(|(round, &write_ns)| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        sample.bytes = 1_000_000;
        sample.phases_ns.write = write_ns;
        sample
    });
    let mut record = example_case("test", name, samples.collect());
    record.workload.durability = durability;
    record.workload.bytes = 1_000_000;
    record
}

fn report(cases: Vec<CaseRecord>) -> crate::Report {
    crate::Report::from_run(
        None,
        RunRecord {
            cases,
            ..example_run()
        },
    )
}

fn conclude(cases: Vec<CaseRecord>) -> Vec<String> {
    report(cases).conclusions
}

#[test]
fn cases_of_two_workloads_are_never_ranked_together() {
    let fast = [100_000; 8];
    let slow = [900_000; 8];
    let sentences = conclude(vec![
        case("a", Durability::Cached, &fast),
        case("b", Durability::Durable, &slow),
    ]);
    assert_eq!(
        sentences,
        [
            "To stream 1000000 bytes into a new file on /data/<b>|`x`, in the page cache: a at 10.0 GB/s (10.0 – 10.0). \
             No other case for comparison.",
            "To stream 1000000 bytes into a new file on /data/<b>|`x`, durable: b at 1.11 GB/s (1.11 – 1.12). No other \
             case for comparison.",
        ]
    );
}

#[test]
fn cases_equal_to_the_best_are_named() {
    let a = [100, 104, 98, 103, 99, 101, 97, 102].map(|time| time * 1000);
    let b = [101, 103, 99, 102, 100, 100, 98, 103].map(|time| time * 1000);
    let slow = [900_000; 8];
    let sentences = conclude(vec![
        case("a", Durability::Cached, &a),
        case("b", Durability::Cached, &b),
        case("slow", Durability::Cached, &slow),
    ]);
    assert_eq!(
        sentences,
        [
            "To stream 1000000 bytes into a new file on /data/<b>|`x`, in the page cache: a at 10.0 GB/s (9.61 – 10.4). \
             It is faster than slow.\nSame within 5 %:\n  b",
            "Up to 9 % of the 'slower' verdicts may be wrong, because the fastest case is partly the luckiest.",
        ]
    );
}

#[test]
fn a_clear_winner_is_called_one_and_few_rounds_are_admitted() {
    let (fast, slow) = ([100_000; 8], [900_000; 8]);
    let sentences = conclude(vec![
        case("slow", Durability::Cached, &slow),
        case("fast", Durability::Cached, &fast),
    ]);
    let clear = " It is faster than slow, which takes 9.00 times as long (9.00 – 9.00, 8 rounds).";
    assert!(
        sentences[0].contains(": fast at 10.0 GB/s") && sentences[0].ends_with(clear),
        "{sentences:?}"
    );
    assert_eq!(sentences.len(), 1, "one comparison needs no word on many");
    let sentences = conclude(vec![
        case("slow", Durability::Cached, &slow[..3]),
        case("fast", Durability::Cached, &fast[..3]),
    ]);
    let few = " Too few rounds to compare it with slow: 3 rounds, and 6 are needed.";
    assert!(sentences[0].ends_with(few), "{sentences:?}");
}

#[test]
fn a_case_that_was_cut_short_is_compared_by_its_rate() {
    let mut cut = case("cut", Durability::Cached, &[100_000; 8]);
    cut.samples.iter_mut().for_each(|sample| sample.bytes /= 4);
    let sentences = conclude(vec![cut, case("whole", Durability::Cached, &[300_000; 8])]);
    assert!(
        sentences[0].contains(": whole at 3.33 GB/s")
            && sentences[0].contains("cut, which takes 1.33 times"),
        "{sentences:?}"
    );
}

fn said(startups_ns: &[Option<u64>]) -> Option<String> {
    let sample = |startup_ns: &Option<u64>| Sample {
        startup_ns: *startup_ns,
        ..Sample::without_figures(0, Outcome::Ok)
    };
    let samples = startups_ns.iter().map(sample).collect();
    conclude(vec![example_case("A", "write", samples)])
        .into_iter()
        .find(|line| line.starts_with("An empty program"))
}

#[test]
fn the_median_of_starts_is_reported() {
    assert_eq!(said(&[None, None]), None);
    let said = said(&[Some(1_000_000), Some(3_000_000), Some(2_000_000)]).unwrap();
    assert!(said.contains("takes 2.00 ms here"), "{said}");
}

fn difference(cases: Vec<CaseRecord>) -> Option<String> {
    report(cases).smallest_difference
}

#[test]
fn a_quiet_run_detects_one_percent_and_a_noisy_case_more() {
    let drift = [100_000, 120_000, 90_000, 110_000, 150_000, 100_000];
    let cached = |name, write_ns: [u64; 6]| case(name, Durability::Cached, &write_ns);
    let (best, slow) = (
        cached("best", drift),
        cached("slow", drift.map(|ns| 2 * ns)),
    );
    // The logarithms of six ratios, half of them 2 and half 2.42, have a standard error of 0.0674 without the two
    // outermost, and Student's factor is 3.18.
    let noisy = cached(
        "noisy",
        std::array::from_fn(|round| [200, 242][round % 2] * drift[round] / 100),
    );
    let quiet = difference(vec![best.clone(), slow.clone()]);
    assert_eq!(
        quiet.unwrap(),
        "This run can miss differences below about 1 %.",
        "drift cancels"
    );
    // The half width is 1.24, over 0.99.
    assert_eq!(
        difference(vec![best.clone(), slow, noisy.clone(), noisy]).unwrap(),
        "This run can miss differences below about 13 % (1 % to 25 %, by case)."
    );
}

#[test]
fn five_rounds_or_one_case_detect_nothing() {
    let five = |name| case(name, Durability::Cached, &[100_000; 5]);
    assert_eq!(difference(vec![five("a"), five("b")]), None);
    assert_eq!(
        difference(vec![case("a", Durability::Cached, &[100_000; 6])]),
        None
    );
}

fn read_back_of(samples: &[Option<ReadBack>]) -> Option<String> {
    let samples = samples.iter().map(|read_back| {
        let sample = Sample::without_figures(0, Outcome::Ok);
        Sample {
            read_back: *read_back,
            ..sample
        }
    });
    let cases = vec![example_case("a table", "write", samples.collect())];
    // The case is in two tables.
    report([cases.clone(), cases].concat()).read_back
}

fn some(extent: Extent, from: Option<ReadFrom>) -> Option<ReadBack> {
    Some(ReadBack {
        extent,
        bytes: 1,
        from,
    })
}

#[test]
fn the_report_counts_samples_read_back_and_their_origin() {
    use {Extent::*, ReadFrom::*};
    let whole = some(Whole, Some(PageCache));
    let part = some(Part, Some(Device));
    let long = read_back_of(&[whole, part, part]).unwrap();
    assert_eq!(
        long,
        "Read back: 1 whole, 2 in part (2 from the device, 1 from the page cache)."
    );
    assert!(
        long.len() + 6 < 80,
        "a hundred samples of each fit into a terminal's line"
    );
    assert_eq!(
        read_back_of(&[whole, None]).unwrap(),
        "Read back: 1 whole, 1 not (1 from the page cache)."
    );
    let before = read_back_of(&[some(Whole, None)]).unwrap();
    assert_eq!(before, "Read back: 1 whole (1 from an unknown place).");
    let never = "Read back: no sample, only sizes of files.";
    assert_eq!(read_back_of(&[None]).unwrap(), never);
    assert_eq!(read_back_of(&[]), None);
}
