//! A table of comparisons in Markdown, printed row by row.

use std::path::Path;

use anyhow::Result;
use writebench_stats::Interval;

use super::comparison::{Comparison, Ratio};
use super::reading::RecordTimes;
use crate::target::described;

/// Below this ratio, writebench's own overhead is in the figure.
const LEAST_RATIO: f64 = 0.97;

/// The other side of the comparison, in words.
pub(super) struct Against {
    title: &'static str,
    name: &'static str,
    short: &'static str,
    /// The names of the two figures of each side.
    figures: [&'static str; 2],
    /// The figure in which writebench should not be slower: its name, and how to get it.
    judged: (&'static str, Figure),
}

type Figure = fn(&Comparison) -> &Ratio;

/// fio with the same calls, in its own clock.
pub(super) const FIO: Against = Against {
    title: "Beside fio",
    name: "fio",
    short: "fio",
    figures: ["runtime", "in calls"],
    judged: ("inside the calls", |comparison| &comparison.work),
};

/// IOR with the same work, in its own clock.
pub(super) const IOR: Against = Against {
    title: "Beside IOR",
    name: "IOR",
    short: "IOR",
    figures: ["total", "write + fsync"],
    judged: ("over all phases", |comparison| &comparison.total),
};

/// The comparisons so far.
pub(super) struct Table {
    against: &'static Against,
    rounds: u32,
    /// The printed text.
    pub(super) text: String,
    /// Each comparison, and whether a remark explains why writebench may be slower.
    compared: Vec<(bool, Comparison)>,
    impossible: usize,
}

impl Table {
    pub(super) fn new(against: &'static Against, rounds: u32, seed: u64) -> Self {
        let Against { title, name, .. } = against;
        let mut table = Self { against, rounds, text: String::new(), compared: Vec::new(), impossible: 0 };
        table.say(&format!(
            "# {title}\n\n{rounds} pairs per case, in the order of seed {seed}. GB/s are medians of {name} and \
             writebench;\nratio = writebench / {name}, above 1 means that writebench is faster, with its 95 % interval \
             from the pairs."
        ));
        table
    }

    /// Prints a line, or several.
    pub(super) fn say(&mut self, text: &str) {
        println!("{text}");
        self.text.extend([text, "\n"]);
    }

    /// Begins the rows of a target.
    pub(super) fn start_target(&mut self, target: &Path) {
        let Against { short, figures: [all, work], .. } = self.against;
        self.say(&format!(
            "\n## {}\n\n| {:<58} | {short}, {all}, GB/s | writebench | ratio | {short}, {work}, GB/s | writebench | ratio | \
             notes |\n|---|--:|--:|--:|--:|--:|--:|---|",
            described(target),
            "case"
        ));
    }

    /// Adds the result of a case's comparison. The remark may explain why writebench is slower.
    pub(super) fn add(&mut self, name: &str, remark: &str, is_explained: bool, result: Result<Comparison>) {
        let cells = match result {
            Ok(comparison) => {
                let notes = self.notes(remark, &comparison);
                let cells = format!("{} | {} | {notes} |", cells(&comparison.total), cells(&comparison.work));
                self.compared.push((is_explained, comparison));
                cells
            }
            Err(error) => {
                self.impossible += 1;
                let reason = format!("{error:#}").replace('|', "\\|").replace('\n', " ");
                format!("| | | | | | not compared: {reason} |")
            }
        };
        self.say(&format!("| {:<58} | {cells}", format!("`{name}`")));
    }

    /// The number of slower cases, in a line.
    pub(super) fn summary(&self) -> String {
        let (compared, impossible) = (self.compared.len(), self.impossible);
        let (figure, _) = self.against.judged;
        let count = |is: fn(&Against, &Comparison) -> bool| {
            self.compared.iter().filter(|(_, comparison)| is(self.against, comparison)).count()
        };
        format!(
            "cases compared: {compared}, impossible to compare: {impossible}, below {LEAST_RATIO} {figure}: {}, of which \
             with the whole interval: {}",
            count(Against::is_below),
            count(Against::is_surely_below)
        )
    }

    /// Whether a case that should be as fast is slower, with its whole interval.
    pub(super) fn is_surely_below(&self) -> bool {
        let is_below = |it: &(bool, Comparison)| !it.0 && self.against.is_surely_below(&it.1);
        self.compared.iter().any(is_below)
    }

    /// Whether every case could be compared.
    pub(super) fn is_complete(&self) -> bool {
        self.impossible == 0
    }

    fn notes(&self, remark: &str, comparison: &Comparison) -> String {
        let mut notes = vec![remark.to_owned()];
        notes.extend(comparison.records.as_ref().map(|[tool, ours]| {
            let times = |it: &RecordTimes| format!("{:.0}/{:.0}", it.p50_ns / 1e3, it.p99_ns / 1e3);
            format!("p50/p99 in µs: sync {}, record of writebench {}", times(tool), times(ours))
        }));
        if self.against.is_surely_below(comparison) {
            notes.push(format!("BELOW {LEAST_RATIO}"));
        } else if self.against.is_below(comparison) {
            notes.push(format!("below {LEAST_RATIO}, not certain"));
        }
        if comparison.pairs < usize::try_from(self.rounds).unwrap_or(usize::MAX) {
            notes.push(format!("only {} undisturbed pairs", comparison.pairs));
        } else if comparison.disturbed > 0 {
            notes.push(format!("disturbed pairs taken again: {}", comparison.disturbed));
        }
        notes.retain(|note| !note.is_empty());
        notes.join("; ")
    }
}

impl Against {
    /// Whether writebench is slower than it should be.
    pub(super) fn is_below(&self, comparison: &Comparison) -> bool {
        self.judged_ratio(comparison).interval.estimate < LEAST_RATIO
    }

    /// The ratio in which writebench should not be slower.
    pub(super) fn judged_ratio<'c>(&self, comparison: &'c Comparison) -> &'c Ratio {
        (self.judged.1)(comparison)
    }

    fn is_surely_below(&self, comparison: &Comparison) -> bool {
        self.judged_ratio(comparison).interval.high < LEAST_RATIO
    }
}

fn cells(Ratio { reference, writebench, interval }: &Ratio) -> String {
    let Interval { estimate, low, high, .. } = interval;
    format!("{} | {} | {estimate:.3} [{low:.3}, {high:.3}]", rate(*reference), rate(*writebench))
}

/// Four digits, from a byte per call to a terabyte that is only reserved.
fn rate(gigabytes_per_second: f64) -> String {
    let digits = match gigabytes_per_second {
        small if small < 0.1 => 5,
        usual if usual < 100.0 => 3,
        _ => 0,
    };
    format!("{gigabytes_per_second:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(estimate: f64, low: f64, high: f64) -> Ratio {
        let interval = Interval { estimate, low, high, confidence: 0.95, count: 42 };
        Ratio { reference: 2.0, writebench: 2.0 * estimate, interval }
    }

    fn comparison(total: Ratio) -> Comparison {
        Comparison { total, work: ratio(1.0, 0.9, 1.1), records: None, pairs: 21, disturbed: 0 }
    }

    fn table(against: &'static Against, rounds: u32) -> Table {
        let mut table = Table::new(against, rounds, 7);
        table.start_target(Path::new("/"));
        table
    }

    fn add(table: &mut Table, name: &str, result: Result<Comparison>) {
        table.add(name, "", false, result);
    }

    fn last(table: &Table) -> &str {
        table.text.lines().last().unwrap()
    }

    #[test]
    fn a_slower_case_is_marked_and_an_uncertain_one_is_said_to_be() {
        let table = table(&IOR, 21);
        assert_eq!(table.notes("", &comparison(ratio(0.9, 0.88, 0.92))), "BELOW 0.97");
        assert_eq!(table.notes("", &comparison(ratio(0.96, 0.9, 1.02))), "below 0.97, not certain");
        assert_eq!(table.notes("", &comparison(ratio(0.99, 0.9, 1.02))), "");
    }

    #[test]
    fn missing_and_repeated_pairs_are_noted() {
        let disturbed = Comparison { disturbed: 2, ..comparison(ratio(1.0, 1.0, 1.0)) };
        assert_eq!(table(&IOR, 21).notes("", &disturbed), "disturbed pairs taken again: 2");
        assert_eq!(table(&IOR, 25).notes("", &disturbed), "only 21 undisturbed pairs");
    }

    #[test]
    fn every_case_has_a_row_with_as_many_cells_as_the_header() {
        let mut table = table(&IOR, 21);
        add(&mut table, "write", Ok(comparison(ratio(0.9, 0.88, 0.92))));
        add(&mut table, "mmap", Err(anyhow::anyhow!("writebench: failed | at\nopen")));
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows: Vec<_> = table.text.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        assert_eq!(rows, [9; 4]);
        assert!(!table.is_complete());
        let said = "cases compared: 1, impossible to compare: 1, below 0.97 over all phases: 1,";
        assert!(table.summary().starts_with(said), "{}", table.summary());
    }

    #[test]
    fn beside_fio_the_time_inside_the_calls_counts_unless_a_difference_is_known() {
        let slow = || Comparison { work: ratio(0.9, 0.88, 0.92), ..comparison(ratio(1.2, 1.1, 1.3)) };
        let mut table = table(&FIO, 21);
        table.add("write", "cold memory", true, Ok(slow()));
        assert!(last(&table).ends_with("cold memory; BELOW 0.97 |"), "{}", table.text);
        add(&mut table, "write", Ok(comparison(ratio(0.5, 0.4, 0.6))));
        assert!(!table.is_surely_below());
        add(&mut table, "mmap", Ok(slow()));
        assert!(table.is_surely_below());
        assert!(table.summary().contains("below 0.97 inside the calls: 2,"), "{}", table.summary());
    }

    #[test]
    fn times_of_records_and_remarks_are_in_the_notes() {
        let mut table = table(&FIO, 21);
        let records = [(98_400.0, 1_010_000.0), (97_000.0, 990_000.0)]
            .map(|(p50_ns, p99_ns)| RecordTimes { p50_ns, p99_ns });
        let result = Comparison { records: Some(records), ..comparison(ratio(1.0, 0.9, 1.1)) };
        table.add("write,size=5MiB", "fio's own clock", false, Ok(result));
        let said = "| fio's own clock; p50/p99 in µs: sync 98/1010, record of writebench 97/990 |";
        assert!(last(&table).ends_with(said), "{}", last(&table));
    }
}
