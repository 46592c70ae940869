//! A block device that is held to a rate.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The root group of the controller of version 1. That of version 2 has no limits at its root.
const LIMIT: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device";

/// Holds writes to a device to a rate, until dropped.
pub struct Throttle {
    number: String,
}

/// Whether a device can be held to a rate here.
pub(crate) fn is_possible() -> bool {
    Path::new(LIMIT).exists()
}

impl Throttle {
    /// Limits the device with that node.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn hold(node: &Path, bytes_per_s: u64) -> Result<Self> {
        let name = node.file_name().context("a device's name")?.to_string_lossy().into_owned();
        let number = fs::read_to_string(format!("/sys/class/block/{name}/dev"))?.trim().to_owned();
        let throttle = Self { number };
        throttle.set(bytes_per_s)?;
        Ok(throttle)
    }

    /// Another rate from now on.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set(&self, bytes_per_s: u64) -> Result<()> {
        fs::write(LIMIT, format!("{} {bytes_per_s}", self.number)).context(LIMIT)
    }

    /// The bytes that the device has received since it appeared: sectors of 512 bytes, field 7 of the
    /// kernel's Documentation/block/stat.rst.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        let stat = fs::read_to_string(format!("/sys/dev/block/{}/stat", self.number)).unwrap_or_default();
        let sectors = stat.split_whitespace().nth(6).and_then(|sectors| sectors.parse::<u64>().ok());
        sectors.unwrap_or(0) * 512
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = self.set(0);
    }
}
