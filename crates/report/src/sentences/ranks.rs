//! Slow ranks, and the certainty of their clocks.

use writebench_model::{Cluster, Node, Phase, RankName, Sample, Spread};
use writebench_stats::as_f64;

use crate::numbers::{CaseReport, grouped};
use crate::sentences::number::{NUMBER, microseconds};
use crate::sentences::words::{NAMED, counted, list};

/// Times the median of all ranks in the longest phase.
const SLOW: f64 = 1.5;
/// Clock differences above this share of a phase leave its value in doubt.
const SURE: f64 = 0.01;
const NODES: usize = 8;

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
    list(
        &nodes
            .iter()
            .map(|node| format!("{}: {}", node.host, node.ranks))
            .collect::<Vec<_>>(),
        NODES,
    )
}

/// On ranks slow in most samples of a case, uncertain clocks, and exchanged nodes.
pub(crate) fn warnings(cluster: Option<&Cluster>, cases: &[&CaseReport]) -> Vec<String> {
    let mut warnings: Vec<String> = stragglers(cases);
    let earlier = cluster
        .into_iter()
        .flat_map(|cluster| &cluster.earlier_nodes);
    warnings.extend(earlier.map(|nodes| {
        format!(
            "Earlier samples are from other nodes, before the run was resumed: {}.",
            node_list(nodes)
        )
    }));
    let unsure: Vec<u64> = cases
        .iter()
        .flat_map(|case| case.good_samples())
        .filter_map(doubt_ns)
        .collect();
    if let Some(&worst) = unsure.iter().max() {
        let (apart, samples) = (microseconds(worst), counted(unsure.len(), "sample"));
        warnings.push(format!(
            "Clocks of nodes differ by up to {apart} µs, more than 1 % of a phase in {samples}."
        ));
    }
    warnings
}

/// The clock difference, if above a hundredth of the time to write or to sync.
fn doubt_ns(sample: &Sample) -> Option<u64> {
    let doubt_ns = sample.ranks.as_ref()?.clock_uncertainty_ns;
    let is_unsure = |time_ns: u64| time_ns > 0 && as_f64(doubt_ns) > SURE * as_f64(time_ns);
    [sample.phases_ns.write, sample.phases_ns.sync]
        .into_iter()
        .any(is_unsure)
        .then_some(doubt_ns)
}

fn stragglers(cases: &[&CaseReport]) -> Vec<String> {
    // Multiples of the median time, the slowest first.
    let mut found: Vec<(f64, String)> = cases.iter().filter_map(|case| often_slow(case)).collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let more = found.len().saturating_sub(NAMED);
    let sentences = found.into_iter().take(NAMED).map(|(_, text)| text);
    sentences
        .chain((more > 0).then(|| format!("Stragglers in {}.", counted(more, "more case"))))
        .collect()
}

/// The rank that is slow in most rounds.
fn often_slow(case: &CaseReport) -> Option<(f64, String)> {
    let good: Vec<&Sample> = case.good_samples().collect();
    let slow = grouped(
        good.iter().filter_map(|sample| straggler(sample)),
        |(rank, _)| *rank,
    )
    .into_iter();
    let (rank, times) = slow.max_by_key(|(rank, times)| (times.len(), *rank))?;
    let mut times: Vec<f64> = times.into_iter().map(|(_, times)| times).collect();
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let rounds = format!("{} of {}", times.len(), counted(good.len(), "round"));
    let text = format!(
        "Straggler {rank}: {} × the median in {rounds} of {}.",
        NUMBER.text(median),
        case.name
    );
    (times.len() > 1 && 2 * times.len() > good.len()).then_some((median, text))
}

/// In the longest phase, with its multiple of the median.
fn straggler(sample: &Sample) -> Option<(&RankName, f64)> {
    let is_of_data =
        |spread: &&Spread| matches!(spread.phase, Phase::Prepare | Phase::Write | Phase::Sync);
    let phases = sample.ranks.as_ref()?.phases.iter();
    let longest = phases
        .filter(is_of_data)
        .max_by_key(|spread| spread.max_ns)?;
    let times = as_f64(longest.max_ns) / as_f64(longest.median_ns.max(1));
    (times >= SLOW).then_some((&longest.slowest, times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Outcome, RankTimes, RunRecord};
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
