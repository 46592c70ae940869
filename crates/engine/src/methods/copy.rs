use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use writebench_model::{Advice, Cache};

use super::attached::attached;
use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{Call, CallError, retry};
use crate::file::{self, COPIED};
use crate::region::to_usize;

/// Opens the source for one thread, with its own position, and with advice that lasts until it is closed.
pub(super) fn open_source(region: &Region<'_>) -> Result<OwnedFd> {
    let file = open_unadvised(region, Cache::Buffered)?;
    if region.range.offset > 0 {
        let position = rustix::fs::SeekFrom::Start(region.range.offset);
        retry("lseek", || rustix::fs::seek(&file, position))
            .map_err(|error| error.with_path(COPIED))?;
    }
    if region.choices.advice == Advice::Sequential {
        for advice in [rustix::fs::Advice::WillNeed, rustix::fs::Advice::Sequential] {
            retry("posix_fadvise", || {
                rustix::fs::fadvise(&file, 0, None, advice)
            })?;
        }
    }
    Ok(file)
}

pub(super) fn open_unadvised(region: &Region<'_>, cache: Cache) -> Result<OwnedFd> {
    let source = region
        .copy_from
        .ok_or_else(|| CallError::other("copy", "the source is missing"))?;
    file::reopen_to_read(source, cache)
}

/// A method that copies by calls on the source and the file.
pub(super) fn copying<'a>(
    region: Region<'a>,
    mut copy: impl FnMut(&Region<'a>, BorrowedFd<'_>, BorrowedFd<'_>, &mut WriteLoop) -> Result<()>
    + Send
    + 'a,
) -> impl IoThread + 'a {
    attached(
        region,
        |region, _| open_source(region),
        move |region, source, file, write_loop| copy(region, source.as_fd(), file, write_loop),
    )
}

/// A method whose `step` moves at most the given number of bytes inside the kernel, each file at its own position.
pub(super) fn in_kernel<'a>(
    region: Region<'a>,
    call: impl Into<Call>,
    step: impl Fn(BorrowedFd<'_>, BorrowedFd<'_>, usize) -> rustix::io::Result<usize> + Send + 'a,
) -> impl IoThread + 'a {
    let call = call.into();
    copying(region, move |region, source, file, write_loop| {
        move_all(region, call, write_loop, |most, _| {
            retry(call, || step(source, file, most))
        })
    })
}

/// Calls `step` with the limit and the bytes already moved. `step` returns the moved bytes.
#[inline(always)]
pub(super) fn move_all(
    region: &Region<'_>,
    call: impl Into<Call> + Copy,
    write_loop: &mut WriteLoop,
    mut step: impl FnMut(usize, u64) -> Result<usize>,
) -> Result<()> {
    let mut at = 0;
    while at < region.range.length {
        let most = to_usize(
            region
                .choices
                .chunk_size_bytes
                .min(region.range.length - at),
        );
        match step(most, at).map_err(|error| error.at(region.range.offset + at))? {
            0 => return Err(ended(call, region.range.offset + at)),
            moved => at += moved as u64,
        }
        write_loop.advance_to(at)?;
    }
    write_loop.handed_over_bytes += at;
    Ok(())
}

#[cold]
pub(super) fn ended(call: impl Into<Call>, at: u64) -> CallError {
    CallError::other(call, "the source ends too early")
        .with_path(COPIED)
        .at(at)
}
