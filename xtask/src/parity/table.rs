//! The table of all comparisons, for the terminal and as Markdown.

use std::path::Path;
use std::process::Command;

use anyhow::{Error, Result};

use super::case::Case;
use super::comparison::{Comparison, Ratio};
use crate::command::output;

/// Below this, writebench's own overhead is in the figure.
const LEAST_RATIO: f64 = 0.97;

/// What was compared so far.
pub(super) struct Table {
    rounds: u32,
    seed: u64,
    targets: Vec<Target>,
}

struct Target {
    title: String,
    rows: Vec<Row>,
}

struct Row {
    case: String,
    result: Result<Comparison, Error>,
}

impl Table {
    pub(super) fn new(rounds: u32, seed: u64) -> Self {
        Self { rounds, seed, targets: Vec::new() }
    }

    /// What is said before the first row.
    pub(super) fn heading(&self) -> String {
        format!(
            "parity: {} pairs per case, order and intervals from seed {}\n\
             GB/s are medians of reference (C) and writebench; ratio = writebench / reference, above 1 means\n\
             that writebench is faster, with its 95 % bootstrap interval over pairs",
            self.rounds, self.seed
        )
    }

    /// Begins the rows of a target; returns their heading.
    pub(super) fn start_target(&mut self, target: &Path) -> String {
        let title = format!("{} ({}, {})", target.display(), filesystem(target), system());
        let columns = |what: &str| format!("{:>8} {:>8} {:<20}", "C", "ours", format!("ratio, {what}"));
        let heading = format!("\n{title}\n{:<44} {}   {}", "case", columns("all of it"), columns("work alone"));
        self.targets.push(Target { title, rows: Vec::new() });
        heading
    }

    /// Adds what came of a case; returns its line.
    pub(super) fn add(&mut self, case: &Case, result: Result<Comparison>) -> String {
        let row = Row { case: case.to_string(), result };
        let line = row.line(self.rounds);
        if let Some(target) = self.targets.last_mut() {
            target.rows.push(row);
        }
        line
    }

    /// How many are slower, in a line.
    pub(super) fn summary(&self) -> String {
        let comparisons: Vec<_> = self.rows().filter_map(|row| row.result.as_ref().ok()).collect();
        let below = comparisons.iter().filter(|comparison| is_below(&comparison.total)).count();
        let surely = comparisons.iter().filter(|comparison| is_surely_below(&comparison.total)).count();
        format!(
            "cases compared: {}, impossible to compare: {}, below {LEAST_RATIO} over all phases: {below}, of which \
             with the whole interval: {surely}",
            comparisons.len(),
            self.rows().count() - comparisons.len()
        )
    }

    /// Whether every case could be compared.
    pub(super) fn is_complete(&self) -> bool {
        self.rows().all(|row| row.result.is_ok())
    }

    /// The same as a document.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("# Parity with plain C\n\n{}.\n", self.heading());
        for target in &self.targets {
            text.push_str(&format!("\n## {}\n\n", target.title));
            text.push_str(
                "| case | C, GB/s | writebench, GB/s | ratio | C, work alone | writebench, work alone ",
            );
            text.push_str("| ratio, work alone | notes |\n|---|--:|--:|--:|--:|--:|--:|---|\n");
            target.rows.iter().for_each(|row| text.push_str(&row.markdown(self.rounds)));
        }
        text.push_str(&format!("\n{}.\n", self.summary()));
        text
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.targets.iter().flat_map(|target| &target.rows)
    }
}

impl Row {
    fn line(&self, rounds: u32) -> String {
        match &self.result {
            Ok(comparison) => {
                let columns = [&comparison.total, &comparison.work].map(|ratio| cells(ratio).join(" "));
                let line =
                    format!("{:<44} {}   {}  {}", self.case, columns[0], columns[1], notes(comparison, rounds));
                line.trim_end().to_owned()
            }
            Err(error) => format!("{:<44} not compared: {error:#}", self.case),
        }
    }

    fn markdown(&self, rounds: u32) -> String {
        match &self.result {
            Ok(comparison) => {
                let columns = [&comparison.total, &comparison.work]
                    .map(|ratio| cells(ratio).map(|cell| cell.trim().to_owned()).join(" | "));
                let notes = notes(comparison, rounds);
                format!("| `{}` | {} | {} | {notes} |\n", self.case, columns[0], columns[1])
            }
            Err(error) => {
                let reason = format!("{error:#}").replace('|', "\\|").replace('\n', " ");
                format!("| `{}` | | | | | | | not compared: {reason} |\n", self.case)
            }
        }
    }
}

fn cells(ratio: &Ratio) -> [String; 3] {
    let interval = &ratio.interval;
    [
        rate(ratio.reference),
        rate(ratio.writebench),
        format!("{:.3} [{:.3}, {:.3}]", interval.estimate, interval.low, interval.high),
    ]
}

/// Four digits, from a byte per call to a terabyte that is only reserved.
fn rate(gigabytes_per_second: f64) -> String {
    let digits = match gigabytes_per_second {
        small if small < 0.1 => 5,
        usual if usual < 100.0 => 3,
        _ => 0,
    };
    format!("{gigabytes_per_second:>8.digits$}")
}

fn notes(comparison: &Comparison, rounds: u32) -> String {
    let mut notes = Vec::new();
    if is_surely_below(&comparison.total) {
        notes.push(format!("BELOW {LEAST_RATIO}"));
    } else if is_below(&comparison.total) {
        notes.push(format!("below {LEAST_RATIO}, not certain"));
    }
    if comparison.pairs < usize::try_from(rounds).unwrap_or(usize::MAX) {
        notes.push(format!("only {} undisturbed pairs", comparison.pairs));
    } else if comparison.disturbed > 0 {
        notes.push(format!("disturbed pairs taken again: {}", comparison.disturbed));
    }
    notes.join("; ")
}

fn is_below(ratio: &Ratio) -> bool {
    ratio.interval.estimate < LEAST_RATIO
}

fn is_surely_below(ratio: &Ratio) -> bool {
    ratio.interval.high < LEAST_RATIO
}

/// The filesystem's name, from util-linux, for the reader only.
fn filesystem(target: &Path) -> String {
    let mut command = Command::new("findmnt");
    first_line(command.args(["--noheadings", "--output", "FSTYPE", "--target"]).arg(target))
}

fn system() -> String {
    format!("Linux {}", first_line(Command::new("uname").arg("-r")))
}

fn first_line(command: &mut Command) -> String {
    let text = output(command).map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.ok().and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::case::{Sizes, all};
    use model::Bytes;
    use stats::Interval;

    fn ratio(estimate: f64, low: f64, high: f64) -> Ratio {
        let interval = Interval { estimate, low, high, confidence: 0.95 };
        Ratio { reference: 2.0, writebench: 2.0 * estimate, interval }
    }

    fn comparison(total: Ratio) -> Comparison {
        Comparison { total, work: ratio(1.0, 0.9, 1.1), pairs: 21, disturbed: 0 }
    }

    #[test]
    fn a_slower_case_is_marked_and_an_uncertain_one_is_said_to_be() {
        assert_eq!(notes(&comparison(ratio(0.9, 0.88, 0.92)), 21), "BELOW 0.97");
        assert_eq!(notes(&comparison(ratio(0.96, 0.9, 1.02)), 21), "below 0.97, not certain");
        assert_eq!(notes(&comparison(ratio(0.99, 0.9, 1.02)), 21), "");
    }

    #[test]
    fn missing_and_repeated_pairs_are_said() {
        let disturbed = Comparison { disturbed: 2, ..comparison(ratio(1.0, 1.0, 1.0)) };
        assert_eq!(notes(&disturbed, 21), "disturbed pairs taken again: 2");
        assert_eq!(notes(&disturbed, 25), "only 21 undisturbed pairs");
    }

    #[test]
    fn every_case_has_a_row_with_as_many_cells_as_the_header() {
        let mut table = Table::new(21, 7);
        table.start_target(Path::new("/"));
        let cases = all(Sizes::of(Bytes(1 << 20)));
        table.add(&cases[0], Ok(comparison(ratio(0.9, 0.88, 0.92))));
        table.add(&cases[1], Err(anyhow::anyhow!("writebench: failed | at\nopen")));
        let markdown = table.markdown();
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows: Vec<_> = markdown.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        assert_eq!(rows, [9; 4]);
        assert!(!table.is_complete());
        assert!(
            table
                .summary()
                .starts_with("cases compared: 1, impossible to compare: 1, below 0.97 over all phases: 1,")
        );
    }
}
