//! Throughput by chunk size and flags, as a heat map.

use super::data::{Chart, Kind, Point, Series, Unit, YAxis};
use super::matrix::{chunk_sizes, lines};
use super::point::throughput_point;
use super::rows::Row;
use super::{axis, contracts, names, notes};

/// Of all flags together: what each costs is the question, and a promise is part of it. None of a single size.
pub(super) fn chart(section: &str, target: &str, rows: &[Row<'_>]) -> Option<Chart> {
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
            "{section}{common}. Medians; higher is better. Colours compare cells, not contracts.{}",
            contracts::caution(rows)
        ),
        kind: Kind::HeatMap,
        x: axis::categories("chunk size", columns),
        y: YAxis { label: "Throughput".to_owned(), unit: Unit::BytesPerSecond, scale: axis::y_scale(&series) },
        series_are_ordered: true,
        series,
        notes: notes::causes(rows),
    })
}
