//! The first rank, which coordinates all ranks.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use anyhow::{Result, bail};
use writebench_model::protocol::{RankRole, SampleRequest};
use writebench_model::{Cluster, RankName, path_from_text};
use writebench_runner::{Communicator, Coordinator, RankReport};

use super::Message;
use super::clocks::ClockOffset;
use super::communicator::{Ranks, library};
use super::in_process::{SampleRanks, identity, sampler};
use crate::ranks::Leader;

/// The most ranks in an error.
const NAMED: usize = 3;

pub(super) struct MpiLeader {
    group: SampleRanks,
    /// The other nodes' clocks before the sample.
    before: HashMap<u32, ClockOffset>,
}

impl MpiLeader {
    pub(super) fn new(ranks: Ranks) -> Self {
        Self {
            group: SampleRanks {
                ranks,
                sampler: None,
            },
            before: HashMap::new(),
        }
    }
}

impl Coordinator for MpiLeader {
    fn communicator(&mut self) -> &mut dyn Communicator {
        &mut self.group
    }

    fn size(&self) -> u32 {
        self.group.ranks.size()
    }

    fn begin(
        &mut self,
        request: &SampleRequest,
        limit: Duration,
    ) -> io::Result<(RankName, RankRole)> {
        let message = Message::RunSample(Box::new(request.clone()), limit);
        self.group
            .ranks
            .broadcast(&serde_json::to_string(&message)?);
        let size = request.case.choices().ranks;
        self.group.ranks.join_group(size);
        self.before = self.group.ranks.compare_clocks();
        Ok((
            self.group.ranks.nodes.name(0),
            self.group.ranks.nodes.role(0, size),
        ))
    }

    fn gather(&mut self, own: RankReport) -> io::Result<Vec<RankReport>> {
        let texts = self.group.ranks.gather(&serde_json::to_string(&own)?);
        let after = self.group.ranks.compare_clocks();
        let parse = |text: &String| serde_json::from_str::<RankReport>(text);
        let mut reports = texts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        for report in &mut reports {
            let first = self.group.ranks.nodes.first_beside(report.rank.rank);
            let offsets = self.before.get(&first).zip(after.get(&first));
            // None on the first rank's node.
            let offset = offsets
                .map(|(before, after)| ClockOffset::between(*before, *after))
                .unwrap_or_default();
            let timestamps = &mut report.share.timestamps;
            *timestamps = timestamps.on_clock(|time| offset.own_time(time));
            report.clock_uncertainty_ns = offset.uncertainty_ns;
        }
        Ok(reports)
    }
}

impl Leader for MpiLeader {
    fn cluster(&self) -> Cluster {
        Cluster {
            nodes: self.group.ranks.nodes.list(),
            mpi: library().unwrap_or_default(),
            interconnect: writebench_probe::interconnect(),
            earlier_nodes: Vec::new(),
            job: std::env::var("SLURM_JOB_ID")
                .ok()
                .map(|number| format!("Slurm job {number}")),
        }
    }

    fn work_in(&mut self, directories: Vec<String>) -> Result<()> {
        self.group
            .ranks
            .broadcast(&serde_json::to_string(&Message::WorkIn(
                directories.clone(),
            ))?);
        self.group.ranks.join_group(self.group.ranks.size());
        let blind: Vec<String> = self
            .group
            .ranks
            .gather("")
            .into_iter()
            .filter(|why| !why.is_empty())
            .collect();
        if blind.is_empty() {
            let identified =
                |path: String| identity(&path_from_text(&path)).map(|identity| (path, identity));
            let directories = directories
                .into_iter()
                .map(identified)
                .collect::<io::Result<Vec<_>>>()?;
            self.group.sampler = Some(sampler(&directories)?);
            return Ok(());
        }
        let more = blind.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!(", and {more} more ranks")
        } else {
            String::new()
        };
        bail!(
            "{}{more}. Is it a shared filesystem?",
            blind[..blind.len().min(NAMED)].join(", ")
        )
    }
}

impl Drop for MpiLeader {
    fn drop(&mut self) {
        // The launcher ends unreachable ranks.
        let _ = serde_json::to_string(&Message::End).map(|end| self.group.ranks.broadcast(&end));
    }
}
