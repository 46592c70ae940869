use rusqlite::Connection;

use crate::{Store, StoreError, run_locks};

/// A database with at most that many bytes left is written anew, which frees its space. Later runs use the
/// free space of a larger one.
const MAX_BYTES_TO_COPY: i64 = 64 << 20;

impl Store {
    /// Deletes all of these runs, or none. Directories left in targets remain on record, because they must still be
    /// removed.
    pub fn delete_runs(&mut self, numbers: &[i64]) -> Result<(), StoreError> {
        self.check_in_place()?;
        // No run can be resumed while it is deleted.
        let locks = run_locks::open(&self.real).map_err(self.lock_failed())?;
        for &run in numbers {
            if !run_locks::try_lock(&locks, run).map_err(self.lock_failed())? {
                return Err(self.under_way(run));
            }
        }
        let missing = delete(&mut self.connection, numbers).map_err(self.failed("delete runs"))?;
        if let Some(run) = missing {
            return Err(self.no_run(run));
        }
        // Later runs use space that cannot be freed now.
        let _ = reclaim_space(&self.connection);
        Ok(())
    }
}

/// Deletes all of the runs, or none. Returns a missing one.
fn delete(connection: &mut Connection, numbers: &[i64]) -> rusqlite::Result<Option<i64>> {
    let transaction = connection.transaction()?;
    for &run in numbers {
        // Foreign keys delete the rows of a run's tables.
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
    if left > MAX_BYTES_TO_COPY {
        return Ok(());
    }
    connection.execute_batch("VACUUM")
}
