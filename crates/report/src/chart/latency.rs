//! How long each call takes: a line for each case, from the shortest call to the longest.

use model::Sample;

use super::{
    Chart, Drawn, Interval, Kind, Point, Question, Row, Series, Unit, XAxis, YAxis, as_f64, axis, contracts,
    each_target, names, notes, point,
};
use crate::latency::Histograms;

/// Of fewer calls a table says as much.
const FEWEST_CALLS: u64 = 20;

/// The most places of a line, but for the median and the longest.
const MOST_PLACES: u32 = 38;

/// Places between 0 and 90 %, between 90 % and 99 %, and so on, where there are so few of these that they all fit.
const MOST_PLACES_EACH: u32 = 10;

/// A chart for each target with cases that tell how long each call took.
pub(super) fn charts(section: &str, rows: &[Row<'_>]) -> Vec<Drawn> {
    let mut charts = Vec::new();
    for of in each_target(rows) {
        let told: Vec<(Row<'_>, Histograms)> =
            of.rows.iter().filter_map(|row| Some((*row, histograms(row)?))).collect();
        if !told.is_empty() {
            let stem = format!("latency{}", of.suffix);
            let chart = chart(section, of.target, &of.rows, &told);
            charts.push(Drawn { of: Question::Latency, stem, chart });
        }
    }
    charts
}

fn histograms(row: &Row<'_>) -> Option<Histograms> {
    Histograms::of(&Sample::usable(&row.case.record.samples)).filter(|it| it.count() >= FEWEST_CALLS)
}

fn chart(section: &str, target: &str, rows: &[Row<'_>], told: &[(Row<'_>, Histograms)]) -> Chart {
    let drawn: Vec<Row<'_>> = told.iter().map(|(row, _)| *row).collect();
    let names = names::of_cases(&drawn);
    let lines = told.iter().zip(names.names);
    let series: Vec<Series> =
        lines.map(|((row, histograms), name)| Series { name, points: points(row, histograms) }).collect();
    let most = told.iter().map(|(_, histograms)| histograms.count()).max();
    Chart {
        title: format!("How long each call takes, {target}"),
        subtitle: format!(
            "{section}{}: the share of calls that took no longer, over all samples together; bands are from the \
             lowest to the highest of single samples. The last point is the longest call. Lower is better.{}",
            names.common,
            contracts::caution(&drawn)
        ),
        kind: Kind::Lines,
        x: axis_of(most.unwrap_or(0)),
        y: YAxis { label: "Time of a call".to_owned(), unit: Unit::Seconds, scale: super::YScale::Log10 },
        series_are_ordered: false,
        series,
        notes: notes::causes(rows),
    }
}

fn axis_of(count: u64) -> XAxis {
    axis::percentiles("share of calls", count)
}

fn points(row: &Row<'_>, histograms: &Histograms) -> Vec<Point> {
    let count = histograms.count();
    let longest = place_of_longest(count);
    let at = |quantile: f64, looked_up: f64| {
        let [low, median, high] = histograms.quantile_ns(looked_up).map(|ns| as_f64(ns) / 1e9);
        Point { figure: Some(Interval { median, low, high }), ..point(quantile, row, None, 1.0) }
    };
    let mut points: Vec<Point> = quantiles(count).into_iter().map(|it| at(it, it)).collect();
    points.push(at(longest, 1.0));
    points
}

/// Behind all other calls, and before 1.
fn place_of_longest(count: u64) -> f64 {
    (1.0 - 0.5 / as_f64(count)).min(1.0 - f64::EPSILON)
}

/// The shares of so many calls that a line is drawn through: evenly on its axis, with the median, 90 %, 99 % and so on
/// among them, and none that is rarer than a single call.
fn quantiles(count: u64) -> Vec<f64> {
    let tenfolds = as_f64(count).log10();
    let each = (1..=MOST_PLACES_EACH).rev().find(|&each| f64::from(each) * tenfolds <= f64::from(MOST_PLACES));
    let each = f64::from(each.unwrap_or(1));
    let steps = (0..=MOST_PLACES).map(f64::from).take_while(|step| step / each <= tenfolds + 1e-9);
    let mut quantiles: Vec<f64> = steps.map(|step| 1.0 - 10.0_f64.powf(-step / each)).collect();
    quantiles.retain(|&quantile| quantile < place_of_longest(count));
    if count > 1 {
        // Ten steps have one that is nearly there.
        quantiles.retain(|quantile| (quantile - 0.5).abs() > 0.01);
        quantiles.push(0.5);
        quantiles.sort_by(f64::total_cmp);
    }
    quantiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_forty_places_at_most_and_the_round_ones_among_them() {
        for count in [1, 2, 9, 10, 1280, 7680, 10_000_000, u64::MAX] {
            let quantiles = quantiles(count);
            assert!(quantiles.len() < 40, "{count}: {}", quantiles.len());
            assert!(quantiles.is_sorted_by(|a, b| a < b), "{count}: {quantiles:?}");
            assert!(*quantiles.last().unwrap() < place_of_longest(count));
            for round in [0.0, 0.5, 0.9, 0.99, 0.999] {
                let is_there = quantiles.iter().any(|it| (it - round).abs() < 1e-12);
                assert_eq!(is_there, (1.0 - round) * as_f64(count) >= 0.999_999, "{round} of {count}");
            }
        }
    }
}
