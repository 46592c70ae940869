use std::path::PathBuf;

use writebench_model::Cluster;

use crate::output::Output;
use crate::ranks::OptionalLeader;

pub(crate) struct Global {
    pub db: Option<PathBuf>,
    pub output: Output,
    pub leader: OptionalLeader,
    /// For completions and manual pages.
    pub interface: fn() -> clap::Command,
}

impl Global {
    pub(crate) fn ranks(&self) -> u32 {
        self.leader
            .as_ref()
            .map_or(1, |leader| leader.borrow().size())
    }

    /// None in a run of one rank.
    pub(crate) fn cluster(&self) -> Option<Cluster> {
        self.leader.as_ref().map(|leader| leader.borrow().cluster())
    }
}
