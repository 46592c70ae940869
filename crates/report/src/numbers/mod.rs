//! The lowest layer of a report: figures without sentences.

pub(crate) mod case;
pub(crate) mod comparison;
pub(crate) mod estimate;
pub(crate) mod grouped;
pub(crate) mod latency;
pub(crate) mod over_time;
pub(crate) mod reached;
pub(crate) mod rounds;
pub(crate) mod sides;
#[cfg(test)]
mod tests;
