//! The order in which a run puts its cases, and how alike two orders are.

use std::cmp::Ordering;
use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// What one run says of its cases, fastest first.
#[derive(Debug)]
pub(super) struct Order {
    cases: Vec<Ranked>,
}

/// A case with figures.
#[derive(Debug)]
struct Ranked {
    id: String,
    // Its name in the suite, where it has one.
    label: Option<String>,
    median_ns: f64,
    by_round_ns: HashMap<u64, f64>,
}

/// How alike the orders of two runs are, over the cases that both have.
#[derive(Debug, PartialEq)]
pub(super) struct Likeness {
    /// Cases in common.
    pub(super) cases: usize,
    /// Spearman's rank correlation of the medians.
    pub(super) correlation: Option<f64>,
    /// The same of places among which cases that a run does not tell apart are level.
    pub(super) with_ties: Option<f64>,
    /// Pairs of cases that both runs call different.
    pub(super) told_apart: usize,
    /// Of these, pairs of which both runs call the same one faster.
    pub(super) alike: usize,
}

impl Order {
    /// Reads writebench's JSON export.
    pub(super) fn of_export(json: &Value) -> Result<Self> {
        let mut cases: Vec<Ranked> = Vec::new();
        for case in json["cases"].as_array().context("an export without cases")? {
            // The same case may stand in several sections, and one that failed has no figures.
            let ranked = Ranked::of(case)?;
            cases.extend(ranked.filter(|ranked| cases.iter().all(|other| other.id != ranked.id)));
        }
        ensure!(cases.len() > 1, "fewer than two cases have figures");
        cases.sort_by(|a, b| a.median_ns.total_cmp(&b.median_ns));
        Ok(Self { cases })
    }

    /// How many cases have a place.
    pub(super) fn len(&self) -> usize {
        self.cases.len()
    }

    /// The names of the fastest.
    pub(super) fn first(&self, count: usize) -> Vec<&str> {
        self.cases.iter().take(count).map(|case| case.label.as_deref().unwrap_or(&case.id)).collect()
    }

    /// Compares with the order of another run.
    pub(super) fn likeness(&self, other: &Self) -> Likeness {
        let pairs: Vec<(&Ranked, &Ranked)> =
            self.cases.iter().filter_map(|case| Some((case, other.case(&case.id)?))).collect();
        let medians = |side: fn(&(&Ranked, &Ranked)) -> f64| pairs.iter().map(side).collect::<Vec<_>>();
        let (mut told_apart, mut alike) = (0, 0);
        // How many are slower, less how many are faster.
        let (mut lead_here, mut lead_there) = (vec![0.0; pairs.len()], vec![0.0; pairs.len()]);
        for (place, (a, a_there)) in pairs.iter().enumerate() {
            for (later, (b, b_there)) in pairs.iter().enumerate().skip(place + 1) {
                let (here, there) = (a.against(b), a_there.against(b_there));
                for (lead, verdict) in [(&mut lead_here, here), (&mut lead_there, there)] {
                    let points =
                        verdict.map_or(0.0, |verdict| if verdict == Ordering::Less { 1.0 } else { -1.0 });
                    lead[place] += points;
                    lead[later] -= points;
                }
                if let (Some(here), Some(there)) = (here, there) {
                    told_apart += 1;
                    alike += usize::from(here == there);
                }
            }
        }
        Likeness {
            cases: pairs.len(),
            correlation: writebench_stats::spearman(
                &medians(|(here, _)| here.median_ns),
                &medians(|(_, there)| there.median_ns),
            ),
            with_ties: writebench_stats::spearman(&lead_here, &lead_there),
            told_apart,
            alike,
        }
    }

    fn case(&self, id: &str) -> Option<&Ranked> {
        self.cases.iter().find(|case| case.id == id)
    }
}

impl Ranked {
    fn of(json: &Value) -> Result<Option<Self>> {
        let id = json["id"].as_str().context("a case without an id")?.to_owned();
        let Some(median_ns) = json["estimate"]["total_ns"]["median"].as_f64() else { return Ok(None) };
        let mut by_round_ns = HashMap::new();
        for sample in json["samples"].as_array().context("a case without samples")? {
            if sample["outcome"] == "ok"
                && sample["disturbed"].is_null()
                && let (Some(round), Some(total_ns)) = (sample["round"].as_u64(), sample["total_ns"].as_f64())
            {
                by_round_ns.insert(round, total_ns);
            }
        }
        let label = json["label"].as_str().map(str::to_owned);
        Ok(Some(Self { id, label, median_ns, by_round_ns }))
    }

    /// Which is faster, if writebench calls the two different: the interval of the ratios of their times in
    /// the rounds in common excludes 1.
    fn against(&self, other: &Self) -> Option<Ordering> {
        const CONFIDENCE: f64 = 0.95;
        let ratios: Vec<f64> = self
            .by_round_ns
            .iter()
            .filter_map(|(round, total_ns)| Some(total_ns / other.by_round_ns.get(round)?))
            .collect();
        let ratio = writebench_stats::median_interval(&ratios, CONFIDENCE)
            .filter(|ratio| ratio.confidence >= CONFIDENCE)?;
        match (ratio.high < 1.0, ratio.low > 1.0) {
            (true, _) => Some(Ordering::Less),
            (_, true) => Some(Ordering::Greater),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A case whose six samples are around that time.
    fn case(id: &str, median_ns: f64, spread: f64) -> Value {
        let samples: Vec<Value> = [-1.0, 1.0, -0.5, 0.5, -0.2, 0.2]
            .iter()
            .enumerate()
            .map(|(round, off)| {
                json!({"outcome": "ok", "disturbed": null, "round": round, "total_ns": median_ns + spread * off})
            })
            .collect();
        json!({"id": id, "outcome": "ok", "samples": samples, "estimate": {"total_ns": {"median": median_ns}}})
    }

    /// An order of cases with these times, which differ by much more than their samples do.
    pub(in crate::validate) fn order(times: &[(&str, f64)]) -> Order {
        let cases: Vec<Value> = times.iter().map(|(id, median_ns)| case(id, *median_ns, 1.0)).collect();
        Order::of_export(&json!({"cases": cases})).unwrap()
    }

    #[test]
    fn the_fastest_is_first_and_goes_by_its_label() {
        let mut slow = case("read-write,size=1GiB", 300.0, 1.0);
        slow["label"] = "read+write 16bs".into();
        let cases = [slow, case("splice", 100.0, 1.0), case("sendfile", 200.0, 1.0)];
        let order = Order::of_export(&json!({"cases": cases})).unwrap();
        assert_eq!(order.first(5), ["splice", "sendfile", "read+write 16bs"]);
        assert_eq!(order.first(1), ["splice"]);
    }

    #[test]
    fn a_case_counts_once_and_one_without_figures_does_not() {
        let failed = json!({"id": "mmap-write", "outcome": "failed", "samples": [], "estimate": null});
        let cases = [case("a", 1.0, 0.1), case("a", 1.0, 0.1), failed, case("b", 2.0, 0.1)];
        assert_eq!(Order::of_export(&json!({"cases": cases})).unwrap().len(), 2);
        assert!(Order::of_export(&json!({"cases": cases[..2]})).is_err());
        assert!(Order::of_export(&json!({})).is_err());
    }

    #[test]
    fn the_same_order_is_wholly_alike_and_the_reverse_not_at_all() {
        let run = order(&[("a", 100.0), ("b", 200.0), ("c", 300.0)]);
        let same = order(&[("a", 110.0), ("b", 190.0), ("c", 350.0)]);
        let reverse = order(&[("a", 300.0), ("b", 200.0), ("c", 100.0)]);
        assert_eq!(
            run.likeness(&same),
            Likeness { cases: 3, correlation: Some(1.0), with_ties: Some(1.0), told_apart: 3, alike: 3 }
        );
        assert_eq!(
            run.likeness(&reverse),
            Likeness { cases: 3, correlation: Some(-1.0), with_ties: Some(-1.0), told_apart: 3, alike: 0 }
        );
    }

    #[test]
    fn cases_that_a_run_cannot_tell_apart_count_for_the_correlation_only() {
        let near = |a: f64, b: f64| {
            let mixed = [case("a", a, 40.0), case("b", b, -40.0), case("c", 1000.0, 1.0)];
            Order::of_export(&json!({"cases": mixed})).unwrap()
        };
        let likeness = near(100.0, 101.0).likeness(&near(101.0, 100.0));
        assert_eq!((likeness.told_apart, likeness.alike), (2, 2));
        assert!((likeness.correlation.unwrap() - 0.5).abs() < 1e-12);
        assert!((likeness.with_ties.unwrap() - 1.0).abs() < 1e-12, "a and b are level in both");
    }

    #[test]
    fn only_cases_that_both_runs_have_are_compared() {
        let likeness =
            order(&[("a", 1.0), ("b", 200.0), ("c", 300.0)]).likeness(&order(&[("b", 2.0), ("c", 90.0)]));
        assert_eq!((likeness.cases, likeness.told_apart), (2, 1));
    }

    #[test]
    fn disturbed_and_failed_samples_tell_nothing_apart() {
        let mut disturbed = case("a", 100.0, 1.0);
        for sample in disturbed["samples"].as_array_mut().unwrap() {
            sample["disturbed"] = "slow memory".into();
        }
        let cases = [disturbed, case("b", 200.0, 1.0)];
        let order = Order::of_export(&json!({"cases": cases})).unwrap();
        let likeness = order.likeness(&order);
        assert_eq!((likeness.told_apart, likeness.correlation), (0, Some(1.0)));
    }
}
