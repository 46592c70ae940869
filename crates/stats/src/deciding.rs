//! Which samples of a contest decide.

use std::collections::BTreeMap;

use crate::{FEWEST_FOR_INTERVAL, Rounds, median};

/// A good sample of one way.
#[derive(Debug, Clone, Copy)]
pub struct ContestSample {
    pub round: u32,
    /// Positive.
    pub time: f64,
    pub is_disturbed: bool,
}

/// The samples of a contest that decide: all good ones, or only those that were not disturbed.
///
/// They are the same kind for all ways, because a disturbed sample may be a slower one.
#[derive(Debug, Clone)]
pub struct Deciding {
    /// Whether the disturbed samples are among them.
    pub counts_disturbed: bool,
    /// The round and the time of each, by way.
    pub by_round: Vec<Vec<(u32, f64)>>,
}

/// Disturbed samples are others if their median is so many standard errors above that of the calm ones.
const SLOWER_ERRORS: f64 = 2.0;
/// Disturbed samples that are slower by less than this ratio of times change no answer.
const SLOWER: f64 = 1.01;
/// Disturbed samples are others if they scatter so many times more.
const WIDER: f64 = 1.5;
/// The fewest samples of a kind whose scatter is compared.
const FEWEST_FOR_SCATTER: usize = 6;
/// The standard error of a median of n values is this multiple of their median absolute deviation over √n, if they are normal.
const MEDIAN_ERROR: f64 = 1.4826 * 1.2533;

impl Deciding {
    /// Disturbed samples count if the samples do not show that they are slower or scatter more: what disturbs may have come
    /// between two calls, or may not matter for this work. They also count if some way has the samples of an answer only with
    /// them, because a busy machine shall get an answer with a wider bound instead of none.
    pub fn among(ways: &[Vec<ContestSample>]) -> Self {
        let has_disturbed = ways.iter().flatten().any(|sample| sample.is_disturbed);
        Self::of(
            ways,
            has_disturbed && (needs_disturbed(ways) || !are_others(ways)),
        )
    }

    /// All good samples.
    pub fn all(ways: &[Vec<ContestSample>]) -> Self {
        Self::of(ways, true)
    }

    fn of(ways: &[Vec<ContestSample>], counts_disturbed: bool) -> Self {
        let by_round = ways.iter().map(|samples| {
            samples
                .iter()
                .filter(|sample| counts_disturbed || !sample.is_disturbed)
                .map(|sample| (sample.round, sample.time))
                .collect()
        });
        Self {
            counts_disturbed,
            by_round: by_round.collect(),
        }
    }
}

/// Whether some way has the samples of an answer only with its disturbed ones.
pub fn needs_disturbed(ways: &[Vec<ContestSample>]) -> bool {
    ways.iter().any(|samples| {
        let calm = samples.iter().filter(|sample| !sample.is_disturbed).count();
        let fewest = FEWEST_FOR_INTERVAL as usize;
        samples.len() >= fewest && calm < fewest
    })
}

/// Whether the disturbed samples are slower than the calm ones, or scatter more. Without calm ones, nobody knows.
fn are_others(ways: &[Vec<ContestSample>]) -> bool {
    let [calm, disturbed] = residuals(ways);
    let [Some(calm_middle), Some(disturbed_middle)] = [median(&calm), median(&disturbed)] else {
        return true;
    };
    let scatter = scatter(&[&calm[..], &disturbed[..]].concat());
    let counts = [&calm, &disturbed].map(|kind| crate::as_f64(kind.len() as u64));
    let error = MEDIAN_ERROR * scatter * (1.0 / counts[0] + 1.0 / counts[1]).sqrt();
    let slower = disturbed_middle - calm_middle;
    if slower > SLOWER.ln().max(SLOWER_ERRORS * error) {
        return true;
    }
    let have_scatter = calm.len().min(disturbed.len()) >= FEWEST_FOR_SCATTER;
    have_scatter && self::scatter(&disturbed) > WIDER * self::scatter(&calm)
}

/// What remains of the logarithms of the times without the effects of ways and rounds: of calm samples, then of disturbed
/// ones. A round's effect already has what disturbed all of its samples alike.
fn residuals(ways: &[Vec<ContestSample>]) -> [Vec<f64>; 2] {
    let rounds = Rounds::fit(&Deciding::all(ways).by_round);
    let mut residuals = [Vec::new(), Vec::new()];
    for (way, samples) in ways.iter().enumerate() {
        let Some(value) = rounds.value(way).map(f64::ln) else {
            continue;
        };
        // The last of several samples in one round counts, as in the model.
        let is_disturbed: BTreeMap<u32, bool> = samples
            .iter()
            .map(|sample| (sample.round, sample.is_disturbed))
            .collect();
        // A single sample is its own value.
        if is_disturbed.len() < 2 {
            continue;
        }
        let logs = rounds.logs_without_effects(way);
        for ((log, _), is_disturbed) in logs.iter().zip(is_disturbed.values()) {
            residuals[usize::from(*is_disturbed)].push(log - value);
        }
    }
    residuals
}

/// The median absolute deviation from the median.
fn scatter(values: &[f64]) -> f64 {
    let middle = median(values).unwrap_or(0.0);
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&deviations).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ways with so many rounds. A sample is disturbed if its place says so, and then takes so much longer.
    fn ways(
        rounds: u32,
        is_disturbed: impl Fn(u32, u32) -> bool,
        slower: f64,
    ) -> Vec<Vec<ContestSample>> {
        let noise = |way: u32, round: u32| f64::from((way * 7 + round * 5) % 11) / 100.0;
        let sample = |way: u32, round: u32| {
            let is_disturbed = is_disturbed(way, round);
            let factor = if is_disturbed { slower } else { 1.0 };
            ContestSample {
                round,
                time: f64::from(100 + 20 * way) * (1.0 + noise(way, round)) * factor,
                is_disturbed,
            }
        };
        (0..4)
            .map(|way| (0..rounds).map(|round| sample(way, round)).collect())
            .collect()
    }

    fn some(way: u32, round: u32) -> bool {
        (way + round).is_multiple_of(3)
    }

    #[test]
    fn disturbed_samples_as_fast_as_the_others_count() {
        let deciding = Deciding::among(&ways(20, some, 1.0));
        assert!(deciding.counts_disturbed);
        assert!(deciding.by_round.iter().all(|times| times.len() == 20));
    }

    #[test]
    fn slower_disturbed_samples_are_left_out_while_others_suffice() {
        let deciding = Deciding::among(&ways(20, some, 1.2));
        assert!(!deciding.counts_disturbed);
        assert!(deciding.by_round.iter().all(|times| times.len() < 20));
        let few = ways(8, some, 1.2);
        assert!(needs_disturbed(&few) && Deciding::among(&few).counts_disturbed);
    }

    #[test]
    fn one_much_slower_sample_is_left_out() {
        let one = |way, round| (way, round) == (1, 3);
        assert!(!Deciding::among(&ways(20, one, 3.0)).counts_disturbed);
        assert!(Deciding::among(&ways(20, one, 1.0)).counts_disturbed);
    }

    #[test]
    fn disturbed_samples_with_more_scatter_are_left_out() {
        let mut ways = ways(30, some, 1.0);
        for samples in &mut ways {
            for sample in samples.iter_mut().filter(|sample| sample.is_disturbed) {
                sample.time *= if sample.round % 2 == 0 { 1.3 } else { 0.77 };
            }
        }
        assert!(!Deciding::among(&ways).counts_disturbed);
    }

    /// A disturbed round has no calm samples to compare with, and its effect is no difference between ways.
    #[test]
    fn rounds_that_were_slower_for_all_count() {
        let deciding = Deciding::among(&ways(20, |_, round| round % 4 == 0, 1.5));
        assert!(deciding.counts_disturbed);
    }

    #[test]
    fn nothing_is_left_out_of_calm_samples() {
        assert!(Deciding::among(&[]).by_round.is_empty());
        let calm = Deciding::among(&ways(20, |_, _| false, 1.0));
        assert!(calm.by_round.iter().all(|times| times.len() == 20));
        assert!(!calm.counts_disturbed, "there are none");
    }
}
