//! The ranks of a run under MPI, and their times in a sample.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::phase::Phase;

/// The ranks of a run, and the nodes that they are on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// The nodes, in the order of their first ranks.
    #[serde(deserialize_with = "list")]
    pub nodes: Vec<Node>,
    /// The MPI library, as it names itself.
    pub mpi: String,
    /// The scheduler's job, such as `Slurm job 4711`.
    pub job: Option<String>,
    /// The fastest link of the first node, with its rate, if its kernel knows one.
    #[serde(default)]
    pub interconnect: Option<String>,
    /// The nodes that the run had before it was resumed with others, the first ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub earlier_nodes: Vec<Vec<Node>>,
}

/// A node with ranks of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub host: String,
    pub ranks: u32,
}

impl Cluster {
    /// The number of ranks on all nodes.
    pub fn ranks(&self) -> u32 {
        self.nodes.iter().map(|node| node.ranks).sum()
    }

    /// These ranks, as they continue a run that others have begun.
    #[must_use]
    pub fn instead_of(self, before: &Self) -> Self {
        let mut earlier_nodes = before.earlier_nodes.clone();
        if self.nodes != before.nodes {
            earlier_nodes.push(before.nodes.clone());
        }
        Self { earlier_nodes, ..self }
    }
}

/// `64 ranks on 8 nodes`.
impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u32, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let nodes = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        write!(f, "{} on {}", counted(self.ranks(), "rank"), counted(nodes, "node"))
    }
}

/// A rank, by its number and its node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RankName {
    /// The number, from 0.
    pub rank: u32,
    /// The host name of the rank's node.
    pub host: String,
}

/// `rank 17 on n004`.
impl fmt::Display for RankName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} on {}", self.rank, self.host)
    }
}

/// The ranks' own times in a sample. The sample's own last from the first rank's beginning to the last rank's end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTimes {
    /// The times of each phase, in order; none if the sample failed.
    #[serde(deserialize_with = "list")]
    pub phases: Vec<Spread>,
    /// How far apart the nodes' clocks may be after their difference was subtracted; 0 on one node.
    pub clock_uncertainty_ns: u64,
    /// The rank whose failure is the sample's outcome.
    pub failed: Option<RankName>,
}

impl RankTimes {
    /// The times of a phase.
    pub fn spread(&self, phase: Phase) -> Option<&Spread> {
        self.phases.iter().find(|spread| spread.phase == phase)
    }
}

/// The times that the ranks took for a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    pub phase: Phase,
    pub min_ns: u64,
    pub median_ns: u64,
    pub max_ns: u64,
    pub slowest: RankName,
}
