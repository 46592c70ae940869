//! The environment of a measurement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Facts about the machine and the target, taken at the start of a run. An unknown fact is `None`, never a
/// guess.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Name, kernel, distribution.
    pub system: System,
    /// Processors.
    pub cpu: Cpu,
    /// Main memory.
    pub memory: Memory,
    /// The target's filesystem.
    pub filesystem: Filesystem,
    /// The device below it, if it has one.
    pub device: Option<Device>,
    /// Kernel settings that influence writes, by path without the first slash.
    pub tunables: BTreeMap<String, String>,
}

/// Name, kernel, distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// The host's name.
    pub hostname: String,
    /// The kernel's name and release.
    pub kernel: String,
    /// The processor architecture.
    pub architecture: String,
    /// The distribution's own name.
    pub distribution: Option<String>,
    /// The hypervisor, if the virtual machine shows one.
    pub hypervisor: Option<String>,
}

/// Processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The processor's own model name.
    pub model: Option<String>,
    /// CPUs that this process may use.
    pub available: u32,
    /// The frequency governor.
    pub governor: Option<String>,
}

/// Main memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Total memory.
    pub total_bytes: u64,
    /// Memory that new work can have without swapping, by the kernel's estimate.
    pub available_bytes: u64,
    /// The limit of this process's control group, if it is below the total.
    pub limit_bytes: Option<u64>,
    /// Size of a page.
    pub page_size_bytes: u64,
}

/// The target's filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Its kind, as mount(8) names it.
    pub kind: String,
    /// The mounted device or directory.
    pub source: String,
    /// The mount point.
    pub mount_point: String,
    /// The options of the mount and of the filesystem.
    pub mount_options: String,
    /// Its size.
    pub total_bytes: u64,
    /// Bytes that this user can still write.
    pub available_bytes: u64,
    /// Size of its blocks.
    pub block_size_bytes: u64,
    /// The layout of new files, in the words of the tool of a parallel filesystem, where it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_layout: Option<String>,
}

impl Filesystem {
    /// The kind of a target that is a block device itself.
    pub const BLOCK_DEVICE: &'static str = "block device";

    /// Whether it stands for a block device that is written directly.
    #[must_use]
    pub fn is_block_device(&self) -> bool {
        self.kind == Self::BLOCK_DEVICE
    }

    /// Whether its files are only in memory.
    #[must_use]
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
    /// Its size.
    pub size_bytes: Option<u64>,
    /// Whether the kernel considers it a rotating disk.
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Size of an addressable sector.
    pub logical_sector_bytes: Option<u64>,
    /// Size of a sector that is written as a whole.
    pub physical_sector_bytes: Option<u64>,
}
