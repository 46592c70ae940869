//! Stores runs, cases and samples in SQLite. Each sample is committed immediately, so a crash loses at most the sample
//! in progress.
//!
//! This is an internal part of writebench, without a stability promise.

mod delete;
mod in_place;
mod json;
mod migrate;
mod names;
mod ownership;
mod read;
mod run_locks;
mod status;
mod targets;
mod workspaces;
mod write;

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params};
use writebench_model::Failure;

use in_place::{Identity, identity};
use ownership::beside;

pub use names::Finalist;
pub use ownership::files;
pub use read::RunSummary;
pub use workspaces::WorkspaceRecord;

/// "wrbt", in the file's header.
const APPLICATION_ID: i32 = 0x7772_6274;

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("database {path}: {doing}: {error}{}", remedy(error), path = path.display())]
    Sqlite {
        path: PathBuf,
        doing: &'static str,
        error: rusqlite::Error,
    },
    /// The database, or a file of SQLite next to it, cannot be made or written.
    #[error("database {path}: cannot be written there ({error}). Name another with --db", path = path.display())]
    NotWritable {
        path: PathBuf,
        error: rusqlite::Error,
    },
    /// Another user could have written the database, or a file next to it that SQLite obeys. `what` is the
    /// reason and the remedy.
    #[error("database {path}: {what}", path = path.display())]
    Unsafe { path: PathBuf, what: String },
    /// The path leads to a pipe, a device or a directory.
    #[error("database {path} is not a file. Name another with --db", path = path.display())]
    NoFile { path: PathBuf },
    #[error("database: stat {path}: {}", Failure::io_message(error), path = path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("database {path}: lock {path}-runs: {}. Name another with --db", Failure::io_message(error), path = path.display())]
    Lock { path: PathBuf, error: io::Error },
    #[error("database {path}: was removed or replaced during the run", path = path.display())]
    Gone { path: PathBuf },
    #[error("the run is too large for a database: {error}")]
    TooLarge { error: writebench_model::TooMuch },
    #[error("database {path} has no run {run}. `writebench runs` lists all", path = path.display())]
    NoRun { path: PathBuf, run: i64 },
    #[error("database {path}: run {run} is still in progress: end it first, or wait for its end", path = path.display())]
    UnderWay { path: PathBuf, run: i64 },
    /// This version cannot read the content.
    #[error("database {path}: {what}", path = path.display())]
    Content { path: PathBuf, what: String },
}

/// An open database.
pub struct Store {
    connection: Connection,
    /// The path that the user gave.
    path: PathBuf,
    /// The path without links.
    real: PathBuf,
    identity: Identity,
    /// The file with the locks of this store's runs. None before the first.
    locks: RefCell<Option<File>>,
}

/// How long other programs may keep the database locked.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long data that can wait in memory waits for a lock.
const SHORT_TIMEOUT: Duration = Duration::from_millis(50);

impl StoreError {
    /// Whether another program has locked the database, and the same call can succeed later.
    pub fn is_busy(&self) -> bool {
        let Self::Sqlite { error, .. } = self else {
            return false;
        };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    }
}

impl Store {
    /// Opens, creates or migrates the database.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let real = real_path(path);
        ownership::check(path, &real)?;
        // Through another user's link, SQLite would write where that user chooses. The flag refuses links
        // anywhere in the path. The user is responsible for those before the name.
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection =
            Connection::open_with_flags(&real, flags).map_err(|error| not_opened(path, error))?;
        let mut store = Self::new(connection, path, real);
        let is_ours = store
            .protect_from_content()
            .map_err(|error| not_opened(path, error))?;
        store.require_ours(is_ours)?;
        store.set_up().map_err(|error| not_opened(path, error))?;
        store.migrate()?;
        store.identity = identity(&store.real);
        Ok(store)
    }

    fn new(connection: Connection, path: &Path, real: PathBuf) -> Self {
        Self {
            connection,
            path: path.to_path_buf(),
            identity: identity(&real),
            real,
            locks: RefCell::new(None),
        }
    }

    /// Opens the database for reading, even if nothing can be written.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        match Self::open(path) {
            // Without its log the database would be incomplete.
            Err(StoreError::NotWritable { .. }) if !beside(path, "-wal").exists() => {
                Self::open_immutable(path)
            }
            opened => opened,
        }
    }

    /// Opens a database that nothing changes, without the locks and shared memory of one in use.
    fn open_immutable(path: &Path) -> Result<Self, StoreError> {
        let name: String = path
            .as_os_str()
            .as_bytes()
            .iter()
            .map(|byte| format!("%{byte:02x}"))
            .collect();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)
            .map_err(|error| not_opened_to_read(path, error))?;
        let mut store = Self::new(connection, path, real_path(path));
        let is_ours = store
            .protect_from_content()
            .map_err(|error| not_opened_to_read(path, error))?;
        store.require_ours(is_ours)?;
        store.migrate()?;
        Ok(store)
    }

    /// Lets the connection run no code of the database's schema. Returns whether the database is new or one of
    /// writebench.
    fn protect_from_content(&self) -> rusqlite::Result<bool> {
        self.connection.busy_timeout(TIMEOUT)?;
        // A database from elsewhere may have triggers.
        self.connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        self.connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        self.connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        self.connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // Within a single statement no other program can create the database.
        self.connection.query_row(
            "SELECT application_id = ?1 OR NOT EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_application_id",
            [APPLICATION_ID],
            |row| row.get(0),
        )
    }

    fn require_ours(&self, is_ours: bool) -> Result<(), StoreError> {
        if is_ours {
            Ok(())
        } else {
            Err(self.content("belongs to another program. Name another with --db"))
        }
    }

    fn set_up(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "foreign_keys", true)?;
        // With a write-ahead log, a commit survives a crash of the program without a sync, which would
        // disturb the measured disk.
        let until = Instant::now() + TIMEOUT;
        // SQLite does not wait if two connections change the mode of a new database: one would wait for the
        // other's lock for ever.
        while let Err(error) = self.connection.pragma_update(None, "journal_mode", "wal") {
            let is_busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            if !is_busy || Instant::now() > until {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.connection.pragma_update(None, "synchronous", "normal")
    }

    /// The path that the user gave.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes changes that give up soon if another program has locked the database. The error may be
    /// [busy](StoreError::is_busy).
    pub fn without_waiting<T>(
        &self,
        write: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.set_timeout(SHORT_TIMEOUT)?;
        let written = write();
        self.set_timeout(TIMEOUT)?;
        written
    }

    fn set_timeout(&self, timeout: Duration) -> Result<(), StoreError> {
        self.connection
            .busy_timeout(timeout)
            .map_err(self.failed("limit the time of a lock"))
    }

    /// Makes changes that wait for another program's lock for the usual time, unless `stop` is set. The error may be
    /// [busy](StoreError::is_busy).
    pub fn unless_stopped<T>(
        &self,
        stop: &AtomicBool,
        mut write: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let until = Instant::now() + TIMEOUT;
        loop {
            match self.without_waiting(&mut write) {
                Err(error)
                    if error.is_busy()
                        && !stop.load(Ordering::Relaxed)
                        && Instant::now() < until => {}
                written => return written,
            }
        }
    }

    /// Fails if another program has the database locked, so that nothing could be recorded now.
    pub fn check_unlocked(&self) -> Result<(), StoreError> {
        self.connection
            .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
            .map_err(self.failed("record the run"))
    }

    /// The first column of the only row.
    fn value<T: FromSql>(
        &self,
        doing: &'static str,
        select: &str,
        parameters: impl Params,
    ) -> Result<T, StoreError> {
        self.connection
            .query_row(select, parameters, |row| row.get(0))
            .map_err(self.failed(doing))
    }

    fn list<T>(
        &self,
        doing: &'static str,
        select: &str,
        parameters: impl Params,
        from_row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        collect_rows(&self.connection, select, parameters, from_row).map_err(self.failed(doing))
    }

    /// Executes a statement, but only in a database that is still in place.
    fn change(
        &self,
        doing: &'static str,
        statement: &str,
        parameters: impl Params,
    ) -> Result<(), StoreError> {
        self.check_in_place()?;
        self.connection
            .execute(statement, parameters)
            .map(|_| ())
            .map_err(self.failed(doing))
    }

    fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        move |error| StoreError::Sqlite {
            path: self.path.clone(),
            doing,
            error,
        }
    }

    /// The error of a run that this database does not have.
    pub fn no_run(&self, run: i64) -> StoreError {
        StoreError::NoRun {
            path: self.path.clone(),
            run,
        }
    }

    fn under_way(&self, run: i64) -> StoreError {
        StoreError::UnderWay {
            path: self.path.clone(),
            run,
        }
    }

    fn content(&self, what: impl Into<String>) -> StoreError {
        StoreError::Content {
            path: self.path.clone(),
            what: what.into(),
        }
    }
}

fn not_opened(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_path_buf();
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            StoreError::NotWritable { path, error }
        }
        _ => StoreError::Sqlite {
            path,
            doing: "open",
            error,
        },
    }
}

fn not_opened_to_read(path: &Path, error: rusqlite::Error) -> StoreError {
    StoreError::Sqlite {
        path: path.to_path_buf(),
        doing: "open to read",
        error,
    }
}

fn collect_rows<T>(
    connection: &Connection,
    select: &str,
    parameters: impl Params,
    from_row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare(select)?;
    let rows = statement.query_map(parameters, from_row)?;
    rows.collect()
}

/// Advice that SQLite's message lacks.
fn remedy(error: &rusqlite::Error) -> &'static str {
    match (error.sqlite_error_code(), error) {
        (Some(ErrorCode::NotADatabase), _) => {
            ". Name another with --db. If it was one of writebench, it is damaged: move it away (`sqlite3 FILE .recover` \
             may still read it)"
        }
        (Some(ErrorCode::DatabaseCorrupt), _) => {
            ". It is damaged: move it away, or name another with --db (`sqlite3 FILE .recover` may still read it)"
        }
        // SQLite does not name the errno, such as EFBIG.
        (Some(ErrorCode::SystemIoFailure), _) => {
            ". See `ulimit -f` and the kernel's log (`dmesg`), or name a database elsewhere with --db"
        }
        (Some(ErrorCode::DiskFull), _) => {
            ". Make room on its disk, or name a database elsewhere with --db"
        }
        (
            _,
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..),
        ) => {
            ". It is damaged, or another program wrote it: move it away, or name another with --db"
        }
        _ => "",
    }
}

/// The path without links before its name, or the path itself if the directory is missing.
fn real_path(path: &Path) -> PathBuf {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let real = directory
        .canonicalize()
        .ok()
        .zip(path.file_name())
        .map(|(parent, name)| parent.join(name));
    real.unwrap_or_else(|| path.to_path_buf())
}
