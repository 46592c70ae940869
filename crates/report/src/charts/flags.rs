//! Throughput by chunk size and flags, as a heat map.

use super::data::{Chart, Drawn, Kind, Point, Question, Series, Unit, YAxis};
use super::matrix::{chunk_sizes, lines};
use super::point::throughput_point;
use super::rows::{Row, each_target};
use super::{axis, contracts, names, notes};

/// A chart for each target, of all flags together: what each costs is the question, and a promise is part of it.
pub(super) fn charts(section: &str, rows: &[Row<'_>]) -> Vec<Drawn> {
    let of_target = each_target(rows).into_iter().filter(|of| chunk_sizes(&of.rows).len() > 1);
    let drawn = of_target.map(|of| Drawn {
        of: Question::Flags,
        stem: format!("throughput-by-chunk-and-flags{}", of.suffix),
        chart: chart(section, of.target, &of.rows),
    });
    drawn.collect()
}

fn chart(section: &str, target: &str, rows: &[Row<'_>]) -> Chart {
    let sizes = chunk_sizes(rows);
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
    Chart {
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
    }
}
