//! `writev(2)`: several buffers in one call.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use rustix::io::ReadWriteFlags;
use writebench_model::{Axes, Cache, SyncCall};

use super::{IoThread, Records, Region, Result};
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
    let mut vector = Vec::with_capacity(region.axes.vector as usize);
    move |file: BorrowedFd<'_>, records: &mut Records| {
        let sync = |_, _| sync::sync(file, region.axes.sync.call);
        let flags = flags(region.axes);
        if flags.is_empty() {
            let write = |vector: &[IoSlice<'_>], offset| write(file, vector, offset);
            return write_vectors(&region, &mut vector, call, records, write, sync);
        }
        let write = |vector: &[IoSlice<'_>], offset| {
            rustix::io::pwritev2(file, vector, flagged_offset(offset), flags)
        };
        write_vectors(&region, &mut vector, "pwritev2", records, write, sync)
    }
}

pub(super) fn flags(axes: &Axes) -> ReadWriteFlags {
    let mut flags = ReadWriteFlags::empty();
    if axes.sync.call == SyncCall::RwfDsync {
        flags |= ReadWriteFlags::DSYNC;
    }
    if axes.cache == Cache::Dontcache {
        flags |= ReadWriteFlags::from_bits_retain(RWF_DONTCACHE);
    }
    flags
}

/// include/uapi/linux/fs.h, since Linux 6.14. Neither rustix nor libc has it.
const RWF_DONTCACHE: u32 = 0x80;

#[inline(always)]
fn write_vectors<'a>(
    region: &Region<'a>,
    vector: &mut Vec<IoSlice<'a>>,
    call: &'static str,
    records: &mut Records,
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> rustix::io::Result<usize>,
    mut sync: impl FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    let mut staging = Staging::for_region(region, region.axes.vector.into())?;
    let mut hand_over = |vector: &mut [IoSlice<'_>], start| match staging.gathered(vector) {
        Some(all) => hand_over_vector(call, &mut [IoSlice::new(all)], start, &mut write),
        None => hand_over_vector(call, vector, start, &mut write),
    };
    if records.is_off() {
        let hand_over = |vector: &mut [IoSlice<'_>], start, end| {
            records.reserve(end - region.file_offset)?;
            hand_over(vector, start)?;
            records.reached(end - region.file_offset)
        };
        try_each_vector::<CallError>(region, vector, hand_over)?;
        records.handed_over_bytes += region.range.length;
        return Ok(());
    }
    records.run(region, &mut sync, |records, sync| {
        try_each_vector(region, vector, |vector, start, end| {
            let (chunks, bytes) = (
                vector.len() as u64,
                vector.iter().map(|chunk| chunk.len()).sum(),
            );
            records.before_call(chunks, end - region.file_offset)?;
            hand_over(vector, start)?;
            records.record(region, chunks, bytes, sync)
        })
    })
}

#[inline(always)]
fn try_each_vector<'a, E>(
    region: &Region<'a>,
    vector: &mut Vec<IoSlice<'a>>,
    mut hand_over: impl FnMut(&mut [IoSlice<'a>], u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let room = region.axes.vector as usize;
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
            let mut records = Records::new(&case, 512, None);
            let before = Instant::now();
            vector_thread(region, "writev", write, |offset| offset)
                .write(file.as_fd(), &mut records)
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
            assert!(records.shortest_latency() > Duration::ZERO, "{method}");
        }
    }
}
