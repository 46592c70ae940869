//! Limits on the size of a run. Runs of writebench are far smaller. A larger document or database is an
//! attack or an accident, and would exhaust the memory.

use crate::case_record::CaseRecord;
use crate::run::RunRecord;

/// The most targets of a run, missing ones included.
pub const MOST_TARGETS: usize = 1_000;
/// The most rows of a run, in which a case counts once per target.
pub const MOST_ROWS: usize = 100_000;
/// The most characters in the name of a run, label, target, case, section, method, axis or value. A path is also a
/// name, and `PATH_MAX` of Linux is the same.
pub const LONGEST_NAME: usize = 4_096;
/// The longest argument, which Linux itself limits: `MAX_ARG_STRLEN`.
pub const LONGEST_ARGUMENT_BYTES: usize = 128 << 10;
pub const MOST_DOCUMENT_BYTES: u64 = 512 << 20;

/// The error about a document or database that exceeds a limit.
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
        for name in [&self.id, &self.started, &self.version] {
            check_name(name)?;
        }
        if let Some(label) = &self.label {
            check_name(label)?;
        }
        for target in &self.targets {
            check_name(&target.name)?;
            check_name(&target.path)?;
        }
        for target in &self.missing {
            check_name(&target.name)?;
        }
        self.cases.iter().try_for_each(check_names_of_row)
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

fn check_names_of_row(row: &CaseRecord) -> Result<(), TooMuch> {
    check_name(&row.target)?;
    check_name(row.origin.suite())?;
    check_name(row.origin.section())?;
    check_name(row.case.name())?;
    check_name(row.case.method())?;
    if let Some(label) = &row.label {
        check_name(label)?;
    }
    for (axis, value) in row.case.axes() {
        check_name(&axis)?;
        check_name(&value)?;
    }
    Ok(())
}
