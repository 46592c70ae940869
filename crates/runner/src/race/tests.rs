use super::*;
use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Two levels of screening, then the possible sizes of the final.
const LEVEL_BYTES: [u64; 5] = [4 << 20, 32 << 20, 256 << 20, 128 << 20, 64 << 20];
const LEVELS: usize = LEVEL_BYTES.len();
const REAL: usize = 2;

/// A race on a machine whose samples take `times` seconds per GiB, with noise, half of which is common to a
/// round.
struct World {
    seconds_per_gib: Vec<f64>,
    efforts: Vec<u32>,
    noise: f64,
    fails: Option<usize>,
    random: Pcg64Mcg,
    taken: Vec<Vec<Taken>>,
    spent: Spent,
}

impl World {
    fn new(seconds_per_gib: Vec<f64>, noise: f64, seed: u8) -> Self {
        let count = seconds_per_gib.len();
        let random = Pcg64Mcg::from_seed([seed | 1; 16]);
        Self {
            seconds_per_gib,
            efforts: vec![1; count],
            noise,
            fails: None,
            random,
            taken: vec![Vec::new(); count * LEVELS],
            spent: Spent::default(),
        }
    }

    fn limits() -> RaceLimits {
        RaceLimits {
            budget: Duration::from_secs(60),
            max_bytes: 58 * LEVEL_BYTES[REAL],
            screening_bytes: LEVEL_BYTES[..REAL].to_vec(),
            final_bytes: LEVEL_BYTES[REAL..].to_vec(),
            times_written: 1,
        }
    }

    fn race(&self, baseline: usize) -> Race {
        let count = self.efforts.len();
        let candidate = |(index, &effort): (usize, &u32)| {
            let case = |level: usize| level * count + index;
            Candidate {
                effort,
                screening: (0..REAL).map(case).collect(),
                finals: (REAL..LEVELS).map(case).collect(),
            }
        };
        Race::new(self.efforts.iter().enumerate().map(candidate).collect(), baseline, Self::limits())
    }

    /// Runs until no candidate wants a sample; returns the fastest in the final.
    fn run(&mut self, baseline: usize) -> usize {
        let (count, mut race) = (self.efforts.len(), self.race(baseline));
        for round in 0.. {
            let wanted = race.wanted(&self.taken, self.spent).to_vec();
            if wanted.iter().all(|&wanted| wanted == 0) {
                break;
            }
            let drift = 1.0 + self.noise * self.random.random::<f64>();
            for case in (0..LEVELS * count).filter(|&case| wanted[case] > 0) {
                self.sample(case, round, drift);
            }
        }
        let median = |case: usize| {
            writebench_stats::median(&by_round(&self.taken[case]).into_values().collect::<Vec<_>>())
        };
        let level = (REAL..LEVELS).find(|&level| self.is_measured(level)).unwrap();
        let medians = (0..count).filter_map(|index| Some((index, median(level * count + index)?)));
        medians.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index).unwrap()
    }

    /// The samples on a level, for each candidate.
    fn on(&self, level: usize) -> &[Vec<Taken>] {
        let count = self.efforts.len();
        &self.taken[level * count..(level + 1) * count]
    }

    fn is_measured(&self, level: usize) -> bool {
        self.on(level).iter().any(|samples| !samples.is_empty())
    }

    fn finalists(&self) -> Vec<usize> {
        let is_there = |(index, samples): (usize, &Vec<Taken>)| (!samples.is_empty()).then_some(index);
        self.on(REAL).iter().enumerate().filter_map(is_there).collect()
    }

    fn sample(&mut self, case: usize, round: u32, drift: f64) {
        let count = self.efforts.len();
        let bytes = LEVEL_BYTES[case / count];
        let noise = drift * (1.0 + self.noise * self.random.random::<f64>());
        let seconds = self.seconds_per_gib[case % count] * as_f64(bytes) / as_f64(1 << 30) * noise;
        let total_ns = u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap();
        let is_ok = self.fails != Some(case);
        self.spent.elapsed += Duration::from_secs_f64(seconds + 0.03);
        self.spent.bytes += bytes;
        self.taken[case].push(Taken { total_ns, round, is_ok, is_disturbed: false });
    }
}

/// 200 candidates from 0.2 to 1.2 s in random order; the best leads by 4 %.
fn field() -> Vec<f64> {
    let mut field: Vec<f64> = (0u32..200).map(|index| 0.21 + f64::from(index * 37 % 200) / 200.0).collect();
    field[123] = 0.2;
    field
}

#[test]
fn the_best_of_two_hundred_is_found_among_noise_in_a_tenth_of_the_time() {
    let mut hits = 0;
    for seed in 0..20 {
        let mut world = World::new(field(), 0.05, seed * 2);
        let pick = world.run(0);
        hits += usize::from(world.seconds_per_gib[pick] < 0.2 * 1.03);
        // Exhaustive measurement takes six samples of each at the real size.
        let exhaustive_s: f64 = world.seconds_per_gib.iter().map(|s| 6.0 * (s / 4.0 + 0.03)).sum();
        assert!(world.spent.elapsed.as_secs_f64() < exhaustive_s / 4.0, "{:?}", world.spent);
    }
    assert!(hits >= 18, "{hits} of 20 within 3 %");
}

#[test]
fn the_baseline_is_measured_in_every_round_of_the_finals_though_it_loses() {
    let mut world = World::new(field(), 0.02, 3);
    let slowest =
        (0..200).max_by(|&a, &b| world.seconds_per_gib[a].total_cmp(&world.seconds_per_gib[b])).unwrap();
    world.run(slowest);
    let rounds = world.on(REAL).iter().map(Vec::len).max().unwrap();
    assert!(rounds >= ROUNDS);
    assert_eq!(world.on(REAL)[slowest].len(), rounds);
    assert!(world.finalists().len() <= FINALISTS + 1, "{:?}", world.finalists());
}

#[test]
fn a_simple_way_that_is_as_fast_reaches_the_finals() {
    // There are fifty complex candidates within 2 % of each other, and a simple one that is never the fastest
    // in a round.
    let times: Vec<f64> = (0u32..50).map(|index| 0.2 + f64::from(index % 10) * 0.0004).collect();
    for seed in [3, 5, 7, 9] {
        let mut world = World::new([times.as_slice(), &[0.21, 0.4]].concat(), 0.02, seed);
        world.efforts = [vec![8; 50], vec![1, 0]].concat();
        world.run(51);
        assert!(world.finalists().contains(&50), "{:?}", world.finalists());
    }
}

#[test]
fn a_candidate_that_fails_in_the_finals_leaves_the_race_to_the_others() {
    let mut world = World::new(field(), 0.02, 5);
    world.fails = Some(REAL * 200 + 123);
    let pick = world.run(0);
    assert!(pick != 123 && world.seconds_per_gib[pick] < 0.23, "{pick}");
    assert_eq!(world.on(REAL)[123].len(), 1);
}

#[test]
fn the_limits_are_kept_and_leave_six_rounds_to_the_finals() {
    for seed in [3, 5, 7] {
        let mut world = World::new(field(), 0.05, seed);
        world.run(0);
        let (Spent { elapsed, bytes }, limits) = (world.spent, World::limits());
        assert!(bytes <= limits.max_bytes && elapsed < limits.budget, "{elapsed:?}, {bytes}");
        let finalists = world.finalists();
        let has_six = |index: &&usize| world.on(REAL)[**index].len() >= ROUNDS;
        assert!(finalists.iter().filter(has_six).count() > LEAST_FINALISTS, "{finalists:?}");
    }
}

#[test]
fn where_the_time_does_not_pay_for_six_rounds_of_the_real_size_the_finals_are_smaller() {
    // Each 256 MiB take at least 5 s, so that six rounds of three candidates exceed the budget.
    let mut world = World::new((0..40).map(|index| 20.0 + f64::from(index)).collect(), 0.02, 3);
    world.run(39);
    assert!(!world.is_measured(REAL));
    let level = (REAL..LEVELS).find(|&level| world.is_measured(level)).unwrap();
    let rounds = |index: usize| world.on(level)[index].len();
    assert!(rounds(39) >= ROUNDS, "{} rounds of {} bytes", rounds(39), LEVEL_BYTES[level]);
    // A round that began in time may finish.
    assert!(world.spent.elapsed < Duration::from_secs(75), "{:?}", world.spent);
}

#[test]
fn it_goes_on_when_a_level_has_had_its_share_and_ends_when_time_is_over() {
    let mut world = World::new(vec![200.0; 400], 0.01, 7);
    let mut race = world.race(0);
    // Each of the twenty samples of 4 MiB takes more than three quarters of a second.
    for case in 0..20 {
        world.sample(case, 0, 1.0);
    }
    let wanted = race.wanted(&world.taken, world.spent);
    let on_level = |level: usize| wanted[level * 400..(level + 1) * 400].iter().sum::<usize>();
    assert_eq!((on_level(0), on_level(1), on_level(2)), (0, 2 * FINALISTS, 0), "{:?}", world.spent);
    world.spent.elapsed = Duration::from_secs(60);
    assert_eq!(race.wanted(&world.taken, world.spent).iter().sum::<usize>(), 0);
}

#[test]
fn one_candidate_needs_no_race_and_none_is_none() {
    let mut world = World::new(vec![1.0], 0.01, 9);
    assert_eq!(world.run(0), 0);
    assert!(world.on(REAL)[0].len() <= ROUNDS, "{}", world.on(REAL)[0].len());
    world = World::new(Vec::new(), 0.01, 9);
    assert!(world.race(0).wanted(&[], Spent::default()).is_empty());
}
