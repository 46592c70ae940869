//! The options that all commands share.

use std::path::PathBuf;

use writebench_model::Cluster;

use crate::output::Output;
use crate::ranks::Others;

pub(crate) struct Global {
    pub db: Option<PathBuf>,
    pub output: Output,
    /// The other ranks, if this is the first of several.
    pub others: Others,
    /// The whole command line, for those that describe it.
    pub interface: fn() -> clap::Command,
}

impl Global {
    pub(crate) fn ranks(&self) -> u32 {
        self.others.as_ref().map_or(1, |others| others.borrow().size())
    }

    /// The ranks of a run, if it has several.
    pub(crate) fn cluster(&self) -> Option<Cluster> {
        self.others.as_ref().map(|others| others.borrow().cluster())
    }
}
