//! `writev(2)`: several buffers in one call.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use rustix::io::{Errno, ReadWriteFlags};
use writebench_model::{Cache, Choices, Protect, SyncCall};

use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{CallError, hand_over_vector};
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    // At offset -1 pwritev2(2) uses the file's position.
    vector_thread(
        region,
        "writev",
        |file, vector, _| rustix::io::writev(file, vector),
        |_| u64::MAX,
    )
}

pub(super) fn vector_thread<'a>(
    region: Region<'a>,
    call: &'static str,
    write: impl Fn(BorrowedFd<'_>, &[IoSlice<'_>], u64) -> rustix::io::Result<usize> + Send + 'a,
    flagged_offset: impl Fn(u64) -> u64 + Send + 'a,
) -> impl IoThread + 'a {
    let mut vector = Vec::with_capacity(region.choices.vector as usize);
    move |file: BorrowedFd<'_>, write_loop: &mut WriteLoop| {
        let flags = flags(region.choices);
        if flags.is_empty() {
            return write_vectors(
                &region,
                &mut vector,
                call,
                write_loop,
                |vector, offset| write(file, vector, offset),
                |_, _| sync::sync(file, region.choices.sync.call),
            );
        }
        write_vectors(
            &region,
            &mut vector,
            "pwritev2",
            write_loop,
            |vector, offset| rustix::io::pwritev2(file, vector, flagged_offset(offset), flags),
            |_, _| sync::sync(file, region.choices.sync.call),
        )
    }
}

/// The flags of pwritev2(2) that a case needs.
pub(super) fn flags(choices: &Choices) -> ReadWriteFlags {
    let mut flags = ReadWriteFlags::empty();
    if choices.sync.call == SyncCall::RwfDsync {
        flags |= ReadWriteFlags::DSYNC;
    }
    if choices.cache == Cache::Dontcache {
        flags |= ReadWriteFlags::from_bits_retain(RWF_DONTCACHE);
    }
    if choices.protect == Protect::RwfAtomic {
        flags |= ReadWriteFlags::from_bits_retain(RWF_ATOMIC);
    }
    flags
}

/// The error of a call with the flags that a case needs.
pub(super) fn of_flags(error: CallError, choices: &Choices) -> CallError {
    match choices.protect {
        // Another length or place than the filesystem can write at once: pwritev2(2).
        Protect::RwfAtomic => error.unsupported_if(Errno::INVAL),
        Protect::None | Protect::DoubleWrite => error,
    }
}

/// The flag is in include/uapi/linux/fs.h since Linux 6.14. Neither rustix nor libc has it.
const RWF_DONTCACHE: u32 = 0x80;

/// The same header has this flag since Linux 6.11.
const RWF_ATOMIC: u32 = 0x40;

#[inline(always)]
fn write_vectors<'a>(
    region: &Region<'a>,
    vector: &mut Vec<IoSlice<'a>>,
    call: &'static str,
    write_loop: &mut WriteLoop,
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> rustix::io::Result<usize>,
    mut sync: impl FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    let mut staging = Staging::for_region(region, region.choices.vector.into())?;
    if write_loop.is_untimed() {
        try_each_vector::<CallError>(region, vector, |vector, start, end| {
            write_loop.reserve(end - region.file_offset)?;
            hand_over_staged(call, vector, start, &mut staging, &mut write)?;
            write_loop.advance_to(end - region.file_offset)
        })?;
        write_loop.handed_over_bytes += region.range.length;
        return Ok(());
    }
    write_loop.run_timed(region, &mut sync, |write_loop, sync| {
        try_each_vector(region, vector, |vector, start, end| {
            let chunks = vector.len() as u64;
            let bytes = vector.iter().map(|chunk| chunk.len()).sum();
            write_loop.before_call(chunks, end - region.file_offset)?;
            hand_over_staged(call, vector, start, &mut staging, &mut write)?;
            write_loop.after_call(region, chunks, bytes, sync)
        })
    })
}

/// Hands over the vector, or one copy of all its chunks if the call needs aligned memory.
#[inline(always)]
fn hand_over_staged(
    call: &'static str,
    vector: &mut [IoSlice<'_>],
    start: u64,
    staging: &mut Staging,
    write: impl FnMut(&[IoSlice<'_>], u64) -> rustix::io::Result<usize>,
) -> Result<()> {
    match staging.gathered(vector) {
        Some(all) => hand_over_vector(call, &mut [IoSlice::new(all)], start, write),
        None => hand_over_vector(call, vector, start, write),
    }
}

/// Calls `hand_over` with each full vector, and with the rest of the chunks at the end. Its numbers are where the
/// vector begins and ends in the file.
#[inline(always)]
fn try_each_vector<'a, E>(
    region: &Region<'a>,
    vector: &mut Vec<IoSlice<'a>>,
    mut hand_over: impl FnMut(&mut [IoSlice<'a>], u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let room = region.choices.vector as usize;
    let mut start = region.file_offset;
    region.try_each_chunk(|chunk, offset| {
        vector.push(IoSlice::new(chunk));
        if vector.len() == room {
            let end = offset + chunk.len() as u64;
            hand_over(vector, start, end)?;
            vector.clear();
            start = end;
        }
        Ok(())
    })?;
    let end = region.file_offset + region.range.length;
    if vector.is_empty() {
        Ok(())
    } else {
        hand_over(vector, start, end)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::time::{Duration, Instant};

    use writebench_model::Case;

    use super::*;
    use crate::region;

    #[test]
    fn no_call_writes_a_record_that_has_not_arrived_not_even_the_first() {
        const INTERVAL: Duration = Duration::from_millis(2);
        for method in ["writev", "pwritev"] {
            let name = format!("{method},size=5120,chunk=512,vector=4,sync=fdatasync/4,rate=500");
            let case = Case::parse(&name).unwrap();
            let source = vec![7; 5120];
            let region = region::split(&case, 0, &source, None)[0];
            let (sender, calls) = std::sync::mpsc::channel();
            let write = move |_: BorrowedFd<'_>, vector: &[IoSlice<'_>], _| {
                sender.send((Instant::now(), vector.len())).unwrap();
                Ok(vector.iter().map(|chunk| chunk.len()).sum())
            };
            let file = tempfile::tempfile().unwrap();
            let mut write_loop = WriteLoop::new(&case, 512, None);
            let before = Instant::now();
            vector_thread(region, "writev", write, |offset| offset)
                .write(file.as_fd(), &mut write_loop)
                .unwrap();
            let calls: Vec<_> = calls.try_iter().collect();
            assert_eq!(
                calls.iter().map(|(_, chunks)| *chunks).collect::<Vec<_>>(),
                [4, 4, 2]
            );
            for ((at, _), last) in calls.into_iter().zip([3, 7, 9]) {
                assert!(
                    at - before >= INTERVAL * last,
                    "{method}: record {last} after {:?}",
                    at - before
                );
            }
            assert!(write_loop.shortest_latency() > Duration::ZERO, "{method}");
        }
    }
}
