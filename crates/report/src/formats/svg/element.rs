use svg::Node;
use svg::node::element::Element;

use crate::formats::palette;

pub(super) const MARGIN: f64 = 16.0;

pub(super) const WIDTH: f64 = 900.0;

/// The outline of an area with a class of its own: a part of a bar, or a cell of a heat map.
pub(super) const NO_STROKE: &str = "0";
/// The line of a legend's sample.
pub(super) const SERIES_WIDTH: &str = "1.2";
/// Sizes of most texts are those of the drawing.
pub(super) const FONT_SIZE: &str = "12.5";

pub(super) const MIDDLE: [(&str, &str); 1] = [("text-anchor", "middle")];
pub(super) const END: [(&str, &str); 1] = [("text-anchor", "end")];

pub(super) const AXIS: [(&str, &str); 2] = [("class", "wb-axis"), ("stroke", palette::AXIS.light)];
pub(super) const GRID: [(&str, &str); 2] = [("class", "wb-grid"), ("stroke", palette::GRID.light)];

pub(super) type Ink = [(&'static str, &'static str); 2];
pub(super) const STRONG: Ink = [("class", "wb-ink"), ("fill", palette::INK.light)];
pub(super) const QUIET: Ink = [("class", "wb-quiet"), ("fill", palette::QUIET.light)];

pub(super) fn element(
    name: &str,
    attributes: &[(&str, &str)],
    children: Vec<Box<dyn Node>>,
) -> Element {
    let mut element = Element::new(name);
    for (name, value) in attributes {
        element.assign(*name, *value);
    }
    children.into_iter().for_each(|child| element.append(child));
    element
}

pub(super) fn group(class: &str, children: impl IntoIterator<Item = Element>) -> Element {
    let children = children.into_iter().map(Into::into).collect();
    element("g", &[("class", class)], children)
}

fn shape(name: &str, lengths: &[(&str, f64)], attributes: &[(&str, &str)]) -> Element {
    let mut element = element(name, attributes, Vec::new());
    lengths
        .iter()
        .for_each(|(name, length)| element.assign(*name, px(*length)));
    element
}

pub(super) fn text(
    x: f64,
    y: f64,
    size: f64,
    ink: Ink,
    words: &str,
    attributes: &[(&str, &str)],
) -> Element {
    let attributes = [&ink, attributes].concat();
    let mut element = shape(
        "text",
        &[("x", x), ("y", y), ("font-size", size)],
        &attributes,
    );
    element.append(svg::node::Text::new(clean(words)));
    element
}

/// Ends at its place. Names beyond the limit are cut, with a tooltip.
pub(super) fn name_before((x, y): (f64, f64), size: f64, name: &str, limit: f64) -> Element {
    let shown = shortened(name, size, limit);
    let label = text(x, y, size, STRONG, &shown, &END);
    if shown == name {
        label
    } else {
        titled(label, name)
    }
}

/// Upper left corner, then width and height.
pub(super) fn rect(
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    attributes: &[(&str, &str)],
) -> Element {
    shape(
        "rect",
        &[("x", x), ("y", y), ("width", width), ("height", height)],
        attributes,
    )
}

pub(super) fn circle((x, y): (f64, f64), radius: f64, attributes: &[(&str, &str)]) -> Element {
    shape("circle", &[("cx", x), ("cy", y), ("r", radius)], attributes)
}

pub(super) fn path(commands: &str, attributes: &[(&str, &str)]) -> Element {
    element(
        "path",
        &[&[("d", commands)], attributes].concat(),
        Vec::new(),
    )
}

pub(super) fn through(corners: impl IntoIterator<Item = (f64, f64)>) -> String {
    let corners = corners
        .into_iter()
        .map(|(x, y)| format!("{},{}", px(x), px(y)));
    format!("M{}", corners.collect::<Vec<_>>().join("L"))
}

pub(super) fn line(from: (f64, f64), to: (f64, f64), attributes: &[(&str, &str)]) -> Element {
    shape(
        "line",
        &[("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)],
        attributes,
    )
}

/// A tooltip, also for screen readers.
pub(super) fn titled(mut element: Element, words: &str) -> Element {
    element.append(self::element(
        "title",
        &[],
        vec![svg::node::Text::new(clean(words)).into()],
    ));
    element
}

/// One decimal: enough for a picture, and the same on every machine.
pub(super) fn px(length: f64) -> String {
    let rounded = (length * 10.0).round() / 10.0;
    // This turns -0 into 0.
    format!("{}", rounded + 0.0)
}

/// XML allows no other control characters.
pub(super) fn clean(words: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    };
    words.chars().map(shown).collect()
}

/// An estimate, because the font is unknown: that of DejaVu Sans, which is wider than other usual ones.
pub(super) fn width(words: &str, size: f64) -> f64 {
    let share = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ' ' | '|' | '\'' => 0.34,
        'f' | 'r' | 't' | '-' | '/' | '(' | ')' => 0.42,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' => 0.59,
        'm' | 'M' | 'W' | '@' | '%' => 0.98,
        'w' | '=' | '+' | '<' | '>' | '~' => 0.84,
        c if c.is_ascii_uppercase() => 0.76,
        c if c.is_ascii() => 0.64,
        '–' => 0.5,
        _ => 1.0,
    };
    words.chars().map(share).sum::<f64>() * size
}

pub(super) fn widest<S: AsRef<str>>(texts: impl Iterator<Item = S>, size: f64) -> f64 {
    texts
        .map(|words| width(words.as_ref(), size))
        .fold(0.0, f64::max)
}

/// Cut at the limit.
pub(super) fn shortened(words: &str, size: f64, limit: f64) -> String {
    if width(words, size) <= limit {
        return words.to_owned();
    }
    let mut kept = String::new();
    for c in words.chars() {
        if width(&kept, size) + 2.0 * size > limit {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

/// Broken after a comma or a space near the middle. None for a name that fits, or without such a place.
pub(super) fn in_two_lines(name: &str, size: f64, limit: f64) -> Option<[String; 2]> {
    if width(name, size) <= limit {
        return None;
    }
    let places = name.match_indices([',', ' ']).map(|(at, _)| at + 1);
    let place = places.min_by_key(|&place| place.abs_diff(name.len() / 2))?;
    let (above, below) = name.split_at(place);
    Some([above.trim_end().to_owned(), below.to_owned()])
}

/// Broken after commas and spaces. Only parts that are too wide alone are cut.
pub(super) fn broken(name: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in name.split_inclusive([',', ' ']) {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(part.trim_end(), size) <= limit => {
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
        .iter()
        .map(|line| shortened(line.trim_end(), size, limit))
        .collect()
}

/// The lines of a text that is broken at the width of the picture.
pub(super) fn wrapped(words: &str, size: f64) -> Vec<String> {
    wrapped_at(words, size, WIDTH - 2.0 * MARGIN)
}

/// Breaks at spaces, or inside words wider than the limit.
pub(super) fn wrapped_at(words: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in clean(words).split_whitespace() {
        if !current.is_empty() && width(&current, size) + width(word, size) + size / 2.0 > limit {
            lines.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        for c in word.chars() {
            if width(&current, size) + width(c.encode_utf8(&mut [0; 4]), size) > limit {
                lines.push(std::mem::take(&mut current));
            }
            current.push(c);
        }
    }
    lines.push(current);
    lines.retain(|line| !line.is_empty());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_only_words_wider_than_the_picture_break_inside() {
        for count in 1..400 {
            let words: Vec<String> = (0..count).map(|index| format!("it{index}:")).collect();
            let lines = wrapped(&words.join(" "), 12.5);
            assert_eq!(lines.join(" "), words.join(" "));
        }
        let lines = wrapped(&"x".repeat(1000), 12.0);
        assert!(
            lines.len() > 5 && lines.iter().all(|line| width(line, 12.0) <= WIDTH),
            "{lines:?}"
        );
        assert_eq!(lines.concat().len(), 1000);
    }

    #[test]
    fn cut_text_ends_with_dots_and_fits() {
        assert_eq!(shortened("ext4", 12.0, 100.0), "ext4");
        let cut = shortened(&"x".repeat(100), 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0, "{cut}");
    }

    #[test]
    fn lengths_have_a_digit_at_most_and_no_negative_zero() {
        assert_eq!([1.0, 2.25, -0.04].map(px), ["1", "2.3", "0"]);
    }
}
