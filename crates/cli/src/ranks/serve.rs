//! The other ranks, which do what the first one says.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ColorChoice;
use writebench_runner::{Casualties, Peers, Report, WorkerCommand, Workers};

use super::mpi::Ranks;
use super::order::Order;
use crate::keeper;
use crate::output::Output;

/// How long a directory that another node has made may take to be seen: nodes keep what they know of one for seconds.
const SIGHT: Duration = Duration::from_secs(15);

/// Does what the first rank says, to the end.
pub(super) fn serve(mut ranks: Ranks) {
    let mut casualties = Casualties::default();
    let mut order = receive(&ranks);
    loop {
        order = match order {
            Ok(Order::WorkIn(directories)) => {
                let command = command(&directories);
                let why = command.as_ref().err().map(|error| format!("{}: {error:#}", name(&ranks)));
                ranks.gather(ranks.size(), &why.unwrap_or_default());
                match command {
                    Ok(command) => take_shares(&mut ranks, &command, &mut casualties),
                    // The first rank ends the run.
                    Err(_) => receive(&ranks),
                }
            }
            Ok(Order::Take(_)) => Err(io::Error::other("a sample before its directories")),
            Ok(Order::End) => return,
            Err(error) => {
                let error = anyhow::Error::from(error).context(name(&ranks));
                Output::new(ColorChoice::Never, false).error(&error);
                // MPI then ends the others, too.
                std::process::abort();
            }
        }
    }
}

fn name(ranks: &Ranks) -> String {
    ranks.nodes.name(ranks.rank()).to_string()
}

fn receive(ranks: &Ranks) -> io::Result<Order> {
    Ok(serde_json::from_str(&ranks.receive())?)
}

/// Takes shares of samples until there is another order.
fn take_shares(ranks: &mut Ranks, command: &WorkerCommand, casualties: &mut Casualties) -> io::Result<Order> {
    let stop = ranks.stop.clone();
    let mut workers = Workers::new(command, &stop, casualties);
    loop {
        let share = match receive(ranks)? {
            Order::Take(share) => share,
            other => return Ok(other),
        };
        if !ranks.join_group(share.ranks) {
            continue;
        }
        ranks.compare_clocks(share.ranks);
        let rank = ranks.rank();
        let place = (ranks.nodes.name(rank), ranks.nodes.place(rank, share.ranks));
        let mut peers = Group { ranks, size: share.ranks };
        let report = Report::of_share(&mut workers, &share, place, &mut peers);
        ranks.gather(share.ranks, &serde_json::to_string(&report)?);
        ranks.compare_clocks(share.ranks);
    }
}

/// The ranks of a sample.
struct Group<'r> {
    ranks: &'r mut Ranks,
    size: u32,
}

impl Peers for Group<'_> {
    fn meet(&mut self, has_succeeded: bool) -> bool {
        self.ranks.meet(self.size, has_succeeded)
    }
}

/// A worker in these directories, once they are seen.
fn command(directories: &[OsString]) -> Result<WorkerCommand> {
    let mut arguments: Vec<OsString> = vec!["worker".into()];
    for directory in directories {
        let identity =
            seen(Path::new(directory)).with_context(|| format!("does not see {}", directory.display()))?;
        arguments.extend(["--directory".into(), directory.clone(), "--identity".into()]);
        arguments.extend(identity.map(|number| number.to_string().into()));
    }
    Ok(WorkerCommand { program: keeper::this_program()?, arguments, meets: true })
}

/// Device and inode of a directory, as this node numbers them. A filesystem that does not answer keeps nobody waiting.
fn seen(directory: &Path) -> io::Result<[u64; 2]> {
    let (sender, seen) = channel();
    let path = directory.to_path_buf();
    std::thread::spawn(move || {
        let start = Instant::now();
        loop {
            let found = std::fs::symlink_metadata(&path);
            if found.is_ok() || start.elapsed() > SIGHT {
                let _ = sender.send(found.map(|it| [it.dev(), it.ino()]));
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let silent = |_| io::Error::other("it does not answer");
    seen.recv_timeout(2 * SIGHT).map_err(silent)?
}
