//! The order of a run's cases, and the similarity of two orders.

use anyhow::{Result, ensure};
use serde_json::Value;
use writebench_stats::{Verdict, spearman};

use crate::export::{Measured, measured};

/// The cases of one run, at least two, fastest first.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) cases: Vec<Measured>,
}

/// The similarity of two runs' orders, over their common cases.
#[derive(Debug, PartialEq)]
pub(super) struct Likeness {
    /// The number of common cases.
    pub(super) cases: usize,
    /// Spearman's rank correlation of the medians.
    pub(super) correlation: Option<f64>,
    /// The correlation of ranks in which cases that a run does not distinguish are tied.
    pub(super) with_ties: Option<f64>,
    /// Pairs of cases that both runs distinguish.
    pub(super) told_apart: usize,
    /// The pairs among these of which both runs call the same case faster.
    pub(super) alike: usize,
}

impl Order {
    /// Reads writebench's JSON export.
    pub(super) fn of_export(json: &Value) -> Result<Self> {
        let mut cases = measured(json)?;
        ensure!(cases.len() > 1, "fewer than two cases have figures");
        cases.sort_by(|a, b| a.value_ns.total_cmp(&b.value_ns));
        Ok(Self { cases })
    }

    /// The names of the fastest cases.
    pub(super) fn first(&self, count: usize) -> Vec<&str> {
        self.cases.iter().take(count).map(|case| case.name.as_str()).collect()
    }

    /// Compares with the order of another run.
    pub(super) fn likeness(&self, other: &Self) -> Likeness {
        let pairs: Vec<(&Measured, &Measured)> =
            self.cases.iter().filter_map(|case| Some((case, other.case(&case.id)?))).collect();
        let (here, there): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let medians = |cases: &[&Measured]| cases.iter().map(|case| case.value_ns).collect::<Vec<_>>();
        let (points_here, points_there) = (points(&here), points(&there));
        // The number of slower cases minus that of faster ones.
        let leads = |points: &[Vec<f64>]| points.iter().map(|row| row.iter().sum()).collect::<Vec<f64>>();
        let each = points_here.concat().into_iter().zip(points_there.concat());
        let products: Vec<f64> = each.map(|(here, there)| here * there).collect();
        // Each pair of cases is present twice.
        let count = |is: fn(&f64) -> bool| products.iter().copied().filter(is).count() / 2;
        Likeness {
            cases: here.len(),
            correlation: spearman(&medians(&here), &medians(&there)),
            with_ties: spearman(&leads(&points_here), &leads(&points_there)),
            told_apart: count(|product| *product != 0.0),
            alike: count(|product| *product > 0.0),
        }
    }

    pub(super) fn case(&self, id: &str) -> Option<&Measured> {
        self.cases.iter().find(|case| case.id == id)
    }
}

/// For each case against each: 1 if it is faster, -1 if it is slower, and 0 if the two are not
/// distinguished by the program's rule.
fn points(cases: &[&Measured]) -> Vec<Vec<f64>> {
    let against = |case: &Measured, other| match case.ratio(other).map(|it| Verdict::of(&it, Verdict::MARGIN)) {
        Some(Verdict::Faster) => 1.0,
        Some(Verdict::Slower) => -1.0,
        _ => 0.0,
    };
    cases.iter().map(|case| cases.iter().map(|other| against(case, other)).collect()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A case with six samples around that time.
    fn case(id: &str, median_ns: f64, spread: f64) -> Value {
        let samples: Vec<Value> = [-1.0, 1.0, -0.5, 0.5, -0.2, 0.2]
            .iter()
            .enumerate()
            .map(|(round, off)| {
                json!({"outcome": "ok", "disturbed": null, "round": round, "total_ns": median_ns + spread * off})
            })
            .collect();
        json!({"id": id, "outcome": "ok", "samples": samples, "estimate": {"total_ns": {"value": median_ns}}})
    }

    /// An order of cases whose times differ by much more than their samples do.
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
    fn a_single_case_is_no_order() {
        assert!(Order::of_export(&json!({"cases": [case("a", 1.0, 0.1), case("a", 1.0, 0.1)]})).is_err());
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
    fn indistinguishable_cases_count_only_for_the_correlation() {
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
    fn disturbed_and_failed_samples_distinguish_nothing() {
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
