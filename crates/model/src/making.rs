//! How a filesystem was made for a run.

use serde::{Deserialize, Serialize};

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
