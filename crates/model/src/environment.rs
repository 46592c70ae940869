//! What was measured on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Facts about the machine and the target, taken at the start of a run. What could not be learnt is
/// `None`, never a guess.
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
    /// Kernel settings that shape writing, by their path without the first slash.
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
    /// The distribution's own name for itself.
    pub distribution: Option<String>,
    /// Who runs the virtual machine, if it is one that says so.
    pub hypervisor: Option<String>,
}

/// Processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The model as the processor names itself.
    pub model: Option<String>,
    /// CPUs that this process may use.
    pub available: u32,
    /// The frequency governor.
    pub governor: Option<String>,
}

/// Main memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// All of it.
    pub total_bytes: u64,
    /// What new work can have without swapping, as the kernel estimates it.
    pub available_bytes: u64,
    /// The limit of this process's control group, where it is lower than the total.
    pub limit_bytes: Option<u64>,
    /// Size of a page.
    pub page_size_bytes: u64,
}

/// The target's filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Its kind, as mount(8) names it.
    pub kind: String,
    /// What is mounted.
    pub source: String,
    /// Where.
    pub mount_point: String,
    /// With which options, of the mount and of the filesystem.
    pub mount_options: String,
    /// Its size.
    pub total_bytes: u64,
    /// Bytes that this user can still write.
    pub available_bytes: u64,
    /// Size of its blocks.
    pub block_size_bytes: u64,
}

impl Filesystem {
    /// Whether its files are in memory and nowhere else.
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
    /// What the maker calls it.
    pub model: Option<String>,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// Whether the kernel takes it for a rotating disk.
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
