//! Throughput by chunk size: a line for each label, or for each method where there are no labels.

use writebench_model::Axis;
use writebench_stats::as_f64;

use super::data::{Chart, Drawn, Kind, Question, Series, Unit, YAxis};
use super::point::{figures_are, line_of, throughput_point};
use super::rows::{Row, each_target, grouped, places};
use super::{axis, contracts, names, notes};

/// Of fewer sizes a table says as much.
const FEWEST_SIZES: usize = 3;

/// A chart for each target, and for each contract: nothing else is compared.
pub(super) fn charts(section: &str, rows: &[Row<'_>]) -> Vec<Drawn> {
    let mut charts = Vec::new();
    for of in each_target(rows) {
        let contracts = grouped(&of.rows, contracts::by_chunk);
        for (contract, rows) in &contracts {
            if chunk_sizes(rows).len() < FEWEST_SIZES {
                continue;
            }
            let mut stem = format!("throughput-by-chunk-size{}", of.suffix);
            if contracts.len() > 1 {
                stem += &format!("-{}", contracts::promise(&rows[0]));
            }
            let chart = chart(section, of.target, contract, rows);
            charts.push(Drawn { of: Question::ThroughputByChunk, stem, chart });
        }
    }
    charts
}

/// The chunk sizes of rows, from the smallest.
pub(super) fn chunk_sizes(rows: &[Row<'_>]) -> Vec<u64> {
    places(rows, Row::chunk_bytes)
}

/// The rows of each label, or of each case without its chunk where rows differ in more than label and chunk.
pub(super) fn lines<'r>(rows: &[Row<'r>]) -> Vec<(String, Vec<Row<'r>>)> {
    let case = |row: &Row<'_>| row.name_without(Axis::Chunk);
    let name = |row: &Row<'_>| row.case.record.label.clone().unwrap_or_else(|| case(row));
    let place = |row: &Row<'_>| (name(row), row.chunk_bytes());
    let is_unique = grouped(rows, place).iter().all(|(_, rows)| rows.len() == 1);
    grouped(rows, |row| if is_unique { name(row) } else { case(row) })
}

fn chart(section: &str, target: &str, contract: &str, rows: &[Row<'_>]) -> Chart {
    let series = lines(rows).into_iter().map(|(name, rows)| {
        let point = |row: &Row<'_>| Some(throughput_point(as_f64(row.chunk_bytes()?), row));
        line_of(name, rows.iter().map(point))
    });
    let mut series: Vec<Series> = series.collect();
    let common = names::shorten_series(&mut series);
    Chart {
        title: format!("Throughput by chunk size, {target}"),
        subtitle: format!("{section}. {contract}{common}: {}", figures_are(rows, "higher")),
        kind: Kind::Lines,
        x: axis::chunks("chunk size", &chunk_sizes(rows)),
        y: YAxis { label: "Throughput".to_owned(), unit: Unit::BytesPerSecond, scale: axis::y_scale(&series) },
        series_are_ordered: false,
        series,
        notes: notes::causes(rows),
    }
}
