use std::collections::{BTreeMap, HashMap};

use writebench_model::protocol::RankRole;
use writebench_model::{Node, RankName};

pub(super) struct Nodes {
    /// The host of each rank.
    hosts: Vec<String>,
    /// The first rank on the same node, by rank.
    firsts: Vec<u32>,
}

impl Nodes {
    pub(super) fn new(hosts: Vec<String>) -> Self {
        let mut first_on: HashMap<&str, u32> = HashMap::new();
        let firsts = (0..)
            .zip(&hosts)
            .map(|(rank, host)| *first_on.entry(host).or_insert(rank))
            .collect();
        Self { hosts, firsts }
    }

    pub(super) fn first_beside(&self, rank: u32) -> u32 {
        self.firsts[rank as usize]
    }

    pub(super) fn name(&self, rank: u32) -> RankName {
        RankName {
            rank,
            host: self.hosts[rank as usize].clone(),
        }
    }

    /// Ranks, by the first rank of their node.
    fn by_first(&self, ranks: u32) -> BTreeMap<u32, Vec<u32>> {
        let mut nodes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (rank, first) in (0..ranks).zip(&self.firsts) {
            nodes.entry(*first).or_default().push(rank);
        }
        nodes
    }

    /// The nodes in the order of their first ranks.
    pub(super) fn list(&self) -> Vec<Node> {
        let node = |(first, ranks): (u32, Vec<u32>)| Node {
            host: self.name(first).host,
            ranks: count(&ranks),
        };
        self.by_first(u32::MAX).into_iter().map(node).collect()
    }

    /// The first rank of each other node, of a group.
    pub(super) fn others_first(&self, ranks: u32) -> Vec<u32> {
        (1..ranks)
            .filter(|&rank| self.first_beside(rank) == rank)
            .collect()
    }

    /// Each rank reads back the data of one other rank, on another node unless one has more than half of the ranks. Together
    /// they read everything.
    pub(super) fn role(&self, rank: u32, ranks: u32) -> RankRole {
        let nodes = self.by_first(ranks);
        let most = nodes.values().map(Vec::len).max().unwrap_or(1);
        let ranks_beside = count(&nodes[&self.first_beside(rank)]);
        // Ranks are sorted by node, so a shift by the largest node's size leads to another node.
        let all: Vec<u32> = nodes.into_values().flatten().collect();
        let at = all.iter().position(|&other| other == rank).unwrap_or(0);
        RankRole {
            rank,
            verifies: all[(at + most) % all.len()],
            ranks_beside,
        }
    }
}

fn count(ranks: &[u32]) -> u32 {
    u32::try_from(ranks.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(hosts: &[&str]) -> Nodes {
        Nodes::new(hosts.iter().map(|&host| host.to_owned()).collect())
    }

    fn verified(hosts: &[&str]) -> Vec<u32> {
        let ranks = u32::try_from(hosts.len()).unwrap();
        (0..ranks)
            .map(|rank| nodes(hosts).role(rank, ranks).verifies)
            .collect()
    }

    #[test]
    fn each_rank_reads_back_data_of_another_node() {
        assert_eq!(verified(&["a", "a", "b", "b"]), [2, 3, 0, 1]);
        for hosts in [
            &["a", "b", "a", "b", "c"][..],
            &["a", "a", "b", "c", "c"],
            &["a", "b", "c"],
        ] {
            for (rank, verified) in (0u32..).zip(verified(hosts)) {
                assert!(
                    hosts[rank as usize] != hosts[verified as usize],
                    "{hosts:?}: {rank} reads {verified}"
                );
            }
        }
        let nodes = nodes(&["a", "a", "b", "b"]);
        assert_eq!(
            nodes.role(0, 2),
            RankRole {
                rank: 0,
                verifies: 0,
                ranks_beside: 2
            },
            "one node"
        );
    }

    #[test]
    fn one_rank_reads_back_the_data_of_each() {
        for hosts in [
            &["a"][..],
            &["a", "b", "b", "b"],
            &["a", "a", "b"],
            &["a", "b", "a", "b", "c"],
        ] {
            let mut verified = verified(hosts);
            verified.sort_unstable();
            assert_eq!(
                verified,
                (0..u32::try_from(hosts.len()).unwrap()).collect::<Vec<_>>(),
                "{hosts:?}"
            );
        }
    }

    #[test]
    fn nodes_are_listed_by_their_first_ranks() {
        let nodes = nodes(&["b", "a", "b"]);
        let list: Vec<(String, u32)> = nodes
            .list()
            .into_iter()
            .map(|node| (node.host, node.ranks))
            .collect();
        assert_eq!(list, [("b".to_owned(), 2), ("a".to_owned(), 1)]);
        assert_eq!(nodes.others_first(3), [1]);
        assert_eq!([0, 1, 2].map(|rank| nodes.first_beside(rank)), [0, 1, 0]);
    }
}
