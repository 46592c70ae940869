use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Facts about the machine and the target, taken at the start of a run. An unknown fact is `None`, never a
/// guess.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    pub system: System,
    pub cpu: Cpu,
    pub memory: Memory,
    pub filesystem: Filesystem,
    /// The device below the filesystem, if there is one.
    pub device: Option<Device>,
    /// Kernel settings that influence writes, by path without the first slash.
    pub tunables: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    pub hostname: String,
    /// The kernel's name and release.
    pub kernel: String,
    pub architecture: String,
    /// The distribution's own name.
    pub distribution: Option<String>,
    /// The hypervisor, if the virtual machine shows one.
    pub hypervisor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    pub model: Option<String>,
    /// CPUs that this process may use.
    pub available: u32,
    /// The frequency governor.
    pub governor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub total_bytes: u64,
    /// Memory that new work can have without swapping, by the kernel's estimate.
    pub available_bytes: u64,
    /// The limit of this process's control group, if it is below the total.
    pub limit_bytes: Option<u64>,
    pub page_size_bytes: u64,
}

/// The target's filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// As mount(8) names it, or [`Self::BLOCK_DEVICE`].
    pub kind: String,
    /// The mounted device or directory.
    pub source: String,
    pub mount_point: String,
    /// The options of the mount and of the filesystem.
    pub mount_options: String,
    pub total_bytes: u64,
    /// Bytes that this user can still write.
    pub available_bytes: u64,
    pub block_size_bytes: u64,
    /// The layout of new files, in the words of a parallel filesystem's own tool, if it is
    /// installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_layout: Option<String>,
}

impl Filesystem {
    /// The kind of a target that is a block device itself.
    pub const BLOCK_DEVICE: &'static str = "block device";

    /// Whether it stands for a block device that is written directly.
    pub fn is_block_device(&self) -> bool {
        self.kind == Self::BLOCK_DEVICE
    }

    /// Whether the filesystem keeps its files in memory alone.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.kind.as_str(), "tmpfs" | "ramfs" | "devtmpfs")
    }
}

/// The block device below the filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The kernel's name.
    pub name: String,
    /// Major and minor number, as in `/sys/dev/block`.
    pub number: String,
    /// The maker's model name.
    pub model: Option<String>,
    pub size_bytes: Option<u64>,
    /// Whether the kernel considers the device a rotating disk.
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    pub scheduler: Option<String>,
    /// Size of an addressable sector.
    pub logical_sector_bytes: Option<u64>,
    /// Size of a sector that is written as a whole.
    pub physical_sector_bytes: Option<u64>,
}
