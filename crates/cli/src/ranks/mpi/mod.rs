//! Ranks that reach each other by MPI.

mod clocks;
mod communicator;
mod follower;
mod in_process;
mod leader;
mod nodes;

use std::ffi::OsString;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use writebench_runner::Share;

pub(crate) use self::communicator::library;

use super::{LaunchedRank, Leader};

/// What the first rank tells the others.
#[derive(Serialize, Deserialize)]
enum Message {
    /// Take samples in these directories of the run's from now on.
    WorkIn(Vec<OsString>),
    RunSample(Box<Share>),
    End,
}

/// Joins the ranks that were started together. Returns the leader to the first of them, and nothing to the others,
/// which have done what the leader said.
pub(crate) fn join(launched: LaunchedRank) -> Result<Option<Box<dyn Leader>>> {
    let ranks = communicator::Ranks::join(launched)?;
    if ranks.rank() == 0 {
        return Ok(Some(Box::new(leader::MpiLeader::new(ranks))));
    }
    follower::follow(ranks);
    Ok(None)
}
