//! From a run's samples to what people and programs read, in floors: numbers, sentences about them, tables and charts,
//! and the formats that show these. A floor takes from those below it, and from none above. Nothing here prints.

pub mod charts;
pub mod formats;
mod import;
mod numbers;
mod sentences;
mod tables;

pub use import::{ImportError, run_of_export};
pub use numbers::comparison::{
    CaseOn, Change, CompareError, ComparedCase, ComparedRun, Comparison, LeftOut, Side, Unit, Verdict,
};
pub use numbers::estimate::{Estimate, Figure};
pub use numbers::latency::{LatencyCurve, LatencyEstimate, LatencyPlace};
pub use numbers::noise::{NoiseReport, WorkNoise};
pub use numbers::over_time::{CourseName, Fall, OverTime};
pub use numbers::reached::Reached;
pub use sentences::advice;
pub use sentences::answer::Answer;
pub use sentences::arranged::Sort;
pub use sentences::machine::{Lines, machine_lines};
pub use sentences::report::{CaseReport, Report};
pub use sentences::shell::quoted;
pub use sentences::visible::{visible, visible_lines};
pub use tables::properties::properties_table;
pub use tables::{Bar, Bars, Column, Sentence, Table};

/// `1 case`, `2 cases`.
#[must_use]
pub fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
