//! Elapsed times: ranked, and median times of phases as parts of a bar.

use writebench_model::{Sample, Workload};
use writebench_stats::as_f64;

use super::data::{
    Chart, ChartData, ChartFamily, ChartKind, Dot, Point, Series, Unit, YAxis, YScale,
};
use super::point::{figures_are, point};
use super::rows::{ChartCase, OfTarget, each_workload};
use super::{axis, words};
use crate::numbers::{Figure, PHASES, total};

pub(super) fn ranked(title: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let durability = |row: &ChartCase<'_>| row.case.record.workload.durability.to_string();
    let chart = |(workload, on): (Workload, OfTarget<'_>)| {
        // A filesystem in memory keeps nothing durable, so its cases have no rank.
        let drawn = by_time(&on.rows)
            .into_iter()
            .filter(|row| row.case.not_durable.is_none())
            .collect::<Vec<_>>();
        if drawn.len() < 2 {
            return None;
        }
        let chart = ranking(
            format!("{title}, {}", on.target),
            &workload.to_string(),
            &on.rows,
            &drawn,
        );
        Some((
            ChartFamily::Ranked,
            format!("elapsed-ranked{}", on.suffix),
            chart,
        ))
    };
    each_workload(rows, |row| row.case.record.workload.clone(), durability)
        .into_iter()
        .filter_map(chart)
        .collect()
}

/// From the shortest bar, whatever its rank: marks show which values are uncertain.
fn by_time<'r>(rows: &[ChartCase<'r>]) -> Vec<ChartCase<'r>> {
    let drawn_ns =
        |row: &ChartCase<'r>| row.whole_estimate().map(|estimate| estimate.total_ns.value);
    let mut drawn: Vec<(f64, ChartCase<'r>)> = rows
        .iter()
        .filter_map(|row| Some((drawn_ns(row)?, *row)))
        .collect();
    drawn.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    drawn.into_iter().map(|(_, row)| row).collect()
}

fn ranking(
    title: String,
    workload: &str,
    rows: &[ChartCase<'_>],
    drawn: &[ChartCase<'_>],
) -> Chart {
    let (names, common) = words::names_of_cases(drawn);
    let points = (0u32..).zip(drawn).map(|(index, row)| {
        let figure = row
            .case
            .estimate
            .as_ref()
            .map(|estimate| &estimate.total_ns);
        Point {
            dots: dots(row),
            ..point(f64::from(index), row, figure, 1e9)
        }
    });
    Chart {
        title,
        subtitle: format!("{workload}{common}: {}", figures_are(drawn, "lower")),
        kind: ChartKind::Bars,
        x: axis::categories("case", names.into_iter()),
        // Bars are compared by length, so they begin at 0.
        y: YAxis {
            label: "Elapsed time".to_owned(),
            unit: Unit::Seconds,
            scale: YScale::Linear,
        },
        series: vec![Series {
            name: "elapsed time".to_owned(),
            points: points.collect(),
        }],
        notes: [words::causes(rows), words::cut_short(rows)].concat(),
    }
}

/// Good samples, including disturbed ones outside the value.
fn dots(row: &ChartCase<'_>) -> Vec<Dot> {
    let dot = |sample: &Sample| (total(sample) / 1e9, sample.disturbed.is_some());
    row.case.good_samples().map(dot).collect()
}

/// None without a value for the whole work.
pub(super) fn phases(section: &str, target: &str, rows: &[ChartCase<'_>]) -> Option<Chart> {
    rows.iter().find_map(ChartCase::whole_estimate)?;
    let (names, common) = words::names_of_cases(rows);
    // All charts have the same series for the same colours.
    let series = PHASES.into_iter().map(|(name, ns)| {
        let points = (0u32..).zip(rows).map(|(index, row)| {
            let usable = row
                .whole_estimate()
                .map_or(Vec::new(), |_| Sample::usable(&row.case.record.samples));
            let times = usable.iter().map(|sample| as_f64(ns(&sample.phases_ns)));
            let figure = Figure::from_values(&times.collect::<Vec<f64>>());
            point(f64::from(index), row, figure.as_ref(), 1e9)
        });
        Series {
            name: name.to_owned(),
            points: points.collect(),
        }
    });
    Some(Chart {
        title: format!("Time by phase, {target}"),
        subtitle: format!(
            "{section}{common}: medians of phases. Their sum can differ from the median of the whole.{}",
            words::caution(rows)
        ),
        kind: ChartKind::Stacked,
        x: axis::categories("case", names.into_iter()),
        // Parts of a bar are lengths.
        y: YAxis {
            label: "Elapsed time".to_owned(),
            unit: Unit::Seconds,
            scale: YScale::Linear,
        },
        series: series.collect(),
        notes: [words::causes(rows), words::cut_short(rows)].concat(),
    })
}
