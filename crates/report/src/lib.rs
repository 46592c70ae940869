//! From a run's samples to what people and programs read, in floors: numbers, sentences about them, tables and charts,
//! and the formats that show these. A floor takes from those below it, and from none above. Nothing here prints.

pub mod charts;
pub mod formats;
mod import;
mod numbers;
mod sentences;
mod tables;

pub use import::{ImportError, run_of_export};
pub use numbers::case::CaseReport;
pub use numbers::comparison::{ComparedCase, Comparison, LeftOut, Unit, Verdict};
pub use numbers::estimate::{Estimate, Figure};
pub use numbers::latency::{LatencyCurve, LatencyEstimate, LatencyPlace};
pub use numbers::noise::WorkNoise;
pub use numbers::over_time::{CourseName, Fall, OverTime};
pub use numbers::reached::Reached;
pub use numbers::sides::{CaseOn, CompareError, ComparedRun, Side};
pub use sentences::answer::Answer;
pub use sentences::arranged::Sort;
pub use sentences::changes::Change;
pub use sentences::machine::{Lines, machine_lines};
pub use sentences::noise::NoiseReport;
pub use sentences::report::Report;
pub use sentences::shell::quoted;
pub use sentences::visible::{visible, visible_lines};
pub use sentences::words::counted;
pub use tables::bars::{Bar, Bars};
pub use tables::properties::properties_table;
pub use tables::table::{Column, Sentence, Table};
