//! The templates of a language, and the cases that it cannot say.

use writebench_model::{Axes, Axis, Case, Method};

use crate::way::Way;
use writebench_model::Family;

/// A language's templates, and its gaps.
pub(crate) struct Speaker {
    /// Renders the template of a family; none if the language lacks it.
    pub render: fn(Family, &Way<'_>) -> Option<String>,
    /// Whether the language has a template of that family.
    pub has: fn(Family) -> bool,
    /// Methods without a template in this language, the reason, and the nearest method that has one.
    pub lacks: &'static [(Method, &'static str, Method)],
    /// Values that the language cannot say.
    pub cannot: &'static [Cannot],
}

/// A value that a language cannot say.
pub(crate) struct Cannot {
    pub axis: Axis,
    /// Whether the case has such a value.
    pub is_in: fn(&Case, &Axes) -> bool,
    pub why: &'static str,
    /// The nearest value that the language can say.
    pub instead: &'static str,
}
