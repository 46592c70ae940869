//! A block device that is held to a rate.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The root group of the controller of version 1: there the kernel's own writeback is held up, too. That of version 2
/// has no limits at its root.
const LIMIT: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device";

/// Holds writes to a device to a rate, and what waits for it in the page cache to an amount, until dropped.
pub struct Throttle {
    number: String,
    dirty: PathBuf,
}

/// Why no device can be held to a rate here; none if one can.
pub(crate) fn missing() -> Option<String> {
    let exists = Path::new(LIMIT).exists() && Path::new("/sys/class/bdi").is_dir();
    (!exists).then(|| "no root group of the blkio controller, version 1".to_owned())
}

impl Throttle {
    /// Of the device with that node.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn hold(node: &Path, bytes_per_s: u64, dirty_bytes: u64) -> Result<Self> {
        let name = node.file_name().context("a device's name")?.to_string_lossy().into_owned();
        let number = fs::read_to_string(format!("/sys/class/block/{name}/dev"))?.trim().to_owned();
        let dirty = PathBuf::from(format!("/sys/class/bdi/{number}"));
        fs::write(LIMIT, format!("{number} {bytes_per_s}")).context(LIMIT)?;
        // From here on dropping undoes it.
        let throttle = Self { number, dirty };
        fs::write(throttle.dirty.join("strict_limit"), "1")?;
        fs::write(throttle.dirty.join("max_bytes"), dirty_bytes.to_string())?;
        Ok(throttle)
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = fs::write(LIMIT, format!("{} 0", self.number));
        let _ = fs::write(self.dirty.join("strict_limit"), "0");
        let _ = fs::write(self.dirty.join("max_ratio"), "100");
    }
}
