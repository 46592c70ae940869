//! A filesystem in memory that is soon full.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use crate::image::call;

/// A tmpfs of its own. Unmounted when dropped.
pub struct SmallTmpfs {
    point: TempDir,
}

impl SmallTmpfs {
    /// Mounts one that holds so many bytes, in whole pages, for this user alone.
    ///
    /// # Errors
    /// `mount` refuses.
    pub fn mount(size_bytes: u64) -> Result<Self> {
        let point = tempfile::Builder::new().prefix("writebench-tmpfs-").tempdir()?;
        let size = format!("mode=0700,size={size_bytes}");
        call(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(point.path()))?;
        Ok(Self { point })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// Makes it larger or smaller.
    ///
    /// # Errors
    /// `mount` refuses: more is in use.
    pub fn resize(&self, size_bytes: u64) -> Result<()> {
        let size = format!("remount,size={size_bytes}");
        call(Command::new("mount").args(["-o", &size]).arg(self.path()))
    }
}

impl Drop for SmallTmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).output();
    }
}
