//! What a run comes to, in a sentence per contract.

use std::collections::HashMap;

use model::{Contract, Sample};

use crate::estimate::usable;
use crate::formats::gigabytes_per_s;
use crate::report::CaseReport;

/// Rounds in common without which nothing is said: fewer have no 95 % interval.
const LEAST_ROUNDS: usize = 6;
/// How many cases are named that cannot be told from the best.
const NAMED: usize = 3;

/// For each contract that several cases fulfil: the fastest, and those that cannot be told from it.
/// Two cases differ when the interval of their in-round ratio excludes 1.
pub(crate) fn conclusions(cases: &[CaseReport]) -> Vec<String> {
    let mut contracts: Vec<&Contract> = Vec::new();
    for case in cases.iter().filter(|case| case.estimate.is_some()) {
        if !contracts.contains(&&case.record.contract) {
            contracts.push(&case.record.contract);
        }
    }
    contracts.into_iter().filter_map(|contract| conclusion(contract, cases)).collect()
}

fn conclusion(contract: &Contract, cases: &[CaseReport]) -> Option<String> {
    let mut ranked: Vec<&CaseReport> = Vec::new();
    for case in cases.iter().filter(|case| case.record.contract == *contract && case.estimate.is_some()) {
        // The same case may stand in several tables.
        if ranked.iter().all(|other| other.record.case != case.record.case) {
            ranked.push(case);
        }
    }
    let time = |case: &CaseReport| case.estimate.as_ref().map_or(f64::INFINITY, |it| it.total_ns.median);
    ranked.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let (best, others) = ranked.split_first().filter(|(_, others)| !others.is_empty())?;
    let figure = gigabytes_per_s(best.estimate.as_ref()?.throughput_bytes_per_s.median);
    let verdicts: Vec<Option<bool>> = others.iter().map(|other| differs(best, other)).collect();
    let unclear: Vec<&str> = others
        .iter()
        .zip(&verdicts)
        .filter(|(_, verdict)| **verdict == Some(false))
        .map(|(other, _)| other.record.case.as_str())
        .collect();
    let rest = match (unclear.as_slice(), verdicts.contains(&None)) {
        (_, true) => "; too few rounds to say more".to_owned(),
        ([], false) => ", clear of all others".to_owned(),
        (few, false) if few.len() <= NAMED => format!("; no difference to {}", few.join(", ")),
        (many, false) => {
            format!("; no difference to {} and {} more", many[..NAMED].join(", "), many.len() - NAMED)
        }
    };
    Some(format!("Fastest to leave {contract}: {} at {figure} GB/s{rest}.", best.record.case))
}

/// Whether the interval of the in-round ratio excludes 1; none if there are too few rounds in common.
fn differs(best: &CaseReport, other: &CaseReport) -> Option<bool> {
    let by_round = |case: &CaseReport| -> HashMap<u32, f64> {
        usable(&case.record.samples).into_iter().map(|sample| (sample.round, total(sample))).collect()
    };
    let (best, other) = (by_round(best), by_round(other));
    let mut rounds: Vec<u32> = best.keys().copied().filter(|round| other.contains_key(round)).collect();
    rounds.sort_unstable();
    if rounds.len() < LEAST_ROUNDS {
        return None;
    }
    let values = |of: &HashMap<u32, f64>| rounds.iter().map(|round| of[round]).collect::<Vec<f64>>();
    let ratio = stats::bootstrap_ratio_of_medians(&values(&other), &values(&best), 0)?;
    Some(ratio.low > 1.0 || ratio.high < 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "durations are compared")]
fn total(sample: &Sample) -> f64 {
    sample.phases_ns.total() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CaseRecord, Content, Durability, Outcome, RunRecord};

    fn case(name: &str, durability: Durability, write_ns: &[u64]) -> CaseRecord {
        let samples = (0u32..).zip(write_ns).map(|(round, &write_ns)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            sample.bytes = 1_000_000;
            sample.phases_ns.write = write_ns;
            sample
        });
        CaseRecord {
            suite: "test".to_owned(),
            section: "test".to_owned(),
            case: name.to_owned(),
            method: name.to_owned(),
            axes: std::collections::BTreeMap::new(),
            contract: Contract { content: Content::Random, bytes: 1 << 20, files: 1, durability },
            samples: samples.collect(),
        }
    }

    fn conclude(cases: Vec<CaseRecord>) -> Vec<String> {
        let run = RunRecord { cases, ..crate::formats::tests::run() };
        crate::Report::of(None, run).conclusions
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
            ["Fastest to leave 1MiB of incompressible data in 1 file, in the page cache: a at 9.95 GB/s; \
              no difference to b."]
        );
    }

    #[test]
    fn a_clear_winner_is_called_one_and_few_rounds_are_admitted() {
        let (fast, slow) = ([100_000; 8], [900_000; 8]);
        let sentences =
            conclude(vec![case("slow", Durability::Cached, &slow), case("fast", Durability::Cached, &fast)]);
        assert!(sentences[0].contains(": fast at 10.0 GB/s, clear of all others."), "{sentences:?}");
        let sentences = conclude(vec![
            case("slow", Durability::Cached, &slow[..3]),
            case("fast", Durability::Cached, &fast[..3]),
        ]);
        assert!(sentences[0].ends_with("; too few rounds to say more."), "{sentences:?}");
    }
}
