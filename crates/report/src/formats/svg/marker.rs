//! What tells series apart without colours: the shape of their marks, filled or not, and the dashes of their lines.

use svg::node::element::Element;

use super::element::{element, px};
use crate::formats::palette;

/// Lengths of line and gap. Five, beside seven colours: the two come together again after 35 series.
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

/// The dashes of a series' line; none for the first.
pub(super) fn dashes(index: usize) -> &'static str {
    DASHES[index % DASHES.len()]
}

/// The mark of a series. Its colour is that of its surroundings; from the seventh series on it is hollow, and from
/// the thirteenth filled again.
pub(super) fn marker(index: usize, (x, y): (f64, f64), radius: f64) -> Element {
    let corners = CORNERS[index % CORNERS.len()];
    let is_hollow = (index / CORNERS.len()) % 2 == 1;
    let fill: &[(&str, &str)] = if is_hollow {
        &[("class", "wb-paper"), ("fill", palette::PAPER.light), ("stroke-width", "1.5")]
    } else {
        &[]
    };
    if corners.is_empty() {
        let (x, y, radius) = (px(x), px(y), px(radius));
        let own: [(&str, &str); 3] = [("cx", &x), ("cy", &y), ("r", &radius)];
        return element("circle", &[&own, fill].concat(), Vec::new());
    }
    let corner = |(dx, dy): &(f64, f64)| format!("{},{}", px(x + dx * radius), px(y + dy * radius));
    let path = format!("M{}Z", corners.iter().map(corner).collect::<Vec<_>>().join("L"));
    let own: [(&str, &str); 1] = [("d", &path)];
    element("path", &[&own, fill].concat(), Vec::new())
}

/// A ring around a mark.
pub(super) fn ring((x, y): (f64, f64)) -> Element {
    let (x, y) = (px(x), px(y));
    let attributes =
        [("cx", x.as_str()), ("cy", &y), ("r", "7.5"), ("fill", "none"), ("stroke-dasharray", "2 2")];
    element("circle", &attributes, Vec::new())
}

/// What stands for an area.
pub(super) fn square((x, y): (f64, f64)) -> Element {
    let (x, y) = (px(x - 5.5), px(y - 5.5));
    let attributes = [("x", x.as_str()), ("y", &y), ("width", "11"), ("height", "11"), ("stroke", "none")];
    element("rect", &attributes, Vec::new())
}
