use std::io;
use std::path::{Path, PathBuf};

use crate::{ALIGNMENT_MAX_BYTES, ALIGNMENT_MIN_BYTES, Misaligned};

/// The reason for a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused a call.
    #[error("{}", described(.call, .path.as_deref(), *.offset, .source))]
    Call {
        /// The call, as its documentation names it: `openat`, `DeviceIoControl FSCTL_LOCK_VOLUME`.
        call: &'static str,
        /// The opened path.
        path: Option<PathBuf>,
        /// The offset in the file, in bytes.
        offset: Option<u64>,
        /// The system's error.
        source: io::Error,
    },
    /// This system or kind of file has no such call. No substitute was tried.
    #[error("{call} is not supported: {reason}")]
    Unsupported {
        /// The call.
        call: &'static str,
        /// The missing condition, or an alternative.
        reason: &'static str,
    },
    /// Another open file description holds the lock.
    #[error("the file is locked by another open file description")]
    Locked,
    /// The file is not a block or character device.
    #[error("is not a block or character device")]
    NotADevice,
    /// The filesystem is on no device, or on several (tmpfs, NFS, overlayfs, btrfs, ZFS).
    #[error("the filesystem has no device, or more than one")]
    NoSingleDevice,
    /// The options contradict each other.
    #[error("contradictory options: {0}")]
    Options(&'static str),
    /// This part of a direct transfer is misaligned.
    #[error(transparent)]
    Misaligned(#[from] Misaligned),
    /// The buffer's size or alignment is invalid, or memory is insufficient.
    #[error(transparent)]
    Buffer(#[from] BufferError),
}

/// The reason for a refused buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// The size is zero.
    #[error("size must not be 0")]
    SizeZero,
    /// The size, rounded up to the alignment, exceeds `isize::MAX` bytes: the limit of any allocation.
    #[error("size must be at most {max} bytes")]
    SizeTooLarge {
        /// The largest size with that alignment, in bytes.
        max: usize,
    },
    /// The alignment is zero.
    #[error("alignment must not be 0")]
    AlignmentZero,
    /// The alignment is not a power of two.
    #[error("alignment must be a power of 2")]
    AlignmentNotPowerOfTwo,
    /// The alignment is below [`ALIGNMENT_MIN_BYTES`].
    #[error("alignment must be at least {ALIGNMENT_MIN_BYTES} bytes")]
    AlignmentTooSmall,
    /// The alignment is above [`ALIGNMENT_MAX_BYTES`].
    #[error("alignment must be at most {ALIGNMENT_MAX_BYTES} bytes")]
    AlignmentTooLarge,
    /// The allocator has no memory of that size.
    #[error("insufficient memory for {size} bytes")]
    OutOfMemory {
        /// The requested size, in bytes.
        size: usize,
    },
}

impl Error {
    pub(crate) fn call(call: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Call {
            call,
            path: None,
            offset: None,
            source: source.into(),
        }
    }

    pub(crate) fn with_path(mut self, of: &Path) -> Self {
        if let Self::Call { path, .. } = &mut self {
            *path = Some(of.to_owned());
        }
        self
    }

    pub(crate) fn with_offset(mut self, at: u64) -> Self {
        if let Self::Call { offset, .. } = &mut self {
            *offset = Some(at);
        }
        self
    }

    /// The system's error number (errno, or `GetLastError` on Windows), if a call returned one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::Call { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }
}

/// The conversion for functions that return [`io::Result`]. The system's error number is in the source.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Call { source, .. } => source.kind(),
            Error::Unsupported { .. } | Error::NoSingleDevice => io::ErrorKind::Unsupported,
            Error::Locked => io::ErrorKind::WouldBlock,
            Error::Buffer(BufferError::OutOfMemory { .. }) => io::ErrorKind::OutOfMemory,
            Error::NotADevice | Error::Options(_) | Error::Misaligned(_) | Error::Buffer(_) => {
                io::ErrorKind::InvalidInput
            }
        };
        Self::new(kind, error)
    }
}

fn described(call: &str, path: Option<&Path>, offset: Option<u64>, source: &io::Error) -> String {
    let path = path
        .map(|path| format!(" {}", path.display()))
        .unwrap_or_default();
    let offset = offset
        .map(|offset| format!(" at offset {offset}"))
        .unwrap_or_default();
    format!("{call}{path}{offset}: {source}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_call_the_path_and_the_offset() {
        let source = || io::Error::new(io::ErrorKind::NotFound, "gone");
        assert_eq!(Error::call("fsync", source()).to_string(), "fsync: gone");
        let error = Error::call("open", source()).with_path(Path::new("/a b"));
        assert_eq!(error.to_string(), "open /a b: gone");
        assert_eq!(
            Error::call("pwrite", source()).with_offset(512).to_string(),
            "pwrite at offset 512: gone"
        );
    }

    #[test]
    fn an_io_error_keeps_the_kind_and_the_text() {
        let error = Error::call("fsync", io::Error::from(io::ErrorKind::PermissionDenied));
        let text = error.to_string();
        let error = io::Error::from(error);
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::PermissionDenied, text)
        );
        assert_eq!(
            io::Error::from(Error::Locked).kind(),
            io::ErrorKind::WouldBlock
        );
    }
}
