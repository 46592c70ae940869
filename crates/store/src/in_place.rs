//! Checks that the open database is still the one at its path.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::ownership::beside;
use crate::{Store, StoreError};

/// Device and inode of the database and of its write-ahead log; none for a missing file.
pub(crate) type Identity = [Option<(u64, u64)>; 2];

pub(crate) fn identity(real: &Path) -> Identity {
    [real, &beside(real, "-wal")].map(|path| {
        let metadata = path.symlink_metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    })
}

impl Store {
    /// Checks that data written now can be found again. The system keeps a removed file while it is open, and
    /// writes to it succeed.
    ///
    /// # Errors
    /// The database or its write-ahead log is no longer at its path, or was replaced.
    pub fn check_in_place(&self) -> Result<(), StoreError> {
        if identity(&self.real) == self.identity {
            return Ok(());
        }
        Err(StoreError::Gone { path: self.path.clone() })
    }
}
