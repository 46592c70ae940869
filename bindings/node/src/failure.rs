use direct_io::Error;
use napi_derive::napi;

use crate::call::Call;

/// A JavaScript `Error`.
#[napi(object)]
pub struct Failure {
    /// The same as in `@ronomon/direct-io`, because programs compare it.
    pub message: String,
    /// One line with the call and the system's message.
    pub reason: String,
    /// None on Windows.
    pub errno: Option<i32>,
    /// A name without a number.
    pub code: Option<String>,
    pub syscall: Option<String>,
}

const BAD_DESCRIPTOR: &str = "EBADF: bad file descriptor";

impl Failure {
    pub(crate) fn new(call: Call, error: &Error) -> Self {
        let errno = error.raw_os_error().filter(|_| cfg!(unix));
        let code = match error {
            Error::Locked => Some("EWOULDBLOCK"),
            Error::NotADevice => Some("ENOTBLK"),
            _ => None,
        };
        let syscall = match error {
            Error::Call { call, .. } => Some((*call).to_owned()),
            Error::Locked => Some("flock".to_owned()),
            _ => None,
        };
        Self {
            message: message(call, error, errno),
            reason: error.to_string(),
            errno,
            code: code.map(str::to_owned),
            syscall,
        }
    }

    pub(crate) fn bad_descriptor() -> Self {
        Self {
            message: BAD_DESCRIPTOR.to_owned(),
            reason: "the descriptor belongs to no open file".to_owned(),
            errno: None,
            code: Some("EBADF".to_owned()),
            syscall: None,
        }
    }
}

fn message(call: Call, error: &Error, errno: Option<i32>) -> String {
    match (call, error) {
        (_, Error::NotADevice) => "fd is not a block or character device".to_owned(),
        (_, Error::Locked) => "EWOULDBLOCK, the file is already locked".to_owned(),
        (Call::Lock(_), Error::Call { .. }) => lock_message(errno).to_owned(),
        (Call::NoCache(_), Error::Call { .. }) => no_cache_message(errno).to_owned(),
        (_, Error::Call { call, .. }) => format!("{} failed", code_of(call)),
        _ => error.to_string(),
    }
}

/// `BLKSSZGET` for `ioctl(BLKSSZGET)`, `fstat` for `fstat`.
fn code_of(call: &str) -> &str {
    let inner = call.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(call)
}

fn lock_message(errno: Option<i32>) -> &'static str {
    match errno {
        Some(libc::EBADF) => "EBADF, fd is an invalid file descriptor",
        Some(libc::EINVAL) => "EINVAL, fd does not refer to a file",
        Some(libc::ENOTSUP) => "ENOTSUP, fd is not of the correct type",
        _ => "unable to obtain an exclusive lock",
    }
}

fn no_cache_message(errno: Option<i32>) -> &'static str {
    match errno {
        Some(libc::EBADF) => "EBADF: bad file descriptor, fcntl",
        _ => "unexpected error, fcntl",
    }
}
