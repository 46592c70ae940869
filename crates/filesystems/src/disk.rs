//! Filesystems on a disk that the caller supplies as a file, to mount it again and again.

use std::fs::File;
use std::path::Path;

use crate::cleanup::unmount_patiently;
use crate::error::Error;
use crate::filesystems::{mount_at, require_kernel};
use crate::image::ImageFile;
use crate::kind::DiskKind;
use crate::loop_device::{LoopDevice, forget_btrfs};
use crate::namespace::require_initial_user;
use crate::program;
use crate::recipe::Recipe;

/// A loop device over a file. It detaches itself after a drop, when it is no longer mounted.
#[derive(Debug)]
pub struct Disk {
    kind: DiskKind,
    recipe: Recipe,
    device: LoopDevice,
}

impl Disk {
    /// Attaches a file.
    ///
    /// # Errors
    ///
    /// No loop device is free, the kernel lacks the filesystem, or its mkfs is not installed.
    pub fn attach(kind: &DiskKind, file: File, path: &Path, bytes: u64) -> Result<Self, Error> {
        require_initial_user()?;
        let recipe = Recipe::for_kind(kind.base());
        program::require(&recipe.mkfs(), recipe.package())?;
        require_kernel(&recipe.family)?;
        Ok(Self {
            kind: kind.clone(),
            recipe,
            device: LoopDevice::attach(ImageFile::of(file, path, bytes))?,
        })
    }

    /// Makes the filesystem.
    ///
    /// # Errors
    ///
    /// mkfs refuses, for example because the disk is too small.
    pub fn format(&self, mkfs_options: &[String]) -> Result<(), Error> {
        let words = self.recipe.mkfs_words(mkfs_options, &[self.device.node()]);
        program::run(
            &self.recipe.mkfs(),
            self.recipe.package(),
            &words,
            &mut Vec::new(),
        )
    }

    /// Mounts the filesystem as it is on the disk now. The options follow those that `fs` uses.
    ///
    /// # Errors
    ///
    /// The kernel does not mount it.
    pub fn mount(&self, point: &Path, options: Option<&str>) -> Result<(), Error> {
        let options = self.recipe.mount_options(0, &[], options);
        let node = self.device.node();
        mount_at(point, &self.recipe.family, &node, &options, &mut Vec::new())
    }

    /// Unmounts it, and lets the kernel forget what it knows of the disk.
    ///
    /// # Errors
    ///
    /// The filesystem is still in use after 10 s.
    pub fn unmount(&self, point: &Path) -> Result<(), Error> {
        unmount_patiently(point)?;
        self.forget()
    }

    /// Lets the kernel forget what it knows of the disk, because its bytes have changed.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn forget(&self) -> Result<(), Error> {
        if self.recipe.family == "btrfs" {
            forget_btrfs(&self.device.node());
        }
        self.device.forget_blocks()
    }

    /// Repairs the filesystem as the start of a machine would, if it has no journal.
    ///
    /// # Errors
    ///
    /// The program is missing, or cannot repair it.
    pub fn repair(&self) -> Result<(), Error> {
        if !matches!(self.kind.base(), "ext2" | "ext4-no-journal") {
            return Ok(());
        }
        let words = ["-fy".to_owned(), self.device.node()];
        // fsck(8): 1 and 2 say that errors were corrected.
        program::run_expecting("e2fsck", Some("e2fsprogs"), &words, &[0, 1, 2])?;
        self.device.forget_blocks()
    }

    /// Detaches the device, and waits for that.
    ///
    /// # Errors
    ///
    /// It is still in use after 10 s.
    pub fn detach(self) -> Result<(), Error> {
        self.device.detach()
    }
}
