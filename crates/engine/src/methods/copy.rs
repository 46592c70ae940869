use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use writebench_model::{Advice, Cache, Holes, Range};

use super::attached::attached;
use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{Call, CallError, retry};
use crate::extents;
use crate::file::{self, COPIED};
use crate::region::to_usize;

/// Opens the source for one thread, with its own position, and with advice that lasts until it is closed.
pub(super) fn open_source(region: &Region<'_>) -> Result<OwnedFd> {
    let file = open_unadvised(region, Cache::Buffered)?;
    if region.range.offset > 0 {
        seek(file.as_fd(), SeekFrom::Start(region.range.offset))
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
        move_data(region, [source, file], call, write_loop, |most, _| {
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
    let all = Range {
        offset: 0,
        length: region.range.length,
    };
    move_range(region, all, call, write_loop, &mut step)?;
    write_loop.handed_over_bytes += region.range.length;
    Ok(())
}

/// As [`move_all`], but only for the data of the source if its holes are kept. Both files, the source and the copy, have
/// their position at what `step` gets.
#[inline(always)]
pub(super) fn move_data(
    region: &Region<'_>,
    files: [BorrowedFd<'_>; 2],
    call: impl Into<Call> + Copy,
    write_loop: &mut WriteLoop,
    mut step: impl FnMut(usize, u64) -> Result<usize>,
) -> Result<()> {
    if region.given.holes == Holes::Fill {
        return move_all(region, call, write_loop, step);
    }
    let mut at = 0;
    while let Some(data) = next_data(region, files, at)? {
        move_range(region, data, call, write_loop, &mut step)?;
        at = data.offset + data.length;
    }
    // Holes are part of the copy.
    write_loop.handed_over_bytes += region.range.length;
    Ok(())
}

/// Moves a range of the region, by the distance from its beginning.
#[inline(always)]
fn move_range(
    region: &Region<'_>,
    range: Range,
    call: impl Into<Call> + Copy,
    write_loop: &mut WriteLoop,
    step: &mut impl FnMut(usize, u64) -> Result<usize>,
) -> Result<()> {
    let mut at = range.offset;
    let end = range.offset + range.length;
    while at < end {
        let most = to_usize(region.choices.chunk_size_bytes.min(end - at));
        match step(most, at).map_err(|error| error.at(region.range.offset + at))? {
            0 => return Err(ended(call, region.range.offset + at)),
            moved => at += moved as u64,
        }
        write_loop.advance_to(at)?;
    }
    Ok(())
}

/// The next data of the source from `at` on, by its distance from the region's beginning. Both files get the position of
/// its first byte.
fn next_data(region: &Region<'_>, files: [BorrowedFd<'_>; 2], at: u64) -> Result<Option<Range>> {
    let length = region.range.length;
    if at >= length {
        return Ok(None);
    }
    let [source, file] = files;
    let Some(data) = extents::next_data(source, region.range.offset + at)
        .map_err(|errno| CallError::new(SEEK_DATA, errno).with_path(COPIED))?
    else {
        // A hole up to the end, unless the file is shorter now.
        let stat = retry("stat", || rustix::fs::fstat(source))?;
        let is_shorter = (stat.st_size.cast_unsigned()) < region.range.offset + length;
        return if is_shorter {
            Err(ended(SEEK_DATA, region.range.offset + at))
        } else {
            Ok(None)
        };
    };
    let offset = data.offset - region.range.offset;
    if offset >= length {
        return Ok(None);
    }
    seek(source, SeekFrom::Start(data.offset)).map_err(|error| error.with_path(COPIED))?;
    seek(file, SeekFrom::Start(region.file_offset + offset))?;
    Ok(Some(Range {
        offset,
        length: data.length.min(length - offset),
    }))
}

const SEEK_DATA: Call = Call {
    name: "lseek(SEEK_DATA)",
    lacks: &[Errno::INVAL],
    advice: &[],
};

fn seek(file: BorrowedFd<'_>, position: SeekFrom) -> Result<()> {
    retry("lseek", || rustix::fs::seek(file, position)).map(drop)
}

#[cold]
pub(super) fn ended(call: impl Into<Call>, at: u64) -> CallError {
    CallError::other(call, "the source ends too early")
        .with_path(COPIED)
        .at(at)
}
