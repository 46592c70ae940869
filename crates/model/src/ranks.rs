//! The MPI ranks of a run, and their times in a sample.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::phase::Phase;
use crate::quantity::counted;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// In the order of their first ranks.
    #[serde(deserialize_with = "list")]
    pub nodes: Vec<Node>,
    pub mpi: String,
    /// Such as `Slurm job 4711`.
    pub job: Option<String>,
    /// The fastest link of the first node, with its rate.
    #[serde(default)]
    pub interconnect: Option<String>,
    /// The nodes before each resumption with other nodes, the oldest first.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub earlier_nodes: Vec<Vec<Node>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub host: String,
    pub ranks: u32,
}

impl Cluster {
    pub fn ranks(&self) -> u32 {
        self.nodes.iter().map(|node| node.ranks).sum()
    }

    /// The ranks of a resumed run.
    pub fn instead_of(self, before: &Self) -> Self {
        let mut earlier_nodes = before.earlier_nodes.clone();
        if self.nodes != before.nodes {
            earlier_nodes.push(before.nodes.clone());
        }
        Self {
            earlier_nodes,
            ..self
        }
    }
}

/// `64 ranks on 8 nodes`.
impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} on {}",
            counted(self.ranks().into(), "rank"),
            counted(self.nodes.len() as u64, "node")
        )
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RankName {
    /// From 0.
    pub rank: u32,
    pub host: String,
}

/// `rank 17 on n004`.
impl fmt::Display for RankName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} on {}", self.rank, self.host)
    }
}

/// Each rank's times. The sample itself lasts from the first rank's beginning to the last rank's end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTimes {
    /// In order. Empty if the sample failed.
    #[serde(deserialize_with = "list")]
    pub phases: Vec<Spread>,
    /// The possible difference of the nodes' clocks after correction, 0 on one node.
    pub clock_uncertainty_ns: u64,
    pub failed: Option<RankName>,
}

impl RankTimes {
    pub fn spread(&self, phase: Phase) -> Option<&Spread> {
        self.phases.iter().find(|spread| spread.phase == phase)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    pub phase: Phase,
    pub min_ns: u64,
    pub median_ns: u64,
    pub max_ns: u64,
    pub slowest: RankName,
}
