use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use tempfile::TempDir;

use crate::call::call;

/// A mount that ends with the drop. It must be dropped before the mounted device.
pub struct Mounted {
    point: TempDir,
}

impl Mounted {
    /// Mounts with these arguments of mount(8).
    pub(crate) fn new(words: &[&str]) -> Result<Self> {
        let point = temporary("mount")?;
        call(Command::new("mount").args(words).arg(point.path()))?;
        Ok(Self { point })
    }

    /// A filesystem in memory for this user alone. Its size is in whole pages, so that it is soon full.
    pub fn tmpfs(size_bytes: u64) -> Result<Self> {
        Self::new(&[
            "-t",
            "tmpfs",
            "-o",
            &format!("mode=0700,size={size_bytes}"),
            "tmpfs",
        ])
    }

    /// An overlay, whose directories are made in another filesystem and are new for each overlay.
    pub fn overlay(below: &Path, options: &str) -> Result<Self> {
        let own = overlay_directories(below)?;
        let mut all_options = String::new();
        for name in OVERLAY_DIRECTORIES {
            all_options += &format!("{name}dir={},", own.join(name).display());
        }
        all_options += options;
        Self::new(&["-t", "overlay", "-o", &all_options, "overlay"])
    }

    /// An overlay whose options have relative paths, so that they do not say where it is.
    pub fn relative_overlay(below: &Path) -> Result<Self> {
        let own = overlay_directories(below)?;
        let options = OVERLAY_DIRECTORIES.map(|name| format!("{name}dir={name}"));
        let point = temporary("mount")?;
        call(
            Command::new("mount")
                .current_dir(own)
                .args(["-t", "overlay", "-o", &options.join(","), "overlay"])
                .arg(point.path()),
        )?;
        Ok(Self { point })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// Changes options, for example to `ro` or `size=1M`.
    pub fn remount(&self, options: &str) -> Result<()> {
        call(
            Command::new("mount")
                .args(["-o", &format!("remount,{options}")])
                .arg(self.path()),
        )
    }
}

const OVERLAY_DIRECTORIES: [&str; 3] = ["lower", "upper", "work"];

fn overlay_directories(below: &Path) -> Result<PathBuf> {
    let own = tempfile::Builder::new()
        .prefix("overlay-")
        .tempdir_in(below)?
        .keep();
    for name in OVERLAY_DIRECTORIES {
        std::fs::create_dir(own.join(name))?;
    }
    Ok(own)
}

pub(crate) fn temporary(what: &str) -> std::io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix(&format!("writebench-{what}-"))
        .tempdir()
}

/// Unmounts, and tries again while the mount is busy: between `fork` and `exec`, a child of another test has this
/// process's files open.
pub fn unmount(point: &Path) -> Result<()> {
    const LIMIT: Duration = Duration::from_secs(10);
    let start = Instant::now();
    loop {
        match rustix::mount::unmount(point, UnmountFlags::empty()) {
            Err(Errno::BUSY) if start.elapsed() < LIMIT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            ended => return ended.with_context(|| format!("unmount {}", point.display())),
        }
    }
}

/// Aborts a FUSE connection, so all waiting requests get an error. A busy mount is detached.
pub(crate) fn abort(point: &Path) {
    let _ = rustix::mount::unmount(point, UnmountFlags::FORCE | UnmountFlags::DETACH);
}

pub(crate) fn device_at(path: &Path) -> Option<u64> {
    path.metadata().map(|metadata| metadata.st_dev()).ok()
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(self.path());
    }
}
