//! Checks after the clock. `read_back` compares the content.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fiemap::{Fiemap, FiemapExtentFlags};
use rustix::fs::AtFlags;
use writebench_model::{
    Bytes, Cache, Case, Content, Data, Failure, Files, Holes, Method, Prepare, SyncCall,
};

use crate::call::{CallError, Result, retry};
use crate::file::{self, Target};
use crate::region::Region;
use crate::{extents, page_cache, sync};

/// The files of a sample, after the clock.
pub(crate) struct WrittenFiles<'w, 'a> {
    pub target: Target<'w>,
    pub names: &'w [String],
    pub case: &'w Case,
    pub regions: &'w [Region<'a>],
    /// The bytes of each region, which are all of them unless the time was limited.
    pub handed_over_bytes: Vec<u64>,
    /// Pages of another rank's files that are cached here are dropped before reading.
    pub is_of_another_rank: bool,
}

impl WrittenFiles<'_, '_> {
    /// Returns the bytes handed over, or the files' total length if there were none.
    pub(crate) fn check_sizes(&self) -> Result<u64> {
        let mut lengths = 0;
        if let Target::Directory(directory) = self.target {
            for (index, name) in self.names.iter().enumerate() {
                lengths += self
                    .check_size(directory, name, self.expected_length(index))
                    .map_err(|error| error.with_path(name))?;
            }
        }
        Ok(match self.case.method() {
            Method::Allocate => lengths,
            _ => self.handed_over_bytes.iter().sum(),
        })
    }

    /// Returns the length of a file.
    fn check_size(&self, directory: BorrowedFd<'_>, name: &str, expected: u64) -> Result<u64> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = retry("stat", || rustix::fs::statat(directory, name, flags))?;
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        if length != expected {
            return Err(wrong(format!(
                "the file has {length} bytes and should have {expected}"
            )));
        }
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0);
        let reserved = blocks.saturating_mul(512);
        if self.case.workload().content == Content::Reserved && reserved < length {
            return Err(wrong(format!(
                "the file has {reserved} bytes of blocks and should have {length}"
            )));
        }
        Ok(length)
    }

    fn expected_length(&self, index: usize) -> u64 {
        if self.case.workload().content == Content::Nothing {
            return 0;
        }
        let whole = self.regions[index].file_length;
        let prepare = self.case.choices().prepare;
        let is_of_all_ranks =
            self.case.choices().ranks > 1 && self.case.choices().files == Files::Shared;
        if prepare.gives_length() || is_of_all_ranks || !self.case.method().writes_data() {
            return whole;
        }
        self.regions_in(index)
            .filter(|(_, bytes)| *bytes > 0)
            .map(|(region, bytes)| region.file_offset + region.span_bytes(bytes))
            .max()
            .unwrap_or(0)
    }

    /// Holes and reserved blocks also read as zeros. The filesystem's extents show the difference, unless the
    /// file had zeros or old content before.
    pub(crate) fn check_zeros(&self) -> Result<()> {
        let choices = self.case.choices();
        let was_written = matches!(choices.prepare, Prepare::ZeroFill | Prepare::WriteZeroes)
            || choices.prepare.needs_old_content();
        let is_file = matches!(self.target, Target::Directory(_));
        if self.case.given().data != Data::Zero
            || !self.case.method().writes_data()
            || was_written
            || !is_file
        {
            return Ok(());
        }
        for (index, name) in self.names.iter().enumerate() {
            let file = file::open_to_read(self.target, name)?;
            // Write-back chooses blocks, and marks reserved ones as written.
            sync::sync(file.as_fd(), SyncCall::Fdatasync)?;
            let written =
                extent_bytes(&file, |flags| !flags.contains(FiemapExtentFlags::UNWRITTEN));
            // Nothing is known on a filesystem without extents: docs/reference/safety.md.
            let Some(written) = written else {
                return Ok(());
            };
            let wanted: u64 = self.regions_in(index).map(|(_, bytes)| bytes).sum();
            if written < wanted {
                let message = format!(
                    "only {written} of {wanted} bytes of zeros were written: the rest are holes"
                );
                return Err(wrong(message).with_path(name));
            }
        }
        Ok(())
    }

    /// The regions in a file, each with its handed-over bytes.
    fn regions_in(&self, index: usize) -> impl Iterator<Item = (&Region<'_>, u64)> {
        self.regions
            .iter()
            .zip(self.handed_over_bytes.iter().copied())
            .filter(move |(region, _)| self.names.len() == 1 || region.index == index)
    }

    /// The bytes in holes, and whether most of the others are shared with another file, for methods where the kernel
    /// or a program decides how bytes reach the file. Both are `None` for other methods, and without a report of the
    /// filesystem.
    pub(crate) fn blocks_not_its_own(&self) -> Result<(Option<u64>, Option<bool>)> {
        let method = self.case.method();
        let size_bytes = self.case.given().size_bytes;
        let is_file = matches!(self.target, Target::Directory(_));
        let Some(name) = self.names.first() else {
            return Ok((None, None));
        };
        if !is_file || !(method.copies() || method.is_program()) {
            return Ok((None, None));
        }
        let file = file::open_to_read(self.target, name)?;
        let data_bytes = extents::data_bytes(&file, size_bytes).unwrap_or(size_bytes);
        // FIEMAP of the kernel's Documentation/filesystems/fiemap.rst. Compressed extents have their full length.
        let shared_bytes = extent_bytes(&file, |flags| flags.contains(FiemapExtentFlags::SHARED));
        let shares_blocks = shared_bytes.map(|bytes| bytes > data_bytes / 2);
        let keeps_holes = self.case.given().holes == Holes::Keep;
        if keeps_holes {
            self.check_holes(data_bytes)?;
        }
        // The other methods hand over all bytes, whatever the filesystem makes of zeros.
        let may_leave_holes = keeps_holes || method.is_program() || method == Method::CopyFileRange;
        let hole_bytes =
            Some(size_bytes - data_bytes).filter(|&bytes| may_leave_holes && bytes > 0);
        Ok((hole_bytes, shares_blocks))
    }

    /// A filesystem without holes writes zeros to the blocks that were left out. Where blocks are larger than those of the
    /// source, a few holes may be filled.
    fn check_holes(&self, data_bytes: u64) -> Result<()> {
        let size_bytes = self.case.given().size_bytes;
        let source = self.regions.iter().find_map(|region| region.copy_from);
        let of_source = source.and_then(|source| extents::data_bytes(source, size_bytes));
        match of_source {
            Some(bytes) if bytes < size_bytes && data_bytes == size_bytes => {
                let message = format!(
                    "{} of the source are holes, and the copy has none: this filesystem may not support them",
                    Bytes(size_bytes - bytes).approximate()
                );
                Err(CallError::unsupported("holes=keep", message))
            }
            _ => Ok(()),
        }
    }

    /// Some filesystems accept `O_DIRECT` and use the page cache (tmpfs always, btrfs with checksums). Pages in
    /// the cache afterwards prove it. Where they are unknown, so is the place that the data was read back from.
    pub(crate) fn check_page_cache(&self) -> Result<()> {
        // Pages at the border of a region are not dropped: they may be read first, or be another region's.
        let border_bytes = 2 * rustix::param::page_size() as u64;
        let (value, accepted, few) = match self.case.choices().cache {
            Cache::Buffered => return Ok(()),
            Cache::Direct => (
                Failure::DIRECT_IN_PAGE_CACHE,
                "O_DIRECT was accepted, but",
                0,
            ),
            Cache::Dontcache => (
                "cache=dontcache",
                "RWF_DONTCACHE was accepted, but after write-back",
                border_bytes,
            ),
        };
        for (region, &bytes) in self.regions.iter().zip(&self.handed_over_bytes) {
            if bytes == 0 {
                continue;
            }
            let file = file::open_to_read(self.target, region.name(self.names))?;
            if self.case.choices().cache == Cache::Dontcache {
                // Pages are dropped after write-back.
                sync::sync(file.as_fd(), SyncCall::Fdatasync)?;
            }
            let span_bytes = region.span_bytes(bytes);
            let there = page_cache::resident_bytes(file.as_fd(), region.file_offset, span_bytes)?;
            // Other readers may have cached a few.
            if let Some(there) = there
                && there > bytes / 2 + few
            {
                let message = format!(
                    "{accepted} {} of {} are in the page cache",
                    Bytes(there.min(bytes)).approximate(),
                    Bytes(bytes).approximate()
                );
                return Err(CallError::unsupported(value, message));
            }
        }
        Ok(())
    }
}

/// The bytes of the extents whose flags count. It is `None` if the filesystem does not report extents.
fn extent_bytes(file: &OwnedFd, counts: impl Fn(FiemapExtentFlags) -> bool) -> Option<u64> {
    let mut bytes = 0;
    for extent in Fiemap::new(file.as_fd()) {
        let extent = extent.ok()?;
        if counts(extent.fe_flags) {
            bytes += extent.fe_length;
        }
    }
    Some(bytes)
}

pub(crate) fn wrong(message: String) -> CallError {
    CallError::other("verify", message)
}
