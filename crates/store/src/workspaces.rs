//! The directories that writebench made in targets. A later run removes those of killed runs, and only
//! those.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::params;

use crate::{Store, StoreError};

/// A directory that a run has made in a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceRecord {
    pub path: PathBuf,
    /// The number of the run.
    pub run: i64,
}

impl Store {
    /// Records a directory. The caller makes it right after this.
    pub fn add_workspace(&self, workspace: &WorkspaceRecord) -> Result<(), StoreError> {
        let insert = "INSERT INTO workspaces (path, run) VALUES (?1, ?2)";
        let values = params![workspace.path.as_os_str().as_bytes(), workspace.run];
        self.change("record a directory", insert, values)
    }

    /// Deletes the record of a directory. The caller has removed it before.
    pub fn forget_workspace(&self, path: &Path) -> Result<(), StoreError> {
        let delete = "DELETE FROM workspaces WHERE path = ?1";
        self.change("forget a directory", delete, [path.as_os_str().as_bytes()])
    }

    /// The recorded directories, which are not yet removed.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceRecord>, StoreError> {
        self.list(
            "list directories",
            "SELECT path, run FROM workspaces",
            [],
            |row| {
                let path: Vec<u8> = row.get(0)?;
                Ok(WorkspaceRecord {
                    path: PathBuf::from(OsStr::from_bytes(&path)),
                    run: row.get(1)?,
                })
            },
        )
    }
}
