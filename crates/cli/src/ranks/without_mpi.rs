//! What a program that is built without MPI does instead.

use anyhow::Result;

use super::{LaunchedRank, Leader};
use crate::exit::usage;

pub(crate) fn library() -> Option<String> {
    None
}

/// Instead of measuring as many times as there are ranks, it measures nothing.
pub(crate) fn join(launched: LaunchedRank) -> Result<Option<Box<dyn Leader>>> {
    if launched.rank > 0 {
        return Ok(None);
    }
    Err(usage!(
        "started as {} ranks, but this writebench is built without MPI: build it by \
         `cargo install --path crates/cli --features mpi`, or start it once",
        launched.size
    ))
}
