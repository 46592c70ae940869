//! After the clock: is everything in the file?

use std::os::fd::{AsFd, BorrowedFd};

use model::{Case, Content};

use crate::call::{CallError, retry};
use crate::file;
use crate::job::Part;
use crate::source;

/// The length of each file and, where reserving blocks is all that a case does, its blocks. Returns the
/// bytes in all of them.
pub fn sizes(
    directory: BorrowedFd<'_>,
    names: &[String],
    case: &Case,
    parts: &[Part<'_>],
) -> Result<u64, CallError> {
    let mut total = 0;
    for (name, part) in names.iter().zip(parts) {
        let stat = rustix::fs::statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| CallError::new("stat", errno))?;
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        if length != part.file_length {
            return Err(wrong(format!("the file has {length} bytes and should have {}", part.file_length)));
        }
        let reserved = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        if case.contract().content == Content::Reserved && reserved < length {
            return Err(wrong(format!("the file has {reserved} bytes of blocks and should have {length}")));
        }
        total += length;
    }
    Ok(total)
}

/// Every byte of every part, against what was to be written.
pub fn content(
    directory: BorrowedFd<'_>,
    names: &[String],
    case: &Case,
    parts: &[Part<'_>],
    seed: u64,
) -> Result<(), CallError> {
    const BLOCK_BYTES: u64 = 1 << 20;
    let mut found = vec![0; 1 << 20];
    let mut expected = vec![0; 1 << 20];
    for part in parts {
        let file = file::open_to_read(directory, part.name(names))?;
        let mut at = 0;
        while at < part.range.length {
            let length = usize::try_from(BLOCK_BYTES.min(part.range.length - at)).unwrap_or(0);
            let (found, expected) = (&mut found[..length], &mut expected[..length]);
            read_exact(file.as_fd(), found, part.file_offset + at)?;
            source::expected(case, seed, part.range.offset, at, expected);
            if found != expected {
                let place = found.iter().zip(expected.iter()).position(|(found, expected)| found != expected);
                let offset = part.file_offset + at + place.unwrap_or(0) as u64;
                return Err(wrong("the content differs from what was written".to_owned()).at(offset));
            }
            at += length as u64;
        }
    }
    Ok(())
}

fn read_exact(file: BorrowedFd<'_>, mut bytes: &mut [u8], mut offset: u64) -> Result<(), CallError> {
    while !bytes.is_empty() {
        let read = retry("pread", || rustix::io::pread(file, &mut *bytes, offset))
            .map_err(|error| error.at(offset))?;
        if read == 0 {
            return Err(wrong("the file ends too early".to_owned()).at(offset));
        }
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Ok(())
}

fn wrong(message: String) -> CallError {
    CallError::other("verify", message)
}
