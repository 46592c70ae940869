//! Reads and writes at an offset, with errors that name the alignment that direct I/O needs.

use std::fs::File;
use std::io;

use crate::{Error, explain, sys};

/// Writes all of `bytes` at `offset`: `pwrite(2)`, `WriteFile`. Continues after short writes and interrupts.
///
/// # Errors
/// [`Error::Misaligned`] if the file is open for direct I/O and the transfer is misaligned; otherwise the
/// system's error, with the offset that was reached. On Windows the file's own position moves.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> Result<(), Error> {
    while !bytes.is_empty() {
        match sys::write_at(file, bytes, offset) {
            Ok(0) => {
                let error = io::Error::new(io::ErrorKind::WriteZero, "wrote 0 bytes and gave no error");
                return Err(Error::call(sys::WRITE_AT, error).with_offset(offset));
            }
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(explain(file, sys::WRITE_AT, bytes, offset, error)),
        }
    }
    Ok(())
}

/// Reads from `offset` until `bytes` is full or the file ends, and returns the number of bytes read:
/// `pread(2)`, `ReadFile`. Continues after short reads and interrupts.
///
/// # Errors
/// The same as for [`write_all_at`].
pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> Result<usize, Error> {
    let mut done = 0;
    while done < bytes.len() {
        let at = offset + done as u64;
        match sys::read_at(file, &mut bytes[done..], at) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A direct read that stopped in mid-sector has reached the end of the file.
            Err(_) if done > 0 && is_at_end(file, at) => break,
            Err(error) => return Err(explain(file, sys::READ_AT, &bytes[done..], at, error)),
        }
    }
    Ok(done)
}

fn is_at_end(file: &File, offset: u64) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= offset)
}
