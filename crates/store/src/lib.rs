//! Runs, cases and samples in SQLite. Each sample is committed at once: a crash of the program loses at most
//! the sample under way.

mod delete;
mod in_place;
mod json;
mod migrate;
mod ownership;
mod read;
mod run_locks;
mod status;
mod targets;
mod workspaces;
mod write;

use std::cell::OnceCell;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params};

use in_place::{Identity, identity};
use ownership::beside;

pub use ownership::files;
pub use read::RunSummary;
pub use workspaces::WorkspaceRecord;

/// Marks the file's header as writebench's: "wrbt".
const APPLICATION_ID: i32 = 0x7772_6274;

/// An error of the database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An error of SQLite.
    #[error("database {path}: {doing}: {error}{}", remedy(error), path = path.display())]
    Sqlite { path: PathBuf, doing: &'static str, error: rusqlite::Error },
    /// The database, or a file that SQLite keeps beside it, cannot be made or written.
    #[error("database {path}: cannot be written there ({error}); name another with --db", path = path.display())]
    NotWritable { path: PathBuf, error: rusqlite::Error },
    /// Another user could have written the database, or a file beside it that SQLite obeys. `what` is the reason and the
    /// remedy.
    #[error("database {path}: {what}", path = path.display())]
    Unsafe { path: PathBuf, what: String },
    /// A pipe, a device or a directory.
    #[error("database {path} is no file; name another with --db", path = path.display())]
    NoFile { path: PathBuf },
    /// The system refuses access to the file, or to one beside it.
    #[error("database: stat {path}: {error}", path = path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// The lock of a run could be neither taken nor tested.
    #[error("database {path}: lock {path}-runs: {error}; name another with --db", path = path.display())]
    Lock { path: PathBuf, error: io::Error },
    /// The database is no longer at its path.
    #[error("database {path}: was removed or replaced in mid-run", path = path.display())]
    Gone { path: PathBuf },
    /// The run exceeds the limits of every database.
    #[error("the run is too large for a database: {error}")]
    TooLarge { error: writebench_model::TooMuch },
    #[error("database {path}: has no run {run}; `writebench runs` shows what there is", path = path.display())]
    NoRun { path: PathBuf, run: i64 },
    /// A process still measures that run.
    #[error("database {path}: run {run} is still under way; end it first, or wait for its end", path = path.display())]
    UnderWay { path: PathBuf, run: i64 },
    /// The database has a value that this version does not understand.
    #[error("database {path}: {what}", path = path.display())]
    Content { path: PathBuf, what: String },
}

/// An open database.
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The path without links.
    real: PathBuf,
    identity: Identity,
    /// Holds the locks of this store's runs.
    locks: OnceCell<File>,
}

/// How long other programs may keep the database locked.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long, if the data can wait in memory.
const SHORT_TIMEOUT: Duration = Duration::from_millis(50);

impl StoreError {
    /// Whether another program has locked the database, so that the same call can succeed later.
    pub fn is_busy(&self) -> bool {
        let Self::Sqlite { error, .. } = self else { return false };
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}

impl Store {
    /// Opens or creates the database at `path`, and migrates it.
    ///
    /// # Errors
    /// The file cannot be opened, is no database, or is from another version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let error = |error: rusqlite::Error| {
            let path = path.to_path_buf();
            match error.sqlite_error_code() {
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => StoreError::NotWritable { path, error },
                _ => StoreError::Sqlite { path, doing: "open", error },
            }
        };
        let real = real_path(path);
        ownership::check(path, &real)?;
        // Through a link that another user made, SQLite would write where that user chooses. The flag refuses
        // links anywhere in the path; the user is responsible for those before the name.
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&real, flags).map_err(error)?;
        let mut store = Self::new(connection, path, real);
        store.check_ours(error)?;
        store.set_up().map_err(error)?;
        store.migrate()?;
        store.identity = identity(&store.real);
        Ok(store)
    }

    fn new(connection: Connection, path: &Path, real: PathBuf) -> Self {
        let (path, identity) = (path.to_path_buf(), identity(&real));
        Self { connection, path, real, identity, locks: OnceCell::new() }
    }

    /// Opens the database at `path` for reading, even if nothing can be written.
    ///
    /// # Errors
    /// As for [`Store::open`]; or the database would have to be written first.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        match Self::open(path) {
            // With a log, the database would be incomplete.
            Err(StoreError::NotWritable { .. }) if !beside(path, "-wal").exists() => Self::open_immutable(path),
            opened => opened,
        }
    }

    /// Opens without the locks and shared memory of a database that is being written.
    fn open_immutable(path: &Path) -> Result<Self, StoreError> {
        let error = |error| StoreError::Sqlite { path: path.to_path_buf(), doing: "open to read", error };
        let mut name = "file:".to_owned();
        for byte in path.as_os_str().as_bytes() {
            name += &format!("%{byte:02x}");
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(name + "?immutable=1", flags).map_err(error)?;
        let mut store = Self::new(connection, path, real_path(path));
        store.check_ours(error)?;
        store.migrate()?;
        Ok(store)
    }

    /// Checks that the database is new or writebench's, on a connection that runs no code of its schema. Changes
    /// nothing in it.
    fn check_ours(&self, error: impl FnOnce(rusqlite::Error) -> StoreError) -> Result<(), StoreError> {
        let is_ours = || {
            self.connection.busy_timeout(TIMEOUT)?;
            // A database from elsewhere may have triggers; ours has none.
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            // A single statement, so that no other program creates it in between.
            self.connection.query_row(
                "SELECT application_id = ?1 OR NOT EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_application_id",
                [APPLICATION_ID],
                |row| row.get(0),
            )
        };
        if is_ours().map_err(error)? {
            return Ok(());
        }
        Err(self.content("belongs to another program; name another with --db"))
    }

    fn set_up(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "foreign_keys", true)?;
        // With a write-ahead log a commit survives a crash of the program without a sync, so that the
        // database does not disturb the measured disk.
        let until = Instant::now() + TIMEOUT;
        // SQLite does not wait where two connections want to change the mode of a new database: one of them would
        // wait for the other's lock for ever.
        while let Err(error) = self.connection.pragma_update(None, "journal_mode", "wal") {
            let is_busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            if !is_busy || Instant::now() > until {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.connection.pragma_update(None, "synchronous", "normal")
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes, and gives up soon if another program has locked the database.
    ///
    /// # Errors
    /// The errors of `write`, which may be [busy](StoreError::is_busy).
    pub fn without_waiting<T>(&self, write: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let set =
            |timeout| self.connection.busy_timeout(timeout).map_err(self.failed("limit the time of a lock"));
        set(SHORT_TIMEOUT)?;
        let written = write();
        set(TIMEOUT)?;
        written
    }

    /// Writes, and waits for another program's lock as long as others do, unless `stop` is set.
    ///
    /// # Errors
    /// The errors of `write`, which may be [busy](StoreError::is_busy).
    pub fn unless_stopped<T>(
        &self,
        stop: &AtomicBool,
        mut write: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let until = Instant::now() + TIMEOUT;
        loop {
            match self.without_waiting(&mut write) {
                Err(error) if error.is_busy() && !stop.load(Ordering::Relaxed) && Instant::now() < until => {}
                written => return written,
            }
        }
    }

    /// The first column of the only row.
    fn value<T: FromSql>(
        &self,
        doing: &'static str,
        select: &str,
        parameters: impl Params,
    ) -> Result<T, StoreError> {
        self.connection.query_row(select, parameters, |row| row.get(0)).map_err(self.failed(doing))
    }

    /// All rows.
    fn list<T>(
        &self,
        doing: &'static str,
        select: &str,
        parameters: impl Params,
        from_row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let list = || {
            let mut statement = self.connection.prepare(select)?;
            let rows = statement.query_map(parameters, from_row)?;
            rows.collect::<rusqlite::Result<_>>()
        };
        list().map_err(self.failed(doing))
    }

    /// Writes, if the database is still in place.
    fn change(&self, doing: &'static str, statement: &str, parameters: impl Params) -> Result<(), StoreError> {
        self.check_in_place()?;
        self.connection.execute(statement, parameters).map(|_| ()).map_err(self.failed(doing))
    }

    fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        move |error| StoreError::Sqlite { path: self.path.clone(), doing, error }
    }

    /// The error of a run that is not there.
    pub fn no_run(&self, run: i64) -> StoreError {
        StoreError::NoRun { path: self.path.clone(), run }
    }

    fn content(&self, what: impl Into<String>) -> StoreError {
        StoreError::Content { path: self.path.clone(), what: what.into() }
    }
}

/// The end of an error that says more than SQLite does.
fn remedy(error: &rusqlite::Error) -> &'static str {
    match (error.sqlite_error_code(), error) {
        (Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt), _) => {
            "; it is damaged, or no database: move it away, or name another with --db (`sqlite3 FILE .recover` may \
             still read it)"
        }
        (Some(ErrorCode::DiskFull), _) => "; make room on its disk, or name a database elsewhere with --db",
        (_, rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..)) => {
            "; it is damaged, or another program wrote it: move it away, or name another with --db"
        }
        _ => "",
    }
}

/// The path without links before its name; as it is where there is no such directory.
fn real_path(path: &Path) -> PathBuf {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = directory.canonicalize().ok().zip(path.file_name()).map(|(parent, name)| parent.join(name));
    real.unwrap_or_else(|| path.to_path_buf())
}
