use svg::Node;
use svg::node::element::Element;

use super::element::{MARGIN, WIDTH, titled};
use crate::charts::{Chart, Scale};

/// A drawing for a phone, or for one of two columns of a page.
const NARROW: f64 = 420.0;

/// The page has margins of its own.
const PAGE_MARGIN: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A document of its own, with a tooltip for each value.
    File,
    /// A part of the page, whose scripts find the data of an element by its key.
    Page,
}

/// What is drawn, on which scale, and in which space.
pub(super) struct Canvas<'c> {
    pub chart: &'c Chart,
    pub scale: Scale,
    pub width: f64,
    pub margin: f64,
    /// One of several parts: names are above the bars, and the unit is beside the axis.
    pub is_part: bool,
    purpose: Purpose,
}

impl<'c> Canvas<'c> {
    pub(super) fn for_file(chart: &'c Chart) -> Self {
        Self {
            chart,
            scale: Scale::for_chart(chart),
            width: WIDTH,
            margin: MARGIN,
            is_part: false,
            purpose: Purpose::File,
        }
    }

    pub(super) fn wide(chart: &'c Chart, scale: &Scale) -> Self {
        Self {
            scale: scale.clone(),
            margin: PAGE_MARGIN,
            purpose: Purpose::Page,
            ..Self::for_file(chart)
        }
    }

    pub(super) fn narrow(chart: &'c Chart, scale: &Scale) -> Self {
        Self {
            width: NARROW,
            ..Self::wide(chart, scale)
        }
    }

    /// This canvas for one of several parts.
    pub(super) fn part(self) -> Self {
        Self {
            is_part: true,
            ..self
        }
    }

    pub(super) fn is_narrow(&self) -> bool {
        self.width < WIDTH
    }

    /// Whether names are above the bars, where they have the most space.
    pub(super) fn has_names_above(&self) -> bool {
        self.is_part || self.is_narrow()
    }

    /// `place`: the numbers of the series and of the point in it.
    pub(super) fn told(
        &self,
        element: Element,
        place: (usize, usize),
        words: impl FnOnce() -> String,
    ) -> Element {
        match self.purpose {
            // The script knows nothing of a part, and all of its words are in the picture.
            Purpose::Page if self.is_part => element,
            Purpose::File => titled(element, &words()),
            Purpose::Page => self.keyed(element, "data-point", &key(place)),
        }
    }

    /// Marks an element for the page's scripts.
    pub(super) fn keyed(&self, mut element: Element, name: &str, value: &str) -> Element {
        if self.purpose == Purpose::Page && !self.is_part {
            element.assign(name, value);
        }
        element
    }
}

/// The numbers of a series and of a point in it as text, such as `0.12`.
pub(super) fn key((series, point): (usize, usize)) -> String {
    format!("{series}.{point}")
}
