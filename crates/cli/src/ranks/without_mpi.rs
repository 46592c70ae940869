use anyhow::Result;

use super::{LaunchedRank, Leader};
use crate::exit::usage;

pub(crate) fn library() -> Option<String> {
    None
}

/// Refuses, because each rank would measure on its own.
pub(crate) fn join(launched: LaunchedRank) -> Result<Option<Box<dyn Leader>>> {
    if launched.rank > 0 {
        return Ok(None);
    }
    Err(usage!(
        "started as {} ranks, but this writebench is built without MPI. Build it by \
         `cargo install --path crates/cli --features mpi`, or start one process",
        launched.size
    ))
}
