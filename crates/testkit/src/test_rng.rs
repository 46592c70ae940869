use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Random choices. The same seed gives the same ones.
#[derive(Debug)]
pub struct TestRng(Pcg64Mcg);

impl TestRng {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    #[must_use]
    pub fn any_seed() -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| u64::from(since.subsec_nanos()))
    }

    /// A number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound)
    }

    /// One of these items, of which there must be one at least.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A time of at most `most`.
    pub fn moment(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.0.random())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_chooses_the_same() {
        let choices = |seed| {
            let mut rng = TestRng::new(seed);
            (0..20)
                .map(|_| (rng.below(1000), rng.moment(Duration::from_secs(1))))
                .collect::<Vec<_>>()
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
    }

    #[test]
    fn choices_stay_in_their_bounds_and_are_not_all_the_same() {
        let mut rng = TestRng::new(3);
        let picked: Vec<_> = (0..100).map(|_| rng.pick(&['a', 'b', 'c'])).collect();
        assert!(['a', 'b', 'c'].iter().all(|letter| picked.contains(letter)));
        assert!((0..100).all(|_| rng.moment(Duration::from_millis(7)) <= Duration::from_millis(7)));
    }
}
