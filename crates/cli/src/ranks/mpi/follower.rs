//! The other ranks, which do what the first one says.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use writebench_model::protocol::{InsufficientSpace, RankSample, RankSampleRequest};
use writebench_runner::{Communicator, LostWorkers, Report, RunnerError, WorkerCommand, Workers};

use super::Message;
use super::communicator::Ranks;
use super::in_process::{InProcess, identity};
use crate::output::print_error;
use crate::{processes, signals};

/// The time that a directory made on another node may take to be seen: nodes cache directories for
/// seconds.
const SIGHT: Duration = Duration::from_secs(15);

/// Does what the first rank says, to the end.
pub(super) fn follow(mut ranks: Ranks) {
    let mut lost_workers = LostWorkers::default();
    let mut message = receive(&ranks);
    loop {
        message = match message {
            Ok(Message::WorkIn(directories)) => {
                let seen = wait_for_all(&directories);
                let why = seen.as_ref().err().map(|error| format!("{}: {error:#}", name(&ranks)));
                ranks.join_group(ranks.size());
                ranks.gather(&why.unwrap_or_default());
                match seen {
                    Ok((command, in_process)) => {
                        take_shares(&mut ranks, &command, in_process, &mut lost_workers)
                    }
                    // The first rank ends the run.
                    Err(_) => receive(&ranks),
                }
            }
            Ok(Message::RunSample(_)) => Err(io::Error::other("a sample before its directories")),
            Ok(Message::End) => return,
            Err(error) => {
                let error = anyhow::Error::from(error).context(name(&ranks));
                print_error(&error);
                // MPI then ends the others, too.
                std::process::abort();
            }
        }
    }
}

fn name(ranks: &Ranks) -> String {
    ranks.nodes.name(ranks.rank()).to_string()
}

fn receive(ranks: &Ranks) -> io::Result<Message> {
    Ok(serde_json::from_str(&ranks.receive())?)
}

/// Takes shares of samples until there is another message.
fn take_shares(
    ranks: &mut Ranks,
    command: &WorkerCommand,
    mut in_process: InProcess,
    lost_workers: &mut LostWorkers,
) -> io::Result<Message> {
    let mut workers = Workers::new(command, signals::stop(), lost_workers);
    loop {
        let share = match receive(ranks)? {
            Message::RunSample(share) => *share,
            other => return Ok(other),
        };
        if !ranks.join_group(share.ranks) {
            continue;
        }
        ranks.compare_clocks();
        let rank = ranks.rank();
        let role = (ranks.nodes.name(rank), ranks.nodes.role(rank, share.ranks));
        let mut communicator = SampleRanks { ranks, in_process: &mut in_process };
        let report = Report::for_share(&mut workers, &share, role, &mut communicator);
        ranks.gather(&serde_json::to_string(&report)?);
        ranks.compare_clocks();
    }
}

/// The ranks of a sample.
struct SampleRanks<'r> {
    ranks: &'r mut Ranks,
    /// For samples that this process takes itself.
    in_process: &'r mut InProcess,
}

impl Communicator for SampleRanks<'_> {
    fn wait(&mut self, has_succeeded: bool) -> bool {
        self.ranks.have_all_succeeded(has_succeeded)
    }

    fn run_sample(
        &mut self,
        request: RankSampleRequest,
    ) -> Result<Result<RankSample, InsufficientSpace>, RunnerError> {
        self.in_process.run_sample(&request, self.ranks)
    }
}

/// The command of a worker, and an engine in this process, for these directories once they are
/// seen.
fn wait_for_all(directories: &[OsString]) -> Result<(WorkerCommand, InProcess)> {
    let see = |directory: &OsString| {
        wait_for(Path::new(directory)).with_context(|| format!("does not see {}", directory.display()))
    };
    let identities = directories.iter().map(see).collect::<Result<Vec<_>>>()?;
    let all = directories.iter().map(OsString::as_os_str).zip(identities.iter().copied());
    let command = processes::worker(all, true)?;
    Ok((command, InProcess::new(directories, &identities)?))
}

/// Device and inode of a directory. A filesystem that does not answer holds nothing up.
fn wait_for(directory: &Path) -> io::Result<[u64; 2]> {
    let (sender, seen) = channel();
    let path = directory.to_path_buf();
    std::thread::spawn(move || {
        let start = Instant::now();
        loop {
            let found = identity(&path);
            if found.is_ok() || start.elapsed() > SIGHT {
                let _ = sender.send(found);
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let silent = |_| io::Error::other("it does not answer");
    seen.recv_timeout(2 * SIGHT).map_err(silent)?
}
