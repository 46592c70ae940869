use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

type Noise = fn(&mut Pcg64Mcg) -> f64;

const FEW: [usize; 8] = [6, 7, 8, 9, 10, 12, 15, 19];
const TRIALS: u32 = 4000;

/// Ratios of `truth` times noise, whose median is 1.
fn ratios(count: usize, truth: f64, noise: Noise, random: &mut Pcg64Mcg) -> Vec<f64> {
    (0..count).map(|_| truth * noise(random).exp()).collect()
}

/// The share of trials whose interval meets a condition.
fn share(
    count: usize,
    (truth, noise): (f64, Noise),
    interval: fn(&[f64]) -> Option<Interval>,
    meets: impl Fn(&Interval) -> bool,
) -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let met = (0..TRIALS)
        .filter(|_| {
            let ratios = ratios(count, truth, noise, &mut random);
            interval(&ratios).is_some_and(|interval| meets(&interval))
        })
        .count();
    met as f64 / f64::from(TRIALS)
}

fn coverage(count: usize, noise: Noise) -> f64 {
    share(count, (1.1, noise), paired_ratio, |interval| {
        interval.low <= 1.1 && 1.1 <= interval.high
    })
}

/// How often a case that takes 10 % longer is called slower.
fn power(count: usize, noise: Noise, interval: fn(&[f64]) -> Option<Interval>) -> f64 {
    share(count, (1.1, noise), interval, |interval| {
        interval.verdict() == crate::Verdict::Slower
    })
}

fn sign_test(ratios: &[f64]) -> Option<Interval> {
    median_interval(ratios, CONFIDENCE)
}

fn normal(random: &mut Pcg64Mcg) -> f64 {
    let (a, b) = (random.random::<f64>(), random.random::<f64>());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// The difference of two samples with normal noise.
const CALM: Noise = |random| 0.06 * (normal(random) - normal(random));

/// One sample in eight scatters three times as far.
const TAILS: Noise = |random| {
    let mut sample = || {
        let factor = if random.random_bool(0.125) { 3.0 } else { 1.0 };
        0.06 * factor * normal(random)
    };
    sample() - sample()
};

/// One sample in eight takes up to three times as long.
const OUTLIERS: Noise = |random| slow_at_times(random) - slow_at_times(random);

fn slow_at_times(random: &mut Pcg64Mcg) -> f64 {
    let slow = if random.random_bool(0.125) {
        1.1 * random.random::<f64>()
    } else {
        0.0
    };
    0.03 * normal(random) + slow
}

/// Both have a second mode, which is 20 % slower.
const MODES: Noise = |random| {
    let mut sample = || f64::from(u8::from(random.random_bool(0.3))) * 0.2 + 0.02 * normal(random);
    sample() - sample()
};

/// One of the two has a long tail, and the other hardly scatters. The median of an exponential distribution is the
/// logarithm of 2.
const UNEQUAL: Noise = |random| {
    let tail = -(1.0 - random.random::<f64>()).ln() - std::f64::consts::LN_2;
    0.12 * tail - 0.002 * normal(random)
};

/// Only one of the two has a second mode.
const UNEQUAL_MODES: Noise = |random| {
    let second = f64::from(u8::from(random.random_bool(0.3)));
    0.2 * second + 0.02 * (normal(random) - normal(random)) - UNEQUAL_MODES_MEDIAN
};
/// The quantile 0.5 / 0.7 of the first mode, whose standard deviation is 0.02 √2.
const UNEQUAL_MODES_MEDIAN: f64 = 0.566 * 0.028_284;

/// One of the two, which changes at random, is slower by the same amount in each round.
const BY_TURNS: Noise = |random| {
    let slower = if random.random_bool(0.5) { 0.1 } else { -0.1 };
    slower + 0.01 * normal(random)
};

#[test]
fn intervals_hold_the_truth_in_about_95_of_100_trials() {
    for count in FEW.into_iter().chain([20, 30]) {
        for (name, noise) in [
            ("calm", CALM),
            ("tails", TAILS),
            ("outliers", OUTLIERS),
            ("modes", MODES),
            ("unequal", UNEQUAL),
        ] {
            let coverage = coverage(count, noise);
            assert!(coverage > 0.925, "{count} rounds, {name}: {coverage}");
        }
    }
}

/// The trimmed mean is above the median then, and the interval of many rounds is narrow enough to show it.
#[test]
fn a_second_mode_of_one_case_is_an_exception_for_nineteen_rounds() {
    let coverages = [6, 12, 19].map(|count| coverage(count, UNEQUAL_MODES));
    let [six, twelve, nineteen] = coverages;
    assert!(
        six > 0.94 && twelve > 0.92 && nineteen > 0.89,
        "{coverages:?}"
    );
}

/// One dissenting ratio of six is cut off, although it is no outlier. Two cases in random order were measured for 60
/// rounds on ext4 and on tmpfs, and the first was not the slower one.
#[test]
fn few_rounds_that_slow_one_of_two_by_turns_are_an_exception() {
    let coverages = [6, 8, 19].map(|count| coverage(count, BY_TURNS));
    let [six, eight, nineteen] = coverages;
    assert!(
        six > 0.75 && eight > 0.9 && nineteen > 0.935,
        "{coverages:?}"
    );
}

#[test]
fn equal_cases_are_called_different_in_at_most_six_of_100_trials() {
    for count in FEW {
        for noise in [CALM, TAILS, OUTLIERS, MODES] {
            let different = share(count, (1.0, noise), paired_ratio, |interval| {
                interval.verdict().is_difference()
            });
            assert!(different < 0.06, "{count} rounds: {different}");
        }
    }
}

#[test]
fn eight_rounds_find_ten_percent_twice_as_often_as_the_sign_test() {
    let of_eight = power(8, TAILS, paired_ratio);
    let by_signs = power(8, TAILS, sign_test);
    assert!(
        of_eight > 2.0 * by_signs && of_eight > 0.4,
        "{of_eight}, by signs {by_signs}"
    );
}

/// So nobody loses by taking more samples. The interval of the sign test gets wider with the seventh and the eighth.
#[test]
fn more_rounds_find_ten_percent_more_often() {
    let found = [6, 7, 8, 9, 12, 15, 19].map(|count| power(count, TAILS, paired_ratio));
    assert!(found.is_sorted(), "{found:?}");
    let by_signs = [6, 7, 8].map(|count| power(count, TAILS, sign_test));
    assert!(
        by_signs.iter().rev().is_sorted(),
        "{by_signs:?}: the reason for the trimmed mean"
    );
}

#[test]
fn an_outlier_at_each_end_hardly_moves_the_interval() {
    let calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0];
    let with_outliers = [1.0, 1.01, 0.99, 50.0, 0.0, 1.0];
    let [calm, with_outliers] = [calm, with_outliers].map(|ratios| paired_ratio(&ratios).unwrap());
    assert!(
        (with_outliers.high / calm.high - 1.0).abs() < 0.01
            && (with_outliers.low / calm.low - 1.0).abs() < 0.01,
        "{calm:?} {with_outliers:?}"
    );
}

#[test]
fn few_many_equal_and_infinite_ratios_have_the_interval_of_the_sign_test() {
    let up_to = |count: u32| (1..=count).map(f64::from).collect::<Vec<f64>>();
    for ratios in [
        Vec::new(),
        up_to(5),
        up_to(20),
        vec![1.0, 1.0, 1.0, 1.0, 0.5, 2.0],
        vec![1.25; 8],
        vec![1.0, 2.0, 3.0, 4.0, f64::INFINITY, f64::INFINITY],
        vec![0.0, 0.0, 3.0, 4.0, 5.0, 6.0],
    ] {
        assert_eq!(paired_ratio(&ratios), sign_test(&ratios), "{ratios:?}");
    }
    let trimmed = paired_ratio(&up_to(19)).unwrap();
    assert_ne!(Some(trimmed), sign_test(&up_to(19)));
    assert!(trimmed.is_sure() && trimmed.count == 19);
}

proptest! {
    /// A over B is the inverse of B over A, and a unit of time does not matter.
    #[test]
    fn intervals_are_those_of_a_ratio(ratios in prop::collection::vec(0.1..10.0f64, 6..20)) {
        let there = paired_ratio(&ratios).unwrap();
        let inverse: Vec<f64> = ratios.iter().map(|ratio| 1.0 / ratio).collect();
        let back = paired_ratio(&inverse).unwrap().inverse();
        for (there, back) in [(there.low, back.low), (there.estimate, back.estimate), (there.high, back.high)] {
            prop_assert!((there / back - 1.0).abs() < 1e-9);
        }
        prop_assert!(there.low <= there.estimate && there.estimate <= there.high);
    }
}
