//! A small filesystem in memory, which is soon full.

use std::path::Path;

use anyhow::Result;

use crate::mounted::Mounted;

/// A tmpfs, unmounted on drop.
pub struct SmallTmpfs {
    mounted: Mounted,
}

impl SmallTmpfs {
    /// Mounts a tmpfs of that size, in whole pages, for this user alone.
    ///
    /// # Errors
    /// `mount` refuses.
    pub fn mount(size_bytes: u64) -> Result<Self> {
        let options = format!("mode=0700,size={size_bytes}");
        Ok(Self { mounted: Mounted::new(&["-t", "tmpfs", "-o", &options, "tmpfs"])? })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }

    /// Resizes the filesystem.
    ///
    /// # Errors
    /// `mount` refuses: more is in use.
    pub fn resize(&self, size_bytes: u64) -> Result<()> {
        self.mounted.remount(&format!("size={size_bytes}"))
    }
}
