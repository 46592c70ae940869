//! The path of data written with `O_DIRECT`, observed during the write.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use writebench_model::protocol::{DIRECT_CHECK_FILE_BYTES, DIRECT_CHECK_TRIES, SampleRequest};
use writebench_model::{Bytes, Case, Checksums, Prepare, SyncCall};

use crate::call::{CallError, Result};
use crate::file::{self, Target};
use crate::methods::map::{Map, Mapping};
use crate::source::SourceBuffer;
use crate::threads::start_thread;
use crate::{region, settle, sync, thread_state};

/// Whether this filesystem writes through the page cache in spite of `O_DIRECT`. It is tried with another file in the
/// directory. One call writes the data, so the page cache would hold all of it at once.
pub(crate) fn uses_page_cache(
    directory: BorrowedFd<'_>,
    sample: &SampleRequest,
    (prepare, checksums): (Prepare, Checksums),
    source: &mut SourceBuffer,
) -> Result<bool> {
    // Pages appear and disappear one by one, so an eighth of them is enough.
    const ENOUGH_BYTES: u64 = DIRECT_CHECK_FILE_BYTES / 8;
    let name = format!("{}-direct-{prepare}", sample.file_stem);
    let size = Bytes(DIRECT_CHECK_FILE_BYTES);
    let case = format!(
        "pwrite,size={size},chunk=whole,cache=direct,memory=page-aligned,prepare={prepare}"
    );
    let case = Case::parse(&format!("{case},checksums={checksums}"))
        .map_err(|error| CallError::other("case", error.to_string()))?;
    source.make(&case, 0, sample.data_seed)?;
    // A busy observer can miss pages, but never sees absent ones.
    for _ in 0..DIRECT_CHECK_TRIES {
        let found = most_bytes_in_page_cache(directory, &case, &name, sample.data_seed, source);
        if found
            .as_ref()
            .is_err_and(|error| error.errno() == Some(Errno::EXIST))
        {
            // The file existed before the sample.
            return found.map(|_| false);
        }
        file::remove(Target::Directory(directory), &name)?;
        if found? > ENOUGH_BYTES {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The most bytes in the page cache during the write. After it filesystems drop the pages: btrfs for its checksums,
/// ext4 in a hole of a file without extents.
fn most_bytes_in_page_cache(
    directory: BorrowedFd<'_>,
    case: &Case,
    name: &str,
    seed: u64,
    source: &SourceBuffer,
) -> Result<u64> {
    let target = Target::Directory(directory);
    let choices = case.choices();
    if choices.prepare.needs_old_content() {
        settle::old_content(
            directory,
            name,
            case.given().size_bytes,
            seed,
            case.given().checksums,
        )?;
    }
    let names = [name.to_owned()];
    let regions = region::split(case, 0, source.bytes(), None);
    let mut state = thread_state::thread_states(target, case, &names, &regions, None).remove(0);
    state.open()?;
    state.prepare()?;
    let file = file::open_to_read(target, name)?;
    sync::sync(file.as_fd(), SyncCall::Fsync)?;
    settle::drop_pages(file.as_fd())?;
    let map = Map::reading(file.as_fd(), 0, case.given().size_bytes)?;
    // Old pages that the kernel could not drop prove nothing about the write.
    let old_bytes = map.resident_bytes()?;
    let most_bytes = most_resident_bytes(&map, || state.write())?;
    state.close()?;
    Ok(most_bytes.saturating_sub(old_bytes))
}

/// The most bytes in the page cache, during the work and right after it.
fn most_resident_bytes(map: &Mapping, work: impl FnOnce() -> Result<()>) -> Result<u64> {
    let is_done = AtomicBool::new(false);
    let begun = Barrier::new(2);
    std::thread::scope(|scope| {
        let observer = start_thread(scope, || {
            begun.wait();
            most_bytes_until(&is_done, map)
        })?;
        begun.wait();
        let done = work();
        is_done.store(true, Ordering::Release);
        let observed = observer.join().unwrap_or_else(|_| {
            Err(CallError::other(
                "mincore",
                "the observing thread has ended",
            ))
        });
        done.and(observed)
    })
}

fn most_bytes_until(is_done: &AtomicBool, map: &Mapping) -> Result<u64> {
    /// Any device takes much longer to write the expected pages.
    const INSPECTION_INTERVAL: Duration = Duration::from_micros(50);
    let mut most_bytes = 0;
    loop {
        // The flag is read first, so one inspection follows the end of the work.
        let is_last = is_done.load(Ordering::Acquire);
        most_bytes = map.resident_bytes()?.max(most_bytes);
        if is_last {
            return Ok(most_bytes);
        }
        std::thread::sleep(INSPECTION_INTERVAL);
    }
}
