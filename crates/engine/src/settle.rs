//! The quiet state of the target before a sample, and the write-out after it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
use rustix::fs::Advice;
use writebench_model::{AllocateCall, Case, Checksums, Content, SyncCall};

use crate::call::{Result, retry};
use crate::file::{self, Target};
use crate::machine::meminfo_bytes;
use crate::sync;

/// Makes a file as an earlier program would have left it: written and synced, with other bytes. All ways to
/// overwrite it start from the same state: none of it is in the page cache, as with fio's `invalidate=1`. Otherwise
/// `O_DIRECT` would drop its pages inside the clock, `RWF_DONTCACHE` would leave them, and other ways would write into
/// them.
pub(crate) fn old_content(
    directory: BorrowedFd<'_>,
    name: &str,
    length: u64,
    seed: u64,
    checksums: Checksums,
) -> Result<OwnedFd> {
    let file = file::create_filled(directory, name, length, !seed, checksums)?;
    drop_pages(file.as_fd()).map_err(|error| error.with_path(name))?;
    Ok(file)
}

/// Drops a file's pages from the page cache. The advice drops no dirty pages, so they must be written out first. Memory
/// filesystems keep all.
pub(crate) fn drop_pages(file: BorrowedFd<'_>) -> Result<()> {
    retry("posix_fadvise", || {
        rustix::fs::fadvise(file, 0, None, Advice::DontNeed)
    })
}

/// Waits until only a trickle is in flight. `sync_all` syncs every filesystem, because another one holds the
/// data. After `limit` it returns a reason to doubt the sample.
pub(crate) fn quiet(target: Target<'_>, sync_all: bool, limit: Duration) -> Result<Option<String>> {
    const TRICKLE_BYTES: u64 = 4 << 20;
    let start = Instant::now();
    write_out(target, sync_all)?;
    while meminfo_bytes("Writeback").is_some_and(|bytes| bytes > TRICKLE_BYTES) {
        if start.elapsed() >= limit {
            return Ok(Some(format!(
                "the kernel was still writing back after {limit:?}"
            )));
        }
        sleep(Duration::from_millis(10));
    }
    Ok(None)
}

/// Writes out all dirty data of the target. A failed write-back is reported once per open file description, so its
/// error must not be dropped.
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

/// How much page cache a case fills, which is at most the free space. A length or reserved blocks take none, with two
/// exceptions: memory filesystems, and the C library's writes into each block without fallocate
/// (posix_fallocate(3)).
pub(crate) fn page_cache_bytes(target: Target<'_>, case: &Case) -> u64 {
    let size_bytes = case.given().size_bytes;
    match (case.workload().content, target) {
        (Content::Hole | Content::Nothing, _) | (Content::Reserved, Target::Device(_)) => 0,
        (Content::Reserved, Target::Directory(directory)) => {
            let is_in_memory =
                fstatfs(directory).is_ok_and(|status| status.filesystem_type() == TMPFS_MAGIC);
            if case.choices().call != AllocateCall::PosixFallocate && !is_in_memory {
                return 0;
            }
            // A filesystem without a limit has no blocks.
            let status = rustix::fs::fstatvfs(directory)
                .ok()
                .filter(|status| status.f_blocks > 0);
            let free_bytes = status.map_or(u64::MAX, |status| {
                status.f_bavail.saturating_mul(status.f_frsize)
            });
            size_bytes.min(free_bytes)
        }
        _ => size_bytes,
    }
}
