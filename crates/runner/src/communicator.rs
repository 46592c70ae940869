//! The ranks of a run, as they reach each other, and what they tell each other of a sample.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use writebench_model::protocol::{
    InsufficientSpace, PhaseTimestamps, RankRole, RankSample, RankSampleRequest, SampleRequest,
};
use writebench_model::{RankName, Sample};

use crate::error::RunnerError;

/// The other ranks of a run, as one of them reaches them.
pub trait Communicator {
    /// Tells the ranks of the sample whether this one has succeeded so far, and waits for them;
    /// returns whether all have.
    fn wait(&mut self, has_succeeded: bool) -> bool;

    /// Takes this rank's share in this process, as methods of MPI want it, and waits for the other ranks on the way.
    ///
    /// # Errors
    /// The request is not understood.
    fn run_sample(
        &mut self,
        request: RankSampleRequest,
    ) -> Result<Result<RankSample, InsufficientSpace>, RunnerError>;
}

/// All ranks of a run, as the first one leads them.
pub trait Coordinator {
    /// The ranks of a sample, as this one reaches them.
    fn communicator(&mut self) -> &mut dyn Communicator;

    /// The number of ranks, this one included.
    fn size(&self) -> u32;

    /// Has that many ranks, this one first, take their shares of a sample; returns this rank's name and role.
    ///
    /// # Errors
    /// A rank is gone, or the run is stopped.
    fn begin(&mut self, share: &Share) -> io::Result<(RankName, RankRole)>;

    /// The reports of all ranks of the sample, in their order, with times of this rank's clock.
    ///
    /// # Errors
    /// A rank is gone, or the run is stopped.
    fn gather(&mut self, own: Report) -> io::Result<Vec<Report>>;
}

/// The work of each rank in a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The ranks that take part.
    pub ranks: u32,
    pub request: SampleRequest,
    /// The deadline of a rank's worker.
    pub limit: Duration,
    /// Whether the ranks' own processes take the sample, and no workers.
    pub is_of_mpi: bool,
}

/// The result of a rank's share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub rank: RankName,
    /// The rank's share of the sample.
    pub sample: Sample,
    /// The times of the phases.
    pub timestamps: PhaseTimestamps,
    /// Whether the share ended because another rank has failed.
    pub is_abandoned: bool,
    /// Whether the target lacks space.
    pub shortage: Option<InsufficientSpace>,
    /// Whether the rank's worker has left files.
    pub is_unclean: bool,
    /// How far the rank's clock may be from the first rank's after their difference was subtracted.
    pub clock_uncertainty_ns: u64,
}
