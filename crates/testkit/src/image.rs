use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::loop_device::LoopDevice;
use crate::mounted::Mounted;

/// A filesystem in an image file, mounted until the drop.
pub struct Image {
    mounted: Mounted,
    // Dropped after the mount.
    device: LoopDevice,
}

impl Image {
    /// Makes and mounts a filesystem of this kind in a new image.
    pub fn mount(kind: &str, size_bytes: u64) -> Result<Self> {
        Self::on(LoopDevice::attach(size_bytes)?, kind)
    }

    /// Makes and mounts a filesystem of this kind on a device.
    pub fn on(device: LoopDevice, kind: &str) -> Result<Self> {
        Ok(Self {
            mounted: device.format_and_mount(device.path(), kind)?,
            device,
        })
    }

    /// Mounts the filesystem that is in the file.
    pub fn over(file: &Path) -> Result<Self> {
        let device = LoopDevice::over(file, &[])?;
        Ok(Self {
            mounted: device.mount()?,
            device,
        })
    }

    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.mounted.path().to_owned()
    }

    #[must_use]
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// Changes options, for example to `ro`.
    pub fn remount(&self, options: &str) -> Result<()> {
        self.mounted.remount(options)
    }
}
