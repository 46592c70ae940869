//! Checks after the clock: each file's length, and whether the data took the path that the case names.
//! `read_back` compares the content.

use std::os::fd::AsFd;

use writebench_model::{Case, Content};

use crate::call::{CallError, retry};
use crate::file::{self, Target};
use crate::job::Part;
use crate::methods::map::{Access, Map};

/// The result of a sample.
pub(crate) struct Written<'w, 'a> {
    /// The sample's target.
    pub target: Target<'w>,
    /// The names of its files.
    pub names: &'w [String],
    /// The case that was run.
    pub case: &'w Case,
    /// The parts, one per thread.
    pub parts: &'w [Part<'a>],
    /// The bytes of each part that were handed over: the total, unless the time was limited.
    pub handed_over_bytes: Vec<u64>,
}

impl Written<'_, '_> {
    /// Checks the length of each file and, for a case that only reserves blocks, its blocks. Returns the
    /// bytes that were handed over, or the files' total length if none were.
    pub(crate) fn sizes(&self) -> Result<u64, CallError> {
        let mut lengths = 0;
        for (index, name) in self.names.iter().enumerate() {
            let Target::Directory(directory) = self.target else { break };
            let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
            let stat = retry("stat", || rustix::fs::statat(directory, name, flags))
                .map_err(|error| error.of_file(name))?;
            let length = u64::try_from(stat.st_size).unwrap_or(0);
            let expected = self.expected_length(index);
            if length != expected {
                let message = format!("the file has {length} bytes and should have {expected}");
                return Err(wrong(message).of_file(name));
            }
            let reserved = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
            if self.case.contract().content == Content::Reserved && reserved < length {
                let message = format!("the file has {reserved} bytes of blocks and should have {length}");
                return Err(wrong(message).of_file(name));
            }
            lengths += length;
        }
        Ok(if self.case.method().writes_data() { self.handed_over_bytes.iter().sum() } else { lengths })
    }

    /// The expected length of a file: its final length, or the end of the data that was handed over.
    fn expected_length(&self, index: usize) -> u64 {
        let whole = self.parts[index].file_length;
        let prepare = self.case.axes().prepare;
        if prepare.gives_length() || !self.case.method().writes_data() {
            return whole;
        }
        let own = self.parts.iter().zip(&self.handed_over_bytes);
        let own = own.filter(|(part, _)| self.names.len() == 1 || part.index == index);
        own.filter(|(_, bytes)| **bytes > 0).map(|(part, bytes)| part.file_offset + bytes).max().unwrap_or(0)
    }

    /// Whether direct I/O was direct. Some filesystems accept `O_DIRECT` and then use the page cache (tmpfs
    /// always, btrfs where it keeps checksums); pages in the cache afterwards prove it.
    pub(crate) fn past_the_page_cache(&self) -> Result<(), CallError> {
        for (part, &bytes) in self.parts.iter().zip(&self.handed_over_bytes) {
            if bytes == 0 {
                continue;
            }
            let file = file::open_to_read(self.target, part.name(self.names))?;
            let map = Map::new(file.as_fd(), part.file_offset, bytes, Access::Read)?;
            let there = map.resident_bytes()?;
            // Other readers may have cached a few.
            if there > bytes / 2 {
                let message = format!(
                    "O_DIRECT was accepted, but {} of {bytes} bytes went through the page cache",
                    there.min(bytes)
                );
                return Err(CallError::unsupported("cache=direct", message));
            }
        }
        Ok(())
    }
}

/// The file differs from the expectation.
pub(crate) fn wrong(message: String) -> CallError {
    CallError::other("verify", message)
}
