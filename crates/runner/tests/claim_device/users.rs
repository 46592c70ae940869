//! Users of a block device. Dropping one releases it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;
use writebench_testkit::{call, unmount};

pub(crate) struct MountedAt {
    point: TempDir,
}

impl MountedAt {
    pub(crate) fn new(device: &Path) -> Result<Self> {
        let point = tempfile::Builder::new()
            .prefix("writebench-mount-")
            .tempdir()?;
        call(Command::new("mount").args([device, point.path()]))?;
        Ok(Self { point })
    }

    pub(crate) fn point(&self) -> &Path {
        self.point.path()
    }
}

impl Drop for MountedAt {
    fn drop(&mut self) {
        let _ = unmount(self.point.path());
    }
}

pub(crate) struct SwappedTo {
    device: PathBuf,
}

impl SwappedTo {
    /// Swaps to the device, with the lowest priority.
    pub(crate) fn new(device: &Path) -> Result<Self> {
        call(Command::new("swapon").arg(device))?;
        Ok(Self {
            device: device.to_path_buf(),
        })
    }
}

impl Drop for SwappedTo {
    fn drop(&mut self) {
        let _ = Command::new("swapoff").arg(&self.device).output();
    }
}

pub(crate) struct Mapped {
    name: String,
}

impl Mapped {
    /// The whole device, in sectors of 512 bytes.
    pub(crate) fn over(device: &Path, sectors: u64) -> Result<Self> {
        let name = format!("writebench-test-{}", std::process::id());
        let table = format!("0 {sectors} linear {} 0", device.display());
        call(Command::new("dmsetup").args(["create", &name, "--table", &table]))?;
        Ok(Self { name })
    }

    /// The device's name in device mapper.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let _ = Command::new("dmsetup")
            .args(["remove", "--retry", &self.name])
            .output();
    }
}
