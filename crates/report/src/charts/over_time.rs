//! Throughput over time: a line for each case, of its median sample.

use writebench_model::{Sample, Timeline};
use writebench_stats::as_f64;

use super::data::{Chart, ChartKind, Interval, Point, Series, Unit, YAxis};
use super::point::point;
use super::rows::ChartCase;
use super::{axis, contracts, names};
use crate::numbers::{grouped, rates};

/// A case, and its sample in the chart.
#[derive(Clone, Copy)]
struct TypicalSample<'r> {
    row: ChartCase<'r>,
    sample: &'r Sample,
    timeline: &'r Timeline,
}

/// Among the samples with a timeline, the one with the median time, or the nearest below it.
fn typical_sample<'r>(row: &ChartCase<'r>) -> Option<TypicalSample<'r>> {
    let mut told: Vec<(&Sample, &Timeline)> = Sample::usable(&row.case.record.samples)
        .into_iter()
        .filter_map(|sample| {
            Some((sample, sample.timeline.as_deref().filter(|timeline| !timeline.bytes.is_empty())?))
        })
        .collect();
    told.sort_by_key(|(sample, _)| sample.phases_ns.total());
    let (sample, timeline) = *told.get(told.len().checked_sub(1)? / 2)?;
    Some(TypicalSample { row: *row, sample, timeline })
}

/// The chart of the cases that took long enough; none if there are none.
pub(super) fn chart(section: &str, target: &str, rows: &[ChartCase<'_>]) -> Option<Chart> {
    let drawn: Vec<TypicalSample<'_>> = rows.iter().filter_map(typical_sample).collect();
    drawn.first()?;
    let rows: Vec<ChartCase<'_>> = drawn.iter().map(|sample| sample.row).collect();
    let (names, common) = names::of_cases(&rows);
    let series: Vec<Series> = drawn
        .iter()
        .zip(&names)
        .map(|(sample, name)| Series { name: name.clone(), points: points(sample) })
        .collect();
    let ends = drawn
        .iter()
        .map(|sample| as_f64(sample.timeline.interval_ns) * as_f64(sample.timeline.bytes.len() as u64));
    let longest = ends.fold(0.0, f64::max) / 1e9;
    Some(Chart {
        title: format!("Throughput over time, {target}"),
        subtitle: format!(
            "{section}{}: one sample of each case, while it handed over its data; higher is better.{}",
            common,
            contracts::caution(&rows)
        ),
        kind: ChartKind::Lines,
        x: axis::seconds("since the first call", longest),
        y: YAxis { label: "Throughput".to_owned(), unit: Unit::BytesPerSecond, scale: axis::y_scale(&series) },
        series,
        notes: vec![which(&drawn, &names)],
    })
}

/// Throughput of each interval, in its middle.
fn points(sample: &TypicalSample<'_>) -> Vec<Point> {
    let interval_s = as_f64(sample.timeline.interval_ns) / 1e9;
    let rates = (0u32..).zip(rates(sample.timeline));
    let points = rates.map(|(index, rate)| Point {
        figure: Some(Interval { value: rate, low: rate, high: rate }),
        ..point((f64::from(index) + 0.5) * interval_s, &sample.row, None, 1.0)
    });
    points.collect()
}

/// The sample of each line.
fn which(drawn: &[TypicalSample<'_>], names: &[String]) -> String {
    let named: Vec<(u32, &str)> =
        drawn.iter().zip(names).map(|(sample, name)| (sample.sample.round, name.as_str())).collect();
    let rounds = grouped(named, |(round, _)| *round);
    let of_round = |(round, cases): &(u32, Vec<(u32, &str)>)| {
        let names: Vec<&str> = cases.iter().map(|(_, name)| *name).collect();
        format!("of round {round} for {}", names.join(", "))
    };
    let told = match rounds.as_slice() {
        [(round, _)] => format!("of round {round} for each"),
        several => several.iter().map(of_round).collect::<Vec<_>>().join("; "),
    };
    format!("Each line is the sample whose elapsed time is the median, or the nearest below it: {told}.")
}
