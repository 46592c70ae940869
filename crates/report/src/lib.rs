//! From a run's samples to what people and programs read: [`Report`] holds numbers and warnings, each
//! file of `formats` renders it. Nothing here prints.

pub mod advice;
mod answer;
mod arranged;
pub mod chart;
mod comparison;
mod conclusion;
mod estimate;
pub mod formats;
mod image_share;
mod import;
mod latency;
mod machine;
mod noise;
mod over_time;
mod properties;
mod question;
mod reached;
mod read_back;
#[cfg(test)]
mod recorded_noise;
mod report;
mod run_names;
mod shell;
mod simplicity;
mod table;
mod visible;
mod warning;

pub use answer::Answer;
pub use arranged::Sort;
pub use comparison::{
    CaseOn, Change, CompareError, ComparedCase, ComparedRun, Comparison, LeftOut, Side, Unit, Verdict,
};
pub use estimate::{Estimate, Figure};
pub use import::{ImportError, run_of_export};
pub use latency::{LatencyCurve, LatencyEstimate, LatencyPlace};
pub use machine::{Lines, machine_lines};
pub use noise::{NoiseReport, WorkNoise};
pub use over_time::{CourseName, Fall, OverTime};
pub use properties::properties_table;
pub use reached::Reached;
pub use report::{CaseReport, Report};
pub use shell::quoted;
pub use table::{Bar, Bars, Column, Sentence, Table};
pub use visible::{visible, visible_lines};

/// `1 case`, `2 cases`.
#[must_use]
pub fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
