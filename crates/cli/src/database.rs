//! Where the database is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use etcetera::BaseStrategy;
use store::Store;

use crate::exit;

/// Opens the database that was named, or the user's own, which is created where it is missing.
pub fn open(named: Option<&Path>) -> Result<Store> {
    let path = match named {
        Some(path) => path.to_path_buf(),
        None => default_path()?,
    };
    if named.is_none()
        && let Some(directory) = path.parent()
    {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}; name a database with --db", directory.display()))?;
    }
    Ok(Store::open(&path)?)
}

/// Opens a database for reading, which must be there.
pub fn open_existing(named: Option<&Path>) -> Result<Store> {
    let path = named.map_or_else(default_path, |path| Ok(path.to_path_buf()))?;
    if !path.exists() {
        return Err(exit::usage(format!(
            "no runs yet: there is no {}; `writebench run` makes it",
            path.display()
        )));
    }
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

/// The command for a run's page.
pub fn page(store: &Store, number: i64) -> String {
    format!("Its page: writebench{} report {number} -o report.html", option(store))
}

fn default_path() -> Result<PathBuf> {
    let directories =
        etcetera::choose_base_strategy().context("no home directory; name a database with --db")?;
    Ok(directories.data_dir().join("writebench").join("writebench.db"))
}
