//! Throughput by threads or ranks: a line for each case without that number.

use writebench_model::{Axes, Axis, Contract, Files};

use super::data::{ChartData, ChartFamily};
use super::point::throughput_lines;
use super::rows::{ChartCase, OfTarget, each_contract, grouped, places};
use super::{axis, contracts};

/// A table is enough for fewer.
const FEWEST_COUNTS: usize = 3;

struct Writers {
    axis: Axis,
    words: &'static str,
    count: fn(&Axes) -> u32,
    /// The value of axis `files` for one file per writer.
    own_files: Files,
    family: ChartFamily,
}

const THREADS: Writers = Writers {
    axis: Axis::Threads,
    words: "threads",
    count: |axes| axes.threads,
    own_files: Files::PerThread,
    family: ChartFamily::ThroughputByThreads,
};
const RANKS: Writers = Writers {
    axis: Axis::Ranks,
    words: "ranks",
    count: |axes| axes.ranks,
    own_files: Files::PerRank,
    family: ChartFamily::ThroughputByRanks,
};

/// With a file per writer, the number of files is the axis, for comparison with one file for all.
pub(super) fn charts(section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    [THREADS, RANKS].iter().flat_map(|writers| writers.charts(section, rows)).collect()
}

impl Writers {
    fn charts(&self, section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
        let grows = self.size_grows(rows);
        let count = |row: &ChartCase<'_>| self.number(row);
        let lines = grouped(rows, |row| (row.target, self.name(row, grows)));
        let long = lines.into_iter().filter(|(_, rows)| places(rows, count).len() >= FEWEST_COUNTS);
        let long: Vec<ChartCase<'_>> = long.flat_map(|(_, rows)| rows).collect();
        let chart = |(contract, on): (Contract, OfTarget<'_>)| {
            let subject = format!("{section}. {contract}{}", self.remarks(&on.rows, grows));
            let x = axis::counts(self.words, &places(&on.rows, count));
            let lines = grouped(&on.rows, |row| self.name(row, grows));
            let (stem, chart) = throughput_lines(self.words, &subject, x, &on, lines, count);
            (self.family, stem, chart)
        };
        let parts = each_contract(&long, |row| self.contract(row, grows), contracts::promise);
        parts.into_iter().map(chart).collect()
    }

    fn number(&self, row: &ChartCase<'_>) -> Option<u64> {
        row.own_axes(self.axis).map(|axes| (self.count)(axes).into())
    }

    /// Sizes are per writer.
    fn size_grows(&self, rows: &[ChartCase<'_>]) -> bool {
        let sizes = |row: &ChartCase<'_>| {
            let bytes = row.case.record.contract.bytes;
            self.number(row).map(|number| (bytes, bytes.checked_rem(number), bytes.checked_div(number)))
        };
        let all: Vec<_> = rows.iter().filter_map(sizes).collect();
        all.iter().all(|(_, rest, share)| *rest == Some(0) && *share == all[0].2)
            && all.iter().any(|(bytes, ..)| *bytes != all[0].0)
    }

    fn name(&self, row: &ChartCase<'_>, grows: bool) -> String {
        let axes = [self.axis, Axis::Size];
        row.name_without(if grows { &axes } else { &axes[..1] })
    }

    fn has_own_files(&self, row: &ChartCase<'_>) -> bool {
        row.own_axes(Axis::Files).is_some_and(|axes| axes.files == self.own_files)
    }

    /// Without the number of the writers' files, and with the size per writer if sizes grow.
    fn contract(&self, row: &ChartCase<'_>, grows: bool) -> Contract {
        let mut contract = row.case.record.contract.clone();
        let number = self.number(row).unwrap_or(1);
        if self.has_own_files(row) && number == u64::from(contract.files) {
            contract.files = 1;
        }
        if grows {
            contract.bytes /= number.max(1);
        }
        contract
    }

    fn remarks(&self, rows: &[ChartCase<'_>], grows: bool) -> String {
        let one = self.words.trim_end_matches('s');
        let mut remarks = String::new();
        if grows {
            remarks += &format!(", size per {one}");
        }
        if rows.iter().any(|row| self.has_own_files(row)) {
            remarks += &format!(", one file or a file per {one}");
        }
        remarks
    }
}
