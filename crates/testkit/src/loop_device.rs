use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::call::call;
use crate::mounted::{Mounted, temporary};
use crate::program::entries;

/// All attached loop devices: each device's folder in `/sys/block`, and its file.
#[must_use]
pub fn loop_devices() -> Vec<(PathBuf, String)> {
    let mut attached = Vec::new();
    for device in entries(Path::new("/sys/block")) {
        if let Ok(file) = std::fs::read_to_string(device.join("loop/backing_file")) {
            attached.push((device, file.trim_end().to_owned()));
        }
    }
    attached
}

/// A loop device over its own sparse image or an existing file. Mounts and descriptors must be dropped first.
pub struct LoopDevice {
    path: PathBuf,
    image: PathBuf,
    _directory: Option<TempDir>,
}

impl LoopDevice {
    /// A device over a new sparse image, with sectors of 512 bytes.
    pub fn attach(size_bytes: u64) -> Result<Self> {
        Self::attach_with_sectors(size_bytes, 512)
    }

    pub fn attach_with_sectors(size_bytes: u64, sector_bytes: u32) -> Result<Self> {
        Self::with_image(&["--sector-size", &sector_bytes.to_string()], |image| {
            image.set_len(size_bytes)
        })
    }

    /// A device over a new image whose blocks are written and cannot be discarded. The device bypasses the page cache.
    pub fn attach_for_measurements(size_bytes: u64) -> Result<Self> {
        let device = Self::with_image(&["--direct-io=on"], |image| {
            std::io::copy(&mut std::io::repeat(0).take(size_bytes), image)?;
            image.sync_all()
        })?;
        let name = device.path.file_name().context("a device's name")?;
        let discards = Path::new("/sys/block")
            .join(name)
            .join("queue/discard_max_bytes");
        std::fs::write(&discards, "0").with_context(|| discards.display().to_string())?;
        Ok(device)
    }

    fn with_image(
        options: &[&str],
        fill: impl FnOnce(&mut File) -> std::io::Result<()>,
    ) -> Result<Self> {
        let directory = temporary("loop")?;
        let image = directory.path().join("image");
        fill(&mut File::create(&image)?)?;
        Ok(Self {
            path: attached(&image, options)?,
            image,
            _directory: Some(directory),
        })
    }

    pub fn over(file: &Path, options: &[&str]) -> Result<Self> {
        Ok(Self {
            path: attached(file, options)?,
            image: file.to_path_buf(),
            _directory: None,
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn image(&self) -> PathBuf {
        self.image.clone()
    }

    /// Makes and mounts a filesystem. `node` is the device or a partition of it.
    pub fn format_and_mount(&self, node: &Path, kind: &str) -> Result<Mounted> {
        call(Command::new(format!("mkfs.{kind}")).arg("-q").arg(node))?;
        Mounted::new(&[node.to_str().context("UTF-8")?])
    }

    pub fn mount(&self) -> Result<Mounted> {
        Mounted::new(&[self.path.to_str().context("UTF-8")?])
    }

    /// Makes a partition from 1 MiB to the end. The device must have sectors of 512 bytes and be larger than 1 MiB.
    pub fn partition(&self) -> Result<PathBuf> {
        const FIRST_SECTOR: u32 = 2048;
        let mut device = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let size_bytes = device.seek(SeekFrom::End(0))?;
        let sectors = u32::try_from(size_bytes / 512)? - FIRST_SECTOR;
        let mut table = [0; 512];
        table[450] = 0x83;
        table[454..458].copy_from_slice(&FIRST_SECTOR.to_le_bytes());
        table[458..462].copy_from_slice(&sectors.to_le_bytes());
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        device.write_all_at(&table, 0)?;
        device.sync_all()?;
        drop(device);
        // The update also succeeds if the kernel or udev has already found the partition.
        call(Command::new("partx").arg("--update").arg(&self.path))?;
        let partition = PathBuf::from(format!("{}p1", self.path.display()));
        ensure!(partition.exists(), "{} did not appear", partition.display());
        Ok(partition)
    }
}

fn attached(file: &Path, options: &[&str]) -> Result<PathBuf> {
    let mut losetup = Command::new("losetup");
    // Without --partscan a loop device can have no partitions.
    losetup
        .args(["--find", "--show", "--partscan"])
        .args(options)
        .arg(file);
    let output = losetup.output().context("losetup")?;
    ensure!(
        output.status.success(),
        "{losetup:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim_end()))
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.path)
            .output();
    }
}
