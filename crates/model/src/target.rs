//! A run's target, the making of its filesystem, and the limits of its hardware.

use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::environment::Environment;
use crate::value::named_values;

/// A target that was, or will be, measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// The name in tables, unique in the run.
    pub name: String,
    /// The directory or the block device written to, as [`path_text`](crate::path_text()).
    pub path: String,
    pub environment: Environment,
    #[serde(deserialize_with = "list")]
    pub limits: Vec<Limit>,
    /// None if the filesystem existed before.
    pub making: Option<FilesystemSpec>,
}

impl TargetRecord {
    /// Whether data there can outlive a loss of power: not in memory, and not on a filesystem that was made in memory.
    pub fn keeps_data(&self) -> bool {
        let is_made_in_memory = self.making.as_ref().is_some_and(|making| making.images.is_empty());
        !is_made_in_memory && !self.environment.filesystem.is_in_memory()
    }

    /// Whether files there have checksums of their data, unless they have `FS_NOCOW_FL`.
    #[must_use]
    pub fn has_checksums(&self) -> bool {
        let filesystem = &self.environment.filesystem;
        let is_off = |option: &str| matches!(option, "nodatasum" | "nodatacow");
        filesystem.kind == "btrfs" && !filesystem.mount_options.split(',').any(is_off)
    }
}

/// A requested target that this machine cannot provide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTarget {
    /// The name in tables.
    pub name: String,
    pub why: String,
}

/// The making of a filesystem for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemSpec {
    /// The kind by its name on the command line: `ext4`, `btrfs-raid0`, `fuse:ext4`.
    pub kind: String,
    /// Empty if the filesystem is in memory.
    #[serde(deserialize_with = "list")]
    pub images: Vec<Image>,
    /// The commands that made and mounted the filesystem, in order.
    #[serde(deserialize_with = "list")]
    pub commands: Vec<String>,
    /// The user's arguments for `mkfs`.
    #[serde(deserialize_with = "list")]
    pub mkfs_options: Vec<String>,
    /// The user's options for the mount.
    pub mount_options: Option<String>,
}

/// A file that holds a filesystem, or a part of one, behind a loop device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub directory: String,
    /// The kind of that directory's filesystem, as mount(8) names it.
    pub directory_filesystem: String,
    /// The number of that filesystem, `st_dev` of stat(2): `8:1` if it is on a single device.
    pub directory_device: String,
    pub size_bytes: u64,
    /// `loop3`.
    pub device: String,
    /// Whether the device bypasses the page cache for the image.
    pub direct_io: bool,
    /// The reason if the device does not.
    pub direct_io_refused: Option<String>,
    /// The size of the device's sectors.
    pub logical_sector_bytes: u64,
}

named_values! {
    /// The kind of measurement.
    LimitKind {
        /// Copies from memory to memory, which a write into the page cache does at least once.
        MemoryCopy = "memory-copy",
        /// The same from one chunk that stays in the CPU's caches.
        MemoryCopyOneChunk = "memory-copy-one-chunk",
        /// Plain copies with stores that bypass the CPU's caches.
        MemoryCopyNonTemporal = "memory-copy-non-temporal",
        /// Large direct writes, several under way, for data that must be on the device.
        DeviceWrite = "device-write",
    }
}

/// A bandwidth that no way of writing should exceed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub kind: LimitKind,
    pub threads: u32,
    /// The best of several measurements; none if it cannot be measured here.
    pub bytes_per_s: Option<u64>,
    /// The method of measurement, or the reason why it failed.
    pub how: String,
}
