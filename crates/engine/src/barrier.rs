//! The barriers between phases, at which the ranks of a sample wait for each other.

use std::io;
use std::time::Instant;

use nix::time::{ClockId, clock_gettime};
use writebench_model::protocol::PhaseTimestamps;
use writebench_model::{Phase, nanoseconds};

use crate::call::{CallError, PhaseError};

/// The barrier of a sample's ranks.
pub trait RankBarrier {
    /// Tells all ranks whether this one has succeeded so far, and waits for them; returns whether
    /// all have. After the last wait there is no other in this sample.
    ///
    /// # Errors
    /// The other ranks cannot be reached.
    fn wait(&mut self, has_succeeded: bool, is_last: bool) -> io::Result<bool>;
}

/// A sample's ranks, as one of them sees them. A sample of one rank waits for nobody.
pub(crate) struct Ranks<'m> {
    barrier: Option<&'m mut dyn RankBarrier>,
    // Whether the sample ended because another rank has failed.
    pub(crate) is_abandoned: bool,
    // A moment, and its time of `CLOCK_MONOTONIC` in numbers, which all processes of a machine have in common.
    origin: (Instant, u64),
    pub(crate) timestamps: PhaseTimestamps,
}

impl<'m> Ranks<'m> {
    pub(crate) fn new(barrier: Option<&'m mut dyn RankBarrier>) -> Self {
        let origin = (Instant::now(), monotonic_ns());
        Self { barrier, is_abandoned: false, origin, timestamps: PhaseTimestamps::default() }
    }

    /// Waits for the other ranks before the next phase, unless one of them has failed.
    pub(crate) fn wait<T>(&mut self, so_far: Result<T, PhaseError>) -> Result<T, PhaseError> {
        self.wait_at(so_far, false)
    }

    /// Waits for the other ranks, perhaps for the last time.
    pub(crate) fn wait_at<T>(&mut self, so_far: Result<T, PhaseError>, is_last: bool) -> Result<T, PhaseError> {
        let Some(barrier) = &mut self.barrier else { return so_far };
        let all = barrier.wait(so_far.is_ok(), is_last);
        if so_far.is_err() || !matches!(all, Ok(true)) {
            self.barrier = None;
        }
        let so_far = so_far?;
        match all {
            Ok(true) => Ok(so_far),
            Ok(false) => {
                self.is_abandoned = true;
                Err((Phase::Settle, CallError::other("another rank", "it failed")))
            }
            Err(error) => Err((Phase::Settle, CallError::from_io("waiting for the other ranks", &error))),
        }
    }

    /// Marks a phase that took so long from `start`.
    pub(crate) fn mark(&mut self, phase: Phase, start: Instant, elapsed_ns: u64) {
        let (origin, origin_ns) = self.origin;
        let began_ns = origin_ns + nanoseconds(start.saturating_duration_since(origin));
        self.timestamps.add(phase, began_ns, began_ns.saturating_add(elapsed_ns));
    }
}

/// The time of `CLOCK_MONOTONIC`.
#[must_use]
pub fn monotonic_ns() -> u64 {
    // The C library's, as the standard library's: tools that set a clock apart reach both.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| nanoseconds(now.into()))
}
