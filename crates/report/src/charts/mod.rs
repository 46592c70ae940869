//! Charts as plain data, which SVG files and the page draw.

mod axis;
mod cpu_time;
pub(crate) mod data;
pub(crate) mod goals;
mod latency;
mod over_time;
mod phases;
mod point;
mod ranked;
pub(crate) mod ratios;
mod rows;
pub(crate) mod scale;
pub(crate) mod sections;
#[cfg(test)]
pub(crate) mod tests;
mod throughput;
mod words;

pub(crate) use data::*;
pub(crate) use scale::{Scale, value_text};
pub(crate) use sections::charts;
