//! Throughput by threads: a line for each case without its number of threads.

use writebench_model::{Axis, Contract, Files};

use super::data::{Drawn, Question};
use super::point::throughput_lines;
use super::rows::{Row, each_target, grouped, places};
use super::{axis, contracts};

/// For fewer numbers of threads a table is enough.
const FEWEST_COUNTS: usize = 3;

/// A chart for each target and contract. With a file for each thread, the number of files is the axis, so
/// that these lines are beside those with one file for all.
pub(super) fn charts(section: &str, rows: &[Row<'_>]) -> Vec<Drawn> {
    let mut charts = Vec::new();
    for of in each_target(rows) {
        let lines = grouped(&of.rows, |row| row.name_without(Axis::Threads));
        let long = lines.into_iter().filter(|(_, rows)| places(rows, threads).len() >= FEWEST_COUNTS);
        let rows: Vec<Row<'_>> = long.flat_map(|(_, rows)| rows).collect();
        let contracts = grouped(&rows, contract);
        for (contract, rows) in &contracts {
            let mut stem = format!("throughput-by-threads{}", of.suffix);
            if contracts.len() > 1 {
                stem += &format!("-{}", contracts::promise(&rows[0]));
            }
            let files = if rows.iter().any(has_own_files) {
                "; where files are per thread, in as many files as threads"
            } else {
                ""
            };
            let title = format!("Throughput by threads, {}", of.target);
            let (of_what, x) = (format!("{section}. {contract}{files}"), axis::threads(&places(rows, threads)));
            let lines = grouped(rows, |row| row.name_without(Axis::Threads));
            let chart = throughput_lines(title, &of_what, x, rows, lines, threads);
            charts.push(Drawn { of: Question::ThroughputByThreads, stem, chart });
        }
    }
    charts
}

fn threads(row: &Row<'_>) -> Option<u64> {
    row.own_axes(Axis::Threads).map(|axes| axes.threads.into())
}

fn has_own_files(row: &Row<'_>) -> bool {
    row.own_axes(Axis::Files).is_some_and(|axes| axes.files == Files::PerThread)
}

/// The contract, without the number of the threads' own files.
fn contract(row: &Row<'_>) -> Contract {
    let mut contract = row.case.record.contract.clone();
    if has_own_files(row) && threads(row) == Some(contract.files.into()) {
        contract.files = 1;
    }
    contract
}
