//! Failed system calls, and the retry loop around calls that hand over data.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

use direct_io::DirectIo;
use rustix::io::Errno;
use writebench_model::{Failure, Outcome, Phase};

pub(crate) type Result<T, E = CallError> = std::result::Result<T, E>;

/// A system call and what its errors mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub name: &'static str,
    /// Errors that mean "not supported", as do EOPNOTSUPP and ENOSYS. If a setting of the machine forbids the
    /// call, the worker has given up the privileges to override it.
    pub lacks: &'static [Errno],
    /// What to do about an error.
    pub advice: &'static [(Errno, &'static str)],
}

impl From<&'static str> for Call {
    fn from(name: &'static str) -> Self {
        Self {
            name,
            lacks: &[],
            advice: &[],
        }
    }
}

/// A failed call, before its phase and file are known.
#[derive(Debug)]
pub(crate) struct CallError {
    call: &'static str,
    path: Option<String>,
    offset: Option<u64>,
    errno: Option<i32>,
    message: String,
    is_unsupported: bool,
}

pub(crate) type PhaseError = (Phase, CallError);

impl CallError {
    pub(crate) fn new(call: impl Into<Call>, errno: Errno) -> Self {
        let call = call.into();
        // fallocate(2) returns the first, a missing call the second.
        let is_unsupported =
            [Errno::OPNOTSUPP, Errno::NOSYS].contains(&errno) || call.lacks.contains(&errno);
        let number = errno.raw_os_error();
        let of_any_call = [(Errno::MFILE, "raise `ulimit -n`")];
        let advice = call
            .advice
            .iter()
            .chain(&of_any_call)
            .find(|(of, _)| *of == errno)
            .map(|(_, advice)| format!(": {advice}"))
            .unwrap_or_default();
        let error = Self::other(call, Failure::errno_message(number) + &advice);
        Self {
            errno: Some(number),
            is_unsupported,
            ..error
        }
    }

    pub(crate) fn from_io(call: impl Into<Call>, error: &io::Error) -> Self {
        Self::new(call, Errno::from_io_error(error).unwrap_or(Errno::IO))
    }

    pub(crate) fn from_direct_io(call: impl Into<Call>, error: &direct_io::Error) -> Self {
        match error.raw_os_error() {
            Some(number) => Self::new(call, Errno::from_raw_os_error(number)),
            None => Self::other(call, error.to_string()),
        }
    }

    /// An error without an error number.
    pub(crate) fn other(what: impl Into<Call>, message: impl Into<String>) -> Self {
        Self {
            call: what.into().name,
            path: None,
            offset: None,
            errno: None,
            message: message.into(),
            is_unsupported: false,
        }
    }

    /// A missing feature without an error from any call.
    pub(crate) fn unsupported(what: &'static str, message: impl Into<String>) -> Self {
        Self {
            is_unsupported: true,
            ..Self::other(what, message)
        }
    }

    /// With this error number, the call's flags are not supported.
    pub(crate) fn unsupported_if(mut self, errno: Errno) -> Self {
        self.is_unsupported |= self.errno == Some(errno.raw_os_error());
        self
    }

    /// Adds the required alignment to an EINVAL, which does not name it.
    pub(crate) fn with_alignment(mut self, file: BorrowedFd<'_>) -> Self {
        if self.errno == Some(Errno::INVAL.raw_os_error())
            && let Some(needed) = DirectIo::for_file(file)
                .ok()
                .and_then(|direct| direct.alignment())
        {
            let offset = needed.offset_bytes;
            let memory = needed.memory_bytes;
            self.message += &format!(
                ": direct I/O here needs multiples of {offset} bytes in the file and {memory} in memory"
            );
        }
        self
    }

    pub(crate) fn with_path(self, name: &str) -> Self {
        Self {
            path: self.path.or_else(|| Some(name.to_owned())),
            ..self
        }
    }

    /// Puts a name before the message, for an error about something other than the sample's file.
    pub(crate) fn about(self, name: &str) -> Self {
        Self {
            message: format!("{name}: {}", self.message),
            ..self
        }
    }

    /// Puts the directory before the path.
    pub(crate) fn in_directory(self, directory: Option<&str>) -> Self {
        let Some(directory) = directory else {
            return self;
        };
        let path = self.path.map_or_else(
            || directory.to_owned(),
            |path| format!("{directory}/{path}"),
        );
        Self {
            path: Some(path),
            ..self
        }
    }

    /// Adds an offset, unless the failed call has already named one.
    pub(crate) fn at(self, offset: u64) -> Self {
        Self {
            offset: self.offset.or(Some(offset)),
            ..self
        }
    }

    pub(crate) fn errno(&self) -> Option<Errno> {
        self.errno.map(Errno::from_raw_os_error)
    }

    pub(crate) fn is_unsupported(&self) -> bool {
        self.is_unsupported
    }

    pub(crate) fn reason(self) -> String {
        self.outcome(Phase::Settle, None)
            .reason()
            .unwrap_or_default()
    }

    pub(crate) fn outcome(self, phase: Phase, path: Option<&str>) -> Outcome {
        let outcome = if self.is_unsupported {
            Outcome::Unsupported
        } else {
            Outcome::Failed
        };
        outcome(Box::new(self.failure(phase, path)))
    }

    pub(crate) fn failure(self, phase: Phase, path: Option<&str>) -> Failure {
        let Self {
            call,
            offset,
            errno,
            message,
            ..
        } = self;
        let path = self.path.or_else(|| path.map(str::to_owned));
        Failure {
            phase,
            call: call.to_owned(),
            path,
            offset,
            errno,
            message,
        }
    }
}

/// libc returns 0, or -1 and sets errno.
pub(crate) fn libc_result(result: std::ffi::c_int) -> rustix::io::Result<()> {
    if result == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}

/// Repeats a call after EINTR.
pub(crate) fn retry<T>(
    call: impl Into<Call>,
    mut work: impl FnMut() -> rustix::io::Result<T>,
) -> Result<T> {
    loop {
        match work() {
            Err(Errno::INTR) => {}
            other => return other.map_err(|errno| CallError::new(call, errno)),
        }
    }
}

/// Writes all bytes. It continues after short writes (Linux moves at most 0x7ffff000 bytes in one call), and retries
/// after EINTR.
#[inline(always)]
pub(crate) fn hand_over(
    call: &'static str,
    bytes: &[u8],
    offset: u64,
    mut write: impl FnMut(&[u8], u64) -> rustix::io::Result<usize>,
) -> Result<()> {
    match write(bytes, offset) {
        Ok(written) if written == bytes.len() => Ok(()),
        first => hand_over_rest(call, bytes, offset, first, write),
    }
}

/// The rest is a function of its own, so that the loop of [`hand_over`] keeps less data across a call.
#[cold]
#[inline(never)]
fn hand_over_rest(
    call: &'static str,
    mut bytes: &[u8],
    mut offset: u64,
    mut result: rustix::io::Result<usize>,
    mut write: impl FnMut(&[u8], u64) -> rustix::io::Result<usize>,
) -> Result<()> {
    loop {
        match result {
            Ok(0) => return Err(wrote_nothing(call).at(offset)),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(CallError::new(call, errno).at(offset)),
        }
        if bytes.is_empty() {
            return Ok(());
        }
        result = write(bytes, offset);
    }
}

#[inline(always)]
pub(crate) fn hand_over_vector(
    call: &'static str,
    mut vector: &mut [IoSlice<'_>],
    mut offset: u64,
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> rustix::io::Result<usize>,
) -> Result<()> {
    while !vector.is_empty() {
        match write(vector, offset) {
            Ok(0) => return Err(wrote_nothing(call).at(offset)),
            Ok(written) => {
                IoSlice::advance_slices(&mut vector, written);
                offset += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(CallError::new(call, errno).at(offset)),
        }
    }
    Ok(())
}

pub(crate) fn wrote_nothing(call: &'static str) -> CallError {
    CallError::other(call, "wrote 0 bytes without an error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_writes_are_continued_and_interrupts_retried() {
        let mut file = Vec::new();
        let mut calls = 0;
        hand_over("write", b"abcdefgh", 100, |bytes, offset| {
            calls += 1;
            assert_eq!(offset, 100 + file.len() as u64);
            if calls == 2 {
                return Err(Errno::INTR);
            }
            let taken = bytes.len().min(3);
            file.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        })
        .unwrap();
        assert_eq!((file.as_slice(), calls), (&b"abcdefgh"[..], 4));
    }

    #[test]
    fn short_vectored_writes_are_continued_inside_an_element() {
        let mut file = Vec::new();
        let mut vector = [
            IoSlice::new(b"abc"),
            IoSlice::new(b"defg"),
            IoSlice::new(b"h"),
        ];
        hand_over_vector("writev", &mut vector, 0, |vector, offset| {
            assert_eq!(offset, file.len() as u64);
            let all: Vec<u8> = vector
                .iter()
                .flat_map(|slice| slice.iter().copied())
                .collect();
            let taken = all.len().min(5);
            file.extend_from_slice(&all[..taken]);
            Ok(taken)
        })
        .unwrap();
        assert_eq!(file, b"abcdefgh");
    }

    #[test]
    fn errors_name_the_offset_and_a_zero_write_is_an_error() {
        let mut calls = 0;
        let error = hand_over("write", b"abcd", 10, |_, _| {
            calls += 1;
            if calls == 1 { Ok(3) } else { Err(Errno::IO) }
        });
        let outcome = error.unwrap_err().outcome(Phase::Write, Some("x"));
        assert_eq!(
            outcome.reason().unwrap(),
            "write: Input/output error (5) at offset 13"
        );
        let error = hand_over("write", b"abcd", 10, |_, _| Ok(0)).unwrap_err();
        assert_eq!(error.outcome(Phase::Write, None).name(), "failed");
    }
}
