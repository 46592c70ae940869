//! The chart of all answers: parts with axes of their own, one below the other.

use svg::node::element::Element;

use super::canvas::Canvas;
use super::element::*;
use super::lean::part_of_page;
use super::page::Picture;
use super::{Words, bars, document, foot, head, legend, marks};
use crate::charts::goals::GoalsChart;
use crate::charts::{Chart, Scale};
use crate::formats::palette;
use crate::numbers::distinct;

const HEADING_SIZE: f64 = 13.0;
const HEADING_LINE: f64 = 17.0;

/// The space above the heading of a part.
const GAP: f64 = 22.0;

pub(in crate::formats) fn render(goals: &GoalsChart) -> String {
    let (mut parts, y) = head(&goals.title, &goals.subtitle);
    let canvases: Vec<Canvas<'_>> = goals
        .goals
        .iter()
        .map(|chart| Canvas::for_file(chart).part())
        .collect();
    let (drawn, mut bottom) = draw(&canvases, y);
    parts.extend(drawn);
    if let Some(first) = canvases.first() {
        let legend;
        (legend, bottom) = legend::draw(first, bottom + 4.0);
        parts.extend(legend);
    }
    let notes = notes(goals).into_iter();
    bottom = foot(&mut parts, bottom, notes);
    let styles = goals.goals.first().map(palette::dark_styles);
    let words = Words {
        title: &goals.title,
        description: &description(goals),
        dark_styles: &styles.unwrap_or_default(),
    };
    document(&words, bottom + MARGIN, parts)
}

/// The picture for the page, which has title, subtitle and notes in its own text.
pub(in crate::formats) fn picture(goals: &GoalsChart) -> Picture {
    let scales: Vec<Scale> = goals.goals.iter().map(Scale::for_chart).collect();
    let charts = || goals.goals.iter().zip(&scales);
    let wide: Vec<Canvas<'_>> = charts()
        .map(|(chart, scale)| Canvas::wide(chart, scale).part())
        .collect();
    let narrow: Vec<Canvas<'_>> = charts()
        .map(|(chart, scale)| Canvas::narrow(chart, scale).part())
        .collect();
    Picture {
        legend: wide.first().map_or(Vec::new(), legend::items),
        wide: inline(goals, &wide, "wide"),
        narrow: inline(goals, &narrow, "narrow"),
        marks: notes(goals),
    }
}

fn inline(goals: &GoalsChart, canvases: &[Canvas<'_>], class: &str) -> String {
    let (parts, bottom) = draw(canvases, 0.0);
    let size = canvases
        .first()
        .map_or((WIDTH, MARGIN), |canvas| (canvas.width, canvas.margin));
    let (width, height) = (px(size.0), px((bottom + size.1).ceil()));
    let root = [
        ("class", class),
        ("role", "img"),
        (
            "aria-label",
            &clean(&format!("{}. The table below has the values.", goals.title)),
        ),
        ("viewBox", &format!("0 0 {width} {height}")),
        ("font-size", FONT_SIZE),
    ];
    let parts = parts.into_iter().map(Into::into).collect();
    part_of_page(element("svg", &root, parts))
}

/// Elements and their lower end.
fn draw(canvases: &[Canvas<'_>], top: f64) -> (Vec<Element>, f64) {
    let mut parts = Vec::new();
    let mut y = top;
    for canvas in canvases {
        y += GAP;
        let limit = canvas.width - 2.0 * canvas.margin;
        let bold = [("font-weight", "600")];
        for line in wrapped_at(&canvas.chart.title, HEADING_SIZE, limit) {
            let heading = text(canvas.margin, y, HEADING_SIZE, STRONG, &line, &bold);
            parts.push(heading);
            y += HEADING_LINE;
        }
        let (drawn, bottom) = bars::draw(canvas, y - 12.0);
        parts.extend(drawn);
        y = bottom;
    }
    (parts, y)
}

fn notes(goals: &GoalsChart) -> Vec<String> {
    let marks = goals
        .goals
        .iter()
        .flat_map(|chart| marks(chart, &Scale::for_chart(chart)));
    let all = marks.chain(goals.notes.iter().cloned());
    distinct(all, Clone::clone)
}

/// All bars in words.
fn description(goals: &GoalsChart) -> String {
    let of_goal = |chart: &Chart| {
        let bars = chart.x.ticks.iter().map(|tick| {
            let mut points = chart.points();
            let point = points.find(|point| point.x.total_cmp(&tick.at).is_eq());
            let words = point.and_then(|point| point.words.as_deref());
            words.map_or_else(
                || tick.text.clone(),
                |words| format!("{}, {words}", tick.text),
            )
        });
        format!("{}: {}.", chart.title, bars.collect::<Vec<_>>().join("; "))
    };
    let all: Vec<String> = goals.goals.iter().map(of_goal).collect();
    format!("{}. {}", goals.title, all.join(" "))
}
