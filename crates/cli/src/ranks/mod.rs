//! Runs of several ranks, started by `mpirun` or `srun`.

mod launcher;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "mpi"))]
mod without_mpi;

use std::cell::RefCell;

use anyhow::Result;
use writebench_model::Cluster;
use writebench_runner::Coordinator;

pub(crate) use self::launcher::LaunchedRank;
#[cfg(feature = "mpi")]
pub(crate) use self::mpi::{join, library};
#[cfg(not(feature = "mpi"))]
pub(crate) use self::without_mpi::{join, library};

/// The first of several ranks. All ranks end when it is dropped.
pub(crate) trait Leader: Coordinator {
    fn cluster(&self) -> Cluster;

    /// Waits until all ranks see the run's directories, to take samples there.
    fn work_in(&mut self, directories: Vec<String>) -> Result<()>;
}

/// The leader of a run of several ranks. None if there is one.
pub(crate) type OptionalLeader = Option<RefCell<Box<dyn Leader>>>;
