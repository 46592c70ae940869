//! Where a sync makes data durable: by filesystem, mount option and device.
//!
//! Each row is read from the kernel's source, and a call without an entry is not trusted. Only fsync(2) and
//! fdatasync(2) are expected to work anywhere. sync_file_range(2) has no entry: it flushes no write cache and writes
//! no metadata, so it makes nothing durable on any filesystem (fs/sync.c).

use std::fmt;

use crate::case::Case;
use crate::environment::{Device, Environment, Filesystem, LayerBelow, LayerRole};
use crate::sync::SyncCall;
use crate::target::TargetRecord;
use crate::value::{SyncFiles, named_values};

named_values! {
    /// The call after whose return a program takes its data for durable.
    DurableCall {
        Fsync = "fsync(2)",
        Fdatasync = "fdatasync(2)",
        Msync = "msync(2)",
        ODsync = "O_DSYNC",
        OSync = "O_SYNC",
        RwfDsync = "RWF_DSYNC",
        Syncfs = "syncfs(2)",
    }

    /// The part that promises durability.
    Keeper {
        /// The kernel sends the data to a disk and flushes its write cache.
        Disk = "disk",
        /// The kernel asks a server, in another process or machine.
        Server = "server",
        /// The filesystem promises it, and nobody has read its source for this table.
        Filesystem = "filesystem",
    }
}

use DurableCall::{Fdatasync, Fsync, Msync, ODsync, OSync, RwfDsync, Syncfs};

/// The row of a filesystem in the table.
struct Rules {
    /// The filesystems' kinds in the words of mount(8).
    kinds: &'static [&'static str],
    keeper: Keeper,
    /// The calls that make data durable.
    durable: &'static [DurableCall],
    /// Why some other calls make no data durable.
    otherwise: &'static [(DurableCall, &'static str)],
    /// The functions and files of the kernel's source that the row relies on.
    source: &'static str,
}

/// `msync(2)` calls the same function as `fdatasync(2)`: `vfs_fsync_range` in mm/msync.c.
const EXPLICIT: &[DurableCall] = &[Fsync, Fdatasync, Msync];
const ALL_BUT_SYNCFS: &[DurableCall] = &[Fsync, Fdatasync, Msync, ODsync, OSync, RwfDsync];

const AS_A_FLAG: &str = "reaches a FUSE server that bypasses the page cache (direct_io) only as a flag of the write, which many ignore";

/// Why calls make nothing durable on a FUSE server. With virtiofs, syncfs(2) does.
const FUSE: &[(DurableCall, &str)] = &[
    (Syncfs, "sends a FUSE server no request"),
    (ODsync, AS_A_FLAG),
    (OSync, AS_A_FLAG),
    (RwfDsync, AS_A_FLAG),
];

const RULES: &[Rules] = &[
    Rules {
        kinds: &["ext3", "ext4"],
        keeper: Keeper::Disk,
        durable: DurableCall::ALL,
        otherwise: &[],
        source: "ext4_sync_file, ext4_sync_fs (fs/ext4/fsync.c, super.c)",
    },
    Rules {
        kinds: &["ext2"],
        keeper: Keeper::Disk,
        durable: ALL_BUT_SYNCFS,
        otherwise: &[(Syncfs, "leaves the data in the disk's write cache on ext2")],
        source: "ext2_fsync flushes, ext2_sync_fs does not (fs/ext2/file.c, super.c); many kernels use ext4's code instead",
    },
    Rules {
        kinds: &["xfs"],
        keeper: Keeper::Disk,
        durable: DurableCall::ALL,
        otherwise: &[],
        source: "xfs_file_fsync, xfs_fs_sync_fs (fs/xfs/xfs_file.c, xfs_super.c)",
    },
    Rules {
        kinds: &["btrfs"],
        keeper: Keeper::Disk,
        durable: DurableCall::ALL,
        otherwise: &[],
        source: "btrfs_sync_file, btrfs_sync_fs (fs/btrfs/file.c, super.c)",
    },
    Rules {
        kinds: &[Filesystem::BLOCK_DEVICE],
        keeper: Keeper::Disk,
        durable: ALL_BUT_SYNCFS,
        otherwise: &[(Syncfs, "does not flush a device")],
        source: "blkdev_fsync, blkdev_write_iter (block/fops.c)",
    },
    Rules {
        kinds: &["fuse", "fuseblk"],
        keeper: Keeper::Server,
        durable: EXPLICIT,
        otherwise: FUSE,
        source: "fuse_fsync, fuse_sync_fs, fuse_direct_write_iter (fs/fuse/file.c, inode.c)",
    },
    Rules {
        kinds: &["virtiofs"],
        keeper: Keeper::Server,
        durable: &[Fsync, Fdatasync, Msync, Syncfs],
        otherwise: FUSE,
        source: "virtio_fs_get_tree sets sync_fs (fs/fuse/virtio_fs.c)",
    },
    Rules {
        kinds: &[
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "coda",
            "glusterfs",
            "gpfs",
            "lustre",
            "ncpfs",
            "nfs",
            "nfs4",
            "orangefs",
            "pvfs2",
            "smb3",
            "smbfs",
            "vboxsf",
            "wekafs",
        ],
        keeper: Keeper::Server,
        durable: EXPLICIT,
        otherwise: &[],
        source: "vfs_fsync_range calls the filesystem (fs/sync.c), which asks the server",
    },
];

/// The row of all filesystems that no other row names.
const UNKNOWN: Rules = Rules {
    kinds: &[],
    keeper: Keeper::Filesystem,
    durable: EXPLICIT,
    otherwise: &[],
    source: "vfs_fsync_range calls the filesystem (fs/sync.c)",
};

/// The row of a filesystem. After `fuse`, the kind can have the server's own name: `fuse.sshfs`.
fn rules(kind: &str) -> &'static Rules {
    let kind = if kind.starts_with("fuse.") {
        "fuse"
    } else {
        kind
    };
    RULES
        .iter()
        .find(|rules| rules.kinds.contains(&kind))
        .unwrap_or(&UNKNOWN)
}

/// Options with which a filesystem of these kinds acknowledges syncs without doing all of their work, and what is
/// missing.
const INCOMPLETE_SYNCS: &[(&[&str], &str, &str)] = &[
    // ovl_fsync returns at once (fs/overlayfs/file.c). Newer kernels print the second for the first.
    (&["overlay"], "volatile", "overlayfs ignores syncs"),
    (&["overlay"], "fsync=volatile", "overlayfs ignores syncs"),
    // cifs_fsync (fs/smb/client/file.c).
    (
        &["cifs", "smb3"],
        "nostrictsync",
        "a sync does not ask the server to write its cache",
    ),
    // f2fs_do_sync_file, f2fs_sync_fs (fs/f2fs/file.c, super.c).
    (&["f2fs"], "checkpoint=disable", "a sync writes no metadata"),
];

/// Options that leave data in the write cache of a disk. All filesystems name them alike.
const NO_FLUSHES: &[&str] = &[
    "nobarrier",
    "barrier=0",
    "barrier=none",
    "fsync_mode=nobarrier",
];

impl DurableCall {
    /// The call by which a case makes its data durable. None if it promises no durability.
    pub fn of_case(case: &Case) -> Option<Self> {
        let choices = case.choices();
        match (choices.sync_files, choices.sync.call) {
            (SyncFiles::Syncfs, _) => Some(Syncfs),
            (SyncFiles::Each | SyncFiles::Batch | SyncFiles::Writeback, _) => Some(Fsync),
            (SyncFiles::None, SyncCall::None) => None,
            (SyncFiles::None, SyncCall::Fsync) => Some(Fsync),
            (SyncFiles::None, SyncCall::Fdatasync) => Some(Fdatasync),
            (SyncFiles::None, SyncCall::Msync) => Some(Msync),
            (SyncFiles::None, SyncCall::ODsync) => Some(ODsync),
            (SyncFiles::None, SyncCall::OSync) => Some(OSync),
            (SyncFiles::None, SyncCall::RwfDsync) => Some(RwfDsync),
        }
    }

    /// Whether the call makes data durable on a filesystem of this kind, which is no overlay of another one.
    pub fn is_trusted_on(self, kind: &str) -> bool {
        rules(kind).durable.contains(&self)
    }
}

impl Filesystem {
    pub fn is_in_memory(&self) -> bool {
        is_in_memory(&self.kind)
    }
}

fn is_in_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs")
}

impl TargetRecord {
    /// Why no sync makes data durable there, as a clause. None if one does.
    pub fn loses_data(&self) -> Option<String> {
        let Environment {
            filesystem, device, ..
        } = &self.environment;
        if let Some(made) = self
            .made_filesystem
            .as_ref()
            .filter(|made| made.images.is_empty())
        {
            return Some(format!("{} is in memory", made.kind));
        }
        let own = loss(&filesystem.kind, &filesystem.mount_options, device.as_ref());
        own.or_else(|| self.layers_below().find_map(LayerBelow::loses_data))
    }

    /// The same for a case, whose own sync may also not work there. None if the case promises nothing.
    pub fn why_not_durable(&self, case: &Case) -> Option<String> {
        let call = DurableCall::of_case(case)?;
        self.loses_data().or_else(|| self.why_not_trusted(call))
    }

    fn why_not_trusted(&self, call: DurableCall) -> Option<String> {
        let kind = self.syncing_kind();
        let rules = rules(kind);
        if rules.durable.contains(&call) {
            return None;
        }
        let known = rules.otherwise.iter().find(|(other, _)| *other == call);
        Some(known.map_or_else(
            || format!("{call} is not known to make data durable on {kind}"),
            |(_, why)| format!("{call} {why}"),
        ))
    }

    /// overlayfs passes each call to the filesystem of its upper directory (`ovl_fsync`, `ovl_sync_fs` and
    /// `ovl_write_iter` in fs/overlayfs/file.c and super.c).
    fn syncing_kind(&self) -> &str {
        let own = self.environment.filesystem.kind.as_str();
        let upper = self
            .layers_below()
            .find(|layer| layer.role == LayerRole::UpperDirectory);
        upper
            .filter(|_| own == "overlay")
            .map_or(own, |upper| &upper.kind)
    }

    /// The part that promises durability: the disk, unless a part of the way to it depends on someone else.
    pub fn keeper(&self) -> Keeper {
        let own = rules(self.syncing_kind()).keeper;
        let keepers: Vec<Keeper> = self
            .layers_below()
            .filter(|layer| layer.role == LayerRole::Image)
            .map(|layer| rules(&layer.kind).keeper)
            .chain([own])
            .collect();
        [Keeper::Server, Keeper::Filesystem]
            .into_iter()
            .find(|keeper| keepers.contains(keeper))
            .unwrap_or(Keeper::Disk)
    }

    /// The layers whose durability matters. `writebench fs` is about the filesystem, wherever its image is.
    fn layers_below(&self) -> impl Iterator<Item = &LayerBelow> {
        let is_made = self.made_filesystem.is_some();
        self.environment
            .below
            .iter()
            .take_while(move |layer| !is_made || layer.role != LayerRole::Image)
    }
}

impl LayerBelow {
    fn loses_data(&self) -> Option<String> {
        let why = loss(&self.kind, &self.mount_options, self.device.as_ref())?;
        Some(format!("its {} is not durable: {why}", self.role))
    }
}

/// Why no sync makes data durable on this filesystem and device.
fn loss(kind: &str, mount_options: &str, device: Option<&Device>) -> Option<String> {
    if is_in_memory(kind) {
        return Some(format!("{kind} is in memory"));
    }
    loss_by_incomplete_syncs(kind, mount_options)
        .or_else(|| loss_in_unknown_layer(kind, mount_options))
        .or_else(|| loss_in_write_cache(mount_options, device))
}

fn loss_by_incomplete_syncs(kind: &str, mount_options: &str) -> Option<String> {
    let (_, option, missing) = INCOMPLETE_SYNCS
        .iter()
        .find(|(kinds, option, _)| kinds.contains(&kind) && has_option(mount_options, option))?;
    Some(format!("mounted with {option}, so {missing}"))
}

/// Whether a filesystem is mounted with an option, after which a colon and a value may follow.
fn has_option(mount_options: &str, wanted: &str) -> bool {
    mount_options.split(',').any(|option| {
        option == wanted
            || option
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.starts_with(':'))
    })
}

/// A relative `upperdir` begins at the directory of mount(8), which nobody knows. Those of containers are absolute.
fn loss_in_unknown_layer(kind: &str, mount_options: &str) -> Option<String> {
    let upper = mount_options
        .split(',')
        .find_map(|option| option.strip_prefix("upperdir="))?;
    let is_unknown = kind == "overlay" && !upper.starts_with('/');
    is_unknown.then(|| {
        format!(
            "mounted with the relative upperdir={upper}, so it is unknown whether a sync reaches a disk (an absolute path \
             would tell)"
        )
    })
}

fn loss_in_write_cache(mount_options: &str, device: Option<&Device>) -> Option<String> {
    let unflushed = NO_FLUSHES
        .iter()
        .find(|option| has_option(mount_options, option));
    match (unflushed, device) {
        (Some(option), None) => Some(format!(
            "mounted with {option}, so a sync flushes no write cache"
        )),
        (Some(option), Some(device)) if !device.is_write_through() => Some(format!(
            "mounted with {option}, so a sync leaves data in the write cache of {}",
            device.name
        )),
        (_, Some(device)) => device.loses_data(),
        (None, None) => None,
    }
}

impl Device {
    /// The word of `queue/write_cache` for a device whose cache the kernel need not flush.
    pub const WRITE_THROUGH: &'static str = "write through";
    const WRITE_BACK: &'static str = "write back";

    fn is_write_through(&self) -> bool {
        self.write_cache.as_deref() == Some(Self::WRITE_THROUGH)
    }

    fn loses_data(&self) -> Option<String> {
        let name = &self.name;
        if self.is_in_memory() {
            return Some(format!("{name} is in memory"));
        }
        // The kernel drops every flush of a device that it takes for write-through (blk_queue_write_cache).
        let is_overridden = self.is_write_through()
            && self
                .own_write_cache
                .as_deref()
                .is_some_and(|own| own.starts_with(Self::WRITE_BACK));
        is_overridden.then(|| {
            format!(
                "{name} has a write cache that is never flushed, because its queue/write_cache says {}",
                Self::WRITE_THROUGH
            )
        })
    }

    /// Whether the device is one of brd, zram or null_blk in drivers/block/: `ram0`, `zram0`, `nullb0`.
    fn is_in_memory(&self) -> bool {
        ["ram", "zram", "nullb"].iter().any(|kind| {
            let number = self.name.strip_prefix(kind).unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    }
}

impl Keeper {
    /// The words that follow one for durability.
    pub fn words(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Server => "as the server promises",
            Self::Filesystem => "as the filesystem promises",
        }
    }
}

/// All rows, which are displayed as the Markdown table of the documents.
pub struct DurableCalls;

impl fmt::Display for DurableCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: Vec<&str> = DurableCall::ALL.iter().map(|call| call.name()).collect();
        writeln!(
            f,
            "| filesystem | {} | whose promise | the kernel's source |",
            calls.join(" | ")
        )?;
        writeln!(f, "|---|{}---|---|", "---|".repeat(calls.len()))?;
        for Rules {
            kinds,
            keeper,
            durable,
            source,
            ..
        } in RULES.iter().chain([&UNKNOWN])
        {
            let kinds = if kinds.is_empty() {
                "any other".to_owned()
            } else {
                kinds.join(", ")
            };
            let marks = DurableCall::ALL
                .iter()
                .map(|call| if durable.contains(call) { "yes" } else { "–" });
            writeln!(
                f,
                "| {kinds} | {} | {keeper} | {source} |",
                marks.collect::<Vec<_>>().join(" | ")
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
