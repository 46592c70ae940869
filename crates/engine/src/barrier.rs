//! The barriers between phases, at which the ranks of a sample wait for each other.

use std::io;
use std::time::Instant;

use nix::time::{ClockId, clock_gettime};
use writebench_model::protocol::PhaseTimestamps;
use writebench_model::{Phase, nanoseconds};

use crate::call::{CallError, PhaseError};

/// The connection to the other ranks of a sample.
pub trait RankBarrier {
    /// Reports this rank's success, waits for all ranks, and returns whether all have succeeded. `is_last`
    /// marks the sample's last wait.
    ///
    /// # Errors
    ///
    /// It is an error if the other ranks cannot be reached.
    fn wait(&mut self, has_succeeded: bool, is_last: bool) -> io::Result<bool>;
}

/// The ranks of a sample. A single rank waits for none.
pub(crate) struct Ranks<'m> {
    barrier: Option<&'m mut dyn RankBarrier>,
    pub(crate) is_abandoned: bool,
    // A moment, and its time on `CLOCK_MONOTONIC`, which a machine's processes have in common.
    origin: (Instant, u64),
    pub(crate) timestamps: PhaseTimestamps,
}

impl<'m> Ranks<'m> {
    pub(crate) fn new(barrier: Option<&'m mut dyn RankBarrier>) -> Self {
        let origin = (Instant::now(), monotonic_ns());
        Self {
            barrier,
            is_abandoned: false,
            origin,
            timestamps: PhaseTimestamps::default(),
        }
    }

    /// Waits for all ranks, and fails if one of them has. After that it waits no more.
    pub(crate) fn wait<T>(&mut self, so_far: Result<T, PhaseError>) -> Result<T, PhaseError> {
        self.wait_at(so_far, false)
    }

    /// As [`Self::wait`]. `is_last` marks the sample's last wait.
    pub(crate) fn wait_at<T>(
        &mut self,
        so_far: Result<T, PhaseError>,
        is_last: bool,
    ) -> Result<T, PhaseError> {
        let Some(barrier) = &mut self.barrier else {
            return so_far;
        };
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
            Err(error) => Err((
                Phase::Settle,
                CallError::from_io("waiting for the other ranks", &error),
            )),
        }
    }

    /// Notes when a phase began and ended.
    pub(crate) fn mark(&mut self, phase: Phase, start: Instant, elapsed_ns: u64) {
        let (origin, origin_ns) = self.origin;
        let began_ns = origin_ns + nanoseconds(start.saturating_duration_since(origin));
        self.timestamps
            .add(phase, began_ns, began_ns.saturating_add(elapsed_ns));
    }
}

/// The time on `CLOCK_MONOTONIC` in nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    // Tools that set another clock reach the C library's and the standard library's.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| nanoseconds(now.into()))
}
