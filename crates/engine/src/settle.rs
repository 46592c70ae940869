//! Before the clock: the target quiet, the memory warm.

use std::os::fd::BorrowedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use writebench_model::{AllocateCall, Case, Content, SyncCall};

use crate::call::{CallError, retry};
use crate::file::{self, Target};
use crate::machine::{FreshMemory, MemoryProbe, meminfo_bytes};
use crate::sync;

/// A file as an earlier program would have left it: written, synced, closed; other bytes than ours.
pub(crate) fn old_content(
    directory: BorrowedFd<'_>,
    name: &str,
    length: u64,
    seed: u64,
) -> Result<(), CallError> {
    file::close(file::create_filled(directory, name, length, !seed)?).map_err(|error| error.of_file(name))
}

/// Writes out what earlier samples left (their removal included) and waits until the kernel has no
/// more than a trickle under way; `sync_all` where another filesystem has what was written to this one. Why the
/// target is not quiet, if it is not after `limit`: a reason to doubt the sample, and none to blame it.
pub(crate) fn quiet(target: Target<'_>, sync_all: bool, limit: Duration) -> Result<(), String> {
    const TRICKLE_BYTES: u64 = 4 << 20;
    let start = Instant::now();
    // It reports errors of earlier writes, too, once.
    let written_out = match target {
        Target::Directory(directory) => retry("syncfs", || rustix::fs::syncfs(directory)),
        Target::Device(device) => sync::sync(device, SyncCall::Fsync),
    };
    if sync_all {
        rustix::fs::sync();
    }
    written_out.map_err(|error| format!("before it: {}", error.reason()))?;
    while meminfo_bytes("Writeback").is_some_and(|bytes| bytes > TRICKLE_BYTES) {
        if start.elapsed() >= limit {
            return Err(format!("the kernel was still writing back after {limit:?}"));
        }
        sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Memory that a sample will take from the kernel for its file. What only gets a length takes none, nor do blocks
/// that are only reserved, but where they are memory, or where the C library may write into each of them in place of a
/// filesystem that cannot (posix_fallocate(3)); then no more than there is room for.
pub(crate) fn page_cache_bytes(target: Target<'_>, case: &Case) -> u64 {
    let size_bytes = case.axes().size_bytes;
    match (case.contract().content, target) {
        (Content::Hole, _) => 0,
        (Content::Reserved, Target::Directory(directory))
            if case.axes().call == AllocateCall::PosixFallocate || is_in_memory(directory) =>
        {
            size_bytes.min(free_bytes(directory).unwrap_or(size_bytes))
        }
        (Content::Reserved, _) => 0,
        _ => size_bytes,
    }
}

/// None where the filesystem has no limit of its own.
fn free_bytes(directory: BorrowedFd<'_>) -> Option<u64> {
    let status = rustix::fs::fstatvfs(directory).ok().filter(|it| it.f_blocks > 0)?;
    Some(status.f_bavail.saturating_mul(status.f_frsize))
}

fn is_in_memory(directory: BorrowedFd<'_>) -> bool {
    /// `TMPFS_MAGIC` of statfs(2).
    const TMPFS: u64 = 0x0102_1994;
    rustix::fs::fstatfs(directory).is_ok_and(|it| u64::try_from(it.f_type).is_ok_and(|kind| kind == TMPFS))
}

/// Takes as much fresh memory as the sample will need, in small pages and in huge ones, and gives it
/// back, so that the pages it gets are backed: on a virtual machine a page's first touch can be ten
/// times slower, and free pages go back to the host within seconds (the kernel's free page reporting,
/// every two seconds). If that has happened since, the probe shows it, and there is time for another
/// try before it happens again. Returns the last probe. Some memory is left over for the probe behind
/// the sample: if that one is slow, the host took pages back during the sample. Both halves together are no larger than
/// `most_bytes`.
pub(crate) fn warm(probe: &mut MemoryProbe, bytes: u64, most_bytes: u64) -> u64 {
    const LEFT_OVER_BYTES: u64 = 4 * MemoryProbe::BYTES_EACH as u64;
    const TRIES: u32 = 3;
    let each = bytes.saturating_add(LEFT_OVER_BYTES).min(most_bytes / 2);
    let mut probe_ns = 0;
    for _ in 0..TRIES {
        if let Some(mut memory) = FreshMemory::new(usize::try_from(each).unwrap_or(0)) {
            memory.fill();
        }
        probe_ns = probe.copy_ns();
        if !probe.was_cold(probe_ns) {
            break;
        }
    }
    probe_ns
}
