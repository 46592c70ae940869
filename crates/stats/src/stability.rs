use serde::Serialize;

/// How the rate of writing changed within a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stability {
    /// The rate remained nearly the same.
    Steady,
    /// The rate fluctuated, or rose.
    Unsteady,
    /// The rate was high, and then lower.
    Burst,
}

impl Stability {
    /// The name in output for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Unsteady => "unsteady",
            Self::Burst => "burst",
        }
    }
}

/// A rate that was high at first, and then lower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// The mean rate before the fall.
    pub before: f64,
    /// The time of the fall, as a share of the whole time.
    pub until: f64,
    /// The mean rate after the fall.
    pub after: f64,
}

/// The time is divided into so many windows of equal length.
const WINDOWS: usize = 5;
/// The largest range of the windows' means, relative to their mean.
const RANGE: f64 = 0.2;
/// The largest slope over all windows, relative to their mean.
const SLOPE: f64 = 0.1;
/// A smaller drop, as a share of the rate before it, is not a fall.
const LEAST_FALL: f64 = 0.2;
/// A fall explains at least this share of the variance.
const LEAST_EXPLAINED: f64 = 0.5;

/// Judges rates in intervals of equal length by SNIA's *Solid State Storage Performance Test
/// Specification*: five windows, a range within 20 % of the mean, a least-squares line within 10 %.
///
/// Otherwise the cut in two with the least squares is a burst. It must lower the rate by a fifth and
/// explain half of the variance. The result is `None` for fewer than five intervals, or rates of zero.
pub fn stability(rates: &[f64]) -> Option<(Stability, Option<Burst>)> {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    if rates.len() < WINDOWS || !mean.is_finite() || mean <= 0.0 {
        return None;
    }
    if is_steady(&windows(rates), mean) {
        return Some((Stability::Steady, None));
    }
    let (burst, explained) = best_cut(rates, mean);
    let falls = burst.after <= (1.0 - LEAST_FALL) * burst.before;
    Some(if falls && explained >= LEAST_EXPLAINED {
        (Stability::Burst, Some(burst))
    } else {
        (Stability::Unsteady, None)
    })
}

/// The mean rate in each window. An interval across two windows is split between them.
fn windows(rates: &[f64]) -> [f64; WINDOWS] {
    let width = rates.len() as f64 / WINDOWS as f64;
    std::array::from_fn(|window| {
        let start = window as f64 * width;
        let end = (window + 1) as f64 * width;
        let mut sum = 0.0;
        for (index, rate) in rates.iter().enumerate() {
            let index = index as f64;
            let overlap = end.min(index + 1.0) - start.max(index);
            sum += rate * overlap.max(0.0);
        }
        sum / width
    })
}

fn is_steady(windows: &[f64; WINDOWS], mean: f64) -> bool {
    let largest = windows.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = windows.iter().copied().fold(f64::INFINITY, f64::min);
    let rise = slope(windows, mean) * (WINDOWS - 1) as f64;
    largest - smallest <= RANGE * mean && rise.abs() <= SLOPE * mean
}

/// The slope of the least-squares line per window.
fn slope(windows: &[f64; WINDOWS], mean: f64) -> f64 {
    let middle = (WINDOWS - 1) as f64 / 2.0;
    let mut products = 0.0;
    let mut squares = 0.0;
    for (index, value) in windows.iter().enumerate() {
        let from_middle = index as f64 - middle;
        products += from_middle * (value - mean);
        squares += from_middle.powi(2);
    }
    products / squares
}

/// The cut in two with the least squares, and the share of the variance that it explains.
fn best_cut(rates: &[f64], mean: f64) -> (Burst, f64) {
    let count = rates.len() as f64;
    let total: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let squares = squares.max(f64::MIN_POSITIVE);
    let mut best = Burst {
        before: mean,
        until: 1.0,
        after: mean,
    };
    let mut most_explained = 0.0;
    let mut sum = 0.0;
    for (cut, rate) in (1..rates.len()).zip(rates) {
        sum += rate;
        let cut = cut as f64;
        let before = sum / cut;
        let after = (total - sum) / (count - cut);
        let between = cut * (before - mean).powi(2) + (count - cut) * (after - mean).powi(2);
        let explained = between / squares;
        if explained > most_explained {
            best = Burst {
                before,
                until: cut / count,
                after,
            };
            most_explained = explained;
        }
    }
    (best, most_explained)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn noisy(rates: impl IntoIterator<Item = f64>, noise: f64, seed: u64) -> Vec<f64> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        rates
            .into_iter()
            .map(|rate| rate * (1.0 + noise * (random.random::<f64>() * 2.0 - 1.0)))
            .collect()
    }

    fn burst(rates: &[f64]) -> Burst {
        match stability(rates) {
            Some((Stability::Burst, Some(burst))) => burst,
            other => panic!("{other:?}"),
        }
    }

    fn name(rates: &[f64]) -> Option<&'static str> {
        stability(rates).map(|(stability, _)| stability.name())
    }

    #[test]
    fn a_fast_cache_before_the_disk_is_a_burst_with_its_border() {
        for seed in 0..50 {
            let rates = noisy(
                (0..100).map(|tenth| if tenth < 31 { 4.6 } else { 0.5 }),
                0.2,
                seed,
            );
            let burst = burst(&rates);
            assert!((burst.until - 0.31).abs() < 0.011, "{burst:?}");
            assert!(
                (burst.before - 4.6).abs() < 0.3 && (burst.after - 0.5).abs() < 0.03,
                "{burst:?}"
            );
        }
    }

    #[test]
    fn a_cache_filled_at_the_very_beginning_or_end_is_a_burst() {
        let early: Vec<f64> = (0..200)
            .map(|tenth| if tenth < 5 { 5.0 } else { 0.5 })
            .collect();
        assert!((burst(&early).until - 0.025).abs() < 1e-9);
        let late: Vec<f64> = (0..200)
            .map(|tenth| if tenth < 170 { 2.0 } else { 0.5 })
            .collect();
        assert!((burst(&late).until - 0.85).abs() < 1e-9);
    }

    /// A writer under balance_dirty_pages: fast, then pauses of 200 ms between short spurts.
    #[test]
    fn a_writer_throttled_by_dirty_pages_is_a_burst() {
        let rates: Vec<f64> = (0..150)
            .map(|tenth| match (tenth < 30, tenth % 3) {
                (true, _) => 3.0,
                (false, 0) => 1.2,
                (false, _) => 0.0,
            })
            .collect();
        let burst = burst(&rates);
        assert!(
            (burst.until - 0.2).abs() < 0.02 && (burst.after - 0.4).abs() < 0.05,
            "{burst:?}"
        );
    }

    #[test]
    fn noise_around_a_constant_rate_is_steady() {
        for seed in 0..200 {
            assert_eq!(
                name(&noisy((0..100).map(|_| 1.0), 0.15, seed)),
                Some("steady"),
                "seed {seed}"
            );
        }
        let pauses: Vec<f64> = (0..100)
            .map(|tenth| if tenth % 5 == 0 { 0.0 } else { 1.0 })
            .collect();
        assert_eq!(name(&pauses), Some("steady"), "the same in each window");
    }

    #[test]
    fn a_swinging_or_rising_rate_is_neither_steady_nor_a_burst() {
        let swings: Vec<f64> = (0..100)
            .map(|tenth| if tenth / 15 % 2 == 0 { 2.0 } else { 1.0 })
            .collect();
        assert_eq!(name(&swings), Some("unsteady"));
        let rises: Vec<f64> = (0..100)
            .map(|tenth| if tenth < 30 { 0.5 } else { 4.0 })
            .collect();
        assert_eq!(name(&rises), Some("unsteady"));
    }

    /// Rates fall by 8 % and by 12 % over the whole time. Only the first remains within the line's tenth,
    /// because the windows' middles span four fifths of the time.
    #[test]
    fn the_line_and_the_range_are_the_specifications() {
        let falling = |part: f64| {
            (0..100)
                .map(|tenth| 1.0 - part * f64::from(tenth) / 100.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(name(&falling(0.08)), Some("steady"));
        assert_eq!(
            name(&falling(0.14)),
            Some("unsteady"),
            "within the range, and no fall by a fifth"
        );
        let range = |high: f64| [1.0, 1.0, high, 1.0, 1.0];
        assert_eq!(name(&range(1.19)), Some("steady"));
        assert_eq!(name(&range(1.3)), Some("unsteady"));
    }

    #[test]
    fn too_few_rates_and_zeros_have_no_stability() {
        assert_eq!(name(&[1.0; 4]), None);
        assert_eq!(name(&[0.0; 10]), None);
    }

    proptest! {
        #[test]
        fn units_do_not_matter(rates in prop::collection::vec(0.1..10.0f64, 5..60), unit in 1.0..1e9f64) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * unit).collect();
            prop_assert_eq!(name(&rates), name(&scaled));
        }
    }
}
