//! All ranks except the first.

use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use writebench_model::path_from_text;
use writebench_runner::{AgentCommand, LostWorkers, RankReport, Workers};

use super::Message;
use super::communicator::Ranks;
use super::in_process::{SampleRanks, identity, sampler};
use crate::output::print_error;
use crate::processes::WorkerFiles;
use crate::sampling::Sampler;
use crate::{processes, signals};

/// Nodes cache directories for seconds, and see new ones late.
const SIGHT: Duration = Duration::from_secs(15);

pub(super) fn follow(ranks: Ranks) {
    let name = ranks.nodes.name(ranks.rank()).to_string();
    if let Err(error) = take_shares(ranks, &name) {
        print_error(&error.context(name));
        // MPI then ends all ranks.
        std::process::abort();
    }
}

fn take_shares(ranks: Ranks, name: &str) -> Result<()> {
    let Message::WorkIn(directories) = receive(&ranks)? else {
        return Ok(());
    };
    let mut group = SampleRanks {
        ranks,
        sampler: None,
    };
    let seen = wait_for_all(directories);
    let why = seen
        .as_ref()
        .err()
        .map(|error| format!("{name}: {error:#}"));
    group.ranks.join_group(group.ranks.size());
    group.ranks.gather(&why.unwrap_or_default());
    let Ok((command, sampler)) = seen else {
        // The first rank ends the run.
        return receive(&group.ranks).map(drop);
    };
    group.sampler = Some(sampler);
    let mut lost_workers = LostWorkers::default();
    let mut workers = Workers::new(&command, signals::stop(), &mut lost_workers);
    while let Message::RunSample(mut request, limit) = receive(&group.ranks)? {
        let ranks = &mut group.ranks;
        let size = request.case.choices().ranks;
        if !ranks.join_group(size) {
            continue;
        }
        ranks.compare_clocks();
        let rank = ranks.rank();
        request.role = ranks.nodes.role(rank, size);
        let name = ranks.nodes.name(rank);
        let report = RankReport::for_share(&mut workers, *request, limit, name, &mut group);
        group.ranks.gather(&serde_json::to_string(&report)?);
        group.ranks.compare_clocks();
    }
    Ok(())
}

fn receive(ranks: &Ranks) -> Result<Message> {
    Ok(serde_json::from_str(&ranks.broadcast(""))?)
}

/// A worker and a sampler in this process, once the directories are visible.
fn wait_for_all(directories: Vec<String>) -> Result<(AgentCommand, Sampler<'static>)> {
    let see = |directory: String| {
        let path = path_from_text(&directory);
        let seen = wait_for(&path).with_context(|| format!("does not see {}", path.display()));
        Ok((directory, seen?))
    };
    let directories = directories
        .into_iter()
        .map(see)
        .collect::<Result<Vec<_>>>()?;
    let sampler = sampler(&directories)?;
    let files = WorkerFiles {
        directories,
        ..WorkerFiles::default()
    };
    Ok((processes::worker(&files, true)?, sampler))
}

/// Device and inode. A silent filesystem does not block.
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
