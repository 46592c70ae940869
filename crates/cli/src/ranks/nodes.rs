//! The nodes of the ranks.

use writebench_model::protocol::RankPlace;
use writebench_model::{Node, RankName};

/// The host name of each rank's node.
pub(super) struct Nodes(Vec<String>);

impl Nodes {
    pub(super) fn new(hosts: Vec<String>) -> Self {
        Self(hosts)
    }

    /// A rank with its node.
    pub(super) fn name(&self, rank: u32) -> RankName {
        RankName { rank, host: self.0[rank as usize].clone() }
    }

    /// The nodes in the order of their first ranks.
    pub(super) fn list(&self) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        for host in &self.0 {
            match nodes.iter_mut().find(|node| node.host == *host) {
                Some(node) => node.ranks += 1,
                None => nodes.push(Node { host: host.clone(), ranks: 1 }),
            }
        }
        nodes
    }

    /// The first rank of each other node, among the first so many ranks.
    pub(super) fn others_first(&self, ranks: u32) -> Vec<u32> {
        let hosts = &self.0[..ranks as usize];
        let is_first = |&rank: &u32| {
            let host = &hosts[rank as usize];
            hosts.iter().position(|it| it == host) == Some(rank as usize)
        };
        (1..ranks).filter(is_first).collect()
    }

    /// The place of a rank among the first so many. It reads back what a rank of another node has written, if there is
    /// one: as far behind it as its own node has ranks, as far as possible.
    pub(super) fn place(&self, rank: u32, ranks: u32) -> RankPlace {
        let hosts = &self.0[..ranks as usize];
        let own = &hosts[rank as usize];
        let ranks_beside = u32::try_from(hosts.iter().filter(|host| *host == own).count()).unwrap_or(u32::MAX);
        let others = (0..ranks).map(|step| (rank + ranks_beside + step) % ranks);
        let verifies = others.into_iter().find(|&it| hosts[it as usize] != *own).unwrap_or(rank);
        RankPlace { rank, verifies, ranks_beside }
    }

    /// Whether two ranks are on one node.
    pub(super) fn are_beside(&self, a: u32, b: u32) -> bool {
        self.0[a as usize] == self.0[b as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(hosts: &[&str]) -> Nodes {
        Nodes::new(hosts.iter().map(|&host| host.to_owned()).collect())
    }

    #[test]
    fn each_rank_reads_back_what_another_node_has_written() {
        let nodes = nodes(&["a", "a", "b", "b"]);
        let verified: Vec<u32> = (0..4).map(|rank| nodes.place(rank, 4).verifies).collect();
        assert_eq!(verified, [2, 3, 0, 1]);
        assert_eq!(nodes.place(0, 2), RankPlace { rank: 0, verifies: 0, ranks_beside: 2 }, "one node");
        assert_eq!(nodes.place(2, 3).verifies, 0, "of three");
    }

    #[test]
    fn unequal_nodes_and_ranks_in_turns_verify_each_other_too() {
        for hosts in [&["a", "b", "b", "b"][..], &["a", "b", "a", "b", "c"]] {
            let nodes = nodes(hosts);
            for rank in 0..u32::try_from(hosts.len()).unwrap() {
                let place = nodes.place(rank, u32::try_from(hosts.len()).unwrap());
                assert!(!nodes.are_beside(rank, place.verifies), "{hosts:?} {place:?}");
            }
        }
    }

    #[test]
    fn nodes_are_listed_by_their_first_ranks() {
        let nodes = nodes(&["b", "a", "b"]);
        let list: Vec<(String, u32)> = nodes.list().into_iter().map(|it| (it.host, it.ranks)).collect();
        assert_eq!(list, [("b".to_owned(), 2), ("a".to_owned(), 1)]);
        assert_eq!(nodes.others_first(3), [1]);
    }
}
