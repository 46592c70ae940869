//! Ranks with MPI.

mod clocks;
mod communicator;
mod follower;
mod in_process;
mod leader;
mod nodes;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use writebench_runner::Share;

pub(crate) use self::communicator::library;

use super::{LaunchedRank, Leader};

/// A task that the first rank gives to all others.
#[derive(Serialize, Deserialize)]
enum Message {
    /// Paths as text.
    WorkIn(Vec<String>),
    RunSample(Box<Share>),
    End,
}

/// Returns the leader in the first rank. In every later rank it returns none, after the run.
pub(crate) fn join(launched: LaunchedRank) -> Result<Option<Box<dyn Leader>>> {
    let ranks = communicator::Ranks::join(launched)?;
    if ranks.rank() == 0 {
        return Ok(Some(Box::new(leader::MpiLeader::new(ranks))));
    }
    follower::follow(ranks);
    Ok(None)
}
