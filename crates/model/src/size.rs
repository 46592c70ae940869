//! Limits on the size of a run. Runs of writebench are far smaller. A larger document or database is an
//! attack or an accident, and would exhaust the memory.

use crate::case_record::CaseRecord;
use crate::run::RunRecord;

/// Includes missing targets.
pub const MOST_TARGETS: usize = 1_000;
/// A case counts once per target.
pub const MOST_ROWS: usize = 100_000;
/// Characters of a run, label, target, case, section, method, axis or value. A path is also a name, and
/// `PATH_MAX` of Linux is the same.
pub const LONGEST_NAME: usize = 4_096;
/// Linux's own limit: `MAX_ARG_STRLEN`.
pub const LONGEST_ARGUMENT_BYTES: usize = 128 << 10;
pub const MOST_DOCUMENT_BYTES: u64 = 512 << 20;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it has {found} {what}, and the limit is {most}")]
pub struct TooMuch {
    what: &'static str,
    found: usize,
    most: usize,
}

impl TooMuch {
    fn check(what: &'static str, found: usize, most: usize) -> Result<(), Self> {
        if found > most {
            Err(Self { what, found, most })
        } else {
            Ok(())
        }
    }

    pub fn check_counts(targets: usize, rows: usize) -> Result<(), Self> {
        Self::check("targets", targets, MOST_TARGETS)?;
        Self::check("rows in its tables", rows, MOST_ROWS)
    }
}

impl RunRecord {
    pub fn check_size(&self) -> Result<(), TooMuch> {
        TooMuch::check_counts(
            self.targets.len().saturating_add(self.missing.len()),
            self.cases.len(),
        )?;
        for argument in &self.arguments {
            TooMuch::check(
                "bytes in an argument",
                argument.len(),
                LONGEST_ARGUMENT_BYTES,
            )?;
        }
        let of_run = [&self.id, &self.started, &self.version]
            .into_iter()
            .chain(&self.label);
        let of_targets = self
            .targets
            .iter()
            .flat_map(|target| [&target.name, &target.path]);
        let of_missing = self.missing.iter().map(|target| &target.name);
        of_run
            .chain(of_targets)
            .chain(of_missing)
            .try_for_each(|name| check_name(name))?;
        self.cases.iter().try_for_each(check_names)
    }
}

fn check_name(name: &str) -> Result<(), TooMuch> {
    // Counting characters is slow, and nearly all names have fewer bytes than the limit.
    let characters = if name.len() > LONGEST_NAME {
        name.chars().count()
    } else {
        0
    };
    TooMuch::check("characters in a name", characters, LONGEST_NAME)?;
    // SQLite's indexes take the text to end there.
    TooMuch::check("characters U+0000 in a name", name.matches('\0').count(), 0)
}

fn check_names(case: &CaseRecord) -> Result<(), TooMuch> {
    let (recorded, origin) = (&case.case, &case.origin);
    let of_row = [
        &case.target,
        origin.suite(),
        origin.section(),
        recorded.name(),
        recorded.method(),
    ];
    of_row
        .into_iter()
        .chain(case.label.as_deref())
        .try_for_each(check_name)?;
    recorded
        .axes()
        .iter()
        .flat_map(|(axis, value)| [axis, value])
        .try_for_each(|name| check_name(name))
}
