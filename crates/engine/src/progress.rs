//! The current phase of a worker, for the supervisor.

use writebench_model::Phase;

use crate::call::{CallError, PhaseError};

/// Receives each phase before it begins, outside the clock.
#[derive(Clone, Copy)]
pub(crate) struct Progress<'p>(pub &'p dyn Fn(Phase));

impl Progress<'_> {
    pub(crate) fn begin(self, phase: Phase) {
        (self.0)(phase);
    }

    /// Begins a phase and does its work.
    pub(crate) fn phase<T>(
        self,
        phase: Phase,
        work: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, PhaseError> {
        self.begin(phase);
        work().map_err(|error| (phase, error))
    }
}
