//! Runs, cases and samples in SQLite. Each sample is committed as it is made: a crash of the program
//! loses at most the sample under way.

mod migrate;
mod read;
mod workspaces;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

pub use read::RunSummary;
pub use workspaces::WorkspaceRecord;

/// What can go wrong with the database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite's own word for it.
    #[error("database {path}: {doing}: {source}", path = path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Written by a later version.
    #[error("database {path}: has schema {found}, this writebench knows up to {known}; use a newer writebench or another --db", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: usize,
        /// Ours.
        known: usize,
    },
    /// A value that this version does not understand.
    #[error("database {path}: {what}", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// An open database.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens or creates the database at `path`, and brings its schema up to date.
    ///
    /// # Errors
    /// The file cannot be opened, is no database, or is from a later version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let error = |doing| move |source| StoreError::Sqlite { path: path.to_path_buf(), doing, source };
        let connection = Connection::open(path).map_err(error("open"))?;
        let mut store = Self { connection, path: path.to_path_buf() };
        store.set_up().map_err(error("open"))?;
        store.migrate()?;
        Ok(store)
    }

    fn set_up(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(Duration::from_secs(10))?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        // In a write-ahead log a commit needs no sync to survive a crash of the program, so that the
        // database does not disturb the disk that is measured.
        self.connection.pragma_update(None, "journal_mode", "wal")?;
        self.connection.pragma_update(None, "synchronous", "normal")
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        move |source| StoreError::Sqlite { path: self.path.clone(), doing, source }
    }

    fn content(&self, what: impl Into<String>) -> StoreError {
        StoreError::Content { path: self.path.clone(), what: what.into() }
    }
}
