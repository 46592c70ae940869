//! A set of files: open(2), write(2) and close(2) of each.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::AtFlags;
use rustix::io::Errno;
use writebench_model::{Naming, Opening, SyncCall, SyncFiles};

use super::set_thread::{FilesWriter, OpenFiles, give_name, opened_as};
use super::{Result, WriteLoop};
use crate::call::{Call, hand_over, retry};
use crate::file_tree::SetFile;
use crate::write_behind::start_write_back;
use crate::{file, sync};

/// EOPNOTSUPP, or EISDIR from kernels without the flag: open(2).
const OPEN_TMPFILE: Call = Call {
    name: "open with O_TMPFILE",
    lacks: &[Errno::OPNOTSUPP, Errno::ISDIR],
    advice: &[],
};

pub(super) struct ByCalls;

impl FilesWriter for ByCalls {
    fn write(&mut self, files: &OpenFiles<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        files.each(|directory, file| {
            write_file(directory, file)?;
            write_loop.wrote_file(file.region.range.length);
            Ok(())
        })
    }
}

/// The calls of a C program, in its order.
#[inline(always)]
fn write_file(directory: BorrowedFd<'_>, file: &SetFile<'_>) -> Result<()> {
    let choices = file.region.choices;
    let (name, flags) = opened_as(file);
    let call = if choices.naming == Naming::Tmpfile {
        OPEN_TMPFILE
    } else {
        "open".into()
    };
    let opened = retry(call, || {
        rustix::fs::openat(directory, name, flags, file::MODE)
    })?;
    file.region.try_each_chunk(|chunk, offset| {
        hand_over("write", chunk, offset, |bytes, _| {
            rustix::io::write(&opened, bytes)
        })
    })?;
    match choices.sync_files {
        SyncFiles::Each => sync::sync(opened.as_fd(), SyncCall::Fsync)?,
        SyncFiles::Writeback => start_write_back(opened.as_fd())?,
        SyncFiles::None | SyncFiles::Batch | SyncFiles::Syncfs => {}
    }
    let is_named_later = choices.sync_files.is_afterwards();
    let is_linked_finally = choices.naming == Naming::Tmpfile
        && choices.prepare.opening() == Opening::New
        && !is_named_later;
    if is_linked_finally {
        link(&opened, directory, &file.name)?;
    } else if choices.naming == Naming::Tmpfile {
        link(&opened, directory, &file.temporary)?;
    }
    file::close(opened)?;
    if is_linked_finally || is_named_later {
        Ok(())
    } else {
        give_name(directory, file)
    }
}

/// linkat(2) describes the path, which needs no capability.
fn link(opened: &OwnedFd, directory: BorrowedFd<'_>, name: &CStr) -> Result<()> {
    let path = format!("/proc/self/fd/{}", opened.as_raw_fd());
    retry("linkat", || {
        rustix::fs::linkat(
            rustix::fs::CWD,
            &path,
            directory,
            name,
            AtFlags::SYMLINK_FOLLOW,
        )
    })
}
