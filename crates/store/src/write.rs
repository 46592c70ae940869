//! Writing runs to the database.

use rusqlite::params;
use writebench_model::{CaseRecord, RunRecord, Sample};

use crate::{Store, StoreError, json, targets};

impl Store {
    /// Records a run and its cases before the first sample. Returns the run's number. The run is under way
    /// until this store is closed.
    ///
    /// # Errors
    /// The run is too large, or the database cannot be written.
    pub fn begin_run(&mut self, run: &RunRecord) -> Result<i64, StoreError> {
        run.check_size().map_err(|error| StoreError::TooLarge { error })?;
        let failed = self.failed("record the run");
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        let number = insert_rows(&transaction, run, false).map_err(&failed)?;
        // Locked before the commit, so that no reader sees a run that seems to have ended.
        self.hold_run(number)?;
        transaction.commit().map_err(&failed)?;
        self.check_in_place()?;
        Ok(number)
    }

    /// Commits a sample of a case on the run's target with that number.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn add_sample(&self, run: i64, target: usize, name: &str, sample: &Sample) -> Result<(), StoreError> {
        self.check_in_place()?;
        insert_sample(&self.connection, run, target, name, sample).map_err(self.failed("record a sample"))
    }

    /// Adds rows to the tables of a run.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn add_cases(&self, run: i64, cases: &[CaseRecord]) -> Result<(), StoreError> {
        self.check_in_place()?;
        let added = append_cases(&self.connection, run, cases);
        added.map_err(self.failed("record cases"))
    }
}

/// A run with its targets and the rows of its tables, without samples.
pub(crate) fn insert_rows(
    connection: &rusqlite::Connection,
    run: &RunRecord,
    imported: bool,
) -> rusqlite::Result<i64> {
    connection.execute(
        "INSERT INTO runs (status, imported, run) VALUES (?1, ?2, ?3)",
        params![run.status.name(), imported, json::to_text(run)?],
    )?;
    let number = connection.last_insert_rowid();
    targets::insert(connection, number, run)?;
    for (position, case) in (0i64..).zip(&run.cases) {
        insert_case(connection, number, position, case)?;
    }
    Ok(number)
}

fn append_cases(connection: &rusqlite::Connection, run: i64, cases: &[CaseRecord]) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    let next = "SELECT coalesce(max(position), -1) + 1 FROM cases WHERE run = ?1";
    let first: i64 = transaction.query_row(next, [run], |row| row.get(0))?;
    for (position, case) in (first..).zip(cases) {
        insert_case(&transaction, run, position, case)?;
    }
    transaction.commit()
}

fn insert_case(
    connection: &rusqlite::Connection,
    run: i64,
    position: i64,
    case: &CaseRecord,
) -> rusqlite::Result<()> {
    // Samples have their own table.
    let record = CaseRecord { samples: Vec::new(), ..case.clone() };
    connection.execute(
        "INSERT INTO cases (run, position, name, suite, record, target)
         VALUES (?1, ?2, ?3, ?4, ?5, (SELECT position FROM targets WHERE run = ?1 AND name = ?6))",
        params![run, position, case.case.name(), case.origin.suite(), json::to_text(&record)?, case.target],
    )?;
    Ok(())
}

pub(crate) fn insert_sample(
    connection: &rusqlite::Connection,
    run: i64,
    target: usize,
    name: &str,
    sample: &Sample,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO samples (run, target, name, sample) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![run, target, name, json::to_text(sample)?])?;
    Ok(())
}
