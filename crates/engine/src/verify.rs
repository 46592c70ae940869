//! After the clock: has each file the right length, and did the data come there the way that the case says? Its content
//! is compared in `read_back`.

use std::os::fd::AsFd;

use writebench_model::{Case, Content};

use crate::call::{CallError, retry};
use crate::file::{self, Target};
use crate::job::Part;
use crate::methods::map::{Access, Map};

/// What a sample left behind.
pub(crate) struct Written<'w, 'a> {
    /// Where.
    pub target: Target<'w>,
    /// The names of its files.
    pub names: &'w [String],
    /// What it was to do.
    pub case: &'w Case,
    /// Who wrote what.
    pub parts: &'w [Part<'a>],
    /// How much of each part was handed over: all of it, unless its time was limited.
    pub handed_over_bytes: Vec<u64>,
}

impl Written<'_, '_> {
    /// Looks at the length of each file and, where reserving blocks is all that a case does, at its blocks.
    /// Returns the bytes that were handed over, or that the files have where none were.
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

    /// The length that the file of that index has: its final one, or as far as anybody came.
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

    /// Whether direct I/O was direct. Some filesystems accept `O_DIRECT` and then use the page cache (tmpfs does
    /// always, btrfs where it keeps checksums); the pages that are there afterwards give them away.
    pub(crate) fn past_the_page_cache(&self) -> Result<(), CallError> {
        for (part, &bytes) in self.parts.iter().zip(&self.handed_over_bytes) {
            if bytes == 0 {
                continue;
            }
            let file = file::open_to_read(self.target, part.name(self.names))?;
            let map = Map::new(file.as_fd(), part.file_offset, bytes, Access::Read)?;
            let there = map.resident_bytes()?;
            // Readers beside us may have brought in a few.
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

/// The file is not what it should be.
pub(crate) fn wrong(message: String) -> CallError {
    CallError::other("verify", message)
}
