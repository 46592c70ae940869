use direct_io::AlignedBuffer;

use super::copy::{copying, move_data};
use super::{IoThread, Region};
use crate::call::{CallError, hand_over, retry};
use crate::file::COPIED;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    let mut buffer = buffer(&region);
    copying(region, move |region, source, file, write_loop| {
        let buffer = buffer.as_mut().ok_or_else(no_buffer)?;
        let offset = region.file_offset;
        move_data(region, [source, file], "read", write_loop, |most, at| {
            let read = retry("read", || rustix::io::read(source, &mut buffer[..most]))
                .map_err(|error| error.with_path(COPIED))?;
            hand_over("write", &buffer[..read], offset + at, |bytes, _| {
                rustix::io::write(file, bytes)
            })?;
            Ok(read)
        })
    })
}

const PAGE_BYTES: usize = 4096;

/// A buffer for one chunk, page-aligned and touched before the clock starts.
pub(super) fn buffer(region: &Region<'_>) -> Option<AlignedBuffer> {
    let length = region.choices.chunk_size_bytes.min(region.range.length);
    let mut buffer = AlignedBuffer::new(usize::try_from(length).ok()?, PAGE_BYTES).ok()?;
    buffer.fill(1);
    Some(buffer)
}

pub(super) fn buffers(region: &Region<'_>) -> Option<Vec<AlignedBuffer>> {
    (0..region.choices.depth).map(|_| buffer(region)).collect()
}

pub(super) fn no_buffer() -> CallError {
    CallError::other("read", "no memory for a buffer: try a smaller chunk")
}
