//! Filesystems of any kind and size in image files, mounted through a loop device.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// A mounted image. Unmounted, detached and removed when dropped.
pub struct Image {
    directory: TempDir,
}

impl Image {
    /// Makes an image of that size, formats it with `mkfs.KIND` and mounts it.
    ///
    /// # Errors
    /// A program is missing or refuses.
    pub fn mount(kind: &str, size_bytes: u64) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("writebench-image-").tempdir()?;
        let image = directory.path().join("image");
        std::fs::File::create(&image)?.set_len(size_bytes)?;
        let mount_point = directory.path().join("mounted");
        std::fs::create_dir(&mount_point)?;
        call(Command::new(format!("mkfs.{kind}")).arg(&image))?;
        call(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&mount_point))?;
        Ok(Self { directory })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }

    /// Mounts it again with other options, such as `ro`.
    ///
    /// # Errors
    /// `mount` refuses.
    pub fn remount(&self, options: &str) -> Result<()> {
        call(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.path()))
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).output();
    }
}

/// Runs a program to its end, which must be success. It speaks English.
///
/// # Errors
/// It cannot be started, or fails: then with what it said.
pub fn call(command: &mut Command) -> Result<()> {
    let output = command.env("LC_ALL", "C").output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Whether a program is on the path.
pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain([PathBuf::from("/sbin"), PathBuf::from("/usr/sbin")]).any(|directory| {
        let file: &Path = &directory.join(name);
        file.is_file()
    })
}
