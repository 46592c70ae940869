//! One file for each format that a [`crate::Report`] is rendered in; `svg` renders its charts, one by one.

pub mod comparison;
pub mod csv;
pub mod json;
pub mod markdown;
pub mod svg;
pub mod terminal;

#[cfg(test)]
pub(crate) mod tests;
