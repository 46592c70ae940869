//! `splice(2)`: from file to file through a pipe.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use super::attached::attached;
use super::copy::{ended, move_data, open_source};
use super::{IoThread, Region, Result};
use crate::call::{Call, retry};
use crate::file::COPIED;
use crate::region::to_usize;

/// EPERM for more pipe memory than a user may have: pipe(7).
pub(super) const SET_PIPE_SIZE: Call = Call {
    name: "fcntl(F_SETPIPE_SZ)",
    lacks: &[Errno::PERM],
    advice: &[(
        Errno::PERM,
        "see fs.pipe-max-size and fs.pipe-user-pages-soft",
    )],
};

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    attached(
        region,
        |region, _| Ok((open_source(region)?, open_pipe(region)?)),
        |region, (source, (into, from)), file, write_loop| {
            let offset = region.file_offset;
            move_data(
                region,
                [source.as_fd(), file],
                "splice",
                write_loop,
                |most, at| {
                    let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
                    let filled = retry("splice", || {
                        rustix::pipe::splice(source, None, into, None, most, flags)
                    })
                    .map_err(|error| error.with_path(COPIED))?;
                    empty(from.as_fd(), file, filled, offset + at)?;
                    Ok(filled)
                },
            )
        },
    )
}

/// The end to write to and the end to read from, in the order of closing.
type Pipe = (OwnedFd, OwnedFd);

fn open_pipe(region: &Region<'_>) -> Result<Pipe> {
    /// The usual limit for an ordinary user: `/proc/sys/fs/pipe-max-size` of pipe(7).
    const PIPE_MAX_BYTES: u64 = 1 << 20;
    // A chunk that begins inside a page takes one more.
    let page_bytes = rustix::param::page_size() as u64;
    let chunk = region.choices.chunk_size_bytes;
    let needed = if chunk.is_multiple_of(page_bytes) {
        chunk
    } else {
        chunk.saturating_add(page_bytes)
    };
    let (from, into) = retry("pipe2", || {
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
    })?;
    retry(SET_PIPE_SIZE, || {
        rustix::pipe::fcntl_setpipe_size(&into, to_usize(needed.min(PIPE_MAX_BYTES)))
    })?;
    Ok((into, from))
}

/// Moves all bytes in the pipe to the file.
fn empty(pipe: BorrowedFd<'_>, file: BorrowedFd<'_>, filled: usize, at: u64) -> Result<()> {
    let mut left = filled;
    while left > 0 {
        let at = at + (filled - left) as u64;
        let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
        let moved = retry("splice", || {
            rustix::pipe::splice(pipe, None, file, None, left, flags)
        });
        match moved.map_err(|error| error.at(at))? {
            0 => return Err(ended("splice", at)),
            moved => left -= moved,
        }
    }
    Ok(())
}
