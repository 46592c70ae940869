use std::os::linux::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use tempfile::TempDir;

use crate::call::call;

/// Must be dropped before the mounted device.
pub struct Mounted {
    point: TempDir,
}

impl Mounted {
    /// With arguments of mount(8).
    pub(crate) fn new(words: &[&str]) -> Result<Self> {
        let point = temporary("mount")?;
        call(Command::new("mount").args(words).arg(point.path()))?;
        Ok(Self { point })
    }

    /// In whole pages, for this user alone: it is soon full.
    pub fn tmpfs(size_bytes: u64) -> Result<Self> {
        Self::new(&[
            "-t",
            "tmpfs",
            "-o",
            &format!("mode=0700,size={size_bytes}"),
            "tmpfs",
        ])
    }

    /// Its directories are made in another filesystem, new for each overlay.
    pub fn overlay(below: &Path, options: &str) -> Result<Self> {
        let own = tempfile::Builder::new()
            .prefix("overlay-")
            .tempdir_in(below)?
            .keep();
        let [lower, upper, work] = ["lower", "upper", "work"].map(|name| own.join(name));
        for directory in [&lower, &upper, &work] {
            std::fs::create_dir(directory)?;
        }
        let [lower, upper, work] = [lower, upper, work].map(|path| path.display().to_string());
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work},{options}");
        Self::new(&["-t", "overlay", "-o", &options, "overlay"])
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// For example `ro` or `size=1M`.
    pub fn remount(&self, options: &str) -> Result<()> {
        call(
            Command::new("mount")
                .args(["-o", &format!("remount,{options}")])
                .arg(self.path()),
        )
    }
}

pub(crate) fn temporary(what: &str) -> std::io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix(&format!("writebench-{what}-"))
        .tempdir()
}

/// Repeated while it is busy: between `fork` and `exec`, a child of another test has this process's files open.
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
