//! Throughput over time, of each case's median sample.

use writebench_model::{Sample, Timeline};
use writebench_stats::as_f64;

use super::data::{Chart, ChartKind, Interval, Point, Series, Unit, YAxis};
use super::point::point;
use super::rows::ChartCase;
use super::{axis, words};
use crate::numbers::{grouped, rates};

type TypicalSample<'r> = (ChartCase<'r>, &'r Sample, &'r Timeline);

/// The sample with the median time among those with a timeline, or the nearest below it.
fn typical_sample<'r>(row: &ChartCase<'r>) -> Option<TypicalSample<'r>> {
    let with_timeline = |sample: &'r Sample| {
        Some((
            *row,
            sample,
            sample
                .timeline
                .as_deref()
                .filter(|timeline| !timeline.bytes.is_empty())?,
        ))
    };
    let samples = Sample::usable(&row.case.record.samples).into_iter();
    let mut samples: Vec<TypicalSample<'r>> = samples.filter_map(with_timeline).collect();
    samples.sort_by_key(|(_, sample, _)| sample.phases_ns.total());
    samples.get(samples.len().checked_sub(1)? / 2).copied()
}

pub(super) fn chart(section: &str, target: &str, rows: &[ChartCase<'_>]) -> Option<Chart> {
    let drawn: Vec<TypicalSample<'_>> = rows.iter().filter_map(typical_sample).collect();
    let ns = |(.., timeline): &TypicalSample<'_>| {
        as_f64(timeline.interval_ns) * as_f64(timeline.bytes.len() as u64)
    };
    let longest_ns = drawn.iter().map(ns).reduce(f64::max)?;
    let rows: Vec<ChartCase<'_>> = drawn.iter().map(|(row, ..)| *row).collect();
    let (names, common) = words::names_of_cases(&rows);
    let lines = drawn.iter().zip(&names);
    let series: Vec<Series> = lines
        .map(|((row, _, timeline), name)| Series {
            name: name.clone(),
            points: points(row, timeline),
        })
        .collect();
    Some(Chart {
        title: format!("Throughput over time, {target}"),
        subtitle: format!(
            "{section}{common}: one sample of each case during its writes, higher is better.{}",
            words::caution(&rows)
        ),
        kind: ChartKind::Lines,
        x: axis::seconds("since the first call", longest_ns / 1e9),
        y: YAxis {
            label: "Throughput".to_owned(),
            unit: Unit::BytesPerSecond,
            scale: axis::y_scale(&series),
        },
        series,
        notes: vec![which(&drawn, &names)],
    })
}

/// The rate of each interval, at the interval's middle.
fn points(row: &ChartCase<'_>, timeline: &Timeline) -> Vec<Point> {
    let interval_s = as_f64(timeline.interval_ns) / 1e9;
    let point = |(index, rate): (u32, f64)| Point {
        figure: Some(Interval {
            value: rate,
            low: rate,
            high: rate,
        }),
        ..point((f64::from(index) + 0.5) * interval_s, row, None, 1.0)
    };
    (0..).zip(rates(timeline)).map(point).collect()
}

fn which(drawn: &[TypicalSample<'_>], names: &[String]) -> String {
    let named = drawn
        .iter()
        .zip(names)
        .map(|((_, sample, _), name)| (sample.round, name.as_str()));
    let rounds = grouped(named, |(round, _)| *round);
    let of_round = |(round, named): &(u32, Vec<(u32, &str)>)| {
        let names: Vec<&str> = named.iter().map(|(_, name)| *name).collect();
        format!("round {round} for {}", names.join(" and "))
    };
    let told = match rounds.as_slice() {
        [(round, _)] => format!("round {round} for each"),
        several => several.iter().map(of_round).collect::<Vec<_>>().join(", "),
    };
    format!(
        "Each line is the sample with the median elapsed time, or the nearest below it: {told}."
    )
}
