//! The state of one thread of a sample, and its step in each phase.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use writebench_model::{Cache, Case, Cursor, Prepare};

use crate::call::{CallError, retry};
use crate::file::{self, Target};
use crate::methods::{self, IoThread};
use crate::records::Records;
use crate::region::Region;
use crate::write_behind::WriteBehind;

/// A region, its open file, and the method at work on it.
pub(crate) struct ThreadState<'a> {
    target: Target<'a>,
    pub case: &'a Case,
    name: &'a str,
    region: Region<'a>,
    thread: Box<dyn IoThread + 'a>,
    /// The data that was handed over.
    pub records: Records,
    // Shared by all threads, or one for each. The last owner closes it.
    file: Option<Arc<OwnedFd>>,
}

/// One state per region; `names` has one common file or one per region. `limit` ends loops that read the clock.
pub(crate) fn thread_states<'a>(
    target: Target<'a>,
    case: &'a Case,
    names: &'a [String],
    regions: &[Region<'a>],
    limit: Option<Duration>,
) -> Vec<ThreadState<'a>> {
    let records = || Records::new(case.axes().sync, case.axes().chunk_size_bytes, limit);
    let threads = methods::io_threads(case.method(), regions);
    threads
        .into_iter()
        .zip(regions)
        .map(|(thread, &region)| {
            let name = region.name(names);
            ThreadState { target, case, name, region, thread, records: records(), file: None }
        })
        .collect()
}

impl ThreadState<'_> {
    /// Whether the method has work between opening and writing.
    pub(crate) fn attaches(&self) -> bool {
        self.thread.attaches()
    }

    /// Opens the file as the case's `prepare` requires.
    pub(crate) fn open(&mut self) -> Result<(), CallError> {
        self.file = Some(Arc::new(file::open(self.target, self.name, self.case)?));
        self.seek()
    }

    /// Opens a descriptor of its own for an existing file.
    pub(crate) fn open_own(&mut self) -> Result<(), CallError> {
        if self.file.is_none() {
            self.file = Some(Arc::new(file::open_again(self.target, self.name, self.case)?));
        }
        self.seek()
    }

    /// Sets the file's position to the region, for methods that write there.
    fn seek(&self) -> Result<(), CallError> {
        let position = rustix::fs::SeekFrom::Start(self.region.file_offset);
        if self.case.method().card().cursor == Cursor::FilePosition && self.region.file_offset > 0 {
            retry("lseek", || rustix::fs::seek(self.file.as_ref().ok_or(rustix::io::Errno::BADF)?, position))
                .map_err(|error| self.named(error))?;
        }
        Ok(())
    }

    /// Uses the first thread's descriptor, which is in `first` after that thread's turn.
    pub(crate) fn open_shared(&mut self, first: &mut Option<Arc<OwnedFd>>) {
        match first {
            None => first.clone_from(&self.file),
            Some(_) => self.file.clone_from(first),
        }
    }

    /// Gives the file its length and blocks, if the case's `prepare` does so.
    pub(crate) fn prepare(&mut self) -> Result<(), CallError> {
        let prepare = self.case.axes().prepare;
        let (file, length) = (self.file()?, self.region.file_length);
        let prepared = match prepare.call() {
            _ if prepare == Prepare::ZeroFill => {
                methods::allocate::zero_fill(file.as_fd(), length, self.case.axes().cache)
            }
            Some(call) => methods::allocate::allocate(file.as_fd(), call, length),
            None => Ok(()),
        };
        prepared.map_err(|error| self.named(error))
    }

    /// Attaches the method to the open file.
    pub(crate) fn attach(&mut self) -> Result<(), CallError> {
        let file = self.file()?;
        self.thread.attach(file.as_fd()).map_err(|error| self.named(error))
    }

    /// Runs the method's loop.
    pub(crate) fn write(&mut self) -> Result<(), CallError> {
        let file = self.file()?;
        let axes = self.case.axes();
        self.records.write_behind(WriteBehind::new(axes, &file, self.region.file_offset));
        let result = self.thread.write(file.as_fd(), &mut self.records);
        self.records.write_behind(None);
        let result = result.map_err(|error| self.named(error));
        if axes.cache == Cache::Direct {
            return result.map_err(|error| error.with_alignment(file.as_fd()));
        }
        result
    }

    /// Makes durable the data that the case's `sync` reaches through this descriptor.
    pub(crate) fn sync(&mut self) -> Result<(), CallError> {
        let file = self.file()?;
        self.thread.sync(file.as_fd(), self.case.axes().sync.call).map_err(|error| self.named(error))
    }

    /// Detaches the method and closes the descriptor unless another thread shares it.
    pub(crate) fn close(&mut self) -> Result<(), CallError> {
        self.thread.detach().map_err(|error| self.named(error))?;
        let Some(file) = self.file.take().and_then(Arc::into_inner) else { return Ok(()) };
        self.thread.close(file).map_err(|error| self.named(error))
    }

    fn named(&self, error: CallError) -> CallError {
        error.with_path(self.name)
    }

    fn file(&self) -> Result<Arc<OwnedFd>, CallError> {
        self.file.clone().ok_or_else(|| CallError::new("open", rustix::io::Errno::BADF))
    }
}
