//! Where the database is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use etcetera::BaseStrategy;
use store::Store;

use crate::exit;

/// The path of the database that was named, or of the user's own.
pub fn path(named: Option<&Path>) -> Result<PathBuf> {
    named.map_or_else(default_path, |path| Ok(path.to_path_buf()))
}

/// Opens the database that was named, or the user's own, which is created where it is missing.
pub fn open(named: Option<&Path>) -> Result<Store> {
    let path = path(named)?;
    if named.is_none()
        && let Some(directory) = path.parent()
    {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}; name a database with --db", directory.display()))?;
    }
    is_file(&path)?;
    Ok(Store::open(&path)?)
}

/// Whether a database can be there: what SQLite would wait for, write through or call by a number is named.
fn is_file(path: &Path) -> Result<()> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
    if metadata.is_symlink() {
        let leads_to = std::fs::read_link(path).unwrap_or_default();
        return Err(exit::refused(format!(
            "database {} is a symbolic link to {}, which somebody else may have made; name that file with --db",
            path.display(),
            leads_to.display()
        )));
    }
    if !metadata.is_file() {
        return Err(exit::usage(format!("database {} is no file; name another with --db", path.display())));
    }
    Ok(())
}

/// Opens a database for reading, which must be there.
pub fn open_existing(named: Option<&Path>) -> Result<Store> {
    let path = path(named)?;
    if !path.exists() {
        return Err(exit::usage(format!(
            "no runs yet: there is no {}; `writebench run` makes it",
            path.display()
        )));
    }
    is_file(&path)?;
    Ok(Store::open_to_read(&path)?)
}

/// What `writebench` is followed by in a command that is to find this database again.
fn option(store: &Store) -> String {
    let is_default = default_path().is_ok_and(|path| path == store.path());
    if is_default {
        String::new()
    } else {
        format!(" --db {}", report::quoted(&store.path().to_string_lossy()))
    }
}

/// The command that shows a run again.
pub fn show(store: &Store, number: i64) -> String {
    format!("`writebench{} show {number}` shows it again.", option(store))
}

/// The command for a run's page, or for that of a part on one target.
pub fn page(store: &Store, number: i64, target: Option<&str>) -> String {
    let run = target.map_or(number.to_string(), |target| report::quoted(&format!("{number}@{target}")));
    format!("Its page: writebench{} report {run} -o report.html", option(store))
}

/// The newest of all runs.
pub fn newest(store: &Store) -> Result<i64> {
    let none = || exit::usage(format!("no runs in {}; `writebench run` makes one", store.path().display()));
    store.newest_run(false)?.ok_or_else(none)
}

fn default_path() -> Result<PathBuf> {
    let directories =
        etcetera::choose_base_strategy().context("no home directory; name a database with --db")?;
    Ok(directories.data_dir().join("writebench").join("writebench.db"))
}
