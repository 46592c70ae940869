//! The journal of a double write: a second file, made before the clock starts, as a program finds that of its last run.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use direct_io::OpenOptions;
use writebench_model::{Cache, Case};

use crate::call::{CallError, Result};
use crate::file::{self, Target};
use crate::sync;

/// The journal of a sample, which is removed with it.
pub(crate) struct Journal<'j> {
    directory: BorrowedFd<'j>,
    name: String,
    file: OwnedFd,
}

impl<'j> Journal<'j> {
    /// None if the case has no journal.
    pub(crate) fn make(target: Target<'j>, stem: &str, case: &Case) -> Result<Option<Self>> {
        let length = case.journal_bytes();
        if length == 0 {
            return Ok(None);
        }
        let Target::Directory(directory) = target else {
            let why = "a device has no room for a journal beside the pages";
            return Err(CallError::unsupported("protect=double-write", why));
        };
        let name = format!("{stem}-journal");
        file::remove(target, &name)?;
        let made = file::create_filled(directory, &name, length, 0, case.given().checksums)?;
        sync::sync_directory(directory)?;
        file::close(made)?;
        let options = OpenOptions::new()
            .write(true)
            .direct(case.choices().cache == Cache::Direct);
        let file = file::open_with(target, &name, case.choices().cache, options)?;
        Ok(Some(Self {
            directory,
            name,
            file,
        }))
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Journal<'_> {
    fn drop(&mut self) {
        // The owner of the directory removes what remains after an error, as after a kill.
        let _ = file::remove(Target::Directory(self.directory), &self.name);
    }
}
