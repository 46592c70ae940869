//! Preparations before the clock: old content, a quiet target, and how much memory a sample takes.

use std::os::fd::BorrowedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
use writebench_model::{AllocateCall, Axes, Cache, Case, Content, SyncCall};

use crate::call::{Result, retry};
use crate::file::{self, Target};
use crate::machine::meminfo_bytes;
use crate::sync;

/// Creates a file as an earlier program would have left it: written, synced and closed, with other bytes than
/// ours.
pub(crate) fn old_content(
    directory: BorrowedFd<'_>,
    name: &str,
    length: u64,
    seed: u64,
    axes: &Axes,
) -> Result<()> {
    let file = file::create_filled(directory, name, length, !seed, axes.checksums)?;
    if axes.cache == Cache::Dontcache {
        // Pages that exist already are not dropped after write-back.
        retry("posix_fadvise", || rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed))?;
    }
    file::close(file).map_err(|error| error.with_path(name))
}

/// Writes out the data of earlier samples, removals included, and waits until the kernel has only a trickle
/// under way. With `sync_all` it syncs every filesystem, because another one holds the data written to this
/// one. Returns why the target is not quiet after `limit`: a reason to doubt the sample, but no fault of it.
pub(crate) fn quiet(target: Target<'_>, sync_all: bool, limit: Duration) -> Result<Option<String>> {
    const TRICKLE_BYTES: u64 = 4 << 20;
    let start = Instant::now();
    write_out(target, sync_all)?;
    while meminfo_bytes("Writeback").is_some_and(|bytes| bytes > TRICKLE_BYTES) {
        if start.elapsed() >= limit {
            return Ok(Some(format!("the kernel was still writing back after {limit:?}")));
        }
        sleep(Duration::from_millis(10));
    }
    Ok(None)
}

/// Writes out the data of a target, or of all filesystems. The call reports a write-back that failed since the last one
/// on this open file description, and does so once: its error must not be dropped.
pub(crate) fn write_out(target: Target<'_>, sync_all: bool) -> Result<()> {
    let written_out = match target {
        Target::Directory(directory) => retry("syncfs", || rustix::fs::syncfs(directory)),
        Target::Device(device) => sync::sync(device, SyncCall::Fsync),
    };
    if sync_all {
        rustix::fs::sync();
    }
    written_out
}

/// The memory that a sample will take from the kernel for its file. A length alone takes none, nor do
/// reserved blocks, except in a memory filesystem, or if the C library writes into each block for a
/// filesystem without fallocate (posix_fallocate(3)); never more than the free space.
pub(crate) fn page_cache_bytes(target: Target<'_>, case: &Case) -> u64 {
    let size_bytes = case.axes().size_bytes;
    match (case.contract().content, target) {
        (Content::Hole | Content::Nothing, _) => 0,
        (Content::Reserved, Target::Directory(directory))
            if case.axes().call == AllocateCall::PosixFallocate || is_in_memory(directory) =>
        {
            size_bytes.min(free_bytes(directory).unwrap_or(size_bytes))
        }
        (Content::Reserved, _) => 0,
        _ => size_bytes,
    }
}

/// None if the filesystem has no limit of its own.
fn free_bytes(directory: BorrowedFd<'_>) -> Option<u64> {
    let status = rustix::fs::fstatvfs(directory).ok().filter(|status| status.f_blocks > 0)?;
    Some(status.f_bavail.saturating_mul(status.f_frsize))
}

fn is_in_memory(directory: BorrowedFd<'_>) -> bool {
    fstatfs(directory).is_ok_and(|status| status.filesystem_type() == TMPFS_MAGIC)
}
