//! What a run comes to, in a sentence per contract.

use std::collections::HashMap;

use model::{Contract, Sample};

use crate::estimate::CONFIDENCE;
use crate::report::CaseReport;
use crate::table::number::{gigabytes_per_s, thousands};

/// How many cases are named in a list before the rest is counted.
const NAMED: usize = 3;

/// For each contract that several cases fulfil: the fastest, and those that cannot be told from it.
/// Two cases differ when the interval of their in-round ratio excludes 1, at 95 % for each comparison.
pub(crate) fn conclusions(cases: &[CaseReport]) -> Vec<String> {
    let mut conclusions: Vec<String> =
        contracts(cases).into_iter().filter_map(|contract| conclusion(contract, cases)).collect();
    let compares_many = |contract: &&Contract| ranked(contract, cases).len() > 2;
    if contracts(cases).iter().any(compares_many) {
        // No allowance is made for many comparisons: with six rounds none could be called different any more. "Clear of all
        // others" needs none, since every comparison must come out for it.
        conclusions.push(
            "Each comparison with the fastest is made at 95 %: of cases just as fast, up to one in ten is called \
             slower by chance."
                .to_owned(),
        );
    }
    conclusions
}

/// The different contracts of cases, in order.
pub(crate) fn contracts(cases: &[CaseReport]) -> Vec<&Contract> {
    let mut contracts: Vec<&Contract> = Vec::new();
    for case in cases {
        if !contracts.contains(&&case.record.contract) {
            contracts.push(&case.record.contract);
        }
    }
    contracts
}

/// A case that failed on the way, was cut short or has only disturbed samples has figures but no rank.
pub(crate) fn is_ranked(case: &CaseReport) -> bool {
    case.outcome == "ok"
        && case.estimate.as_ref().is_some_and(|estimate| !estimate.only_disturbed && estimate.cut == 0)
}

/// The cases of a contract that have a rank, fastest first.
fn ranked<'c>(contract: &Contract, cases: &'c [CaseReport]) -> Vec<&'c CaseReport> {
    let mut ranked: Vec<&CaseReport> = Vec::new();
    for case in cases.iter().filter(|case| case.record.contract == *contract && is_ranked(case)) {
        // The same case may stand in several tables.
        if ranked.iter().all(|other| other.name != case.name) {
            ranked.push(case);
        }
    }
    let time = |case: &CaseReport| case.estimate.as_ref().map_or(f64::INFINITY, |it| it.total_ns.median);
    ranked.sort_by(|a, b| time(a).total_cmp(&time(b)));
    ranked
}

fn conclusion(contract: &Contract, cases: &[CaseReport]) -> Option<String> {
    let ranked = ranked(contract, cases);
    let (best, others) = ranked.split_first().filter(|(_, others)| !others.is_empty())?;
    let estimate = best.estimate.as_ref()?;
    // Where data becomes durable on the way, records are what is asked about.
    let figure = match estimate.records_per_s.as_ref().filter(|_| contract.durable_every_bytes.is_some()) {
        Some(records_per_s) => format!("{} records/s", thousands(records_per_s.median)),
        None => format!("{} GB/s", gigabytes_per_s(estimate.throughput_bytes_per_s.median)),
    };
    let with_verdict = |wanted: Option<bool>| -> Vec<&str> {
        let names = others.iter().filter(|other| differs(best, other) == wanted);
        names.map(|other| other.name.as_str()).collect()
    };
    let (same, unclear) = (with_verdict(Some(false)), with_verdict(None));
    let mut text = format!("Fastest to leave {contract}: {} at {figure}", best.name);
    match (same.is_empty(), unclear.len()) {
        (true, 0) => text += ", clear of all others",
        (true, unclear) if unclear == others.len() => text += "; too few rounds to compare",
        (true, _) => {}
        (false, _) => text += &format!("; no difference to {}", list(&same)),
    }
    if !unclear.is_empty() && unclear.len() < others.len() {
        text += &format!("; too few rounds to compare it with {}", list(&unclear));
    }
    Some(text + ".")
}

pub(crate) fn list(names: &[&str]) -> String {
    match names.len() {
        ..=NAMED => names.join(", "),
        many => format!("{} and {} more", names[..NAMED].join(", "), many - NAMED),
    }
}

/// Whether the interval of the in-round ratio excludes 1; none if the rounds in common are too few for
/// an interval of 95 %.
pub(crate) fn differs(best: &CaseReport, other: &CaseReport) -> Option<bool> {
    let ratio = in_round_ratio(other, best)?;
    (ratio.confidence >= CONFIDENCE).then_some(ratio.low > 1.0 || ratio.high < 1.0)
}

/// How many times longer one case takes than the other, in the rounds that they have in common.
pub(crate) fn in_round_ratio(case: &CaseReport, other: &CaseReport) -> Option<stats::Interval> {
    in_round_ratio_of(case, other, total)
}

/// The same of another figure. Nothing over nothing is the same; something over nothing is beyond all bounds, and so
/// may be the median: only what is in the middle counts.
pub(crate) fn in_round_ratio_of(
    case: &CaseReport,
    other: &CaseReport,
    figure: fn(&Sample) -> f64,
) -> Option<stats::Interval> {
    let by_round = |case: &CaseReport| -> HashMap<u32, f64> {
        Sample::usable(&case.record.samples).into_iter().map(|sample| (sample.round, figure(sample))).collect()
    };
    let other = by_round(other);
    let ratios: Vec<f64> = by_round(case)
        .into_iter()
        .filter_map(|(round, own)| other.get(&round).map(|&other| if own == other { 1.0 } else { own / other }))
        .collect();
    stats::median_interval(&ratios, CONFIDENCE)
}

#[expect(clippy::cast_precision_loss, reason = "durations are compared")]
pub(crate) fn total(sample: &Sample) -> f64 {
    sample.phases_ns.total() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CaseRecord, Durability, Outcome, RunRecord};
    use testkit::{example_case, example_run};

    fn case(name: &str, durability: Durability, write_ns: &[u64]) -> CaseRecord {
        let samples = (0u32..).zip(write_ns).map(|(round, &write_ns)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            sample.bytes = 1_000_000;
            sample.phases_ns.write = write_ns;
            sample
        });
        let mut record = example_case("test", name, samples.collect());
        record.contract.durability = durability;
        record.contract.bytes = 1_000_000;
        record
    }

    fn conclude(cases: Vec<CaseRecord>) -> Vec<String> {
        crate::Report::of(None, RunRecord { cases, ..example_run() }).conclusions
    }

    #[test]
    fn cases_of_two_contracts_are_never_ranked_together() {
        let fast = [100_000; 8];
        let slow = [900_000; 8];
        assert!(
            conclude(vec![case("a", Durability::Cached, &fast), case("b", Durability::Durable, &slow)])
                .is_empty()
        );
    }

    #[test]
    fn what_cannot_be_told_from_the_best_is_said() {
        let a = [100, 104, 98, 103, 99, 101, 97, 102].map(|it| it * 1000);
        let b = [101, 103, 99, 102, 100, 100, 98, 103].map(|it| it * 1000);
        let slow = [900_000; 8];
        let sentences = conclude(vec![
            case("a", Durability::Cached, &a),
            case("b", Durability::Cached, &b),
            case("slow", Durability::Cached, &slow),
        ]);
        assert_eq!(
            sentences,
            [
                "Fastest to leave 1000000 of incompressible data in 1 new file, in the page cache: a at 9.95 GB/s; \
              no difference to b.",
                "Each comparison with the fastest is made at 95 %: of cases just as fast, up to one in ten is called \
                 slower by chance.",
            ]
        );
    }

    #[test]
    fn a_clear_winner_is_called_one_and_few_rounds_are_admitted() {
        let (fast, slow) = ([100_000; 8], [900_000; 8]);
        let sentences =
            conclude(vec![case("slow", Durability::Cached, &slow), case("fast", Durability::Cached, &fast)]);
        assert!(sentences[0].contains(": fast at 10.0 GB/s, clear of all others."), "{sentences:?}");
        assert_eq!(sentences.len(), 1, "one comparison needs no word on many");
        let sentences = conclude(vec![
            case("slow", Durability::Cached, &slow[..3]),
            case("fast", Durability::Cached, &fast[..3]),
        ]);
        assert!(sentences[0].ends_with("; too few rounds to compare."), "{sentences:?}");
    }

    #[test]
    fn a_case_with_one_sample_that_was_cut_short_has_no_rank() {
        let (fast, slow) = ([100_000; 8], [900_000; 8]);
        let mut cut = case("cut", Durability::Cached, &fast);
        cut.samples[3].bytes /= 2;
        let others = [case("fast", Durability::Cached, &fast), case("slow", Durability::Cached, &slow)];
        let sentences = conclude([&[cut.clone()], others.as_slice()].concat());
        assert!(sentences[0].contains(": fast at 10.0 GB/s, clear of all others."), "{sentences:?}");
        assert!(conclude(vec![cut, case("slow", Durability::Cached, &slow)]).is_empty(), "nothing to compare");
    }
}
