//! `writev(2)`: several buffers in one call.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use rustix::io::ReadWriteFlags;
use writebench_model::{Axes, Cache, SyncCall};

use super::{IoThread, each_thread};
use crate::call::{CallError, hand_over_vector};
use crate::records::Records;
use crate::region::Region;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| WritevThread { region, vector: vector(&region) })
}

struct WritevThread<'a> {
    region: Region<'a>,
    vector: Vec<IoSlice<'a>>,
}

impl IoThread for WritevThread<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let flags = flags(self.region.axes);
        let sync = self.region.axes.sync.call;
        let sync = |_, _| sync::sync(file, sync);
        if flags.is_empty() {
            let write = |vector: &[IoSlice<'_>], _| rustix::io::writev(file, vector);
            write_vectors(&self.region, &mut self.vector, "writev", records, write, sync)
        } else {
            // At offset -1 the call uses the file's position: pwritev2(2).
            let write = |vector: &[IoSlice<'_>], _| rustix::io::pwritev2(file, vector, u64::MAX, flags);
            write_vectors(&self.region, &mut self.vector, "pwritev2", records, write, sync)
        }
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

/// include/uapi/linux/fs.h, since Linux 6.14; neither rustix nor libc has it.
const RWF_DONTCACHE: u32 = 0x80;

/// An empty vector with room for the chunks of one call.
pub(super) fn vector<'a>(region: &Region<'_>) -> Vec<IoSlice<'a>> {
    Vec::with_capacity(region.axes.vector as usize)
}

/// Gathers chunks until the vector is full, hands them over, and repeats.
#[inline(always)]
pub(super) fn write_vectors<'a>(
    region: &Region<'a>,
    vector: &mut Vec<IoSlice<'a>>,
    call: &'static str,
    records: &mut Records,
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> rustix::io::Result<usize>,
    mut sync: impl FnMut(u64, u64) -> Result<(), CallError>,
) -> Result<(), CallError> {
    let mut staging = Staging::for_region(region, region.axes.vector.into())?;
    let mut hand_over = |vector: &mut [IoSlice<'_>], start| match staging.gathered(vector) {
        Some(all) => hand_over_vector(call, &mut [IoSlice::new(all)], start, &mut write),
        None => hand_over_vector(call, vector, start, &mut write),
    };
    if records.is_off() {
        let hand_over = |vector: &mut [IoSlice<'_>], start, end| {
            hand_over(vector, start)?;
            records.reached(end - region.file_offset)
        };
        try_each_vector::<CallError>(region, vector, hand_over)?;
        records.handed_over_bytes += region.range.length;
        return Ok(());
    }
    records.run(region, &mut sync, |records, sync| {
        try_each_vector(region, vector, |vector, start, _| {
            let (chunks, bytes) = (vector.len() as u64, vector.iter().map(|chunk| chunk.len()).sum());
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
    if vector.is_empty() { Ok(()) } else { hand_over(vector, start, end) }
}
