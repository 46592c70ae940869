//! Runs of several ranks, started by `mpirun` or `srun`.

#[cfg(feature = "mpi")]
mod clocks;
#[cfg(feature = "mpi")]
mod follower;
#[cfg(feature = "mpi")]
mod in_process;
mod launcher;
#[cfg(feature = "mpi")]
mod leader;
#[cfg(feature = "mpi")]
mod message;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
mod nodes;

use std::cell::RefCell;
use std::path::PathBuf;

use anyhow::Result;
use writebench_model::Cluster;
use writebench_runner::Coordinator;

pub(crate) use self::launcher::LaunchedRank;

/// The first of several ranks, as the run uses it. All ranks end when it is dropped.
pub(crate) trait Leader: Coordinator {
    fn cluster(&self) -> Cluster;

    /// Has all ranks take their samples in these directories of the run's, once each sees them.
    fn work_in(&mut self, directories: &[PathBuf]) -> Result<()>;
}

/// None in a run of one rank.
pub(crate) type OptionalLeader = Option<RefCell<Box<dyn Leader>>>;

/// The MPI library of this program, as it names itself.
#[cfg(feature = "mpi")]
pub(crate) fn library() -> Option<String> {
    mpi::library()
}

#[cfg(not(feature = "mpi"))]
pub(crate) fn library() -> Option<String> {
    None
}

pub(crate) enum Role {
    /// Runs the command, alone or as the leader of other ranks.
    Supervisor(OptionalLeader),
    /// Has done what the leader said, or has nothing to do.
    Done,
}

/// Joins the ranks that were started together.
#[cfg(feature = "mpi")]
pub(crate) fn join(launched: LaunchedRank) -> Result<Role> {
    let ranks = mpi::Ranks::join(launched)?;
    if ranks.rank() == 0 {
        return Ok(Role::Supervisor(Some(RefCell::new(Box::new(leader::MpiLeader::new(ranks))))));
    }
    follower::follow(ranks);
    Ok(Role::Done)
}

/// This program knows no MPI: instead of measuring as many times as there are ranks, it measures nothing.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join(launched: LaunchedRank) -> Result<Role> {
    if launched.rank > 0 {
        return Ok(Role::Done);
    }
    Err(crate::exit::usage!(
        "started as {} ranks, but this writebench is built without MPI: build it by \
         `cargo install --path crates/cli --features mpi`, or start it once",
        launched.size
    ))
}
