//! Samples taken in a rank's process, because a worker cannot call MPI.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Result;
use writebench_model::protocol::{InsufficientSpace, RankSample, SampleRequest};
use writebench_runner::{Communicator, RunnerError};

use super::communicator::Ranks;
use crate::processes::WorkerFiles;
use crate::sampling::Sampler;

pub(super) struct SampleRanks {
    pub(super) ranks: Ranks,
    /// None before the run has directories.
    pub(super) sampler: Option<Sampler<'static>>,
}

impl Communicator for SampleRanks {
    fn wait(&mut self, has_succeeded: bool) -> bool {
        self.ranks.wait_for_group(has_succeeded)
    }

    fn run_sample(
        &mut self,
        request: &SampleRequest,
    ) -> Result<Result<RankSample, InsufficientSpace>, RunnerError> {
        let none = || RunnerError::Protocol("a sample before its directories".to_owned());
        let sampler = self.sampler.as_mut().ok_or_else(none)?;
        sampler.sample(request, Some(&mut self.ranks))
    }
}

/// A sampler in this process.
pub(super) fn sampler(directories: &[(String, [u64; 2])]) -> Result<Sampler<'static>> {
    let files = WorkerFiles {
        directories: directories.to_vec(),
        ..WorkerFiles::default()
    };
    Sampler::new(files, &|_| {})
}

/// Device and inode on this node.
pub(super) fn identity(directory: &Path) -> io::Result<[u64; 2]> {
    let found = std::fs::symlink_metadata(directory)?;
    Ok([found.dev(), found.ino()])
}
