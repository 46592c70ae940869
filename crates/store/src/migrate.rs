//! Bringing a database up to date.

use crate::{APPLICATION_ID, Store, StoreError};

/// In order; the database's `user_version` counts those that it has had.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/001.sql"),
    include_str!("../migrations/002.sql"),
    include_str!("../migrations/003.sql"),
    include_str!("../migrations/004.sql"),
    include_str!("../migrations/005.sql"),
    include_str!("../migrations/006.sql"),
];

impl Store {
    pub(crate) fn migrate(&mut self) -> Result<(), StoreError> {
        let found: usize = self
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(self.failed("read its schema version"))?;
        if found > MIGRATIONS.len() {
            return Err(StoreError::Newer { path: self.path.clone(), found, known: MIGRATIONS.len() });
        }
        if found == MIGRATIONS.len() {
            return Ok(());
        }
        let migrated = self.apply();
        migrated.map_err(self.failed("bring its schema up to date"))
    }

    fn apply(&mut self) -> rusqlite::Result<()> {
        // Immediate, and the version read again: two programs may open a new database at once.
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let found: usize = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        for migration in MIGRATIONS.iter().skip(found) {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len())?;
        transaction.commit()
    }
}
