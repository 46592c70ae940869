//! The file that samples overwrite in place, kept from one sample to the next, because to write and sync a new one takes
//! longer than most samples.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fiemap::{Fiemap, FiemapExtentFlags};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Checksums, Data, Files, Prepare};

use crate::call::{CallError, Result};
use crate::file::{self, Target};
use crate::settle;

/// At most one file. Only the next sample can use it, if it overwrites a file of the same kind.
#[derive(Default)]
pub(crate) struct OldFile {
    kept: Option<Kept>,
    /// See [`OldFile::take_found_bytes`].
    found_bytes: u64,
}

struct Kept {
    directory: OwnedFd,
    kind: Kind,
    /// Where the blocks were when the file was made. Only if they are still there, the next sample starts from the same
    /// state. Filesystems that write to other blocks, such as btrfs, need a new file each time.
    extents: Vec<Extent>,
    /// Of the data that a sample has written. None before the file's first sample.
    data_seed: Option<u64>,
}

/// What two samples must have in common to overwrite the same file.
#[derive(PartialEq)]
struct Kind {
    target: usize,
    name: String,
    length: u64,
    checksums: Checksums,
}

#[derive(PartialEq)]
struct Extent {
    offset: u64,
    physical_offset: u64,
    length: u64,
    flag_bits: u32,
}

impl OldFile {
    /// The request with data that is not in the kept file. With the same data, a block that the next sample fails to
    /// write would look right.
    pub(crate) fn with_other_data(&self, request: &SampleRequest) -> SampleRequest {
        let mut request = request.clone();
        if let Some(data_seed) = self.fitting(&request).and_then(|kept| kept.data_seed) {
            request.data_seed = !data_seed;
        }
        request
    }

    pub(crate) fn fits(&self, request: &SampleRequest) -> bool {
        self.fitting(request).is_some()
    }

    fn fitting(&self, request: &SampleRequest) -> Option<&Kept> {
        let kind = Kind::of(request)?;
        self.kept.as_ref().filter(|kept| kept.kind == kind)
    }

    /// Makes a file for the sample, unless the kept one can be used. None of it is in the page cache afterwards: see
    /// [`settle::old_content`].
    pub(crate) fn make(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &str,
        length: u64,
        request: &SampleRequest,
    ) -> Result<()> {
        if let Some(kept) = self.fitting(request)
            && let Some(file) = kept.intact()
        {
            settle::drop_pages(file.as_fd()).map_err(|error| error.with_path(name))?;
            self.found_bytes = length;
            return Ok(());
        }
        self.remove()?;
        file::remove(Target::Directory(directory), name)?;
        let checksums = request.case.given().checksums;
        let file = settle::old_content(directory, name, length, request.data_seed, checksums)?;
        if let Some(kind) = Kind::of(request)
            && let Some(extents) = extents(file.as_fd(), length)
        {
            let directory = directory.try_clone_to_owned();
            let directory = directory.map_err(|error| CallError::from_io("dup", &error))?;
            self.kept = Some(Kept {
                directory,
                kind,
                extents,
                data_seed: None,
            });
        }
        file::close(file).map_err(|error| error.with_path(name))
    }

    /// Old content that is there without being made, as on a device.
    pub(crate) fn find(&mut self, length: u64) {
        self.found_bytes = length;
    }

    /// The old content that the sample did not have to write.
    pub(crate) fn take_found_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.found_bytes)
    }

    /// Keeps the file of a sample that has written all its bytes. Otherwise, the caller removes it.
    pub(crate) fn keep(&mut self, request: &SampleRequest, written_bytes: u64) -> bool {
        let kind = Kind::of(request);
        let is_complete =
            |kept: &Kept| Some(&kept.kind) == kind.as_ref() && kept.kind.length == written_bytes;
        self.kept = self.kept.take().filter(is_complete).map(|kept| Kept {
            data_seed: Some(request.data_seed),
            ..kept
        });
        self.kept.is_some()
    }

    /// Removes the kept file.
    pub(crate) fn remove(&mut self) -> Result<()> {
        match self.kept.take() {
            Some(kept) => file::remove(Target::Directory(kept.directory.as_fd()), &kept.kind.name),
            None => Ok(()),
        }
    }
}

impl Drop for OldFile {
    fn drop(&mut self) {
        // The owner of the directory removes what remains after an error, as after a kill.
        let _ = self.remove();
    }
}

impl Kept {
    /// The file, if its blocks are where they were.
    fn intact(&self) -> Option<OwnedFd> {
        let file = file::open_to_read(Target::Directory(self.directory.as_fd()), &self.kind.name);
        let file = file.ok()?;
        (extents(file.as_fd(), self.kind.length)? == self.extents).then_some(file)
    }
}

impl Kind {
    /// None if a sample's file is never used again. Copies and programs do not take other data, zeros are always the
    /// same, and several files or ranks are seldom measured.
    fn of(request: &SampleRequest) -> Option<Self> {
        let case = &request.case;
        let (given, choices) = (case.given(), case.choices());
        let has_own_data = given.data == Data::Random
            && !case.method().has_source_file()
            && !case.method().is_program()
            && case.method().writes_data();
        let is_one_file =
            !case.method().writes_set() && choices.ranks == 1 && choices.files == Files::Shared;
        let is_kept = choices.prepare == Prepare::Overwrite && has_own_data && is_one_file;
        is_kept.then(|| Self {
            target: request.target,
            name: request.file_stem.clone(),
            length: given.size_bytes,
            checksums: given.checksums,
        })
    }
}

/// The extents of a file's data, or none on a filesystem that does not report them. xfs reserves blocks behind the end of
/// a new file for a while, which are not the file's data.
fn extents(file: BorrowedFd<'_>, length: u64) -> Option<Vec<Extent>> {
    let mut extents = Vec::new();
    for extent in Fiemap::new(file) {
        let extent = extent.ok()?;
        if extent.fe_logical >= length {
            break;
        }
        extents.push(Extent {
            offset: extent.fe_logical,
            physical_offset: extent.fe_physical,
            length: extent.fe_length.min(length - extent.fe_logical),
            flag_bits: (extent.fe_flags - FiemapExtentFlags::LAST).bits(),
        });
    }
    Some(extents)
}
