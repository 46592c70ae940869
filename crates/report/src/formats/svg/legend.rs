//! Below the picture, where the legend covers nothing. Marks and dashes distinguish series without colour.

use svg::Node;
use svg::node::element::Element;

use super::canvas::Canvas;
use super::element::*;
use super::lean::part_of_page;
use crate::charts::{Chart, ChartKind, Series};
use crate::formats::palette;

const SIZE: f64 = 13.0;
const ROW_HEIGHT: f64 = 21.0;

fn sample_width(chart: &Chart) -> f64 {
    if chart.kind == ChartKind::Lines {
        42.0
    } else {
        18.0
    }
}

/// Elements and their lower end. Columns are as wide as the longest name.
pub(super) fn draw(canvas: &Canvas<'_>, top: f64) -> (Vec<Element>, f64) {
    let chart = canvas.chart;
    let room = WIDTH - 2.0 * MARGIN;
    let limit = room - sample_width(chart);
    let names = chart.series.iter().map(name_of);
    let names: Vec<String> = names.map(|name| shortened(&name, SIZE, limit)).collect();
    let column_width = (sample_width(chart) + widest(names.iter(), SIZE) + 18.0).min(room);
    let mut items = Vec::new();
    let (mut x, mut y) = (MARGIN, top + 12.0);
    for (index, name) in names.iter().enumerate() {
        if index > 0 && x + column_width > WIDTH - MARGIN + 18.0 {
            (x, y) = (MARGIN, y + ROW_HEIGHT);
        }
        items.push(item(canvas, index, name, (x, y)));
        x += column_width;
    }
    (items, y + 6.0)
}

/// A name, and a picture of the series' look.
pub(in crate::formats) struct LegendItem {
    pub name: String,
    pub sample: String,
}

/// The legend for the page, where names wrap as its own text. A chart of one line has none.
pub(super) fn items(canvas: &Canvas<'_>) -> Vec<LegendItem> {
    let series = &canvas.chart.series;
    let is_needed = has_legend(canvas.chart) && series.len() > 1;
    let several = Some(series).filter(|_| is_needed);
    let item = |(index, series): (usize, &Series)| LegendItem {
        name: name_of(series),
        sample: sample_alone(canvas, index),
    };
    several
        .into_iter()
        .flatten()
        .enumerate()
        .map(item)
        .collect()
}

/// Others have their names beside their rows.
pub(super) fn has_legend(chart: &Chart) -> bool {
    match chart.kind {
        ChartKind::Lines | ChartKind::Groups | ChartKind::Stacked => true,
        ChartKind::Bars => chart.series.len() > 1,
        ChartKind::HeatMap | ChartKind::Ratios => false,
    }
}

fn name_of(series: &Series) -> String {
    let is_drawn = series.points.iter().any(|point| point.figure.is_some());
    let suffix = if is_drawn { "" } else { " (no result)" };
    format!("{}{suffix}", series.name)
}

fn sample_alone(canvas: &Canvas<'_>, index: usize) -> String {
    let width = px(sample_width(canvas.chart) - 4.0);
    let attributes = [
        ("viewBox", format!("0 0 {width} 12")),
        ("width", width),
        ("height", "12".to_owned()),
        ("aria-hidden", "true".to_owned()),
    ];
    let mut picture = Element::new("svg");
    for (name, value) in attributes {
        picture.assign(name, value);
    }
    picture.append(sample(canvas, index, (0.0, 10.5)));
    part_of_page(picture)
}

fn item(canvas: &Canvas<'_>, index: usize, name: &str, (x, y): (f64, f64)) -> Element {
    let chart = canvas.chart;
    let mut item = titled(Element::new("g"), &chart.series[index].name);
    item.append(sample(canvas, index, (x, y)));
    item.append(text(x + sample_width(chart), y, SIZE, STRONG, name, &[]));
    item
}

fn sample(canvas: &Canvas<'_>, index: usize, (x, y): (f64, f64)) -> Element {
    let chart = canvas.chart;
    let mut sample = coloured_group(chart, index);
    if chart.kind == ChartKind::Lines {
        sample.append(line((x, y - 4.5), (x + 34.0, y - 4.5), &stroke(index, "2")));
    }
    let place = (x + sample_width(chart) / 2.0 - 4.0, y - 4.5);
    // Parts of a bar are areas without marks.
    sample.append(match chart.kind {
        ChartKind::Stacked | ChartKind::Bars => square(place),
        _ => marker(index, place, 4.0),
    });
    sample
}

/// The page hides a series whose name in the legend was clicked.
pub(super) fn series_group(canvas: &Canvas<'_>, index: usize) -> Element {
    let group = coloured_group(canvas.chart, index);
    match canvas.chart.kind {
        ChartKind::Lines | ChartKind::Groups => {
            canvas.keyed(group, "data-series", &index.to_string())
        }
        _ => group,
    }
}

fn coloured_group(chart: &Chart, index: usize) -> Element {
    let colour = palette::colour(chart, index);
    let (class, light) = (palette::class(&colour), colour.light.as_str());
    element(
        "g",
        &[
            ("class", &class),
            ("fill", light),
            ("stroke", light),
            ("stroke-width", SERIES_WIDTH),
        ],
        Vec::new(),
    )
}

/// Dash and gap. Five of them and seven colours repeat after 35 series.
const DASHES: [&str; 5] = ["", "7 3", "2 3", "10 3 2 3", "14 5"];

/// The first corners and the number of quarter turns of a mark, on the unit circle's square. The circle has no
/// corners.
const CORNERS: [(&[(f64, f64)], usize); 6] = [
    (&[], 0),
    (&[(-0.88, -0.88)], 4),
    (&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)], 1),
    (&[(0.0, -1.25)], 4),
    (&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)], 1),
    (&[(-0.4, -1.2), (0.4, -1.2), (0.4, -0.4)], 4),
];

/// Solid for the first series.
pub(super) fn stroke(index: usize, width: &'static str) -> Vec<(&'static str, &'static str)> {
    let dashes = DASHES[index % DASHES.len()];
    let dashes = (!dashes.is_empty()).then_some(("stroke-dasharray", dashes));
    [("stroke-width", width)]
        .into_iter()
        .chain(dashes)
        .collect()
}

/// Hollow from the seventh series, filled again from the thirteenth.
pub(super) fn marker(index: usize, (x, y): (f64, f64), radius: f64) -> Element {
    let (corners, turns) = CORNERS[index % CORNERS.len()];
    let is_hollow = (index / CORNERS.len()) % 2 == 1;
    let fill: &[(&str, &str)] = if is_hollow {
        &[
            ("class", "wb-paper"),
            ("fill", palette::PAPER.light),
            ("stroke-width", "1.5"),
        ]
    } else {
        &[]
    };
    if corners.is_empty() {
        return circle((x, y), radius, fill);
    }
    let turned = |turns: usize| {
        corners
            .iter()
            .map(move |corner| (0..turns).fold(*corner, |(dx, dy), _| (-dy, dx)))
    };
    let corners = (0..turns)
        .flat_map(turned)
        .map(|(dx, dy)| (x + dx * radius, y + dy * radius));
    path(&format!("{}Z", through(corners)), fill)
}

pub(super) fn ring(place: (f64, f64)) -> Element {
    circle(place, 7.5, &[("fill", "none"), ("stroke-dasharray", "2 2")])
}

fn square((x, y): (f64, f64)) -> Element {
    rect((x - 5.5, y - 5.5), (11.0, 11.0), &[("stroke", "none")])
}
