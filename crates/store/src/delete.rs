//! Deletes runs, and gives back the space that they took.

use rusqlite::Connection;

use crate::{Store, StoreError, run_locks};

/// A database with no more than that left in it is written anew, which gives its space back. A larger one would take
/// long, and as much space again; what is free in it is taken by later runs.
const MOST_BYTES_TO_COPY: i64 = 64 << 20;

impl Store {
    /// Removes runs, with all that belongs to them: all of these, or none. Directories that a run has left in targets
    /// stay on record, since they still have to be removed.
    ///
    /// # Errors
    /// A run does not exist or is under way, or the database cannot be written.
    pub fn delete_runs(&mut self, numbers: &[i64]) -> Result<(), StoreError> {
        self.check_in_place()?;
        // Held until the runs are gone, so that none is resumed meanwhile.
        let locks = run_locks::open(&self.real).map_err(self.lock_failed())?;
        for &run in numbers {
            if !run_locks::try_lock(&locks, run).map_err(self.lock_failed())? {
                return Err(StoreError::UnderWay { path: self.path.clone(), run });
            }
        }
        let missing = delete(&mut self.connection, numbers).map_err(self.failed("delete runs"))?;
        if let Some(run) = missing {
            return Err(self.no_run(run));
        }
        // Later runs use the space that cannot be given back now.
        let _ = reclaim_space(&self.connection);
        Ok(())
    }
}

/// Deletes all of the runs, or none if one is missing; returns the missing one.
fn delete(connection: &mut Connection, numbers: &[i64]) -> rusqlite::Result<Option<i64>> {
    let transaction = connection.transaction()?;
    for &run in numbers {
        // The rows of a run's tables go with it, by their foreign keys.
        if transaction.execute("DELETE FROM runs WHERE number = ?1", [run])? == 0 {
            return Ok(Some(run));
        }
    }
    transaction.commit()?;
    Ok(None)
}

fn reclaim_space(connection: &Connection) -> rusqlite::Result<()> {
    let select = "SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    let left: i64 = connection.query_row(select, [], |row| row.get(0))?;
    if left > MOST_BYTES_TO_COPY {
        return Ok(());
    }
    connection.execute_batch("VACUUM")
}
