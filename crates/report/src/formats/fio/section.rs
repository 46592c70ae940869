//! The parts of a job, and of the work that it does.

use writebench_model::Range;

/// A section of a job file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) options: Vec<(&'static str, String)>,
}

/// What one thread writes.
pub(super) struct Part {
    pub(super) file: String,
    pub(super) range: Range,
}
