//! Drawings as parts of a page, whose style sheet has most attributes.

use svg::Node;
use svg::node::element::Element;

use super::element::{FONT_SIZE, NO_STROKE, SERIES_WIDTH};

/// The text of a drawing that the page's style sheet completes.
pub(super) fn part_of_page(mut drawing: Element) -> String {
    drawing.get_children_mut().iter_mut().for_each(lean);
    drawing.to_string().replace('\n', "")
}

/// Removes attributes that the page's style sheet has, which are half of a drawing.
fn lean(node: &mut Box<dyn Node>) {
    if let Some(attributes) = node.get_attributes_mut() {
        let class = attributes.get("class").map_or("", |class| &**class);
        let of_class: &[&str] = match class {
            "wb-dots" | "wb-crosses" => {
                &["fill", "stroke-width", "stroke-linecap", "stroke-opacity"]
            }
            // Words on a heat map have a class for their dark colour only.
            "" | "wb-on-faint" | "wb-on-strong" => &[],
            _ => &["fill", "stroke"],
        };
        of_class.iter().for_each(|name| {
            attributes.remove(*name);
        });
        let of_all = [
            ("class", "wb-ink"),
            ("stroke-width", SERIES_WIDTH),
            ("stroke-width", NO_STROKE),
            ("font-size", FONT_SIZE),
        ];
        attributes.retain(|name, value| !of_all.contains(&(name.as_str(), &**value)));
    }
    node.get_children_mut().into_iter().flatten().for_each(lean);
}
