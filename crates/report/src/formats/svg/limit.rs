//! What does not fit into one picture is left out, and counted.

use crate::charts::{Chart, Kind, XScale};

/// The most bars of parts: more would be a page, and no picture.
const MOST_BARS: usize = 60;

/// The most lines with many points each, which cross each other all the way.
const MOST_LINES: usize = 12;

/// The chart as far as it fits, and a sentence about the rest.
pub(super) fn limited(chart: &Chart) -> (Chart, Option<String>) {
    let (bars, lines) = (chart.x.ticks.len(), chart.series.len());
    let mut fitting = chart.clone();
    if chart.kind == Kind::Stacked && bars > MOST_BARS {
        let end = chart.x.ticks[MOST_BARS].at;
        fitting.x.ticks.truncate(MOST_BARS);
        fitting.series.iter_mut().for_each(|series| series.points.retain(|point| point.x < end));
        return (fitting, Some(left_out(MOST_BARS, bars, "cases")));
    }
    if matches!(chart.x.scale, XScale::Linear | XScale::Percentile) && lines > MOST_LINES {
        fitting.series.truncate(MOST_LINES);
        return (fitting, Some(left_out(MOST_LINES, lines, "lines")));
    }
    (fitting, None)
}

fn left_out(shown: usize, of: usize, what: &str) -> String {
    format!("The first {shown} of {of} {what}; {} more do not fit into the picture.", of - shown)
}
