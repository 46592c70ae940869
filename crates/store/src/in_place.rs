//! Checks that the open database is still the one at its path.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::ownership::beside;
use crate::{Store, StoreError};

/// Device and inode of the database and of its write-ahead log; none for a missing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    database: Option<(u64, u64)>,
    log: Option<(u64, u64)>,
}

impl Identity {
    pub(crate) fn at(real: &Path) -> Self {
        let identity = |path: &Path| {
            let metadata = path.symlink_metadata().ok()?;
            Some((metadata.dev(), metadata.ino()))
        };
        Self { database: identity(real), log: identity(&beside(real, "-wal")) }
    }
}

impl Store {
    /// Checks that data written now can be found again. The system keeps a removed file while it is open, and
    /// writes to it succeed.
    ///
    /// # Errors
    /// The database or its write-ahead log is no longer at its path, or was replaced.
    pub fn check_in_place(&self) -> Result<(), StoreError> {
        if Identity::at(&self.real) == self.identity {
            return Ok(());
        }
        Err(StoreError::Gone { path: self.path.clone() })
    }
}
