//! A table of comparisons, for the terminal and as Markdown.

use std::path::Path;

use anyhow::{Error, Result};

use super::comparison::{Comparison, Ratio, RecordMedians};
use crate::target::described;

/// Below this, writebench's own overhead is in the figure.
const LEAST_RATIO: f64 = 0.97;

/// What writebench is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Against {
    /// Programs that do the same work, and that writebench should not be slower than.
    Programs,
    /// Tools that do other things beside.
    Tools,
    /// fio with the same calls, in its own clock, of which the time inside the calls is what counts.
    Fio,
}

/// What was compared so far.
pub(super) struct Table {
    against: Against,
    rounds: u32,
    seed: u64,
    targets: Vec<Target>,
}

struct Target {
    title: String,
    rows: Vec<Row>,
}

struct Row {
    // The tool, where it is one, and the case.
    labels: Vec<String>,
    remark: String,
    // The remark is why it need not be as fast.
    is_explained: bool,
    result: Result<Comparison, Error>,
}

impl Table {
    pub(super) fn new(against: Against, rounds: u32, seed: u64) -> Self {
        Self { against, rounds, seed, targets: Vec::new() }
    }

    /// What is said before the first row.
    pub(super) fn heading(&self) -> String {
        let reference = self.against.reference();
        format!(
            "parity: {} pairs per case, order and intervals from seed {}\n\
             GB/s are medians of {reference} and writebench; ratio = writebench / {reference}, above 1 means\n\
             that writebench is faster, with its 95 % bootstrap interval over pairs",
            self.rounds, self.seed
        )
    }

    /// Begins the rows of a target; returns their heading.
    pub(super) fn start_target(&mut self, target: &Path) -> String {
        let title = described(target);
        let [all, work] = self.against.figures();
        let columns =
            |what: &str| format!("{:>8} {:>8} {:<20}", self.against.short(), "ours", format!("ratio, {what}"));
        let heading = format!("\n{title}\n{:<60} {}   {}", "case", columns(all), columns(work));
        self.targets.push(Target { title, rows: Vec::new() });
        heading
    }

    /// Adds what came of a comparison of what the labels name; returns its line.
    pub(super) fn add(&mut self, labels: &[&str], remark: &str, result: Result<Comparison>) -> String {
        self.add_row(labels, remark, false, result)
    }

    /// The same for two that are known to differ, with the reason.
    pub(super) fn add_explained(&mut self, labels: &[&str], why: &str, result: Result<Comparison>) -> String {
        self.add_row(labels, why, true, result)
    }

    fn add_row(
        &mut self,
        labels: &[&str],
        remark: &str,
        is_explained: bool,
        result: Result<Comparison>,
    ) -> String {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let row = Row { labels, remark: remark.to_owned(), is_explained, result };
        let line = row.line(self.against, self.rounds);
        if let Some(target) = self.targets.last_mut() {
            target.rows.push(row);
        }
        line
    }

    /// How many are slower, in a line.
    pub(super) fn summary(&self) -> String {
        let comparisons: Vec<_> = self.rows().filter_map(|row| row.result.as_ref().ok()).collect();
        let impossible = self.rows().count() - comparisons.len();
        if self.against == Against::Tools {
            return format!("pairs compared: {}, impossible to compare: {impossible}", comparisons.len());
        }
        let below = comparisons.iter().filter(|comparison| self.against.is_below(comparison)).count();
        let surely = comparisons.iter().filter(|comparison| self.against.is_surely_below(comparison)).count();
        format!(
            "cases compared: {}, impossible to compare: {impossible}, below {LEAST_RATIO} {}: {below}, of which \
             with the whole interval: {surely}",
            comparisons.len(),
            self.against.judged().0,
        )
    }

    /// Whether a case that should be as fast is slower, with its whole interval.
    pub(super) fn is_surely_below(&self) -> bool {
        let should_be_as_fast = self.rows().filter(|row| !row.is_explained);
        let mut comparisons = should_be_as_fast.filter_map(|row| row.result.as_ref().ok());
        comparisons.any(|comparison| self.against.is_surely_below(comparison))
    }

    /// Whether every case could be compared.
    pub(super) fn is_complete(&self) -> bool {
        self.rows().all(|row| row.result.is_ok())
    }

    /// The same as a document.
    pub(super) fn markdown(&self) -> String {
        let (reference, [all, work]) = (self.against.short(), self.against.figures());
        let mut text = format!("# {}\n\n{}.\n", self.against.title(), self.heading());
        for target in &self.targets {
            text.push_str(&format!(
                "\n## {}\n\n| case | {reference}, {all}, GB/s | writebench | ratio | {reference}, {work}, GB/s \
                 | writebench | ratio | notes |\n|---|--:|--:|--:|--:|--:|--:|---|\n",
                target.title
            ));
            target.rows.iter().for_each(|row| text.push_str(&row.markdown(self.against, self.rounds)));
        }
        text.push_str(&format!("\n{}.\n", self.summary()));
        text
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.targets.iter().flat_map(|target| &target.rows)
    }
}

impl Against {
    fn title(self) -> &'static str {
        match self {
            Self::Programs => "Parity with plain C",
            Self::Tools => "Beside the tools that people know",
            Self::Fio => "Beside fio",
        }
    }

    fn reference(self) -> &'static str {
        match self {
            Self::Programs => "reference (C)",
            Self::Tools => "the tool",
            Self::Fio => "fio",
        }
    }

    fn short(self) -> &'static str {
        match self {
            Self::Programs => "C",
            Self::Tools => "tool",
            Self::Fio => "fio",
        }
    }

    /// What the two figures of each side are.
    fn figures(self) -> [&'static str; 2] {
        match self {
            Self::Programs | Self::Tools => ["all of it", "work alone"],
            Self::Fio => ["runtime", "in calls"],
        }
    }

    /// By which of them writebench should not be slower, in words and in a comparison.
    fn judged(self) -> (&'static str, fn(&Comparison) -> Option<&Ratio>) {
        match self {
            Self::Programs => ("over all phases", |comparison| Some(&comparison.total)),
            Self::Tools => ("", |_| None),
            Self::Fio => ("inside the calls", |comparison| Some(&comparison.work)),
        }
    }

    /// Whether writebench is slower than it should be.
    pub(super) fn is_below(self, comparison: &Comparison) -> bool {
        self.judged().1(comparison).is_some_and(|ratio| ratio.interval.estimate < LEAST_RATIO)
    }

    fn is_surely_below(self, comparison: &Comparison) -> bool {
        self.judged().1(comparison).is_some_and(|ratio| ratio.interval.high < LEAST_RATIO)
    }
}

impl Row {
    fn line(&self, against: Against, rounds: u32) -> String {
        // A tool's name takes a line of its own.
        let label = self.labels.join("\n  ");
        let width = 60 + label.rfind('\n').map_or(0, |end| end + 1);
        match &self.result {
            Ok(comparison) => {
                let columns = [&comparison.total, &comparison.work].map(|ratio| cells(ratio).join(" "));
                let notes = self.notes(comparison, against, rounds);
                let line = format!("{label:<width$} {}   {}  {notes}", columns[0], columns[1]);
                line.trim_end().to_owned()
            }
            Err(error) => format!("{label:<width$} not compared: {error:#}"),
        }
    }

    fn markdown(&self, against: Against, rounds: u32) -> String {
        let label = self.labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(": ");
        match &self.result {
            Ok(comparison) => {
                let columns = [&comparison.total, &comparison.work]
                    .map(|ratio| cells(ratio).map(|cell| cell.trim().to_owned()).join(" | "));
                let notes = self.notes(comparison, against, rounds);
                format!("| {label} | {} | {} | {notes} |\n", columns[0], columns[1])
            }
            Err(error) => {
                let reason = format!("{error:#}").replace('|', "\\|").replace('\n', " ");
                format!("| {label} | | | | | | | not compared: {reason} |\n")
            }
        }
    }

    fn notes(&self, comparison: &Comparison, against: Against, rounds: u32) -> String {
        let mut all: Vec<String> = Vec::new();
        all.extend(Some(&self.remark).filter(|remark| !remark.is_empty()).cloned());
        all.extend(comparison.records.as_ref().map(|[tool, ours]| {
            let times = |it: &RecordMedians| format!("{:.0}/{:.0}", it.p50, it.p99);
            format!("p50/p99 in µs: sync {}, record of writebench {}", times(tool), times(ours))
        }));
        all.extend(Some(notes(comparison, against, rounds)).filter(|notes| !notes.is_empty()));
        all.join("; ")
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

fn notes(comparison: &Comparison, against: Against, rounds: u32) -> String {
    let mut notes = Vec::new();
    if against.is_surely_below(comparison) {
        notes.push(format!("BELOW {LEAST_RATIO}"));
    } else if against.is_below(comparison) {
        notes.push(format!("below {LEAST_RATIO}, not certain"));
    }
    if comparison.pairs < usize::try_from(rounds).unwrap_or(usize::MAX) {
        notes.push(format!("only {} undisturbed pairs", comparison.pairs));
    } else if comparison.disturbed > 0 {
        notes.push(format!("disturbed pairs taken again: {}", comparison.disturbed));
    }
    notes.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_stats::Interval;

    fn ratio(estimate: f64, low: f64, high: f64) -> Ratio {
        let interval = Interval { estimate, low, high, confidence: 0.95 };
        Ratio { reference: 2.0, writebench: 2.0 * estimate, interval }
    }

    fn comparison(total: Ratio) -> Comparison {
        Comparison { total, work: ratio(1.0, 0.9, 1.1), records: None, pairs: 21, disturbed: 0 }
    }

    #[test]
    fn a_slower_case_is_marked_and_an_uncertain_one_is_said_to_be() {
        assert_eq!(notes(&comparison(ratio(0.9, 0.88, 0.92)), Against::Programs, 21), "BELOW 0.97");
        assert_eq!(
            notes(&comparison(ratio(0.96, 0.9, 1.02)), Against::Programs, 21),
            "below 0.97, not certain"
        );
        assert_eq!(notes(&comparison(ratio(0.99, 0.9, 1.02)), Against::Programs, 21), "");
    }

    #[test]
    fn missing_and_repeated_pairs_are_said() {
        let disturbed = Comparison { disturbed: 2, ..comparison(ratio(1.0, 1.0, 1.0)) };
        assert_eq!(notes(&disturbed, Against::Programs, 21), "disturbed pairs taken again: 2");
        assert_eq!(notes(&disturbed, Against::Tools, 25), "only 21 undisturbed pairs");
    }

    #[test]
    fn every_case_has_a_row_with_as_many_cells_as_the_header() {
        let mut table = Table::new(Against::Programs, 21, 7);
        table.start_target(Path::new("/"));
        table.add(&["write"], "", Ok(comparison(ratio(0.9, 0.88, 0.92))));
        table.add(&["mmap"], "", Err(anyhow::anyhow!("writebench: failed | at\nopen")));
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

    #[test]
    fn beside_fio_the_time_inside_the_calls_counts_unless_a_difference_is_known() {
        let slow = || Comparison { work: ratio(0.9, 0.88, 0.92), ..comparison(ratio(1.2, 1.1, 1.3)) };
        let mut table = Table::new(Against::Fio, 21, 7);
        table.start_target(Path::new("/"));
        assert!(
            table.add_explained(&["write"], "cold memory", Ok(slow())).ends_with("cold memory; BELOW 0.97")
        );
        table.add(&["write"], "", Ok(comparison(ratio(0.5, 0.4, 0.6))));
        assert!(!table.is_surely_below());
        table.add(&["mmap"], "", Ok(slow()));
        assert!(table.is_surely_below());
        assert!(table.summary().contains("below 0.97 inside the calls: 2,"), "{}", table.summary());
    }

    #[test]
    fn a_tool_is_never_below_the_goal_and_its_clock_is_said() {
        let mut table = Table::new(Against::Tools, 21, 7);
        table.start_target(Path::new("/"));
        let records = [RecordMedians { p50: 98.4, p99: 1010.0 }, RecordMedians { p50: 97.0, p99: 990.0 }];
        let result = Comparison { records: Some(records), ..comparison(ratio(0.5, 0.4, 0.6)) };
        let line = table.add(&["fio --bs=4096", "write,size=5MiB"], "fio's own clock", Ok(result));
        assert!(line.starts_with("fio --bs=4096\n  write,size=5MiB  "), "{line}");
        let said = "fio's own clock; p50/p99 in µs: sync 98/1010, record of writebench 97/990";
        assert!(line.ends_with(said), "{line}");
        assert!(
            table.markdown().contains("| `fio --bs=4096`: `write,size=5MiB` | 2.000 | 1.000 | 0.500 [0.400")
        );
        assert_eq!(table.summary(), "pairs compared: 1, impossible to compare: 0");
    }
}
