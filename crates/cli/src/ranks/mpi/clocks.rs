//! The difference of two nodes' clocks, by round trips (Cristian, "Probabilistic clock synchronization", 1989).

/// The shortest round trip of a comparison counts.
pub(super) const ROUND_TRIPS: usize = 8;

/// The lead of another node's clock over that of the first rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ClockOffset {
    pub ahead_ns: i64,
    /// The error of the offset, in both directions.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// Estimates the offset from round trips, each with the send time, the other's time in its answer, and the receive time.
    pub(super) fn from_round_trips(trips: &[[u64; 3]]) -> Self {
        let shortest = trips
            .iter()
            .min_by_key(|[left, _, came]| came.saturating_sub(*left));
        let Some(&[left, theirs, came]) = shortest else {
            return Self::default();
        };
        let middle = left + came.saturating_sub(left) / 2;
        Self {
            ahead_ns: signed(theirs) - signed(middle),
            uncertainty_ns: came.saturating_sub(left).div_ceil(2),
        }
    }

    /// Between two comparisons: their middle, with at least the drift as its error.
    pub(super) fn between(before: Self, after: Self) -> Self {
        let ahead_ns = before.ahead_ns + (after.ahead_ns - before.ahead_ns) / 2;
        let drift = before.ahead_ns.abs_diff(after.ahead_ns).div_ceil(2);
        Self {
            ahead_ns,
            uncertainty_ns: before.uncertainty_ns.max(after.uncertainty_ns) + drift,
        }
    }

    /// Converts the other's time into the first rank's.
    pub(super) fn own_time(self, theirs: u64) -> u64 {
        u64::try_from(signed(theirs) - self.ahead_ns).unwrap_or(0)
    }
}

fn signed(time_ns: u64) -> i64 {
    i64::try_from(time_ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_counts() {
        // The other clock is 1000 ahead, and the first answer is delayed.
        let offset = ClockOffset::from_round_trips(&[[100, 1110, 900], [2000, 3010, 2020]]);
        assert_eq!(
            offset,
            ClockOffset {
                ahead_ns: 1000,
                uncertainty_ns: 10
            }
        );
        assert_eq!(offset.own_time(3010), 2010);
    }

    #[test]
    fn a_late_clock_has_a_negative_offset() {
        let offset = ClockOffset::from_round_trips(&[[5000, 1010, 5020]]);
        assert_eq!(offset.ahead_ns, -4000);
        assert_eq!(offset.own_time(1010), 5010);
    }

    #[test]
    fn drift_widens_the_error() {
        let at = |ahead_ns| ClockOffset {
            ahead_ns,
            uncertainty_ns: 10,
        };
        assert_eq!(
            ClockOffset::between(at(100), at(140)),
            ClockOffset {
                ahead_ns: 120,
                uncertainty_ns: 30
            }
        );
    }
}
