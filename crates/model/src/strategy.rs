//! How a file is written: a method and its choices.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::axis::{Axis, Choices, Given};
use crate::method::Method;

/// A method with a value for each of its choices, and nothing of the work that it does. [`crate::Case`] pairs it with
/// that.
///
/// Its text is the name of a case whose given values are the defaults: `pwrite,chunk=4MiB,cache=direct`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

    pub fn method(&self) -> Method {
        self.method
    }

    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// The text of a choice. A given value has its default.
    pub fn value(&self, axis: Axis) -> String {
        axis.text(&Given::default(), &self.choices)
    }

    /// The axes whose values differ from the method's defaults.
    pub fn chosen_axes(&self) -> impl Iterator<Item = Axis> {
        let default = Self::default_of(self.method);
        self.method
            .own_axes()
            .filter(move |&axis| self.value(axis) != default.value(axis))
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.name())?;
        self.chosen_axes()
            .try_for_each(|axis| write!(f, ",{axis}={}", self.value(axis)))
    }
}
