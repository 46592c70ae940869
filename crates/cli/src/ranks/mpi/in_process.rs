//! Samples taken in a rank's process, because a worker cannot call MPI.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Result;
use writebench_engine::{Engine, Target};
use writebench_model::protocol::{InsufficientSpace, RankSample, RankSampleRequest};
use writebench_runner::{Communicator, RunnerError};

use super::communicator::Ranks;
use crate::sampling::{numbered, open_directories, run_sample};

pub(super) struct InProcess {
    directories: Vec<OwnedFd>,
    engine: Engine<'static>,
}

impl InProcess {
    pub(super) fn new(directories: &[(String, [u64; 2])]) -> Result<Self> {
        let available =
            || writebench_probe::available_memory_bytes().map_err(|error| error.to_string());
        Ok(Self {
            directories: open_directories(directories)?,
            engine: Engine::new(None, available, &|_| {}),
        })
    }
}

pub(super) struct SampleRanks {
    pub(super) ranks: Ranks,
    /// None before the run has directories.
    pub(super) in_process: Option<InProcess>,
}

impl Communicator for SampleRanks {
    fn wait(&mut self, has_succeeded: bool) -> bool {
        self.ranks.wait_for_group(has_succeeded)
    }

    fn run_sample(
        &mut self,
        RankSampleRequest { sample, role }: RankSampleRequest,
    ) -> Result<Result<RankSample, InsufficientSpace>, RunnerError> {
        let none = || RunnerError::Protocol("a sample before its directories".to_owned());
        let InProcess {
            directories,
            engine,
        } = self.in_process.as_mut().ok_or_else(none)?;
        let targets: Vec<_> = directories
            .iter()
            .map(|directory| Target::Directory(directory.as_fd()))
            .collect();
        let target = numbered(&targets, sample.target)?;
        Ok(run_sample(
            engine,
            target,
            &sample,
            role,
            Some(&mut self.ranks),
            &|_| {},
        ))
    }
}

/// Device and inode on this node.
pub(super) fn identity(directory: &Path) -> io::Result<[u64; 2]> {
    let found = std::fs::symlink_metadata(directory)?;
    Ok([found.dev(), found.ino()])
}
