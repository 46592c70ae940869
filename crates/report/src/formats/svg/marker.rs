//! Marks and dashes distinguish series without colour.

use svg::node::element::Element;

use super::element::*;
use crate::formats::palette;

/// Dash and gap. Five of them and seven colours repeat after 35 series.
const DASHES: [&str; 5] = ["", "7 3", "2 3", "10 3 2 3", "14 5"];

/// On the unit circle's square. The circle has no corners.
const CORNERS: [&[(f64, f64)]; 6] = [
    &[],
    &[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
    &[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
    &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    &[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
];

/// Solid for the first series.
pub(super) fn stroke(index: usize, width: &'static str) -> Vec<(&'static str, &'static str)> {
    let dashes = DASHES[index % DASHES.len()];
    let dashes = (!dashes.is_empty()).then_some(("stroke-dasharray", dashes));
    [("stroke-width", width)].into_iter().chain(dashes).collect()
}

/// Hollow from the seventh series, filled again from the thirteenth.
pub(super) fn marker(index: usize, (x, y): (f64, f64), radius: f64) -> Element {
    let corners = CORNERS[index % CORNERS.len()];
    let is_hollow = (index / CORNERS.len()) % 2 == 1;
    let fill: &[(&str, &str)] = if is_hollow {
        &[("class", "wb-paper"), ("fill", palette::PAPER.light), ("stroke-width", "1.5")]
    } else {
        &[]
    };
    if corners.is_empty() {
        return circle((x, y), radius, fill);
    }
    let corners = corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius));
    path(&format!("{}Z", through(corners)), fill)
}

pub(super) fn ring(place: (f64, f64)) -> Element {
    circle(place, 7.5, &[("fill", "none"), ("stroke-dasharray", "2 2")])
}

pub(super) fn square((x, y): (f64, f64)) -> Element {
    rect((x - 5.5, y - 5.5), (11.0, 11.0), &[("stroke", "none")])
}
