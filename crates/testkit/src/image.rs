//! Filesystems of any kind and size in image files, mounted through a loop device.

use std::path::PathBuf;

use anyhow::Result;

use crate::loop_device::LoopDevice;
use crate::mounted::Mounted;

/// A mounted image. Unmounted, detached and removed on drop.
pub struct Image {
    mounted: Mounted,
    // Dropped after the mount.
    device: LoopDevice,
}

impl Image {
    /// Makes an image of that size, formats it with `mkfs.KIND` and mounts it.
    ///
    /// # Errors
    /// A program is missing or refuses.
    pub fn mount(kind: &str, size_bytes: u64) -> Result<Self> {
        let device = LoopDevice::attach(size_bytes)?;
        Ok(Self { mounted: device.format_and_mount(device.path(), kind)?, device })
    }

    /// Mounts an image on a device [for measurements](LoopDevice::attach_for_measurements).
    ///
    /// # Errors
    /// A program is missing or refuses, or there is no space.
    pub fn mount_for_measurements(kind: &str, size_bytes: u64) -> Result<Self> {
        let device = LoopDevice::attach_for_measurements(size_bytes)?;
        Ok(Self { mounted: device.format_and_mount(device.path(), kind)?, device })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.mounted.path().to_owned()
    }

    /// The mounted device.
    #[must_use]
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// Mounts the image again with other options, such as `ro`.
    ///
    /// # Errors
    /// `mount` refuses.
    pub fn remount(&self, options: &str) -> Result<()> {
        self.mounted.remount(options)
    }
}
