//! The ranks of a run and their messages about a sample.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use writebench_model::RankName;
use writebench_model::protocol::{InsufficientSpace, RankRole, RankSample, SampleRequest};

use crate::error::RunnerError;

/// The other ranks of a run, from the view of one.
pub trait Communicator {
    /// Reports this rank's success so far and waits for all ranks. Returns whether all succeeded.
    fn wait(&mut self, has_succeeded: bool) -> bool;

    /// Takes this rank's share in this process, as MPI requires, and waits for the other ranks.
    fn run_sample(
        &mut self,
        request: &SampleRequest,
    ) -> Result<Result<RankSample, InsufficientSpace>, RunnerError>;
}

/// All ranks of a run, from the view of the first one, which leads.
pub trait Coordinator {
    fn communicator(&mut self) -> &mut dyn Communicator;

    fn size(&self) -> u32;

    /// Starts the ranks of the case on their shares, each of which ends within `limit`. Returns this rank's name and
    /// role.
    fn begin(
        &mut self,
        request: &SampleRequest,
        limit: Duration,
    ) -> io::Result<(RankName, RankRole)>;

    /// Collects the reports of all ranks in their order, with times of this rank's clock.
    fn gather(&mut self, own: RankReport) -> io::Result<Vec<RankReport>>;
}

/// What a rank tells the first one about its share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankReport {
    pub rank: RankName,
    pub share: RankSample,
    pub shortage: Option<InsufficientSpace>,
    pub is_unclean: bool,
    /// The possible difference from the first rank's clock after correction.
    pub clock_uncertainty_ns: u64,
}
