//! The third layer, next to charts: rows and columns for the terminal and Markdown.

pub(crate) mod comparison;
mod findings;
mod matrix;
pub(crate) mod notes;
mod per_case;
pub(crate) mod sections;
mod side_by_side;
pub(crate) mod table;
