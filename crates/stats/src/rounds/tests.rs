use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::Verdict;

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-6
}

fn ratio(model: &Rounds, case: usize, other: usize) -> Interval {
    model.ratio(case, (model, other)).unwrap()
}

#[test]
fn cases_of_different_rounds_are_compared_without_the_drift() {
    // The machine is twice as slow from round 6 on. Cases 1 and 2 take 2 and 3 times as long as case 0.
    let time = |of_case: f64, round: u32| (round, of_case * if round < 6 { 100.0 } else { 200.0 });
    let model = Rounds::fit(&[
        (0..12).map(|round| time(1.0, round)).collect(),
        (0..6).map(|round| time(2.0, round)).collect(),
        (6..12).map(|round| time(3.0, round)).collect(),
    ]);
    let interval = ratio(&model, 2, 1);
    assert!(
        close(interval.estimate, 1.5) && interval.is_sure(),
        "{interval:?}"
    );
    assert!(
        close(interval.low, 1.5) && close(interval.high, 1.5),
        "{interval:?}"
    );
    assert!(close(ratio(&model, 1, 0).estimate, 2.0));
}

#[test]
fn a_round_with_one_case_is_no_evidence() {
    let model = Rounds::fit(&[
        (0..5)
            .map(|round| (round, 100.0))
            .chain([(9, 1.0)])
            .collect(),
        (0..6).map(|round| (round, 100.0)).collect(),
    ]);
    let interval = ratio(&model, 0, 1);
    assert_eq!((interval.count, interval.is_sure()), (5, false));
    assert!(close(model.value(0).unwrap(), 100.0));
}

#[test]
fn a_case_alone_has_its_median() {
    let model = Rounds::fit(&[vec![(0, 5.0), (1, 7.0), (2, 9.0)], Vec::new()]);
    assert!(close(model.value(0).unwrap(), 7.0));
    assert_eq!((model.value(1), model.ratio(0, (&model, 1))), (None, None));
}

#[test]
fn a_million_rounds_take_a_moment() {
    let model = Rounds::fit(&[(0..1_000_000).map(|round| (round, 3.0)).collect()]);
    assert!(close(model.value(0).unwrap(), 3.0));
}

#[derive(Debug, Clone, Copy)]
struct World {
    cases: usize,
    rounds: u32,
    missing: f64,
    drift: fn(&mut Pcg64Mcg, u32, f64) -> f64,
    noise: fn(&mut Pcg64Mcg) -> f64,
}

fn normal(random: &mut Pcg64Mcg) -> f64 {
    let (a, b) = (random.random::<f64>(), random.random::<f64>());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Student's t with two degrees of freedom, which has no variance.
fn heavy(random: &mut Pcg64Mcg) -> f64 {
    let chi2 = -2.0 * (1.0 - random.random::<f64>()).ln();
    0.05 * normal(random) / (chi2 / 2.0).sqrt()
}

/// One sample in eight takes up to three times as long.
fn skewed(random: &mut Pcg64Mcg) -> f64 {
    let slow = if random.random::<f64>() < 0.125 {
        random.random::<f64>() * 1.1
    } else {
        0.0
    };
    0.03 * normal(random) + slow
}

const STEADY: fn(&mut Pcg64Mcg, u32, f64) -> f64 = |_, _, _| 0.0;
const TREND: fn(&mut Pcg64Mcg, u32, f64) -> f64 = |_, round, _| 0.1 * f64::from(round);
const STEP: fn(&mut Pcg64Mcg, u32, f64) -> f64 = |_, round, _| if round < 4 { 0.0 } else { 0.7 };
const WALK: fn(&mut Pcg64Mcg, u32, f64) -> f64 = |random, _, last| last + 0.2 * normal(random);

impl World {
    /// Case `c` takes `1 + c × difference` times as long as the first.
    fn run(&self, difference: f64, random: &mut Pcg64Mcg) -> Rounds {
        let mut cases = vec![Vec::new(); self.cases];
        let mut effect = 0.0;
        for round in 0..self.rounds {
            effect = (self.drift)(random, round, effect);
            for (case, times) in cases.iter_mut().enumerate() {
                let log = (1.0 + difference * case as f64).ln() + effect + (self.noise)(random);
                if random.random::<f64>() >= self.missing {
                    times.push((round, log.exp()));
                }
            }
        }
        Rounds::fit(&cases)
    }

    /// The shares of sure intervals with the true ratio, and of equal pairs with a difference, over many
    /// runs.
    fn shares(&self) -> (f64, f64) {
        const RUNS: usize = 250;
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let (mut sure, mut held, mut different) = (0, 0, 0);
        for _ in 0..RUNS {
            let model = self.run(0.3, &mut random);
            let interval = ratio(&model, 1, 0);
            sure += usize::from(interval.is_sure());
            held += usize::from(interval.is_sure() && interval.low <= 1.3 && interval.high >= 1.3);
            let equal = self.run(0.0, &mut random);
            different += usize::from(
                Verdict::from_ratio(&ratio(&equal, 1, 0), Verdict::MARGIN).is_difference(),
            );
        }
        assert!(sure > RUNS / 2, "{self:?}: {sure}");
        (held as f64 / sure as f64, different as f64 / RUNS as f64)
    }
}

#[test]
fn intervals_hold_the_truth_and_equal_cases_are_not_called_different() {
    for (cases, rounds, missing) in [
        (2, 6, 0.0),
        (2, 12, 0.2),
        (3, 9, 0.2),
        (3, 20, 0.0),
        (12, 12, 0.3),
    ] {
        for drift in [STEADY, TREND, STEP, WALK] {
            for noise in [heavy, skewed] {
                let world = World {
                    cases,
                    rounds,
                    missing,
                    drift,
                    noise,
                };
                let (coverage, different) = world.shares();
                assert!(
                    coverage >= 0.93 && different <= 0.05,
                    "{world:?}: {coverage} {different}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn the_order_of_cases_is_that_of_their_values(
        table in prop::collection::vec(prop::collection::vec(prop::option::of(1.0..1e6f64), 12), 2..8)
    ) {
        let times = |case: &Vec<Option<f64>>| (0..).zip(case).filter_map(|(round, time)| Some((round, (*time)?))).collect();
        let model = Rounds::fit(&table.iter().map(times).collect::<Vec<_>>());
        for (a, b) in (0..table.len()).flat_map(|a| (0..table.len()).map(move |b| (a, b))) {
            let (Some(of_a), Some(of_b), Some(ratio)) = (model.value(a), model.value(b), model.ratio(a, (&model, b))) else {
                continue;
            };
            prop_assert!(close(ratio.estimate, of_a / of_b));
            prop_assert!(ratio.low <= ratio.estimate && ratio.estimate <= ratio.high);
            prop_assert!(of_a > of_b || Verdict::from_ratio(&ratio, Verdict::MARGIN) != Verdict::Slower);
        }
    }
}
