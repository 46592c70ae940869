//! How a file is written: a method and its choices.

use crate::axis::{Axis, Choices, Given};
use crate::method::Method;

/// A method with a value for each of its choices, and nothing of the work that it does. [`crate::Case`] pairs it with
/// that.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Strategy {
    pub(crate) method: Method,
    pub(crate) choices: Choices,
}

impl Strategy {
    /// The method with its default choices.
    pub fn default_of(method: Method) -> Self {
        Self {
            method,
            choices: Choices::defaults(method.card().prepares[0]),
        }
    }

    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// The text of a choice. A given value has its default.
    pub fn value(&self, axis: Axis) -> String {
        axis.text(&Given::default(), &self.choices)
    }
}
