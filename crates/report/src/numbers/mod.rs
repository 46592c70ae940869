//! The lowest floor of a report: figures, and no words about them.

pub(crate) mod comparison;
pub(crate) mod estimate;
pub(crate) mod latency;
pub(crate) mod noise;
pub(crate) mod over_time;
pub(crate) mod reached;
#[cfg(test)]
mod recorded_noise;
