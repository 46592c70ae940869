use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::environment::Environment;
use crate::value::named_values;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// Unique in the run.
    pub name: String,
    /// The directory or block device, as [`path_text`](crate::path_text()).
    pub path: String,
    pub environment: Environment,
    #[serde(deserialize_with = "list")]
    pub limits: Vec<Limit>,
    /// None if the filesystem existed before.
    #[serde(alias = "making")]
    pub made_filesystem: Option<FilesystemSpec>,
}

impl TargetRecord {
    /// Whether files there have checksums of their data, unless they have `FS_NOCOW_FL`.
    pub fn has_checksums(&self) -> bool {
        let filesystem = &self.environment.filesystem;
        let is_off = |option: &str| matches!(option, "nodatasum" | "nodatacow");
        filesystem.kind == "btrfs" && !filesystem.mount_options.split(',').any(is_off)
    }
}

/// Requested, but this machine cannot provide it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTarget {
    pub name: String,
    #[serde(alias = "why")]
    pub reason: String,
}

/// The making of a filesystem for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemSpec {
    /// As on the command line: `ext4`, `btrfs-raid0`, `fuse:ext4`.
    pub kind: String,
    /// Empty for a filesystem in memory.
    #[serde(deserialize_with = "list")]
    pub images: Vec<Image>,
    /// In order.
    #[serde(deserialize_with = "list")]
    pub commands: Vec<String>,
    /// For `mkfs`.
    #[serde(deserialize_with = "list")]
    pub mkfs_options: Vec<String>,
    pub mount_options: Option<String>,
}

/// A file with a filesystem, or a part of one, behind a loop device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub directory: String,
    /// As mount(8) names it.
    pub directory_filesystem: String,
    /// `st_dev` of stat(2): `8:1` on a single device.
    pub directory_device: String,
    pub size_bytes: u64,
    /// `loop3`.
    pub device: String,
    /// Whether the device bypasses the page cache for the image.
    pub direct_io: bool,
    pub direct_io_refused: Option<String>,
    pub logical_sector_bytes: u64,
}

named_values! {
    LimitKind {
        /// A write into the page cache copies at least once.
        MemoryCopy = "memory-copy",
        /// From one chunk in the CPU's caches.
        MemoryCopyOneChunk = "memory-copy-one-chunk",
        /// With stores that bypass the CPU's caches.
        MemoryCopyNonTemporal = "memory-copy-non-temporal",
        /// Large direct writes, several in flight.
        DeviceWrite = "device-write",
    }
}

/// A bandwidth beyond the reach of all methods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub kind: LimitKind,
    pub threads: u32,
    /// The best of several measurements. None if it cannot be measured here.
    pub bytes_per_s: Option<u64>,
    /// Of the measurement, or the reason for its failure.
    #[serde(alias = "how")]
    pub description: String,
}
