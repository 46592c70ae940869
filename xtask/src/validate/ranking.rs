//! `cargo xtask validate ranking`: the similarity of the rankings of suite `copy` in three runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;
use writebench_model::Bytes;

use super::order::{Likeness, Order};
use crate::program;
use crate::target::{described, filesystem, memory_and_disk};

/// The targets, the size and the numbers of samples and runs.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `ranking` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// Size of the copied file
    #[arg(long, default_value = "256MiB")]
    size: Bytes,
    /// Samples of each case in each run
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Separate runs on each target
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..))]
    runs: u32,
}

/// The smallest rank correlation between runs of `write-bench`, on which suite `copy` is based, on such a
/// filesystem.
const EARLIER: &[(&str, f64)] = &[("ext4", 0.87), ("tmpfs", 0.58)];

/// The number of fastest cases that are shown.
const SHOWN: usize = 5;

/// Runs the suite and prints the similarity of the orders; returns whether every pair of runs could be
/// compared.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let targets = memory_and_disk(&options.targets, "ranking")?;
    let program = program::build()?;
    let Options { runs, size, samples, .. } = options;
    println!(
        "ranking: {runs} runs of suite copy on each target, {size} copied, {samples} samples of each case"
    );
    let mut complete = true;
    for target in &targets {
        println!("\n{}\n{:>3} {:>8} {:>6}  fastest first", described(target), "run", "seconds", "cases");
        let mut orders = Vec::new();
        for number in 1..=*runs {
            let start = Instant::now();
            let order = one_run(&program, target, options)?;
            println!("{}", line(number, start.elapsed(), &order));
            orders.push(order);
        }
        let likenesses = likenesses(&orders);
        complete &= likenesses.iter().all(|(_, likeness)| likeness.correlation.is_some());
        println!("{}", conclusion(&likenesses, &filesystem(target)));
    }
    Ok(complete)
}

fn one_run(program: &Path, target: &Path, options: &Options) -> Result<Order> {
    let mut command = Command::new(program);
    command.arg("run").arg(target).args(["--suite", "copy", "--no-limits", "--yes"]);
    command.arg("--size").arg(options.size.to_string()).arg("--samples").arg(options.samples.to_string());
    Order::of_export(&program::exported(command)?)
}

fn line(number: u32, time: Duration, order: &Order) -> String {
    let fastest = order.first(SHOWN).join(" · ");
    format!("{number:>3} {:>8.1} {:>6}  {fastest}", time.as_secs_f64(), order.cases.len())
}

/// Each run with each later one, numbered from 1.
fn likenesses(orders: &[Order]) -> Vec<((usize, usize), Likeness)> {
    let mut all = Vec::new();
    for (first, order) in orders.iter().enumerate() {
        for (second, other) in orders.iter().enumerate().skip(first + 1) {
            all.push(((first + 1, second + 1), order.likeness(other)));
        }
    }
    all
}

/// A line for each pair of runs, and the smallest correlation with that of `write-bench`.
fn conclusion(likenesses: &[((usize, usize), Likeness)], filesystem: &str) -> String {
    let mut text = format!(
        "\n{:>7} {:>17} {:>9}  pairs of cases that both runs distinguish",
        "runs", "rank correlation", "with ties"
    );
    for ((first, second), likeness) in likenesses {
        let Likeness { cases, correlation, with_ties, told_apart, alike } = likeness;
        let runs = format!("{first} and {second}");
        let shown = |value: &Option<f64>| value.map_or_else(|| "none".to_owned(), |it| format!("{it:.3}"));
        let all = cases * cases.saturating_sub(1) / 2;
        text +=
            &format!("\n{runs:>7} {:>17} {:>9}  {told_apart} of {all}", shown(correlation), shown(with_ties));
        text += &format!(", of which in the same order: {alike}");
    }
    let smallest = likenesses.iter().filter_map(|(_, likeness)| likeness.correlation).min_by(f64::total_cmp);
    let Some(smallest) = smallest else { return text + "\nno rank correlation" };
    let with_ties = likenesses.iter().filter_map(|(_, likeness)| likeness.with_ties).min_by(f64::total_cmp);
    text += &format!("\nsmallest rank correlation: {smallest:.3}");
    if let Some(with_ties) = with_ties {
        text += &format!(", with ties for indistinguishable cases: {with_ties:.3}");
    }
    match EARLIER.iter().find(|(kind, _)| *kind == filesystem) {
        Some((kind, earlier)) => text + &format!("; write-bench's on {kind}: {earlier:.2}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::tests::order;
    use super::*;

    fn orders() -> Vec<Order> {
        let times: [&[(&str, f64)]; 3] = [
            &[("splice", 100.0), ("sendfile", 200.0), ("read-write", 300.0)],
            &[("splice", 150.0), ("sendfile", 250.0), ("read-write", 350.0)],
            &[("splice", 200.0), ("sendfile", 100.0), ("read-write", 300.0)],
        ];
        times.into_iter().map(order).collect()
    }

    #[test]
    fn a_run_says_how_long_it_took_and_what_was_fastest() {
        let time = Duration::from_secs_f64(61.24);
        assert_eq!(line(1, time, &orders()[0]), "  1     61.2      3  splice · sendfile · read-write");
    }

    #[test]
    fn every_pair_of_runs_is_compared_and_the_smallest_correlation_is_said() {
        let said = conclusion(&likenesses(&orders()), "tmpfs");
        let lines: Vec<_> = said.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "1 and 2             1.000     1.000  3 of 3, of which in the same order: 3",
                "1 and 3             0.500     0.500  3 of 3, of which in the same order: 2",
                "2 and 3             0.500     0.500  3 of 3, of which in the same order: 2",
                "smallest rank correlation: 0.500, with ties for indistinguishable cases: 0.500; write-bench's on tmpfs: 0.58",
            ]
        );
    }

    #[test]
    fn a_filesystem_that_nobody_measured_earlier_is_compared_with_nothing() {
        assert!(conclusion(&likenesses(&orders()), "xfs").ends_with("cases: 0.500"));
        assert!(conclusion(&[], "ext4").ends_with("no rank correlation"));
    }
}
