//! `splice(2)`: from file to file through a pipe.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use super::copy::{Input, ended, move_all};
use super::{IoThread, each_thread};
use crate::call::{Call, CallError, Meaning, retry};
use crate::file::{self, COPIED};
use crate::records::Records;
use crate::region::Region;

/// EPERM for more pipe memory than a user may have: pipe(7).
pub(super) const SET_PIPE_SIZE: Call = Call {
    name: "fcntl(F_SETPIPE_SZ)",
    meanings: &[(Errno::PERM, Meaning::Forbidden("see fs.pipe-max-size and fs.pipe-user-pages-soft"))],
};

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| SpliceThread { region, input: Input::default(), pipe: None })
}

struct SpliceThread<'a> {
    region: Region<'a>,
    input: Input,
    pipe: Option<(OwnedFd, OwnedFd)>,
}

impl IoThread for SpliceThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        /// The limit for an ordinary user: `/proc/sys/fs/pipe-max-size` of pipe(7).
        const PIPE_MAX_BYTES: u64 = 1 << 20;
        // A pipe holds pages: a chunk that begins inside one takes one more.
        let page_bytes = rustix::param::page_size() as u64;
        let chunk = self.region.axes.chunk_size_bytes;
        let needed = if chunk.is_multiple_of(page_bytes) { chunk } else { chunk.saturating_add(page_bytes) };
        self.input.open(&self.region)?;
        let pipe = retry("pipe2", || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC))?;
        let capacity = usize::try_from(needed.min(PIPE_MAX_BYTES)).unwrap_or(0);
        retry(SET_PIPE_SIZE, || rustix::pipe::fcntl_setpipe_size(&pipe.1, capacity))?;
        self.pipe = Some(pipe);
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let input = self.input.file()?;
        let Some((from, into)) = &self.pipe else { return Ok(()) };
        let offset = self.region.file_offset;
        move_all(&self.region, "splice", records, |most, at| {
            let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
            let filled = retry("splice", || rustix::pipe::splice(input, None, into, None, most, flags))
                .map_err(|error| error.with_path(COPIED))?;
            empty(from.as_fd(), file, filled, offset + at)?;
            Ok(filled)
        })
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.input.close()?;
        let Some((from, into)) = self.pipe.take() else { return Ok(()) };
        file::close(into)?;
        file::close(from)
    }
}

/// Moves the content of the pipe to the file.
fn empty(pipe: BorrowedFd<'_>, file: BorrowedFd<'_>, filled: usize, at: u64) -> Result<(), CallError> {
    let mut left = filled;
    while left > 0 {
        let at = at + (filled - left) as u64;
        let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
        let moved = retry("splice", || rustix::pipe::splice(pipe, None, file, None, left, flags));
        match moved.map_err(|error| error.at(at))? {
            0 => return Err(ended("splice", at)),
            moved => left -= moved,
        }
    }
    Ok(())
}
