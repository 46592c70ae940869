//! Throughput by chunk size, as lines or as a heat map of flags.

use writebench_model::Axis;

use super::data::{Chart, ChartData, ChartFamily, ChartKind, Point, Series, Unit, YAxis};
use super::point::{throughput_lines, throughput_point};
use super::rows::{ChartCase, OfTarget, each_contract, grouped, places};
use super::{axis, contracts, names, notes};

/// A table is enough for fewer.
const FEWEST_SIZES: usize = 3;

/// Only cases of one target and contract are comparable.
pub(super) fn charts(section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let chart = |(contract, on): (String, OfTarget<'_>)| {
        let sizes = chunk_sizes(&on.rows);
        if sizes.len() < FEWEST_SIZES {
            return None;
        }
        let (subject, x) = (format!("{section}. {contract}"), axis::chunks("chunk size", &sizes));
        let lines = lines(&on.rows);
        let (stem, chart) = throughput_lines("chunk size", &subject, x, &on, lines, |row| row.chunk_bytes());
        Some((ChartFamily::ThroughputByChunk, stem, chart))
    };
    each_contract(rows, contracts::by_chunk, contracts::promise).into_iter().filter_map(chart).collect()
}

pub(super) fn chunk_sizes(rows: &[ChartCase<'_>]) -> Vec<u64> {
    places(rows, ChartCase::chunk_bytes)
}

/// By label, or by case without chunk if cases differ in more than label and chunk.
fn lines<'r>(rows: &[ChartCase<'r>]) -> Vec<(String, Vec<ChartCase<'r>>)> {
    let case = |row: &ChartCase<'_>| row.name_without(&[Axis::Chunk]);
    let name = |row: &ChartCase<'_>| row.case.record.label.clone().unwrap_or_else(|| case(row));
    let place = |row: &ChartCase<'_>| (name(row), row.chunk_bytes());
    let is_unique = grouped(rows, place).iter().all(|(_, rows)| rows.len() == 1);
    grouped(rows, |row| if is_unique { name(row) } else { case(row) })
}

/// The costs of flags, including those of a stronger contract. None for a single size.
pub(super) fn heat_map(section: &str, target: &str, rows: &[ChartCase<'_>]) -> Option<Chart> {
    let sizes = chunk_sizes(rows);
    if sizes.len() < 2 {
        return None;
    }
    let columns = axis::chunks("chunk size", &sizes).ticks.into_iter().map(|tick| tick.text);
    let lines = lines(rows).into_iter().map(|(name, rows)| {
        let columns = (0u32..).zip(&sizes);
        let cells = columns.filter_map(|(column, size)| {
            let row = rows.iter().find(|row| row.chunk_bytes() == Some(*size))?;
            Some(throughput_point(f64::from(column), row))
        });
        Series { name, points: cells.collect::<Vec<Point>>() }
    });
    let mut series: Vec<Series> = lines.collect();
    let common = names::shorten_series(&mut series);
    Some(Chart {
        title: format!("Throughput by chunk size and flags, {target}"),
        subtitle: format!(
            "{section}{common}. Medians, higher is better. Colours compare cells, not contracts.{}",
            contracts::caution(rows)
        ),
        kind: ChartKind::HeatMap,
        x: axis::categories("chunk size", columns),
        y: YAxis { label: "Throughput".to_owned(), unit: Unit::BytesPerSecond, scale: axis::y_scale(&series) },
        series,
        notes: notes::causes(rows),
    })
}
