use crate::{Interval, Verdict};

/// Times within this ratio are equally good. A smaller gain is not worth a change.
pub const CLOSE: f64 = 1.03;

/// The simplest method within 3 % of the fastest, among those with a proven gain of at least 3 % over the
/// baseline. The baseline if there is none. Each method has its time and its complexity.
pub fn recommended<W: Copy, C: Ord>(
    ways: &[(W, f64, C)],
    baseline: Option<W>,
    gain: impl Fn(W) -> Option<Interval>,
) -> Option<W> {
    let is_able = |way| baseline.is_none() || gain(way).is_some_and(|gain| is_worth_it(&gain));
    let able: Vec<_> = ways.iter().filter(|(way, ..)| is_able(*way)).collect();
    let fastest = able.iter().map(|(_, time, _)| *time).fold(f64::INFINITY, f64::min);
    let near = able.into_iter().filter(|(_, time, _)| *time <= CLOSE * fastest);
    let simplest = near.min_by(|(_, a_time, a), (_, b_time, b)| a.cmp(b).then(a_time.total_cmp(b_time)));
    simplest.map(|(way, ..)| *way).or(baseline)
}

/// Whether a gain over the baseline is proven, and large enough to change a program for.
pub fn is_worth_it(gain: &Interval) -> bool {
    gain.is_sure() && gain.verdict() == Verdict::Slower && gain.estimate >= CLOSE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(estimate: f64, low: f64) -> Interval {
        Interval { estimate, low, high: 2.0 * estimate, confidence: 0.97, count: 6 }
    }

    #[test]
    fn the_simplest_near_the_fastest_is_recommended() {
        let ways = [('a', 100.0, 8), ('b', 102.0, 2), ('c', 101.0, 2), ('d', 104.0, 0)];
        assert_eq!(recommended(&ways, Some('w'), |_| Some(gain(2.0, 1.9))), Some('c'));
        assert_eq!(recommended(&ways, None, |_| None), Some('c'), "nothing to beat");
    }

    #[test]
    fn the_baseline_is_kept_without_a_proven_and_useful_gain() {
        let ways = [('a', 100.0, 8), ('b', 101.0, 2)];
        for small in [Some(gain(1.02, 1.015)), Some(gain(1.5, 1.0)), None] {
            assert_eq!(recommended(&ways, Some('w'), |_| small), Some('w'));
        }
        let only_a = |way| if way == 'a' { Some(gain(1.5, 1.2)) } else { Some(gain(1.5, 0.9)) };
        assert_eq!(recommended(&ways, Some('w'), only_a), Some('a'));
    }
}
