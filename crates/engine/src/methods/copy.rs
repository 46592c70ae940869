//! Code that the copying methods share.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use writebench_model::{Advice, Cache};

use super::IoThread;
use crate::call::{Call, CallError, retry};
use crate::file::{self, COPIED};
use crate::records::Records;
use crate::region::Region;

/// The file that is copied, with a position and advice of its own: closing a descriptor ends its advice.
#[derive(Default)]
pub(super) struct Input {
    file: Option<OwnedFd>,
}

impl Input {
    /// Opens the file at the beginning of the region, with the case's advice for reading.
    pub(super) fn open(&mut self, region: &Region<'_>) -> Result<(), CallError> {
        let file = Self::open_unadvised(region)?;
        if region.range.offset > 0 {
            let position = rustix::fs::SeekFrom::Start(region.range.offset);
            retry("lseek", || rustix::fs::seek(&file, position)).map_err(|error| error.with_path(COPIED))?;
        }
        if region.axes.advice == Advice::Sequential {
            for advice in [rustix::fs::Advice::WillNeed, rustix::fs::Advice::Sequential] {
                retry("posix_fadvise", || rustix::fs::fadvise(&file, 0, None, advice))?;
            }
        }
        self.file = Some(file);
        Ok(())
    }

    /// Opens the file without advice.
    pub(super) fn open_unadvised(region: &Region<'_>) -> Result<OwnedFd, CallError> {
        Self::open_with(region, Cache::Buffered)
    }

    /// Opens the file without advice, through the page cache or past it.
    pub(super) fn open_with(region: &Region<'_>, cache: Cache) -> Result<OwnedFd, CallError> {
        let source =
            region.copy_from.ok_or_else(|| CallError::other("copy", "there is no file to copy".to_owned()))?;
        file::reopen_to_read(source, cache).map_err(|error| error.with_path(COPIED))
    }

    pub(super) fn file(&self) -> Result<BorrowedFd<'_>, CallError> {
        let file =
            self.file.as_ref().ok_or_else(|| CallError::other("copy", "the source is not open".to_owned()))?;
        Ok(file.as_fd())
    }

    pub(super) fn close(&mut self) -> Result<(), CallError> {
        self.file.take().map_or(Ok(()), file::close)
    }
}

/// A copy whose loop only needs the source to be open.
pub(super) struct CopyThread<'a, L> {
    region: Region<'a>,
    input: Input,
    copy: L,
}

impl<'a, L> CopyThread<'a, L>
where
    L: FnMut(&Region<'a>, BorrowedFd<'_>, BorrowedFd<'_>, &mut Records) -> Result<(), CallError> + Send,
{
    /// `copy` is the loop, from the first file to the second.
    pub(super) fn new(region: Region<'a>, copy: L) -> Self {
        Self { region, input: Input::default(), copy }
    }
}

impl<'a, L> IoThread for CopyThread<'a, L>
where
    L: FnMut(&Region<'a>, BorrowedFd<'_>, BorrowedFd<'_>, &mut Records) -> Result<(), CallError> + Send,
{
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.input.open(&self.region)
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        (self.copy)(&self.region, self.input.file()?, file, records)
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.input.close()
    }
}

/// A copy by one call that moves bytes from file to file inside the kernel: `step` moves at most the given number of
/// bytes from the first file to the second, each at its own position.
pub(super) fn in_kernel<'a>(
    region: Region<'a>,
    call: impl Into<Call>,
    step: impl Fn(BorrowedFd<'_>, BorrowedFd<'_>, usize) -> rustix::io::Result<usize> + Send,
) -> impl IoThread {
    let call = call.into();
    CopyThread::new(
        region,
        move |region: &Region<'a>, input: BorrowedFd<'_>, file: BorrowedFd<'_>, records: &mut Records| {
            move_all(region, call, records, |most, _| retry(call, || step(input, file, most)))
        },
    )
}

/// Calls `step` with the most bytes that it may move, and the number moved before, until the region is
/// complete. `step` returns the bytes that it moved.
#[inline(always)]
pub(super) fn move_all(
    region: &Region<'_>,
    call: impl Into<Call> + Copy,
    records: &mut Records,
    mut step: impl FnMut(usize, u64) -> Result<usize, CallError>,
) -> Result<(), CallError> {
    let mut at = 0;
    while at < region.range.length {
        let most = region.axes.chunk_size_bytes.min(region.range.length - at);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        match step(most, at).map_err(|error| error.or_at(region.range.offset + at))? {
            0 => return Err(ended(call, region.range.offset + at)),
            moved => at += moved as u64,
        }
        records.reached(at)?;
    }
    records.handed_over_bytes += at;
    Ok(())
}

/// The error if the source has become shorter.
#[cold]
pub(super) fn ended(call: impl Into<Call>, at: u64) -> CallError {
    CallError::other(call, "the file that is copied ends too early".to_owned()).with_path(COPIED).at(at)
}
