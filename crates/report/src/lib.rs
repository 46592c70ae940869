//! Turns samples into text, in layers: numbers, sentences, tables and charts, formats. A layer uses only those
//! below it. This crate prints nothing.
//!
//! This is an internal part of writebench, without a stability promise.

mod charts;
pub mod formats;
mod import;
mod numbers;
mod sentences;
mod tables;

pub use import::{Exported, ImportError, run_of_export};
pub use numbers::{
    ComparedRun, Comparison, FailedCases, Gated, Judged, ObservationUnit, Required, Side,
    Undecided, Watched,
};
pub use sentences::answer::WorkloadAnswer;
pub use sentences::comparison::FOUR_RUNS;
pub use sentences::goal_answers::GoalAnswer;
pub use sentences::machine::{machine_lines, write_lines};
pub use sentences::sort::Sort;
pub use sentences::{
    Report, counted, emit_options, percent, quoted, ratio_interval, visible, visible_lines,
};
pub use writebench_stats::{GateVerdict, LimitVerdict, Verdict};
