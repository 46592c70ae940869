//! A filesystem in memory that is soon full.

use std::path::Path;

use anyhow::Result;

use crate::mounted::Mounted;

/// A tmpfs of its own. Unmounted when dropped.
pub struct SmallTmpfs {
    mounted: Mounted,
}

impl SmallTmpfs {
    /// Mounts one that holds so many bytes, in whole pages, for this user alone.
    ///
    /// # Errors
    /// `mount` refuses.
    pub fn mount(size_bytes: u64) -> Result<Self> {
        let options = format!("mode=0700,size={size_bytes}");
        Ok(Self { mounted: Mounted::new(&["-t", "tmpfs", "-o", &options, "tmpfs"])? })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }

    /// Makes it larger or smaller.
    ///
    /// # Errors
    /// `mount` refuses: more is in use.
    pub fn resize(&self, size_bytes: u64) -> Result<()> {
        self.mounted.remount(&format!("size={size_bytes}"))
    }
}
