//! Whether the database is still the file that was opened.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::ownership::beside;
use crate::{Store, StoreError};

/// The device and the inode of the database, and those of its write-ahead log.
pub(crate) type Identity = [Option<(u64, u64)>; 2];

pub(crate) fn identity(real: &Path) -> Identity {
    [real, &beside(real, "-wal")].map(|path| {
        let metadata = path.symlink_metadata().ok()?;
        Some(device_and_inode(&metadata))
    })
}

pub(crate) fn device_and_inode(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Store {
    /// It is an error if the database was removed or replaced. Writes to a removed file succeed while it is open, so the
    /// paths must still lead to the open files.
    pub fn check_in_place(&self) -> Result<(), StoreError> {
        if identity(&self.real) == self.identity {
            return Ok(());
        }
        Err(StoreError::Gone {
            path: self.path.clone(),
        })
    }
}
