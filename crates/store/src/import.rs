//! Importing runs.

use std::collections::HashSet;

use rusqlite::Connection;
use writebench_model::RunRecord;

use crate::write::{insert_rows, insert_sample};
use crate::{Store, StoreError};

impl Store {
    /// Whether there is a run with that id, which is unique across machines.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn has_run(&self, id: &str) -> Result<bool, StoreError> {
        self.value("look for a run", "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)", [id])
    }

    /// Imports whole runs with their samples: all or none. Returns their new numbers. They are marked, as
    /// their statements about files and targets must not be followed.
    ///
    /// # Errors
    /// A run is too large or exists already, or the database cannot be written.
    pub fn import_runs(&mut self, runs: &[RunRecord]) -> Result<Vec<i64>, StoreError> {
        for run in runs {
            run.check_size().map_err(|error| StoreError::TooLarge { error })?;
        }
        let imported = import(&mut self.connection, runs);
        imported.map_err(self.failed("import runs"))
    }
}

fn import(connection: &mut Connection, runs: &[RunRecord]) -> rusqlite::Result<Vec<i64>> {
    let transaction = connection.transaction()?;
    let mut numbers = Vec::new();
    for run in runs {
        let number = insert_rows(&transaction, run, true)?;
        // A case in two tables has its samples in both.
        let mut seen = HashSet::new();
        for case in run.cases.iter().filter(|case| seen.insert((&case.target, case.case.name()))) {
            let target = run.targets.iter().position(|target| target.name == case.target);
            for sample in &case.samples {
                insert_sample(&transaction, number, target.unwrap_or(0), case.case.name(), sample)?;
            }
        }
        numbers.push(number);
    }
    transaction.commit()?;
    Ok(numbers)
}
