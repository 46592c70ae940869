use std::collections::BTreeMap;

use serde::Serialize;

use crate::{CONFIDENCE, Interval, lasting_median_interval};

/// Whether a case is slower than a baseline by more than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// Every value of the interval is slower by more than the limit.
    Slower,
    /// No value of the interval is slower by more than the limit.
    Passed,
    /// The interval holds both. More rounds may decide.
    Undecided,
}

/// Judges cases after every round. With a probability of 95 %, no verdict on any of the cases is ever wrong,
/// whenever the rounds end.
///
/// A verdict needs one end of the interval, and for any true speed only one of the two verdicts is wrong. So each end
/// may be wrong with 5 % alone, and the interval has 90 %.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// The allowed loss of speed, as a share.
    pub limit: f64,
    /// The number of judged cases, among which the probability of an error is divided (Bonferroni).
    pub cases: usize,
}

impl Gate {
    /// Judges the speed over the baseline's, from the times in common rounds. The order within a round is random, so
    /// a case of the same speed is the slower one with a probability of 1/2, whatever the drift. With too few rounds
    /// there is no interval.
    pub fn judge(
        self,
        baseline: &[(u32, f64)],
        case: &[(u32, f64)],
    ) -> (Option<Interval>, GateVerdict) {
        let interval = interval(&speed_ratios(baseline, case), self.cases);
        let least = 1.0 - self.limit;
        let verdict = match interval {
            Some(Interval { high, .. }) if high < least => GateVerdict::Slower,
            Some(Interval { low, .. }) if low >= least => GateVerdict::Passed,
            _ => GateVerdict::Undecided,
        };
        (interval, verdict)
    }

    /// How many rounds the earliest verdict takes: seven if one case is judged, and more for several.
    pub fn fewest_rounds(cases: usize) -> usize {
        let mut ratios = Vec::new();
        while interval(&ratios, cases).is_none() {
            ratios.push(1.0);
        }
        ratios.len()
    }
}

/// The interval of one of so many judged cases.
fn interval(ratios: &[f64], cases: usize) -> Option<Interval> {
    let error_of_either_end = (1.0 - CONFIDENCE) / cases.max(1) as f64;
    let confidence = 1.0 - 2.0 * error_of_either_end;
    lasting_median_interval(ratios, confidence).filter(|interval| interval.confidence >= confidence)
}

/// One ratio for each round with both: the speed of the case over that of the baseline.
fn speed_ratios(baseline: &[(u32, f64)], case: &[(u32, f64)]) -> Vec<f64> {
    let times: BTreeMap<u32, f64> = case.iter().copied().collect();
    baseline
        .iter()
        .filter_map(|(round, baseline)| Some(baseline / times.get(round)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    type Times = Vec<(u32, f64)>;

    /// The verdict at which rounds end, and their number. Each case has a speed over the baseline's. The
    /// machine drifts, and one sample in eight takes up to three times as long.
    fn ended(gate: Gate, speeds: &[f64], random: &mut Pcg64Mcg) -> (Vec<GateVerdict>, u32) {
        const MOST: u32 = 120;
        let (mut cases, mut drift): (Vec<Times>, f64) = (vec![Vec::new(); speeds.len() + 1], 1.0);
        let mut verdicts = vec![GateVerdict::Undecided; speeds.len()];
        for round in 0..MOST {
            drift *= 0.8 + 0.45 * random.random::<f64>();
            let mut time = |speed: f64| {
                let slow = if random.random::<f64>() < 0.125 {
                    1.0 + 2.0 * random.random::<f64>()
                } else {
                    1.0
                };
                drift * slow * (0.95 + 0.1 * random.random::<f64>()) / speed
            };
            cases[0].push((round, time(1.0)));
            for (case, &speed) in speeds.iter().enumerate() {
                cases[case + 1].push((round, time(speed)));
                if verdicts[case] == GateVerdict::Undecided {
                    verdicts[case] = gate.judge(&cases[0], &cases[case + 1]).1;
                }
            }
            if !verdicts.contains(&GateVerdict::Undecided) {
                return (verdicts, round + 1);
            }
        }
        (verdicts, MOST)
    }

    /// The cases are at the limit, where rounds last longest. Just above it only `Slower` is wrong, just below only
    /// `Passed`, so either one is counted alone.
    #[test]
    fn at_most_one_run_in_twenty_ends_with_a_wrong_verdict() {
        const RUNS: usize = 400;
        for cases in [1, 3] {
            let gate = Gate { limit: 0.05, cases };
            let mut random = Pcg64Mcg::seed_from_u64(3);
            let runs: Vec<_> = (0..RUNS)
                .map(|_| ended(gate, &vec![0.95; cases], &mut random).0)
                .collect();
            for wrong in [GateVerdict::Slower, GateVerdict::Passed] {
                let errors = runs
                    .iter()
                    .filter(|verdicts| verdicts.contains(&wrong))
                    .count();
                assert!(
                    errors <= RUNS / 20,
                    "{cases} cases: {wrong:?} in {errors} of {RUNS}"
                );
            }
        }
    }

    #[test]
    fn a_clear_difference_ends_the_rounds_early_in_either_direction() {
        let gate = Gate {
            limit: 0.05,
            cases: 1,
        };
        let mut random = Pcg64Mcg::seed_from_u64(5);
        for (speed, verdict) in [
            (0.5, GateVerdict::Slower),
            (1.0, GateVerdict::Passed),
            (2.0, GateVerdict::Passed),
        ] {
            let runs: Vec<_> = (0..200)
                .map(|_| ended(gate, &[speed], &mut random))
                .collect();
            let right = runs
                .iter()
                .filter(|(verdicts, rounds)| verdicts[0] == verdict && *rounds <= 60)
                .count();
            assert!(right >= 190, "{speed}: {right} of 200");
        }
    }

    /// The rounds until a bet on both sides ends, as the gate had it: `2^n / ((n + 1) C(n, k))` is the mean gain.
    fn rounds_of_two_sided_bet(ratios: &[f64], least: f64) -> usize {
        let mut above = 0u32;
        for (count, ratio) in (1u32..).zip(ratios) {
            above += u32::from(*ratio >= least);
            let choices: f64 = (0..above)
                .map(|done| f64::from(count - done) / f64::from(done + 1))
                .product();
            if 2f64.powf(f64::from(count)) / (f64::from(count + 1) * choices) >= 20.0 {
                return count as usize;
            }
        }
        ratios.len()
    }

    /// The two programs are equal, with 6 % of noise.
    #[test]
    fn a_bet_on_one_side_ends_after_four_fifths_of_the_rounds() {
        const RUNS: usize = 200;
        let gate = Gate {
            limit: 0.05,
            cases: 1,
        };
        let mut random = Pcg64Mcg::seed_from_u64(11);
        let mut noise = || {
            let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
            0.06 * (sum - 6.0)
        };
        let (mut rounds, mut rounds_of_both) = (0, 0);
        for _ in 0..RUNS {
            let ratios: Vec<f64> = (0..120).map(|_| (noise() - noise()).exp()).collect();
            rounds_of_both += rounds_of_two_sided_bet(&ratios, 0.95);
            let judge = |count: usize| {
                let case: Times = (0..).zip(ratios[..count].iter().map(|r| 1.0 / r)).collect();
                let baseline: Times = case.iter().map(|&(round, _)| (round, 1.0)).collect();
                gate.judge(&baseline, &case).1
            };
            let verdict = (1..=120).find(|&count| judge(count) != GateVerdict::Undecided);
            rounds += verdict.unwrap_or(120);
        }
        assert!(
            rounds * 100 < rounds_of_both * 85,
            "{rounds} rounds, not {rounds_of_both}"
        );
    }

    #[test]
    fn several_cases_need_more_rounds_than_one() {
        assert_eq!([1, 3, 10].map(Gate::fewest_rounds), [7, 9, 11]);
    }

    #[test]
    fn only_common_rounds_count() {
        let gate = Gate {
            limit: 0.05,
            cases: 1,
        };
        let baseline: Times = (0..7).map(|round| (round, 100.0)).collect();
        let judge = |rounds: std::ops::Range<u32>| {
            gate.judge(
                &baseline,
                &rounds.map(|round| (round, 200.0)).collect::<Times>(),
            )
        };
        let (interval, verdict) = judge(0..7);
        assert_eq!(
            (interval.unwrap().high, verdict),
            (0.5, GateVerdict::Slower)
        );
        assert_eq!(judge(1..8), (None, GateVerdict::Undecided), "six");
    }
}
