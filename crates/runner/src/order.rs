//! The order of the cases in a round.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// The numbers below `count` in the order of that round: random, and the same for the same seed, so
/// that a run can be resumed or repeated.
pub(crate) fn order(seed: u64, round: u32, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let stream = u128::from(seed) << 64 | u128::from(round) << 1 | 1;
    order.shuffle(&mut Pcg64Mcg::from_seed(stream.to_le_bytes()));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_differ_and_seeds_repeat() {
        assert_eq!(order(1, 0, 20), order(1, 0, 20));
        assert_ne!(order(1, 0, 20), order(1, 1, 20));
        assert_ne!(order(1, 0, 20), order(2, 0, 20));
        let mut sorted = order(7, 3, 50);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn every_place_is_about_as_likely() {
        let first = (0..4000).filter(|&round| order(9, round, 4)[0] == 0).count();
        assert!((850..1150).contains(&first), "{first} of 4000, expected about 1000");
    }
}
