//! What a run asks of its first rank.

use std::cell::RefCell;
use std::path::PathBuf;

use anyhow::Result;
use writebench_model::Cluster;
use writebench_runner::Coordinator;

/// All ranks of a run, as its first rank leads them.
pub(crate) trait Lead: Coordinator {
    fn cluster(&self) -> Cluster;

    /// Has all ranks take their samples in these directories of the run's, once each sees them.
    fn work_in(&mut self, directories: &[PathBuf]) -> Result<()>;

    /// Ends all ranks. The first one's exit code is that of the run.
    fn end(&mut self);
}

/// The other ranks, if there are any.
pub(crate) type Others = Option<RefCell<Box<dyn Lead>>>;
