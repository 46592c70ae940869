//! A thread's files of a set. How they are written is up to a [`FilesWriter`].

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Barrier};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use writebench_model::{Directory, Naming, Opening, SyncCall, SyncFiles};

use super::background_unlink::BackgroundUnlink;
use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{Call, CallError, retry};
use crate::file_tree::{self, SetDirectory, SetFile};
use crate::{file, sync};

/// EINVAL from a filesystem without the flag: rename(2).
const EXCHANGE: Call = Call {
    name: "renameat2 with RENAME_EXCHANGE",
    lacks: &[Errno::INVAL],
    advice: &[],
};

/// Writes each file and closes it. Each function is called once, in this order.
pub(super) trait FilesWriter: Send {
    fn attach(&mut self, _: &Region<'_>) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, files: &OpenFiles<'_>, write_loop: &mut WriteLoop) -> Result<()>;

    fn detach(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The files of a thread, in open directories.
pub(super) struct OpenFiles<'a> {
    pub region: Region<'a>,
    directories: Vec<SetDirectory<'a>>,
    /// The descriptor of each directory.
    open: Vec<OwnedFd>,
}

/// A file of the set and its open directory.
#[derive(Clone, Copy)]
pub(super) struct PlacedFile<'f, 'a> {
    pub directory: BorrowedFd<'f>,
    pub file: &'f SetFile<'a>,
    directory_name: Option<&'f str>,
}

impl<'a> OpenFiles<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = PlacedFile<'_, 'a>> {
        self.directories
            .iter()
            .zip(&self.open)
            .flat_map(|(directory, open)| {
                let name = directory.name.as_deref();
                directory
                    .files
                    .iter()
                    .map(move |file| PlacedFile::new(open.as_fd(), file, name))
            })
    }

    pub(super) fn each(
        &self,
        mut work: impl FnMut(BorrowedFd<'_>, &SetFile<'_>) -> Result<()>,
    ) -> Result<()> {
        self.iter().try_for_each(|placed| {
            work(placed.directory, placed.file).map_err(|error| placed.describe(error))
        })
    }
}

impl<'f, 'a> PlacedFile<'f, 'a> {
    pub(super) fn new(
        directory: BorrowedFd<'f>,
        file: &'f SetFile<'a>,
        directory_name: Option<&'f str>,
    ) -> Self {
        Self {
            directory,
            file,
            directory_name,
        }
    }

    pub(super) fn describe(&self, error: CallError) -> CallError {
        error
            .with_path(&self.file.name())
            .in_directory(self.directory_name)
    }
}

/// All threads of a process share `threads`, at which they wait for each other.
pub(super) fn io_thread<'a>(
    region: Region<'a>,
    threads: Arc<Barrier>,
    writer: impl FilesWriter + 'a,
) -> impl IoThread + 'a {
    let files = OpenFiles {
        directories: file_tree::directories(&region),
        open: Vec::new(),
        region,
    };
    SetThread {
        writer,
        files,
        threads,
        unlink: None,
    }
}

struct SetThread<'a, W> {
    // Dropped before the files, which it may be using.
    writer: W,
    files: OpenFiles<'a>,
    threads: Arc<Barrier>,
    /// The unlink of the old file, if there is one.
    unlink: Option<BackgroundUnlink>,
}

impl<W: FilesWriter> IoThread for SetThread<'_, W> {
    fn attach(&mut self, set: BorrowedFd<'_>) -> Result<()> {
        let are_there = self.files.region.choices.prepare.needs_old_content();
        for directory in &self.files.directories {
            if !are_there {
                directory.make(set)?;
            }
            self.files.open.push(directory.open(set)?);
        }
        if self.files.region.choices.naming == Naming::ExchangeBackground
            && let Some(old) = self.files.iter().next()
        {
            let name = old.file.temporary.clone();
            self.unlink = Some(BackgroundUnlink::start(old.directory, name)?);
        }
        self.writer.attach(&self.files.region)
    }

    fn write(&mut self, _: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        write_loop.start_clock();
        self.writer.write(&self.files, write_loop)?;
        if !self.files.region.choices.sync_files.is_afterwards() {
            self.begin_unlink();
        }
        Ok(())
    }

    /// All threads wait equally often, also after an error.
    fn sync(&mut self, set: BorrowedFd<'_>, _: SyncCall) -> Result<()> {
        let Region { choices, index, .. } = self.files.region;
        let mut result = match choices.sync_files {
            SyncFiles::Batch | SyncFiles::Writeback => self.files.each(sync_file),
            SyncFiles::Syncfs if index == 0 => retry("syncfs", || rustix::fs::syncfs(set)),
            SyncFiles::Syncfs | SyncFiles::Each | SyncFiles::None => Ok(()),
        };
        // No file gets its name before its data is durable.
        self.threads.wait();
        if choices.sync_files.is_afterwards() && result.is_ok() {
            result = self.files.each(give_name).inspect(|()| self.begin_unlink());
        }
        self.threads.wait();
        if choices.sync_files == SyncFiles::None {
            return result;
        }
        result?;
        self.sync_directories(set)
    }

    fn detach(&mut self) -> Result<()> {
        self.writer.detach()?;
        self.files.open.drain(..).try_for_each(file::close)
    }

    fn finish(&mut self) -> Result<()> {
        self.unlink.take().map_or(Ok(()), BackgroundUnlink::finish)
    }
}

impl<W> SetThread<'_, W> {
    /// The old file may go after the exchange.
    fn begin_unlink(&self) {
        self.unlink.iter().for_each(BackgroundUnlink::begin);
    }

    /// A new name is durable with its directory: fsync(2). The first thread syncs the common directory for all.
    fn sync_directories(&self, set: BorrowedFd<'_>) -> Result<()> {
        let is_first = self.files.region.index == 0;
        let has_one = self.files.region.choices.directory == Directory::One;
        if has_one && !is_first {
            return Ok(());
        }
        for (directory, opened) in self.files.directories.iter().zip(&self.files.open) {
            let name = directory.name.as_deref().unwrap_or(".");
            sync::sync_directory(opened.as_fd()).map_err(|error| error.with_path(name))?;
        }
        if has_one || !is_first {
            return Ok(());
        }
        sync::sync_directory(set)
    }
}

fn sync_file(directory: BorrowedFd<'_>, file: &SetFile<'_>) -> Result<()> {
    // O_TMPFILE has no name that could be opened again, so it is linked to the temporary one.
    let written = if file.temporary.is_empty() {
        &file.name
    } else {
        &file.temporary
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = retry("open", || {
        rustix::fs::openat(directory, written, flags, Mode::empty())
    })?;
    sync::sync(opened.as_fd(), SyncCall::Fsync)?;
    file::close(opened)
}

/// The name and the flags with which a file is opened to be written.
pub(super) fn opened_as<'f>(file: &'f SetFile<'_>) -> (&'f CStr, OFlags) {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let new = flags | OFlags::CREATE | OFlags::EXCL;
    let choices = file.region.choices;
    match (choices.naming, choices.prepare.opening()) {
        (Naming::Direct, Opening::New) => (&file.name, new),
        (Naming::Direct, Opening::Emptied) => (&file.name, flags | OFlags::TRUNC),
        (Naming::Direct, Opening::Kept) => (&file.name, flags),
        (Naming::Rename | Naming::Exchange | Naming::ExchangeBackground, _) => {
            (&file.temporary, new)
        }
        (Naming::Tmpfile, _) => (c".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC),
    }
}

pub(super) fn give_name(directory: BorrowedFd<'_>, file: &SetFile<'_>) -> Result<()> {
    let SetFile {
        name,
        temporary,
        region,
    } = file;
    match region.choices.naming {
        Naming::Direct => Ok(()),
        Naming::Rename | Naming::Tmpfile => retry("rename", || {
            rustix::fs::renameat(directory, temporary, directory, name)
        }),
        Naming::Exchange | Naming::ExchangeBackground => {
            retry(EXCHANGE, || {
                rustix::fs::renameat_with(
                    directory,
                    temporary,
                    directory,
                    name,
                    RenameFlags::EXCHANGE,
                )
            })?;
            if region.choices.naming == Naming::ExchangeBackground {
                return Ok(());
            }
            retry("unlink", || {
                rustix::fs::unlinkat(directory, temporary, AtFlags::empty())
            })
        }
    }
}
