//! A portfolio is the fewest cases of which one is near the best in every environment.
//!
//! Greedy minimization of the regret selects it (Xu, Hutter, Hoos, Leyton-Brown: SATzilla, JAIR 2008; Kadioglu,
//! Malitsky, Sellmann, Tierney: ISAC, ECAI 2010).

use std::collections::BTreeMap;

/// A gain is the baseline's time over the case's. An absent case counts as the baseline.
pub(super) type Gains = BTreeMap<String, f64>;

pub(super) const TOLERANCE: f64 = 0.03;

/// The simplest of cases closer than this is chosen.
const ALIKE: f64 = 0.01;

/// A smaller saved share of time, summed over the environments, is noise.
const LEAST_USE: f64 = 0.02;

pub(super) fn gain(gains: &Gains, name: &str) -> f64 {
    gains.get(name).copied().unwrap_or(1.0)
}

/// The regret is the excess time of the portfolio's best, or the baseline, over the environment's best.
pub(super) fn regret<S: AsRef<str>>(gains: &Gains, portfolio: &[S]) -> f64 {
    let best = gains.values().copied().fold(1.0, f64::max);
    best / portfolio
        .iter()
        .map(|name| gain(gains, name.as_ref()))
        .fold(1.0, f64::max)
        - 1.0
}

/// Each step adds the case that lowers the regret most.
pub(super) fn choose(
    environments: &[&Gains],
    efforts: &BTreeMap<String, u32>,
    most: usize,
) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    while chosen.len() < most {
        let Some(next) = next(environments, efforts, &chosen) else {
            break;
        };
        chosen.push(next);
    }
    // A later case may replace an earlier one.
    for index in (0..chosen.len()).rev() {
        let mut without = chosen.clone();
        without.remove(index);
        if excess(environments, &without) - excess(environments, &chosen) < LEAST_USE {
            chosen = without;
        }
    }
    chosen
}

/// Returns the simplest of the cases that lower the regret most. None if that is too little.
fn next(
    environments: &[&Gains],
    efforts: &BTreeMap<String, u32>,
    chosen: &[String],
) -> Option<String> {
    let mut candidates = Vec::new();
    for (name, effort) in efforts {
        let more = [chosen, std::slice::from_ref(name)].concat();
        candidates.push((name, *effort, excess(environments, &more)));
    }
    let least = candidates
        .iter()
        .map(|(.., excess)| *excess)
        .fold(f64::INFINITY, f64::min);
    if excess(environments, chosen) - least < LEAST_USE {
        return None;
    }
    candidates.retain(|(.., excess)| *excess <= least + f64::ln_1p(ALIKE));
    let simplest = candidates
        .into_iter()
        .min_by(|(a, effort, _), (b, other, _)| {
            let by_gain = sum_of_logs(environments, b).total_cmp(&sum_of_logs(environments, a));
            effort.cmp(other).then(by_gain)
        });
    simplest.map(|(name, ..)| name.clone())
}

/// A higher sum is a higher geometric mean of the gains.
fn sum_of_logs(environments: &[&Gains], name: &str) -> f64 {
    let logs = environments.iter().map(|gains| gain(gains, name).ln());
    logs.sum()
}

/// Sums the logarithms of regrets beyond the tolerance.
fn excess(environments: &[&Gains], portfolio: &[String]) -> f64 {
    let regrets = environments.iter().map(|gains| regret(gains, portfolio));
    regrets
        .map(|regret| (regret.ln_1p() - TOLERANCE.ln_1p()).max(0.0))
        .sum()
}

/// Each environment is judged by a portfolio that was chosen without it.
pub(super) fn left_out(
    environments: &[&Gains],
    efforts: &BTreeMap<String, u32>,
    most: usize,
) -> Vec<f64> {
    let mut regrets = Vec::new();
    for (index, environment) in environments.iter().enumerate() {
        let others = [&environments[..index], &environments[index + 1..]].concat();
        regrets.push(regret(environment, &choose(&others, efforts, most)));
    }
    regrets
}

#[cfg(test)]
mod tests {
    use writebench_testkit::TestRng;

    use super::*;

    fn gains(table: &[(&str, f64)]) -> Gains {
        table
            .iter()
            .map(|(name, gain)| ((*name).to_owned(), *gain))
            .collect()
    }

    fn efforts(table: &[(&str, u32)]) -> BTreeMap<String, u32> {
        table
            .iter()
            .map(|(name, effort)| ((*name).to_owned(), *effort))
            .collect()
    }

    #[test]
    fn one_case_near_the_best_everywhere_is_chosen_before_each_best() {
        let one = gains(&[("a", 2.0), ("both", 1.95)]);
        let other = gains(&[("b", 3.0), ("both", 2.95)]);
        let efforts = efforts(&[("a", 0), ("b", 0), ("both", 9)]);
        assert_eq!(choose(&[&one, &other], &efforts, 8), ["both"]);
    }

    #[test]
    fn an_environment_needs_no_case_if_the_baseline_is_near_the_best() {
        let one = gains(&[("a", 1.02), ("b", 0.4)]);
        assert!(choose(&[&one], &efforts(&[("a", 0), ("b", 0)]), 8).is_empty());
    }

    #[test]
    fn the_simplest_of_cases_within_a_percent_is_chosen() {
        let one = gains(&[("fast", 2.0), ("simple", 1.96), ("simpler", 1.88)]);
        assert_eq!(
            choose(
                &[&one],
                &efforts(&[("fast", 6), ("simple", 1), ("simpler", 0)]),
                8
            ),
            ["simple"]
        );
        let faster_elsewhere = gains(&[("other", 4.0), ("b", 3.0), ("a", 2.0)]);
        let tie = gains(&[("a", 2.0), ("b", 2.0)]);
        let efforts = efforts(&[("a", 1), ("b", 1), ("other", 9)]);
        assert_eq!(choose(&[&tie, &faster_elsewhere], &efforts, 1), ["b"]);
    }

    #[test]
    fn a_case_without_a_result_counts_as_the_baseline() {
        let (one, other) = (gains(&[("a", 2.0)]), gains(&[("b", 1.5)]));
        assert!((regret(&other, &["a"]) - 0.5).abs() < 1e-9);
        let efforts = efforts(&[("a", 0), ("b", 0)]);
        assert_eq!(left_out(&[&one, &other], &efforts, 8), [1.0, 0.5]);
    }

    #[test]
    fn the_largest_regret_is_first_and_a_replaced_case_is_dropped() {
        let large = gains(&[("large", 4.0), ("both", 1.5)]);
        let small = gains(&[("small", 1.5), ("both", 1.4)]);
        let efforts = efforts(&[("large", 9), ("small", 0), ("both", 0)]);
        assert_eq!(choose(&[&large, &small, &small], &efforts, 1), ["large"]);
        assert_eq!(choose(&[&large, &small], &efforts, 8), ["large", "small"]);
    }

    #[test]
    fn one_more_case_would_save_no_regret() {
        for seed in 0..200 {
            let mut rng = TestRng::new(seed);
            let names: Vec<String> = (0..12).map(|number| format!("case {number}")).collect();
            let efforts = names
                .iter()
                .map(|name| (name.clone(), rng.pick(&[0, 1, 2, 3])))
                .collect();
            let environments: Vec<Gains> = (0..6)
                .map(|_| {
                    names
                        .iter()
                        .map(|name| (name.clone(), 0.5 + rng.below(150) as f64 / 100.0))
                        .collect()
                })
                .collect();
            let environments: Vec<&Gains> = environments.iter().collect();
            let chosen = choose(&environments, &efforts, 3);
            let all = choose(&environments, &efforts, 8);
            assert!(
                excess(&environments, &chosen) >= excess(&environments, &all),
                "seed {seed}"
            );
            for name in &names {
                let more = [&all[..], std::slice::from_ref(name)].concat();
                let saved = excess(&environments, &all) - excess(&environments, &more);
                // A dropped case may have saved less than the limit.
                assert!(all.len() == 8 || saved < 2.0 * LEAST_USE, "seed {seed}");
            }
        }
    }
}
