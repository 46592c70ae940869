//! What a language has for the methods and values of cases.

use writebench_model::{Axes, Axis, Case, Method};

use crate::case_view::CaseView;

pub(crate) struct LanguageBackend {
    /// A method's template, or the reason why the language has none.
    pub template: fn(Method) -> Result<Template, NoTemplate>,
    /// The first value of a case that the language does not support.
    pub unsupported: fn(&Case, &Axes) -> Option<UnsupportedValue>,
    /// Completes a template's text by what follows from it, such as imports.
    pub complete: fn(String) -> String,
}

pub(crate) type Template = fn(&CaseView<'_>) -> askama::Result<String>;

/// Why a language has no template for a method, and the nearest method for which it has one.
pub(crate) struct NoTemplate {
    pub why: &'static str,
    pub nearest: Option<Method>,
}

/// The axis of a value that is not supported, the reason, and the nearest value that is.
pub(crate) type UnsupportedValue = (Axis, &'static str, &'static str);
