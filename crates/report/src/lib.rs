//! From a run's samples to what people and programs read, in floors: numbers, sentences about them, tables and charts,
//! and the formats that show these. A floor takes from those below it, and from none above. Nothing here prints.

mod charts;
pub mod formats;
mod import;
mod numbers;
mod sentences;
mod tables;

pub use import::run_of_export;
pub use numbers::comparison::{Comparison, Unit};
pub use numbers::sides::{ComparedRun, Side};
pub use sentences::arranged::Sort;
pub use sentences::machine::machine_lines;
pub use sentences::noise::NoiseReport;
pub use sentences::report::Report;
pub use sentences::shell::quoted;
pub use sentences::visible::{visible, visible_lines};
pub use sentences::words::counted;
pub use writebench_stats::Verdict;
