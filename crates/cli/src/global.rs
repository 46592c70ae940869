use std::path::PathBuf;

use writebench_model::Cluster;

use crate::output::Output;
use crate::ranks::OptionalLeader;

pub(crate) struct Global {
    pub db: Option<PathBuf>,
    pub output: Output,
    pub leader: OptionalLeader,
    /// The command line, from which completions and manual pages are made.
    pub interface: fn() -> clap::Command,
}

impl Global {
    pub(crate) fn ranks(&self) -> u32 {
        self.leader
            .as_ref()
            .map_or(1, |leader| leader.borrow().size())
    }

    /// The nodes of a run of several ranks.
    pub(crate) fn cluster(&self) -> Option<Cluster> {
        self.leader.as_ref().map(|leader| leader.borrow().cluster())
    }
}
