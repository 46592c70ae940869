//! The second layer: figures in words, and the report that holds both.

pub(crate) mod advice;
pub(crate) mod answer;
pub(crate) mod arranged;
pub(crate) mod changes;
pub(crate) mod code;
pub(crate) mod comparison;
mod conclusion;
pub(crate) mod finding;
mod image_share;
pub(crate) mod machine;
pub(crate) mod number;
pub(crate) mod outcomes;
mod question;
mod ranks;
mod read_back;
pub(crate) mod report;
mod resolution;
pub(crate) mod run_names;
pub(crate) mod shell;
mod startup;
pub(crate) mod visible;
mod warning;
pub(crate) mod words;
