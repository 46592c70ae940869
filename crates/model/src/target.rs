use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::earlier_names;
use crate::environment::Environment;
use crate::value::named_values;

/// A directory or block device to which a run writes, with the facts about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// The target's name, which is unique in the run.
    pub name: String,
    /// The directory or block device, as [`path_text`](crate::path_text()).
    pub path: String,
    pub environment: Environment,
    #[serde(deserialize_with = "list")]
    pub limits: Vec<Limit>,
    /// The filesystem that was made for the run. None if the filesystem existed before.
    #[serde(alias = "making")]
    pub made_filesystem: Option<FilesystemSpec>,
}

impl TargetRecord {
    /// The memory that a run there may use.
    pub fn memory_bytes(&self) -> u64 {
        let memory = &self.environment.memory;
        memory.limit_bytes.unwrap_or(memory.total_bytes)
    }

    /// Whether files there have checksums of their data, unless they have `FS_NOCOW_FL`.
    pub fn has_checksums(&self) -> bool {
        let filesystem = &self.environment.filesystem;
        filesystem.kind == "btrfs"
            && filesystem
                .mount_options
                .split(',')
                .all(|option| !matches!(option, "nodatasum" | "nodatacow"))
    }
}

/// A target that was requested, but that this machine cannot provide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTarget {
    pub name: String,
    #[serde(alias = "why")]
    pub reason: String,
}

/// How a filesystem was made for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemSpec {
    /// The kind in the words of the command line: `ext4`, `btrfs-raid0`, `fuse:ext4`.
    pub kind: String,
    /// The images that hold the filesystem. A filesystem in memory has none.
    #[serde(deserialize_with = "list")]
    pub images: Vec<Image>,
    /// The commands that made and mounted the filesystem, in order.
    #[serde(deserialize_with = "list")]
    pub commands: Vec<String>,
    /// The options that `mkfs` got.
    #[serde(deserialize_with = "list")]
    pub mkfs_options: Vec<String>,
    pub mount_options: Option<String>,
}

/// A file with a filesystem, or a part of one, behind a loop device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub directory: String,
    /// The kind of the filesystem around the image, in the words of mount(8).
    pub directory_filesystem: String,
    /// The directory's `st_dev` of stat(2): `8:1` on a single device.
    pub directory_device: String,
    pub size_bytes: u64,
    /// The name of the loop device: `loop3`.
    pub device: String,
    /// Whether the device bypasses the page cache for the image.
    pub direct_io: bool,
    /// Why the device does not bypass the page cache. None if it does.
    pub direct_io_refused: Option<String>,
    pub logical_sector_bytes: u64,
}

named_values! {
    /// The work whose bandwidth limits that of the methods.
    LimitKind {
        /// Data is copied within memory. A write into the page cache copies at least once.
        MemoryCopy = "memory-copy",
        /// One chunk in the CPU's caches is copied again and again.
        MemoryCopyOneChunk = "memory-copy-one-chunk",
        /// Data is copied with stores that bypass the CPU's caches.
        MemoryCopyNonTemporal = "memory-copy-non-temporal",
        /// Large direct writes are made, of which several are in flight.
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
    /// What was measured, or the reason why it could not be.
    #[serde(alias = "how", deserialize_with = "earlier_names::sentence")]
    pub description: String,
}
