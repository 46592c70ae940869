use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The limit of all processes, in the root group of version 1. Version 2's root group has no limits.
const LIMIT: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device";

/// A limit on the writes to a device, which lasts until the drop.
pub struct Throttle {
    number: String,
}

pub(crate) fn is_possible() -> bool {
    Path::new(LIMIT).exists()
}

impl Throttle {
    pub fn hold(node: &Path, bytes_per_s: u64) -> Result<Self> {
        let name = node
            .file_name()
            .context("a device's name")?
            .to_string_lossy()
            .into_owned();
        let number = fs::read_to_string(format!("/sys/class/block/{name}/dev"))?
            .trim()
            .to_owned();
        let throttle = Self { number };
        throttle.set(bytes_per_s)?;
        Ok(throttle)
    }

    pub fn set(&self, bytes_per_s: u64) -> Result<()> {
        fs::write(LIMIT, format!("{} {bytes_per_s}", self.number)).context(LIMIT)
    }

    /// The bytes written since the device appeared: field 7 of the kernel's Documentation/block/stat.rst, which counts
    /// sectors of 512 bytes.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        let stat =
            fs::read_to_string(format!("/sys/dev/block/{}/stat", self.number)).unwrap_or_default();
        let sectors: u64 = stat
            .split_whitespace()
            .nth(6)
            .and_then(|sectors| sectors.parse().ok())
            .unwrap_or(0);
        sectors * 512
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = self.set(0);
    }
}
