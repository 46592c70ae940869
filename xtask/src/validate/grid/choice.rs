//! The choice of a portfolio: the fewest cases of which one is near the best in every environment.
//!
//! This is the selection of an algorithm portfolio (Xu, Hutter, Hoos, Leyton-Brown: SATzilla, JAIR 2008; Kadioglu,
//! Malitsky, Sellmann, Tierney: ISAC, ECAI 2010), by a greedy cover.

use std::collections::BTreeMap;

/// The time of the baseline over that of each case, by name. A case that is absent counts as the baseline.
pub(super) type Gains = BTreeMap<String, f64>;

/// How far from the best a case near it may be.
pub(super) const TOLERANCE: f64 = 0.03;

/// Of cases that differ by less, the simplest is chosen.
const ALIKE: f64 = 0.01;

pub(super) fn gain(gains: &Gains, name: &str) -> f64 {
    gains.get(name).copied().unwrap_or(1.0)
}

/// How much slower than the environment's best the best of the portfolio and the baseline is.
pub(super) fn regret<S: AsRef<str>>(gains: &Gains, portfolio: &[S]) -> f64 {
    let best = gains.values().copied().fold(1.0, f64::max);
    best / portfolio.iter().map(|name| gain(gains, name.as_ref())).fold(1.0, f64::max) - 1.0
}

/// At most that many of the cases with an effort, those that are near the best in most environments first.
pub(super) fn choose(environments: &[&Gains], efforts: &BTreeMap<String, u32>, most: usize) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    while chosen.len() < most {
        let left = environments.iter().filter(|gains| regret(gains, &chosen) > TOLERANCE);
        let left: Vec<&Gains> = left.copied().collect();
        // What a case loses to the best where it is near.
        let losses = |name: &str| {
            let regrets = left.iter().map(|gains| regret(gains, &[name]));
            regrets.filter(|regret| *regret <= TOLERANCE).map(f64::ln_1p).collect::<Vec<_>>()
        };
        let rows: Vec<_> = efforts.iter().map(|(name, effort)| (name, *effort, losses(name))).collect();
        let count = rows.iter().map(|(.., losses)| losses.len()).max().unwrap_or(0);
        if count == 0 {
            break;
        }
        let ties = rows.iter().filter(|(.., losses)| losses.len() == count);
        let least = ties.clone().map(|(.., losses)| losses.iter().sum()).fold(f64::INFINITY, f64::min);
        let alike = ties.filter(|(.., losses)| {
            losses.iter().sum::<f64>() <= least + f64::ln_1p(ALIKE) * losses.len() as f64
        });
        let logs = |name: &str| environments.iter().map(|gains| gain(gains, name).ln()).sum::<f64>();
        let simplest = alike.min_by(|(a, effort, _), (b, other, _)| {
            effort.cmp(other).then_with(|| logs(b).total_cmp(&logs(a)))
        });
        chosen.extend(simplest.map(|(name, ..)| (*name).clone()));
    }
    chosen
}

/// For each environment, the regret there of the portfolio that is chosen without it.
pub(super) fn left_out(environments: &[&Gains], efforts: &BTreeMap<String, u32>, most: usize) -> Vec<f64> {
    let without = |index| [&environments[..index], &environments[index + 1..]].concat();
    let regret_of = |index| regret(environments[index], &choose(&without(index), efforts, most));
    (0..environments.len()).map(regret_of).collect()
}

#[cfg(test)]
mod tests {
    use writebench_testkit::TestRng;

    use super::*;

    fn gains(table: &[(&str, f64)]) -> Gains {
        table.iter().map(|(name, gain)| ((*name).to_owned(), *gain)).collect()
    }

    fn efforts(table: &[(&str, u32)]) -> BTreeMap<String, u32> {
        table.iter().map(|(name, effort)| ((*name).to_owned(), *effort)).collect()
    }

    #[test]
    fn one_case_that_is_near_the_best_everywhere_is_chosen_before_each_best() {
        let one = gains(&[("a", 2.0), ("both", 1.95)]);
        let other = gains(&[("b", 3.0), ("both", 2.95)]);
        let efforts = efforts(&[("a", 0), ("b", 0), ("both", 9)]);
        assert_eq!(choose(&[&one, &other], &efforts, 8), ["both"]);
    }

    #[test]
    fn an_environment_where_the_baseline_is_near_the_best_needs_no_case() {
        let one = gains(&[("a", 1.02), ("b", 0.4)]);
        assert!(choose(&[&one], &efforts(&[("a", 0), ("b", 0)]), 8).is_empty());
    }

    #[test]
    fn the_simplest_of_cases_within_a_percent_is_chosen() {
        let one = gains(&[("fast", 2.0), ("simple", 1.99), ("simpler", 1.96)]);
        assert_eq!(choose(&[&one], &efforts(&[("fast", 6), ("simple", 1), ("simpler", 0)]), 8), ["simple"]);
        let faster_elsewhere = gains(&[("other", 4.0), ("b", 3.0), ("a", 2.0)]);
        let tie = gains(&[("a", 2.0), ("b", 2.0)]);
        let efforts = efforts(&[("a", 1), ("b", 1), ("other", 9)]);
        assert_eq!(choose(&[&tie, &faster_elsewhere], &efforts, 1), ["b"]);
    }

    #[test]
    fn a_case_without_a_figure_counts_as_the_baseline() {
        let (one, other) = (gains(&[("a", 2.0)]), gains(&[("b", 1.5)]));
        assert!((regret(&other, &["a"]) - 0.5).abs() < 1e-9);
        let efforts = efforts(&[("a", 0), ("b", 0)]);
        assert_eq!(left_out(&[&one, &other], &efforts, 8), [1.0, 0.5]);
    }

    #[test]
    fn a_choice_covers_every_environment_or_has_as_many_cases_as_it_may() {
        for seed in 0..200 {
            let mut rng = TestRng::new(seed);
            let names: Vec<String> = (0..12).map(|number| format!("case {number}")).collect();
            let efforts = names.iter().map(|name| (name.clone(), rng.pick(&[0, 1, 2, 3]))).collect();
            let environments: Vec<Gains> = (0..6)
                .map(|_| names.iter().map(|name| (name.clone(), 0.5 + rng.below(150) as f64 / 100.0)).collect())
                .collect();
            let environments: Vec<&Gains> = environments.iter().collect();
            let chosen = choose(&environments, &efforts, 3);
            let are_covered = environments.iter().all(|gains| regret(gains, &chosen) <= TOLERANCE);
            assert!(are_covered || chosen.len() == 3, "seed {seed}");
            let all = choose(&environments, &efforts, 8);
            assert!(environments.iter().all(|gains| regret(gains, &all) <= TOLERANCE), "seed {seed}");
            assert!(regret(environments[0], &choose(&environments[..1], &efforts, 8)) <= TOLERANCE);
        }
    }
}
