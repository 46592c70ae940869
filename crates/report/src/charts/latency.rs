use writebench_stats::as_f64;

use super::data::{Chart, ChartKind, Interval, Point, Series, Unit, YAxis, YScale};
use super::point::point;
use super::rows::ChartCase;
use super::{axis, words};
use crate::numbers::LatencyCurve;

/// A table is enough for fewer.
const FEWEST_CALLS: u64 = 20;

/// The case with the number of its calls and their latency curve.
fn curve<'r>(row: &ChartCase<'r>) -> Option<(ChartCase<'r>, u64, &'r LatencyCurve)> {
    let estimate = row.case.estimate.as_ref()?;
    let count = estimate
        .latency
        .filter(|latency| latency.count >= FEWEST_CALLS)?
        .count;
    Some((*row, count, estimate.latency_curve.as_ref()?))
}

pub(super) fn chart(section: &str, target: &str, rows: &[ChartCase<'_>]) -> Option<Chart> {
    let told: Vec<_> = rows.iter().filter_map(curve).collect();
    let most = told.iter().map(|(_, count, _)| *count).max()?;
    let drawn: Vec<ChartCase<'_>> = told.iter().map(|(row, ..)| *row).collect();
    let (names, common) = words::names_of_cases(&drawn);
    let lines = told.iter().zip(names);
    let series = lines
        .map(|((row, _, curve), name)| Series {
            name,
            points: points(row, curve),
        })
        .collect();
    Some(Chart {
        title: format!("Latency of calls, {target}"),
        subtitle: format!(
            "{section}{common}: cumulative share of calls over all samples, with bands from the lowest to the highest \
             sample. The last point is the longest call. Lower is better.{}",
            words::caution(&drawn)
        ),
        kind: ChartKind::Lines,
        x: axis::percentiles("share of calls", most),
        y: YAxis {
            label: "Time of a call".to_owned(),
            unit: Unit::Seconds,
            scale: YScale::Log10,
        },
        series,
        notes: words::causes(rows),
    })
}

fn points(row: &ChartCase<'_>, curve: &LatencyCurve) -> Vec<Point> {
    let place = |(quantile, ns): &(f64, [u64; 3])| {
        let [low, median, high] = ns.map(|ns| as_f64(ns) / 1e9);
        Point {
            figure: Some(Interval {
                value: median,
                low,
                high,
            }),
            ..point(axis::nines(*quantile), row, None, 1.0)
        }
    };
    curve.iter().map(place).collect()
}
