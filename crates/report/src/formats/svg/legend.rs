//! Below the picture, where the legend covers nothing.

use svg::Node;
use svg::node::element::Element;

use super::element::*;
use super::marker;
use crate::charts::{Chart, ChartKind, Series};
use crate::formats::palette;

const SIZE: f64 = 13.0;
const ROW_HEIGHT: f64 = 21.0;

fn sample_width(chart: &Chart) -> f64 {
    if chart.kind == ChartKind::Lines { 42.0 } else { 18.0 }
}

/// Elements and their lower end. Columns are as wide as the longest name.
pub(super) fn draw(chart: &Chart, top: f64) -> (Vec<Element>, f64) {
    let room = WIDTH - 2.0 * MARGIN;
    let name = |series: &Series| {
        let is_drawn = series.points.iter().any(|point| point.figure.is_some());
        let suffix = if is_drawn { "" } else { " (no result)" };
        shortened(&format!("{}{suffix}", series.name), SIZE, room - sample_width(chart))
    };
    let names: Vec<String> = chart.series.iter().map(name).collect();
    let column_width = (sample_width(chart) + widest(names.iter(), SIZE) + 18.0).min(room);
    let mut items = Vec::new();
    let (mut x, mut y) = (MARGIN, top + 12.0);
    for (index, name) in names.iter().enumerate() {
        if index > 0 && x + column_width > WIDTH - MARGIN + 18.0 {
            (x, y) = (MARGIN, y + ROW_HEIGHT);
        }
        items.push(item(chart, index, name, (x, y)));
        x += column_width;
    }
    (items, y + 6.0)
}

fn item(chart: &Chart, index: usize, name: &str, (x, y): (f64, f64)) -> Element {
    let mut sample = series_group(chart, index);
    if chart.kind == ChartKind::Lines {
        sample.append(line((x, y - 4.5), (x + 34.0, y - 4.5), &marker::stroke(index, "2")));
    }
    let place = (x + sample_width(chart) / 2.0 - 4.0, y - 4.5);
    // Parts of a bar are areas without marks.
    sample.append(match chart.kind {
        ChartKind::Stacked => marker::square(place),
        _ => marker::marker(index, place, 4.0),
    });
    let mut item = titled(Element::new("g"), &chart.series[index].name);
    item.append(sample);
    item.append(text(x + sample_width(chart), y, SIZE, STRONG, name, &[]));
    item
}

pub(super) fn series_group(chart: &Chart, index: usize) -> Element {
    let colour = palette::colour(chart, index);
    let mut group = Element::new("g");
    group.assign("class", palette::class(&colour));
    group.assign("fill", colour.light.as_str());
    group.assign("stroke", colour.light);
    group.assign("stroke-width", px(1.2));
    group
}
