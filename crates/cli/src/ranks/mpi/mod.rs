//! Ranks with MPI.

mod clocks;
mod communicator;
mod follower;
mod in_process;
mod leader;
mod nodes;

use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use writebench_model::protocol::SampleRequest;

pub(crate) use self::communicator::library;

use super::{LaunchedRank, Leader};

/// A task that the first rank gives to all others.
#[derive(Serialize, Deserialize)]
enum Message {
    /// Paths as text.
    WorkIn(Vec<String>),
    /// The sample of the first rank, and the time limit of its shares.
    RunSample(Box<SampleRequest>, Duration),
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
