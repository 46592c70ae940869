//! `fwrite(3)`: the C library's stdio, with its own buffer.
#![expect(unsafe_code, reason = "the C library's streams have no safe interface")]

use std::ffi::c_void;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;

use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{CallError, libc_result};

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    FwriteThread {
        region,
        stream: None,
    }
}

struct FwriteThread<'a> {
    region: Region<'a>,
    stream: Option<Stream>,
}

/// An open stream. Another part of the engine owns its descriptor until [`IoThread::close`].
struct Stream(NonNull<libc::FILE>);

// SAFETY: POSIX lets any thread use a stream, because each call locks it. Here one thread at a time does so.
unsafe impl Send for Stream {}

impl IoThread for FwriteThread<'_> {
    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<()> {
        // SAFETY: the descriptor is open and the mode is a C string. The stream closes it only in `fclose`,
        // which `close` calls as the descriptor's owner.
        let stream = unsafe { libc::fdopen(file.as_raw_fd(), c"w".as_ptr()) };
        self.stream = Some(Stream(
            NonNull::new(stream).ok_or_else(|| last_error("fdopen"))?,
        ));
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        let Some(Stream(stream)) = self.stream else {
            return Ok(());
        };
        write_loop
            .each_chunk(
                &self.region,
                |chunk, _| {
                    // SAFETY: the stream is open and the chunk has that many bytes.
                    let written = unsafe {
                        libc::fwrite(
                            chunk.as_ptr().cast::<c_void>(),
                            1,
                            chunk.len(),
                            stream.as_ptr(),
                        )
                    };
                    if written == chunk.len() {
                        Ok(())
                    } else {
                        // After an error, including EINTR, the C library has discarded its buffer's content.
                        Err(last_error("fwrite"))
                    }
                },
                |_, _| Ok(()),
            )
            .and_then(|()| {
                // SAFETY: the stream is open.
                libc_result(unsafe { libc::fflush(stream.as_ptr()) })
                    .map_err(|errno| CallError::new("fflush", errno))
            })
            // The failure lags behind the chunk by the content of the buffer.
            .map_err(|error| match rustix::fs::tell(file) {
                Ok(offset) => error.at(offset),
                Err(_) => error,
            })
    }

    fn close(&mut self, file: OwnedFd) -> Result<()> {
        let Some(Stream(stream)) = self.stream.take() else {
            return Ok(());
        };
        let _ = file.into_raw_fd();
        // SAFETY: the stream is open, was taken out of the thread, and is not used again.
        libc_result(unsafe { libc::fclose(stream.as_ptr()) })
            .map_err(|errno| CallError::new("fclose", errno))
    }
}

/// The C library's streams report errors in errno.
fn last_error(call: &'static str) -> CallError {
    CallError::from_io(call, &std::io::Error::last_os_error())
}
