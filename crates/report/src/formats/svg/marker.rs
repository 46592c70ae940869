//! Differences between series other than colour: the shape of their marks, filled or not, and the dashes of
//! their lines.

use svg::node::element::Element;

use super::element::*;
use crate::formats::palette;

/// Lengths of dash and gap. With five of them and seven colours, the combinations repeat after 35 series.
const DASHES: [&str; 5] = ["", "7 3", "2 3", "10 3 2 3", "14 5"];

/// Corners on the unit circle's square; the first shape, a circle, has none.
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

/// The stroke of a series' line, which is solid for the first.
pub(super) fn stroke(index: usize, width: &'static str) -> Vec<(&'static str, &'static str)> {
    let dashes = DASHES[index % DASHES.len()];
    let dashes = (!dashes.is_empty()).then_some(("stroke-dasharray", dashes));
    [("stroke-width", width)].into_iter().chain(dashes).collect()
}

/// The mark of a series, in the colour of its group; from the seventh series on it is hollow, and from the
/// thirteenth filled again.
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

/// A ring around a mark.
pub(super) fn ring(place: (f64, f64)) -> Element {
    circle(place, 7.5, &[("fill", "none"), ("stroke-dasharray", "2 2")])
}

/// A square that represents an area.
pub(super) fn square((x, y): (f64, f64)) -> Element {
    rect((x - 5.5, y - 5.5), (11.0, 11.0), &[("stroke", "none")])
}
