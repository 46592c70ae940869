//! The directories that writebench made in targets. A later run removes those of killed runs, and only
//! those.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::params;

use crate::{Store, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceRecord {
    pub path: PathBuf,
    pub run: i64,
}

impl Store {
    /// Recorded right before it is made.
    pub fn add_workspace(&self, workspace: &WorkspaceRecord) -> Result<(), StoreError> {
        let insert = "INSERT INTO workspaces (path, run) VALUES (?1, ?2)";
        let values = params![workspace.path.as_os_str().as_bytes(), workspace.run];
        self.change("record a directory", insert, values)
    }

    /// After its removal.
    pub fn forget_workspace(&self, path: &Path) -> Result<(), StoreError> {
        let delete = "DELETE FROM workspaces WHERE path = ?1";
        self.change("forget a directory", delete, [path.as_os_str().as_bytes()])
    }

    /// The directories not yet removed.
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
