//! A mount on a new directory.

use std::os::linux::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use crate::call::call;

/// Unmounted on drop, which must come before dropping the mounted device.
pub struct Mounted {
    point: TempDir,
}

impl Mounted {
    /// Mounts with these arguments of mount(8).
    ///
    /// # Errors
    /// `mount` refuses.
    pub(crate) fn new(words: &[&str]) -> Result<Self> {
        let point = tempfile::Builder::new().prefix("writebench-mount-").tempdir()?;
        call(Command::new("mount").args(words).arg(point.path()))?;
        Ok(Self { point })
    }

    /// Mounts a new tmpfs of that size, in whole pages, for this user alone: it is soon full.
    ///
    /// # Errors
    /// `mount` refuses.
    pub fn tmpfs(size_bytes: u64) -> Result<Self> {
        Self::new(&["-t", "tmpfs", "-o", &format!("mode=0700,size={size_bytes}"), "tmpfs"])
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// Mounts the filesystem again with other options, such as `ro` or `size=1M`.
    ///
    /// # Errors
    /// `mount` refuses.
    pub fn remount(&self, options: &str) -> Result<()> {
        call(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.path()))
    }
}

/// The device of the filesystem at that path.
pub(crate) fn device_at(path: &Path) -> Option<u64> {
    path.metadata().map(|metadata| metadata.st_dev()).ok()
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).output();
    }
}
