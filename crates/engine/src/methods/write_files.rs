//! A set of files: open(2), write(2) and close(2) of each.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Barrier};

use rustix::fs::{AtFlags, OFlags, RenameFlags};
use rustix::io::Errno;
use writebench_model::{Directory, Naming, Opening, SyncCall, SyncFiles};

use super::{IoThread, Records, Region, Result};
use crate::call::{Call, CallError, hand_over, retry};
use crate::file_tree::{self, SetDirectory, SetFile};
use crate::write_behind::start_write_back;
use crate::{file, sync};

/// EOPNOTSUPP, or EISDIR from kernels without the flag: open(2).
const OPEN_TMPFILE: Call =
    Call { name: "open with O_TMPFILE", lacks: &[Errno::OPNOTSUPP, Errno::ISDIR], advice: &[] };
/// EINVAL from a filesystem without the flag: rename(2).
const EXCHANGE: Call = Call { name: "renameat2 with RENAME_EXCHANGE", lacks: &[Errno::INVAL], advice: &[] };

/// `threads` is shared by all threads of a process.
pub(super) fn io_thread<'a>(region: Region<'a>, threads: Arc<Barrier>) -> impl IoThread + 'a {
    WriteFiles { directories: file_tree::directories(&region), open: Vec::new(), region, threads }
}

struct WriteFiles<'a> {
    region: Region<'a>,
    directories: Vec<SetDirectory<'a>>,
    /// Of the directories.
    open: Vec<OwnedFd>,
    threads: Arc<Barrier>,
}

impl<'a> IoThread for WriteFiles<'a> {
    fn attach(&mut self, set: BorrowedFd<'_>) -> Result<()> {
        let are_there = self.region.axes.prepare.needs_old_content();
        for directory in &self.directories {
            if !are_there {
                directory.make(set)?;
            }
            self.open.push(directory.open(set)?);
        }
        Ok(())
    }

    fn write(&mut self, _: BorrowedFd<'_>, records: &mut Records) -> Result<()> {
        records.begin();
        for (directory, opened) in self.directories.iter().zip(&self.open) {
            for file in &directory.files {
                write_file(opened.as_fd(), file).map_err(|error| in_file(error, directory, file))?;
                records.wrote_file(file.region.range.length);
            }
        }
        Ok(())
    }

    /// All threads wait equally often, also after an error.
    fn sync(&mut self, set: BorrowedFd<'_>, _: SyncCall) -> Result<()> {
        let axes = self.region.axes;
        let is_first = self.region.index == 0;
        let mut result = match axes.sync_files {
            SyncFiles::Batch | SyncFiles::Writeback => self.each_file(|directory, file| {
                let written = if needs_rename(file) { &file.temporary } else { &file.name };
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let opened = open(directory, written, flags)?;
                sync::sync(opened.as_fd(), SyncCall::Fsync)?;
                file::close(opened)
            }),
            SyncFiles::Syncfs if is_first => retry("syncfs", || rustix::fs::syncfs(set)),
            SyncFiles::Syncfs | SyncFiles::Each | SyncFiles::None => Ok(()),
        };
        // No file gets its name before its data is durable.
        self.threads.wait();
        if axes.sync_files.is_afterwards() && result.is_ok() {
            result = self.each_file(give_name);
        }
        self.threads.wait();
        if axes.sync_files == SyncFiles::None {
            return result;
        }
        result?;
        // A new name is durable with its directory: fsync(2).
        if axes.directory == Directory::One && !is_first {
            return Ok(());
        }
        for (directory, opened) in self.directories.iter().zip(&self.open) {
            let synced = sync::sync(opened.as_fd(), SyncCall::Fsync);
            synced.map_err(|error| error.with_path(directory.name.as_deref().unwrap_or(".")))?;
        }
        if axes.directory == Directory::One || !is_first {
            return Ok(());
        }
        sync::sync(set, SyncCall::Fsync)
    }

    fn detach(&mut self) -> Result<()> {
        self.open.drain(..).try_for_each(file::close)
    }
}

impl WriteFiles<'_> {
    fn each_file(&self, work: impl Fn(BorrowedFd<'_>, &SetFile<'_>) -> Result<()>) -> Result<()> {
        self.directories.iter().zip(&self.open).try_for_each(|(directory, opened)| {
            directory.files.iter().try_for_each(|file| {
                work(opened.as_fd(), file).map_err(|error| in_file(error, directory, file))
            })
        })
    }
}

fn in_file(error: CallError, directory: &SetDirectory<'_>, file: &SetFile<'_>) -> CallError {
    error.with_path(&file.name()).in_directory(directory.name.as_deref())
}

fn needs_rename(file: &SetFile<'_>) -> bool {
    // O_TMPFILE has no name that could be opened again, so it is linked to the temporary one.
    !file.temporary.is_empty()
}

fn open(directory: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd> {
    retry("open", || rustix::fs::openat(directory, name, flags, file::MODE))
}

/// The calls of a C program, in its order.
#[inline(always)]
fn write_file(directory: BorrowedFd<'_>, file: &SetFile<'_>) -> Result<()> {
    let axes = file.region.axes;
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let new = flags | OFlags::CREATE | OFlags::EXCL;
    let opened = match (axes.naming, axes.prepare.opening()) {
        (Naming::Direct, Opening::New) => open(directory, &file.name, new)?,
        (Naming::Direct, Opening::Emptied) => open(directory, &file.name, flags | OFlags::TRUNC)?,
        (Naming::Direct, Opening::Kept) => open(directory, &file.name, flags)?,
        (Naming::Rename | Naming::Exchange, _) => open(directory, &file.temporary, new)?,
        (Naming::Tmpfile, _) => {
            let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
            retry(OPEN_TMPFILE, || rustix::fs::openat(directory, c".", flags, file::MODE))?
        }
    };
    file.region.try_each_chunk(|chunk, offset| {
        hand_over("write", chunk, offset, |bytes, _| rustix::io::write(&opened, bytes))
    })?;
    match axes.sync_files {
        SyncFiles::Each => sync::sync(opened.as_fd(), SyncCall::Fsync)?,
        SyncFiles::Writeback => start_write_back(opened.as_fd())?,
        SyncFiles::None | SyncFiles::Batch | SyncFiles::Syncfs => {}
    }
    if axes.naming == Naming::Tmpfile {
        let is_final = axes.prepare.opening() == Opening::New && !axes.sync_files.is_afterwards();
        link(&opened, directory, if is_final { &file.name } else { &file.temporary })?;
        file::close(opened)?;
        return if is_final || axes.sync_files.is_afterwards() { Ok(()) } else { give_name(directory, file) };
    }
    file::close(opened)?;
    if axes.sync_files.is_afterwards() { Ok(()) } else { give_name(directory, file) }
}

/// linkat(2) describes the path, which needs no capability.
fn link(opened: &OwnedFd, directory: BorrowedFd<'_>, name: &CStr) -> Result<()> {
    let path = format!("/proc/self/fd/{}", opened.as_raw_fd());
    retry("linkat", || rustix::fs::linkat(rustix::fs::CWD, &path, directory, name, AtFlags::SYMLINK_FOLLOW))
}

fn give_name(directory: BorrowedFd<'_>, file: &SetFile<'_>) -> Result<()> {
    let SetFile { name, temporary, region } = file;
    match region.axes.naming {
        Naming::Direct => Ok(()),
        Naming::Rename | Naming::Tmpfile => {
            retry("rename", || rustix::fs::renameat(directory, temporary, directory, name))
        }
        Naming::Exchange => {
            retry(EXCHANGE, || {
                rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::EXCHANGE)
            })?;
            retry("unlink", || rustix::fs::unlinkat(directory, temporary, AtFlags::empty()))
        }
    }
}
