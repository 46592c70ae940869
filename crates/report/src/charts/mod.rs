//! Charts of a report as plain data, independent of their appearance, in the same layer as tables. Several
//! formats draw them, so that a picture and a page show the same. One file for each family of charts.

mod axis;
mod contracts;
mod cpu_time;
pub(crate) mod data;
mod latency;
mod matrix;
mod names;
mod notes;
mod over_time;
mod phases;
mod point;
mod ranked;
mod rows;
pub(crate) mod scale;
pub(crate) mod sections;
#[cfg(test)]
pub(crate) mod tests;
mod writers;

pub(crate) use data::*;
pub(crate) use scale::{Scale, value_text};
pub(crate) use sections::charts;
