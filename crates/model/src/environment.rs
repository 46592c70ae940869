use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::kernel::KernelRelease;
use crate::value::named_values;

/// Facts about the machine and the target at the start of a run. An unknown fact is `None`, never a guess.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    pub system: System,
    pub cpu: Cpu,
    pub memory: Memory,
    pub filesystem: Filesystem,
    pub device: Option<Device>,
    /// The filesystems and images that hold the data, from the top down. Older documents lack the field.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "list"
    )]
    pub below: Vec<LayerBelow>,
    /// Kernel settings that influence writes, by path without the first slash.
    pub tunables: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    pub hostname: String,
    /// The name and the release of the kernel.
    pub kernel: String,
    pub architecture: String,
    pub distribution: Option<String>,
    pub hypervisor: Option<String>,
}

impl System {
    /// None if the kernel's name or release is another's.
    pub fn release(&self) -> Option<KernelRelease> {
        KernelRelease::parse(self.kernel.strip_prefix("Linux ")?)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    pub model: Option<String>,
    /// The number of CPUs on which this process may run.
    pub available: u32,
    /// CPU time per time that this process's control groups allow, in millionths: 150,000 is 15 % of a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ppm: Option<u64>,
    pub governor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub total_bytes: u64,
    /// The kernel's estimate of memory that new work can have without swapping.
    pub available_bytes: u64,
    /// The limit of this process's control group, if below the total.
    pub limit_bytes: Option<u64>,
    pub page_size_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// The kind in the words of mount(8), or [`Self::BLOCK_DEVICE`].
    pub kind: String,
    /// The mounted device or directory.
    pub source: String,
    pub mount_point: String,
    pub mount_options: String,
    pub total_bytes: u64,
    /// The free space that this user may take.
    pub available_bytes: u64,
    pub block_size_bytes: u64,
    /// The layout of new files, in the words of a parallel filesystem's tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_layout: Option<String>,
    /// What direct I/O on a new file needs. None if the kernel or the filesystem does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<DirectAlignment>,
    /// The sizes that a write with `RWF_ATOMIC` may have. None if there is no such write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_writes: Option<AtomicWrites>,
}

/// The multiples that direct I/O needs: `STATX_DIOALIGN` and `STATX_DIO_READ_ALIGN` of statx(2). Zeros mean that there is
/// no direct I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectAlignment {
    pub memory_bytes: u64,
    pub offset_bytes: u64,
    /// That of reads, where it is known to differ from that of writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_offset_bytes: Option<u64>,
}

/// The sizes of writes that a power loss leaves complete or undone: `STATX_WRITE_ATOMIC` of statx(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomicWrites {
    pub least_bytes: u64,
    pub most_bytes: u64,
    /// The size beyond which atomic writes become slower, because the filesystem copies on write. None if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_bytes: Option<u64>,
}

impl Filesystem {
    /// The kind of a target without a filesystem.
    pub const BLOCK_DEVICE: &'static str = "block device";

    pub fn is_block_device(&self) -> bool {
        self.kind == Self::BLOCK_DEVICE
    }

    /// Whether new times of a file stay in memory, without a write of its inode: `lazytime` of mount(8).
    pub fn has_lazy_times(&self) -> bool {
        self.mount_options
            .split(',')
            .any(|option| option == "lazytime")
    }

    /// Whether this is one of the kernel's own filesystems, where nobody can write a new file. A file of hugetlbfs
    /// can be mapped, but has no write(2).
    pub fn takes_no_files(&self) -> bool {
        const KINDS: &[&str] = &[
            "binfmt_misc",
            "bpf",
            "cgroup",
            "cgroup2",
            "configfs",
            "debugfs",
            "devpts",
            "efivarfs",
            "fusectl",
            "hugetlbfs",
            "mqueue",
            "nsfs",
            "proc",
            "pstore",
            "resctrl",
            "securityfs",
            "selinuxfs",
            "sysfs",
            "tracefs",
        ];
        KINDS.contains(&self.kind.as_str())
    }
}

named_values! {
    /// What a layer below is to the filesystem above.
    LayerRole {
        /// The layer has the upper directory of an overlay.
        UpperDirectory = "upper directory",
        /// The layer has the image behind a loop device.
        Image = "image",
    }
}

/// A filesystem that holds the data of the one above.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerBelow {
    pub role: LayerRole,
    pub kind: String,
    pub mount_options: String,
    pub device: Option<Device>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    pub name: String,
    /// Major and minor number, as in `/sys/dev/block`.
    pub number: String,
    pub model: Option<String>,
    pub size_bytes: Option<u64>,
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// The write cache as the driver knows it. `write_cache` is the kernel's view, which a user can override.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_write_cache: Option<String>,
    pub scheduler: Option<String>,
    pub logical_sector_bytes: Option<u64>,
    /// The device's own unit of writing.
    pub physical_sector_bytes: Option<u64>,
}
