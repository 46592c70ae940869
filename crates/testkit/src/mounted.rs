use std::os::linux::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use crate::call::call;

/// Must be dropped before the mounted device.
pub struct Mounted {
    point: TempDir,
}

impl Mounted {
    /// With arguments of mount(8).
    pub(crate) fn new(words: &[&str]) -> Result<Self> {
        let point = tempfile::Builder::new().prefix("writebench-mount-").tempdir()?;
        call(Command::new("mount").args(words).arg(point.path()))?;
        Ok(Self { point })
    }

    /// In whole pages, for this user alone: it is soon full.
    pub fn tmpfs(size_bytes: u64) -> Result<Self> {
        Self::new(&["-t", "tmpfs", "-o", &format!("mode=0700,size={size_bytes}"), "tmpfs"])
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// For example `ro` or `size=1M`.
    pub fn remount(&self, options: &str) -> Result<()> {
        call(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.path()))
    }
}

pub(crate) fn device_at(path: &Path) -> Option<u64> {
    path.metadata().map(|metadata| metadata.st_dev()).ok()
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).output();
    }
}
