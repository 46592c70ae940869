//! Where a run writes to, how the run made it, and what its hardware could do at most.

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::properties::Properties;
use crate::value::named_values;

/// A target that was measured, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// What tables call it; different from all others of the run.
    pub name: String,
    /// The directory or the block device written to, as [`path_text`](crate::path_text).
    pub path: String,
    /// What was measured on.
    pub environment: Environment,
    /// What the hardware could do at most.
    pub limits: Vec<Limit>,
    /// How the run made its filesystem; none if it was there.
    pub making: Option<Making>,
    /// What its filesystem does with files; none if that was not looked at.
    pub properties: Option<Properties>,
}

/// A target that was asked for and that this machine cannot give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTarget {
    /// What tables call it.
    pub name: String,
    /// Why there is none.
    pub why: String,
}

/// How a filesystem was made for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Making {
    /// Its kind by its name on the command line: `ext4`, `btrfs-raid0`, `fuse:ext4`.
    pub kind: String,
    /// The images that it is in; none if it is in memory.
    pub images: Vec<Image>,
    /// What was run to make and mount it, in order.
    pub commands: Vec<String>,
    /// The words for `mkfs` that the user gave.
    pub mkfs_options: Vec<String>,
    /// The options for the mount that the user gave.
    pub mount_options: Option<String>,
}

/// A file that holds a filesystem, or a part of one, behind a loop device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The directory that it is in.
    pub directory: String,
    /// The kind of that directory's filesystem, as mount(8) names it.
    pub directory_filesystem: String,
    /// The number of that filesystem, as stat(2) has it in `st_dev`: `8:1`, of a device where it stands on one alone.
    pub directory_device: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its loop device: `loop3`.
    pub device: String,
    /// Whether the device goes past the page cache for it.
    pub direct_io: bool,
    /// Why it does not.
    pub direct_io_refused: Option<String>,
    /// The device's sectors.
    pub logical_sector_bytes: u64,
}

named_values! {
    /// What was measured.
    LimitKind {
        /// Copying from memory to memory, as a write into the page cache does at least once.
        MemoryCopy = "memory-copy",
        /// The same from one chunk that stays in the CPU's caches.
        MemoryCopyOneChunk = "memory-copy-one-chunk",
        /// The same as the first, with stores past the caches of the CPU.
        MemoryCopyNonTemporal = "memory-copy-non-temporal",
        /// Large direct writes with several under way, for what must be on the device.
        DeviceWrite = "device-write",
    }
}

/// A bandwidth that no way of writing should exceed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Of what.
    pub kind: LimitKind,
    /// With so many threads.
    pub threads: u32,
    /// The best of several measurements; none if it cannot be measured here.
    pub bytes_per_s: Option<u64>,
    /// How it was measured, in words, or why not.
    pub how: String,
}
