//! The MPI ranks of a run, and their times in a sample.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::phase::Phase;
use crate::quantity::counted;

/// The nodes on which the ranks of a run are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// The nodes in the order of their first ranks.
    #[serde(deserialize_with = "list")]
    pub nodes: Vec<Node>,
    /// The MPI library with its version.
    pub mpi: String,
    /// The scheduler's name of the job: `Slurm job 4711`.
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

    /// This cluster for a run that an earlier one began, whose nodes it keeps if they were others.
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

/// The text is `64 ranks on 8 nodes`.
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
    /// The rank's number, from 0.
    pub rank: u32,
    pub host: String,
}

/// The text is `rank 17 on n004`.
impl fmt::Display for RankName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} on {}", self.rank, self.host)
    }
}

/// How the ranks' times differ. The sample itself lasts from the first rank's beginning to the last rank's end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTimes {
    /// The timed phases in their order. The list is empty if the sample failed.
    #[serde(deserialize_with = "list")]
    pub phases: Vec<Spread>,
    /// The possible difference of the nodes' clocks after correction, 0 on one node.
    pub clock_uncertainty_ns: u64,
    /// The rank whose failure is the outcome of the sample.
    pub failed: Option<RankName>,
}

impl RankTimes {
    pub fn spread(&self, phase: Phase) -> Option<&Spread> {
        self.phases.iter().find(|spread| spread.phase == phase)
    }
}

/// The ranks' times in one phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    pub phase: Phase,
    pub min_ns: u64,
    pub median_ns: u64,
    pub max_ns: u64,
    pub slowest: RankName,
}
