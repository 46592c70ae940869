use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

/// A sum of uniform numbers, with one sample of ten in a slow tail.
fn noise(random: &mut Pcg64Mcg, sd: f64) -> f64 {
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    let tail = if random.random::<f64>() < 0.1 {
        3.0 * random.random::<f64>()
    } else {
        0.0
    };
    sd * (normal + tail)
}

/// Times of ways with these true times, in common rounds whose effects drift.
fn measured(truth: &[f64], rounds: u32, sd: f64, seed: u64) -> Vec<Vec<(u32, f64)>> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut drift: f64 = 0.0;
    let mut times = vec![Vec::new(); truth.len()];
    for round in 0..rounds {
        drift += noise(&mut random, 0.05);
        for (way, truth) in truth.iter().enumerate() {
            times[way].push((round, truth * (drift + noise(&mut random, sd)).exp()));
        }
    }
    times
}

/// The first way is plain write, and each further one takes more effort.
fn efforts(count: usize) -> Vec<(usize, Option<usize>)> {
    (0..count).map(|way| (way, way.checked_sub(1))).collect()
}

#[test]
fn the_simplest_way_of_the_fastest_answers() {
    let truth = [1.5, 1.003, 1.0, 1.3];
    let standings = Standings::of(&measured(&truth, 12, 0.01, 1));
    assert_eq!(standings.answer(&efforts(4)), Some(1));
    assert!(standings.is_decided(1) && standings.risk(0) > 0.99);
    assert!(standings.is_beaten(0, 2) && !standings.is_beaten(1, 2));
}

#[test]
fn no_way_answers_before_it_has_six_samples() {
    let standings = Standings::of(&measured(&[1.0, 2.0], 5, 0.01, 1));
    assert_eq!(standings.answer(&efforts(2)), None);
    assert_eq!(standings.bound(0), None);
    assert_eq!(Standings::of(&[]).answer(&efforts(0)), None);
    assert_eq!(
        Standings::of(&[Vec::new(), Vec::new()]).answer(&efforts(2)),
        None
    );
}

#[test]
fn one_sample_of_a_slow_way_does_not_make_it_the_answer() {
    let mut times = measured(&[1.0, 4.0], 8, 0.01, 1);
    // All but one sample of the slow way were disturbed, and by chance that one is fast.
    times[1].truncate(1);
    times[1][0].1 = 0.5;
    assert_eq!(Standings::of(&times).answer(&efforts(2)), Some(0));
}

#[test]
fn nothing_is_recommended_while_plain_write_is_hardly_measured() {
    // As if most samples of plain write were disturbed.
    for count in 0..6 {
        let mut times = measured(&[3.0, 1.0, 2.0], 12, 0.01, 1);
        times[0].truncate(count);
        assert_eq!(
            Standings::of(&times).answer(&efforts(3)),
            None,
            "{count} samples"
        );
    }
    let times = measured(&[3.0, 1.0, 2.0], 12, 0.01, 1);
    assert_eq!(Standings::of(&times).answer(&efforts(3)), Some(1));
    assert_eq!(
        Standings::of(&times).answer(&efforts(3)[1..]),
        Some(1),
        "no program may use plain write"
    );
}

/// A limit may end a run within a block, after the sixth sample of plain write.
#[test]
fn plain_write_is_no_answer_while_the_samples_of_all_faster_ways_are_too_few() {
    let mut times = measured(&[3.0, 1.0, 2.0], 6, 0.01, 1);
    for others in &mut times[1..] {
        others.pop();
    }
    assert_eq!(Standings::of(&times).answer(&efforts(3)), None);
    let mut times = measured(&[1.0, 3.0, 2.0], 6, 0.01, 1);
    for others in &mut times[1..] {
        others.pop();
    }
    let answer = Standings::of(&times).answer(&efforts(3));
    assert_eq!(answer, Some(0), "the others are beaten");
}

#[test]
fn noise_makes_the_bound_larger_instead_of_the_answer_wrong() {
    let bound = |sd| {
        Standings::of(&measured(&[1.0, 1.0, 1.0], 8, sd, 3))
            .bound(0)
            .unwrap()
    };
    assert!(
        bound(0.01) < bound(0.05) && bound(0.05) < bound(0.2),
        "{} {} {}",
        bound(0.01),
        bound(0.05),
        bound(0.2)
    );
}

#[test]
fn equally_fast_ways_seldom_replace_plain_write_after_forty_rounds() {
    let replaced = |seed: &u64| {
        let standings = Standings::of(&measured(&[1.0; 8], 40, 0.03, *seed));
        standings.answer(&efforts(8)) != Some(0)
    };
    // Any of them is as good, but plain write is the simplest.
    let replaced = (0..200).filter(replaced).count();
    assert!(replaced < 20, "{replaced} of 200");
}

#[test]
fn a_bound_of_95_percent_holds_in_95_of_100_answers() {
    let truth = [1.2, 1.05, 1.0, 1.02, 1.4, 1.08, 1.0];
    let (mut held, mut close) = (0, 0);
    for seed in 0..500 {
        let standings = Standings::of(&measured(&truth, 9, 0.06, seed));
        let answer = standings.answer(&efforts(truth.len())).unwrap();
        held += usize::from(truth[answer] <= standings.bound(answer).unwrap());
        close += usize::from(truth[answer] <= 1.051);
    }
    assert!(held >= 475, "{held} of 500");
    assert!(close >= 450, "{close} of 500");
}

#[test]
fn a_way_that_left_early_is_still_compared() {
    let mut times = measured(&[1.0, 1.5, 0.6], 10, 0.02, 5);
    times[1].truncate(3);
    let standings = Standings::of(&times);
    assert_eq!(standings.answer(&efforts(3)), Some(2));
    assert!(standings.is_beaten(1, 2));
    assert!(
        standings.bound(2).unwrap() < 1.05,
        "{:?}",
        standings.bound(2)
    );
}

#[test]
fn exact_times_divide_by_no_zero() {
    let times: Vec<Vec<(u32, f64)>> = [7.0, 7.0, 9.0]
        .map(|time| (0..6).map(|round| (round, time)).collect())
        .into();
    let standings = Standings::of(&times);
    assert_eq!(standings.answer(&efforts(3)), Some(0));
    assert!(standings.bound(0).unwrap() < 1.001 && standings.risk(2) > 0.99);
    assert!((standings.expected_loss(2) - (9.0f64 / 7.0).ln()).abs() < 1e-3);
}

#[test]
fn three_samples_that_scatter_widely_beat_nobody() {
    // The median of the deviations is 0.
    let times = vec![
        vec![(0, 1400.0), (1, 700.0), (2, 1400.0)],
        vec![(0, 1000.0), (1, 1000.0), (2, 1000.0)],
    ];
    let standings = Standings::of(&times);
    assert!(!standings.is_beaten(0, 1) && !standings.is_beaten(1, 0));
}
