//! Slow ranks, and the certainty of their clocks.

use writebench_model::{Cluster, Node, Phase, RankName, Sample};
use writebench_stats::as_f64;

use crate::numbers::{CaseReport, grouped};
use crate::sentences::number::{NUMBER, microseconds};
use crate::sentences::words::{NAMED, counted, list};

/// A rank is slow if it takes this many times the median of all ranks in the longest phase.
const SLOW: f64 = 1.5;
/// Clock differences above this share of a phase leave its value in doubt.
const SURE: f64 = 0.01;
/// More nodes than these are counted.
const NAMED_NODES: usize = 8;

/// `4 ranks on 2 nodes (n1: 2, n2: 2), Open MPI v4.1.4, Slurm job 5`.
pub(crate) fn cluster_line(cluster: &Cluster) -> String {
    let ranks = format!("{cluster} ({})", node_list(&cluster.nodes));
    let parts = [
        Some(ranks),
        Some(cluster.mpi.clone()),
        cluster.job.clone(),
        cluster.interconnect.clone(),
    ];
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// `n1: 2, n2: 2`.
fn node_list(nodes: &[Node]) -> String {
    let names: Vec<String> = nodes
        .iter()
        .map(|node| format!("{}: {}", node.host, node.ranks))
        .collect();
    list(&names, NAMED_NODES)
}

/// Warnings about ranks that are slow in most samples of a case, uncertain clocks, and exchanged nodes.
pub(crate) fn warnings(cluster: Option<&Cluster>, cases: &[&CaseReport]) -> Vec<String> {
    let mut warnings: Vec<String> = stragglers(cases);
    if let Some(cluster) = cluster {
        warnings.extend(earlier_nodes(cluster));
    }
    warnings.extend(uncertain_clocks(cases));
    warnings
}

fn earlier_nodes(cluster: &Cluster) -> impl Iterator<Item = String> {
    cluster.earlier_nodes.iter().map(|nodes| {
        format!(
            "Earlier samples are from other nodes, before the run was resumed: {}.",
            node_list(nodes)
        )
    })
}

fn uncertain_clocks(cases: &[&CaseReport]) -> Option<String> {
    let doubts_ns: Vec<u64> = cases
        .iter()
        .flat_map(|case| case.good_samples())
        .filter_map(doubt_ns)
        .collect();
    let apart = microseconds(*doubts_ns.iter().max()?);
    let samples = counted(doubts_ns.len(), "sample");
    Some(format!(
        "Clocks of nodes differ by up to {apart} µs, more than 1 % of a phase in {samples}."
    ))
}

/// The difference between the clocks, if it is above a hundredth of the time to write or to sync.
fn doubt_ns(sample: &Sample) -> Option<u64> {
    let doubt_ns = sample.ranks.as_ref()?.clock_uncertainty_ns;
    [sample.phases_ns.write, sample.phases_ns.sync]
        .into_iter()
        .any(|time_ns| time_ns > 0 && as_f64(doubt_ns) > SURE * as_f64(time_ns))
        .then_some(doubt_ns)
}

fn stragglers(cases: &[&CaseReport]) -> Vec<String> {
    let mut found: Vec<(f64, String)> = cases.iter().filter_map(|case| often_slow(case)).collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let more = found.len().saturating_sub(NAMED);
    let mut sentences: Vec<String> = found
        .into_iter()
        .take(NAMED)
        .map(|(_, sentence)| sentence)
        .collect();
    if more > 0 {
        sentences.push(format!("Stragglers in {}.", counted(more, "more case")));
    }
    sentences
}

/// The rank that is slow in most rounds: its multiple of the median time, and a sentence.
fn often_slow(case: &CaseReport) -> Option<(f64, String)> {
    let good: Vec<&Sample> = case.good_samples().collect();
    let by_rank = grouped(
        good.iter().filter_map(|sample| straggler(sample)),
        |(rank, _)| *rank,
    );
    let (rank, slow) = by_rank
        .into_iter()
        .max_by_key(|(rank, slow)| (slow.len(), *rank))?;
    let mut multiples: Vec<f64> = slow.into_iter().map(|(_, multiple)| multiple).collect();
    multiples.sort_by(f64::total_cmp);
    let typical = multiples[multiples.len() / 2];
    let rounds = format!("{} of {}", multiples.len(), counted(good.len(), "round"));
    let sentence = format!(
        "Straggler {rank}: {} × the median in {rounds} of {}.",
        NUMBER.text(typical),
        case.name
    );
    (multiples.len() > 1 && 2 * multiples.len() > good.len()).then_some((typical, sentence))
}

/// The slow rank of a sample, with its multiple of the median time in the longest phase.
fn straggler(sample: &Sample) -> Option<(&RankName, f64)> {
    let longest = sample
        .ranks
        .as_ref()?
        .phases
        .iter()
        .filter(|spread| matches!(spread.phase, Phase::Prepare | Phase::Write | Phase::Sync))
        .max_by_key(|spread| spread.max_ns)?;
    let multiple = as_f64(longest.max_ns) / as_f64(longest.median_ns.max(1));
    (multiple >= SLOW).then_some((&longest.slowest, multiple))
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Outcome, RankTimes, RunRecord, Spread};
    use writebench_testkit::{example_case, example_run};

    fn sample(round: u32, max_ns: u64, slowest: u32, clock_uncertainty_ns: u64) -> Sample {
        let slowest = RankName {
            rank: slowest,
            host: format!("n{slowest}"),
        };
        let write = Spread {
            phase: Phase::Write,
            min_ns: 900,
            median_ns: 1000,
            max_ns,
            slowest,
        };
        let ranks = RankTimes {
            phases: vec![write],
            clock_uncertainty_ns,
            failed: None,
        };
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        (sample.phases_ns.write, sample.bytes) = (max_ns, 1 << 20);
        Sample {
            ranks: Some(Box::new(ranks)),
            ..sample
        }
    }

    fn warnings_of(samples: Vec<Sample>) -> Vec<String> {
        let cluster = Cluster {
            nodes: vec![
                Node {
                    host: "n0".to_owned(),
                    ranks: 2,
                },
                Node {
                    host: "n1".to_owned(),
                    ranks: 1,
                },
            ],
            mpi: "Open MPI v4.1.4".to_owned(),
            job: None,
            interconnect: Some("eth0 25000 Mb/s".to_owned()),
            earlier_nodes: vec![vec![Node {
                host: "n7".to_owned(),
                ranks: 3,
            }]],
        };
        assert_eq!(
            cluster_line(&cluster),
            "3 ranks on 2 nodes (n0: 2, n1: 1), Open MPI v4.1.4, eth0 25000 Mb/s"
        );
        let run = RunRecord {
            cases: vec![example_case("test", "a", samples)],
            cluster: Some(cluster),
            ..example_run()
        };
        crate::Report::from_run(None, run).warnings
    }

    #[test]
    fn a_rank_that_is_slow_in_most_rounds_is_named() {
        let samples: Vec<Sample> = (0..6)
            .map(|round| {
                if round < 5 {
                    sample(round, 2300, 1, 0)
                } else {
                    sample(round, 1100, 0, 0)
                }
            })
            .collect();
        let warnings = warnings_of(samples);
        let expected = "Straggler rank 1 on n1: 2.30 × the median in 5 of 6 rounds of a.";
        assert!(warnings.contains(&expected.to_owned()), "{warnings:?}");
    }

    #[test]
    fn ranks_that_are_slow_in_turns_are_no_stragglers() {
        let samples = (0..6)
            .map(|round| sample(round, 2300, round % 3, 0))
            .collect();
        let warnings = warnings_of(samples);
        assert!(
            !warnings.iter().any(|line| line.starts_with("Straggler")),
            "{warnings:?}"
        );
    }

    #[test]
    fn exchanged_nodes_are_reported() {
        let warnings = warnings_of((0..6).map(|round| sample(round, 1000, 0, 0)).collect());
        let expected = "Earlier samples are from other nodes, before the run was resumed: n7: 3.";
        assert!(warnings.contains(&expected.to_owned()), "{warnings:?}");
    }

    #[test]
    fn uncertain_clocks_are_reported() {
        let samples = (0..6)
            .map(|round| sample(round, 1000, 0, if round < 2 { 40 } else { 5 }))
            .collect();
        let warnings = warnings_of(samples);
        let expected =
            "Clocks of nodes differ by up to 0.0400 µs, more than 1 % of a phase in 2 samples.";
        assert!(warnings.contains(&expected.to_owned()), "{warnings:?}");
    }
}
