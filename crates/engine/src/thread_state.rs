use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use writebench_model::{Cache, Case, Cursor, Opening, Prepare};

use crate::ahead::Ahead;
use crate::call::{CallError, Result, retry};
use crate::file::{self, Target};
use crate::methods::allocate::{allocate, zero_fill};
use crate::methods::{self, IoThread};
use crate::records::Records;
use crate::region::Region;
use crate::write_behind::WriteBehind;
use crate::{file_tree, sync};

pub(crate) struct ThreadState<'a> {
    target: Target<'a>,
    pub case: &'a Case,
    name: &'a str,
    region: Region<'a>,
    thread: Box<dyn IoThread + 'a>,
    pub records: Records,
    /// Shared by all threads, or one for each.
    pub file: Option<Arc<OwnedFd>>,
}

/// `limit` ends loops that read the clock.
pub(crate) fn thread_states<'a>(
    target: Target<'a>,
    case: &'a Case,
    names: &'a [String],
    regions: &[Region<'a>],
    limit: Option<Duration>,
) -> Vec<ThreadState<'a>> {
    let records = || Records::new(case, case.axes().chunk_size_bytes, limit);
    let threads = methods::io_threads(case.method(), regions);
    threads
        .into_iter()
        .zip(regions)
        .map(|(thread, &region)| {
            let name = region.name(names);
            ThreadState {
                target,
                case,
                name,
                region,
                thread,
                records: records(),
                file: None,
            }
        })
        .collect()
}

impl ThreadState<'_> {
    pub(crate) fn attaches(&self) -> bool {
        self.thread.attaches()
    }

    pub(crate) fn open(&mut self) -> Result<()> {
        self.open_with(self.case.axes().prepare.opening())
    }

    pub(crate) fn open_own(&mut self) -> Result<()> {
        if self.file.is_some() {
            Ok(())
        } else {
            self.open_with(Opening::Kept)
        }
    }

    fn open_with(&mut self, opening: Opening) -> Result<()> {
        let file = match self.target {
            Target::Directory(directory) if self.case.method().writes_set() => {
                file_tree::open_directory(directory, self.name)?
            }
            target => file::open(target, self.name, self.case, opening)?,
        };
        self.file = Some(Arc::new(file));
        // Only for methods that write at the file's position.
        if self.case.method().card().cursor != Cursor::FilePosition || self.region.file_offset == 0
        {
            return Ok(());
        }
        let position = rustix::fs::SeekFrom::Start(self.region.file_offset);
        self.on_file(|_, file| retry("lseek", || rustix::fs::seek(file, position)).map(drop))
    }

    pub(crate) fn prepare(&mut self) -> Result<()> {
        self.on_file(|state, file| {
            let (axes, length) = (state.case.axes(), state.region.file_length);
            match axes.prepare.call() {
                _ if axes.prepare == Prepare::ZeroFill => zero_fill(file, length, axes.cache),
                Some(call) => allocate(file, call, length),
                None => Ok(()),
            }
        })
    }

    pub(crate) fn attach(&mut self) -> Result<()> {
        self.on_file(|state, file| state.thread.attach(file))
    }

    pub(crate) fn write(&mut self) -> Result<()> {
        let (axes, offset) = (self.case.axes(), self.region.file_offset);
        self.records.behind = self
            .file
            .as_ref()
            .and_then(|file| WriteBehind::new(axes, file, offset));
        self.records.ahead = self.file.as_ref().and_then(|file| Ahead::new(axes, file));
        self.on_file(|state, file| {
            let mut result = state.thread.write(file, &mut state.records);
            state.records.behind = None;
            if let (Some(ahead), Ok(())) = (state.records.ahead.take(), &result) {
                result = ahead.finish(axes, state.records.handed_over_bytes);
            }
            let is_direct = axes.cache == Cache::Direct;
            result.map_err(|error| {
                if is_direct {
                    error.with_alignment(file)
                } else {
                    error
                }
            })
        })
    }

    pub(crate) fn sync(&mut self) -> Result<()> {
        self.on_file(|state, file| state.thread.sync(file, state.case.axes().sync.call))
    }

    /// A new name is durable with its directory: fsync(2).
    pub(crate) fn sync_directory(&mut self) -> Result<()> {
        let Target::Directory(directory) = self.target else {
            return Ok(());
        };
        let opened = file_tree::open_directory(directory, ".")?;
        sync::sync_directory(opened.as_fd()).map_err(|error| error.with_path("."))?;
        file::close(opened)
    }

    /// Unless another thread shares the descriptor.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.thread
            .detach()
            .map_err(|error| error.with_path(self.name))?;
        let Some(file) = self.file.take().and_then(Arc::into_inner) else {
            return Ok(());
        };
        self.thread
            .close(file)
            .map_err(|error| error.with_path(self.name))
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        self.thread
            .finish()
            .map_err(|error| error.with_path(self.name))
    }

    fn on_file(
        &mut self,
        work: impl FnOnce(&mut Self, BorrowedFd<'_>) -> Result<()>,
    ) -> Result<()> {
        let file = self
            .file
            .clone()
            .ok_or_else(|| CallError::new("open", rustix::io::Errno::BADF))?;
        work(self, file.as_fd()).map_err(|error| error.with_path(self.name))
    }
}
