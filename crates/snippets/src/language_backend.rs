use writebench_model::{Axes, Axis, Case, Method};

use crate::case_view::CaseView;

pub(crate) struct LanguageBackend {
    pub template: fn(Method) -> Result<Template, NoTemplate>,
    pub unsupported: fn(&Case, &Axes) -> Option<UnsupportedValue>,
    /// Adds the imports of a template's text.
    pub complete: fn(String) -> String,
}

pub(crate) type Template = fn(&CaseView<'_>) -> askama::Result<String>;

/// With the nearest method that has a template.
pub(crate) struct NoTemplate {
    pub why: &'static str,
    pub nearest: Option<Method>,
}

/// The axis, the reason, and the nearest supported value.
pub(crate) type UnsupportedValue = (Axis, &'static str, &'static str);
