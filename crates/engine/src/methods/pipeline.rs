//! `read(2)` in one thread and `write(2)` in another, with circulating buffers.

use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use direct_io::AlignedBuffer;

use super::copy::{copying, move_all};
use super::read_write::{buffers, no_buffer};
use super::{IoThread, Region, Result};
use crate::call::{CallError, hand_over, retry};
use crate::file::COPIED;
use crate::region::to_usize;
use crate::threads::start_thread;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    let mut buffers = buffers(&region);
    // The buffers are kept after the loop, so that none is freed inside the clock.
    let mut used = None;
    copying(region, move |region, source, file, write_loop| {
        let buffers = buffers.take().ok_or_else(no_buffer)?;
        let depth = buffers.len();
        let (fill, filled) = sync_channel::<Filled>(depth);
        let (empty, emptied) = sync_channel(depth);
        for buffer in buffers {
            let _ = empty.send(buffer);
        }
        std::thread::scope(|scope| {
            let reader = start_thread(scope, move || {
                read_all(region, source, &emptied, &fill);
                emptied
            })?;
            let written = move_all(region, "read", write_loop, |_, at| {
                let Ok(next) = filled.recv() else {
                    return Ok(0);
                };
                let (buffer, read) = next?;
                let offset = region.file_offset + at;
                hand_over("write", &buffer[..read], offset, |bytes, _| {
                    rustix::io::write(file, bytes)
                })?;
                let _ = empty.send(buffer);
                Ok(read)
            });
            // The reader ends without the other end of its channels.
            drop(filled);
            drop(empty);
            let emptied = reader
                .join()
                .map_err(|_| CallError::other("read", "the reading thread has ended"))?;
            used = Some(emptied);
            written
        })
    })
}

/// A buffer and the bytes read into it, or the error that ends the reader.
type Filled = Result<(AlignedBuffer, usize)>;

fn read_all(
    region: &Region<'_>,
    source: BorrowedFd<'_>,
    emptied: &Receiver<AlignedBuffer>,
    fill: &SyncSender<Filled>,
) {
    let mut at = 0;
    while at < region.range.length
        && let Ok(mut buffer) = emptied.recv()
    {
        let most = region
            .choices
            .chunk_size_bytes
            .min(region.range.length - at);
        let most = to_usize(most).min(buffer.len());
        let read = retry("read", || rustix::io::read(source, &mut buffer[..most]));
        let is_last = !matches!(read, Ok(1..));
        at += read.as_ref().map_or(0, |&read| read as u64);
        let read = read.map_err(|error| error.with_path(COPIED));
        if fill.send(read.map(|read| (buffer, read))).is_err() || is_last {
            return;
        }
    }
}
