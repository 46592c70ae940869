//! How large a run may be. A run that is made here stays far below; a document or a database from elsewhere that says
//! more is an attack or an accident, and would take the memory of the machine.

use crate::case_record::CaseRecord;
use crate::run::RunRecord;

/// Most targets of a run, with those that are missing.
pub const MOST_TARGETS: usize = 1_000;
/// Most rows of a run's tables: a case counts once for every target.
pub const MOST_ROWS: usize = 100_000;
/// Most characters of a name: of a run, a label, a target, a case, a section, a method, an axis and its value. Paths are
/// names, too, and Linux has none that is longer.
pub const LONGEST_NAME: usize = 4_096;
/// Most bytes of a word on a command line, which is Linux's own limit.
pub const LONGEST_ARGUMENT_BYTES: usize = 128 << 10;
/// Most bytes of a document with a run.
pub const MOST_DOCUMENT_BYTES: u64 = 512 << 20;

/// Why a run is too large.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it has {found} {what}, and there can be {most} at most")]
pub struct TooMuch {
    what: &'static str,
    found: usize,
    most: usize,
}

impl TooMuch {
    fn check(what: &'static str, found: usize, most: usize) -> Result<(), Self> {
        if found > most { Err(Self { what, found, most }) } else { Ok(()) }
    }

    /// Whether a run may have so many targets and rows.
    ///
    /// # Errors
    /// It may not.
    pub fn check_counts(targets: usize, rows: usize) -> Result<(), Self> {
        Self::check("targets", targets, MOST_TARGETS)?;
        Self::check("rows in its tables", rows, MOST_ROWS)
    }
}

impl RunRecord {
    /// Whether its counts and names are within what a document or a database can have.
    ///
    /// # Errors
    /// Something is too large, or too long.
    pub fn check_size(&self) -> Result<(), TooMuch> {
        TooMuch::check_counts(self.targets.len().saturating_add(self.missing.len()), self.cases.len())?;
        for argument in &self.arguments {
            TooMuch::check("bytes in an argument", argument.len(), LONGEST_ARGUMENT_BYTES)?;
        }
        let of_run = [&self.id, &self.started, &self.version].into_iter().chain(&self.label);
        let of_targets = self.targets.iter().flat_map(|target| [&target.name, &target.path]);
        let of_missing = self.missing.iter().map(|target| &target.name);
        of_run.chain(of_targets).chain(of_missing).try_for_each(|name| check_name(name))?;
        self.cases.iter().try_for_each(check_names)
    }
}

fn check_name(name: &str) -> Result<(), TooMuch> {
    // Counting takes time that nearly all names can do without.
    let characters = if name.len() > LONGEST_NAME { name.chars().count() } else { 0 };
    TooMuch::check("characters in a name", characters, LONGEST_NAME)
}

fn check_names(case: &CaseRecord) -> Result<(), TooMuch> {
    let (recorded, origin) = (&case.case, &case.origin);
    let of_row = [&case.target, origin.suite(), origin.section(), recorded.name(), recorded.method()];
    of_row.into_iter().chain(case.label.as_deref()).try_for_each(check_name)?;
    recorded.axes().iter().flat_map(|(axis, value)| [axis, value]).try_for_each(|name| check_name(name))
}
