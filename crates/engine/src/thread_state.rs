//! What a thread does in each phase.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use writebench_model::{Cache, Case, Cursor, Opening, Prepare};

use crate::ahead::Ahead;
use crate::call::{CallError, Result, retry};
use crate::file::{self, Target};
use crate::methods::allocate::{allocate, zero_fill};
use crate::methods::{self, IoThread};
use crate::region::Region;
use crate::write_behind::WriteBehind;
use crate::write_loop::WriteLoop;
use crate::{file_tree, sync};

/// A thread, its region of the data, and its file.
pub(crate) struct ThreadState<'a> {
    target: Target<'a>,
    pub case: &'a Case,
    name: &'a str,
    region: Region<'a>,
    thread: Box<dyn IoThread + 'a>,
    pub write_loop: WriteLoop,
    /// Shared by all threads, or one for each.
    pub file: Option<Arc<OwnedFd>>,
}

/// The threads of a rank, one for each region. `limit` ends loops that read the clock.
pub(crate) fn thread_states<'a>(
    target: Target<'a>,
    case: &'a Case,
    names: &'a [String],
    regions: &[Region<'a>],
    limit: Option<Duration>,
) -> Vec<ThreadState<'a>> {
    methods::io_threads(case.method(), regions)
        .into_iter()
        .zip(regions)
        .map(|(thread, &region)| ThreadState {
            target,
            case,
            name: region.name(names),
            region,
            thread,
            write_loop: WriteLoop::new(case, case.choices().chunk_size_bytes, limit),
            file: None,
        })
        .collect()
}

impl ThreadState<'_> {
    pub(crate) fn attaches(&self) -> bool {
        self.thread.attaches()
    }

    pub(crate) fn open(&mut self) -> Result<()> {
        self.open_with(self.case.choices().prepare.opening())
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
        // Only methods that write at the file's position need it set.
        if self.case.method().card().cursor != Cursor::FilePosition || self.region.file_offset == 0
        {
            return Ok(());
        }
        let position = rustix::fs::SeekFrom::Start(self.region.file_offset);
        self.on_file(|_, file| retry("lseek", || rustix::fs::seek(file, position)).map(drop))
    }

    pub(crate) fn prepare(&mut self) -> Result<()> {
        self.on_file(|state, file| {
            let choices = state.case.choices();
            let length = state.region.file_length;
            match state.case.preparing_call() {
                _ if choices.prepare == Prepare::ZeroFill => zero_fill(file, length, choices.cache),
                Some(call) => allocate(file, call, length),
                None => Ok(()),
            }
        })
    }

    pub(crate) fn attach(&mut self) -> Result<()> {
        self.on_file(|state, file| state.thread.attach(file))
    }

    pub(crate) fn write(&mut self) -> Result<()> {
        let choices = self.case.choices();
        let offset = self.region.file_offset;
        self.write_loop.behind = self
            .file
            .as_ref()
            .and_then(|file| WriteBehind::new(choices, file, offset));
        self.write_loop.ahead = self
            .file
            .as_ref()
            .and_then(|file| Ahead::new(choices, file));
        self.on_file(|state, file| {
            let mut result = state.thread.write(file, &mut state.write_loop);
            state.write_loop.behind = None;
            if let Some(ahead) = state.write_loop.ahead.take()
                && result.is_ok()
            {
                result = ahead.finish(choices, state.write_loop.handed_over_bytes);
            }
            match result {
                Err(error) if choices.cache == Cache::Direct => Err(error.with_alignment(file)),
                other => other,
            }
        })
    }

    pub(crate) fn sync(&mut self) -> Result<()> {
        self.on_file(|state, file| state.thread.sync(file, state.case.choices().sync.call))
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

    /// Closes the file, unless another thread shares the descriptor.
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
