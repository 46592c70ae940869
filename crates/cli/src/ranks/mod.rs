//! Runs of several ranks, started by `mpirun` or `srun`.

#[cfg(feature = "mpi")]
mod clocks;
#[cfg(feature = "mpi")]
mod in_process;
mod launched;
mod lead;
#[cfg(feature = "mpi")]
mod leader;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
mod nodes;
#[cfg(feature = "mpi")]
mod order;
#[cfg(feature = "mpi")]
mod serve;

use anyhow::Result;

pub(crate) use self::launched::Launched;
pub(crate) use self::lead::{Lead, Others};

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
    /// The process was started alone, or works alone.
    Alone,
    #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "without MPI there are no others"))]
    First(Box<dyn Lead>),
    Done,
}

/// Joins the ranks that were started together.
#[cfg(feature = "mpi")]
pub(crate) fn join(launched: Launched) -> Result<Role> {
    let ranks = mpi::Ranks::join(launched)?;
    if ranks.rank() == 0 {
        return Ok(Role::First(Box::new(leader::Leader::new(ranks))));
    }
    serve::serve(ranks);
    Ok(Role::Done)
}

/// This program knows no MPI: instead of measuring as many times as there are ranks, it measures nothing.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join(launched: Launched) -> Result<Role> {
    if launched.rank > 0 {
        return Ok(Role::Done);
    }
    Err(crate::exit::usage!(
        "started as {} ranks, but this writebench is built without MPI: build it by \
         `cargo install --path crates/cli --features mpi`, or start it once",
        launched.size
    ))
}
