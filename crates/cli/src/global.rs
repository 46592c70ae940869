//! The options that all commands share.

use std::path::PathBuf;

use writebench_model::Cluster;

use crate::output::Output;
use crate::ranks::OptionalLeader;

pub(crate) struct Global {
    pub db: Option<PathBuf>,
    pub output: Output,
    /// Set if this is the first of several ranks.
    pub leader: OptionalLeader,
    /// The whole command line, for those that describe it.
    pub interface: fn() -> clap::Command,
}

impl Global {
    pub(crate) fn ranks(&self) -> u32 {
        self.leader.as_ref().map_or(1, |leader| leader.borrow().size())
    }

    /// The ranks of a run, if it has several.
    pub(crate) fn cluster(&self) -> Option<Cluster> {
        self.leader.as_ref().map(|leader| leader.borrow().cluster())
    }
}
