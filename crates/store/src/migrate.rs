use rusqlite::TransactionBehavior;

use crate::{APPLICATION_ID, Store, StoreError};

/// The changes of the schema in their order. A new database runs all of them.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/007.sql"),
    include_str!("../migrations/008.sql"),
    include_str!("../migrations/009.sql"),
    include_str!("../migrations/010.sql"),
];

/// The `user_version` of the first migration. Earlier schemas were never released.
const FIRST: usize = 7;
const NEWEST: usize = FIRST + MIGRATIONS.len() - 1;

impl Store {
    /// Brings the schema up to date. It is an error if this version cannot.
    pub(crate) fn migrate(&mut self) -> Result<(), StoreError> {
        let found: usize = self
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(self.failed("read its schema version"))?;
        if found == NEWEST {
            return Ok(());
        }
        if found != 0 && !(FIRST..NEWEST).contains(&found) {
            let other = if found > NEWEST {
                "a newer writebench"
            } else {
                "the older writebench"
            };
            return Err(self.content(format!(
                "has schema {found}, this writebench knows {NEWEST}. Use {other} or another --db"
            )));
        }
        self.apply()
            .map_err(self.failed("bring its schema up to date"))
    }

    fn apply(&mut self) -> rusqlite::Result<()> {
        // Two programs may open a new database at once, so the version is read again.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found: usize =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        for migration in MIGRATIONS.iter().skip((found + 1).saturating_sub(FIRST)) {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", NEWEST)?;
        transaction.commit()
    }
}
