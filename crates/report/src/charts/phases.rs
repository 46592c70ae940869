//! Median times of phases as parts of a bar.

use writebench_model::Sample;
use writebench_stats::as_f64;

use super::data::{Chart, ChartKind, Series, Unit, YAxis, YScale};
use super::point::point;
use super::rows::ChartCase;
use super::{axis, words};
use crate::numbers::{Figure, PHASES};

/// A bar for each case, with a part for each phase. None if no case has a value for the whole work.
pub(super) fn chart(section: &str, target: &str, rows: &[ChartCase<'_>]) -> Option<Chart> {
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
