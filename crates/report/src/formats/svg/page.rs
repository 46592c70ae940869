//! A chart as a part of the page, which has titles, notes and a legend in its own text. Scripts find the data of an
//! element by its key, to filter and to explain it.

use super::canvas::Canvas;
use super::element::{FONT_SIZE, clean, element, px};
use super::lean::part_of_page;
use super::{LegendItem, draw, legend, marks};
use crate::charts::{Chart, ChartKind, Scale};

/// More elements make a page slow. The page's tables have them all.
const MOST_ROWS: usize = 120;
const MOST_LINES: usize = 48;

pub(in crate::formats) struct Picture {
    pub wide: String,
    pub narrow: String,
    pub legend: Vec<LegendItem>,
    /// The meanings of marks.
    pub marks: Vec<String>,
}

impl Picture {
    pub(in crate::formats) fn is_hidden_by_legend(chart: &Chart) -> bool {
        matches!(chart.kind, ChartKind::Lines | ChartKind::Groups)
    }
}

/// `scale`: that of all charts which readers compare with it.
pub(in crate::formats) fn picture(chart: &Chart, scale: &Scale) -> Picture {
    let marks = marks(chart, scale);
    let chart = &fitting(chart);
    let (wide, narrow) = (Canvas::wide(chart, scale), Canvas::narrow(chart, scale));
    Picture {
        legend: legend::items(&wide),
        wide: inline(&wide, "wide"),
        narrow: inline(&narrow, "narrow"),
        marks,
    }
}

/// The first elements: numbers of series and points remain those of the data.
fn fitting(chart: &Chart) -> Chart {
    let mut fitting = chart.clone();
    match chart.kind {
        ChartKind::Lines => fitting.series.truncate(MOST_LINES),
        ChartKind::HeatMap => fitting.series.truncate(MOST_ROWS),
        ChartKind::Bars | ChartKind::Stacked => {
            fitting.x.ticks.truncate(MOST_ROWS);
            let end = fitting.x.ticks.last().map_or(0.0, |tick| tick.at);
            let series = fitting.series.iter_mut();
            series.for_each(|series| series.points.retain(|point| point.x <= end));
        }
        ChartKind::Groups | ChartKind::Ratios => {}
    }
    fitting
}

fn inline(canvas: &Canvas<'_>, class: &str) -> String {
    let (parts, bottom) = draw(canvas, 0.0);
    let label = format!("{}. The table below has its values.", canvas.chart.title);
    let (width, height) = (px(canvas.width), px((bottom + canvas.margin).ceil()));
    let root = [
        ("class", class),
        ("role", "img"),
        ("aria-label", &clean(&label)),
        ("viewBox", &format!("0 0 {width} {height}")),
        ("font-size", FONT_SIZE),
    ];
    part_of_page(element(
        "svg",
        &root,
        parts.into_iter().map(Into::into).collect(),
    ))
}
