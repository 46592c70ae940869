use direct_io::Error;
use napi_derive::napi;

use crate::call::Call;

/// What JavaScript makes an `Error` of.
#[napi(object)]
pub struct Failure {
    /// The message is the same as in `@ronomon/direct-io`, because programs compare it.
    pub message: String,
    /// The reason is one line with the call and the system's message.
    pub reason: String,
    /// The error number, which is missing on Windows.
    pub errno: Option<i32>,
    /// The name of an error that has no number.
    pub code: Option<String>,
    pub syscall: Option<String>,
}

impl Failure {
    pub(crate) fn new(call: Call, error: &Error) -> Self {
        let errno = error.raw_os_error().filter(|_| cfg!(unix));
        let (code, syscall) = match error {
            Error::Locked => (Some("EWOULDBLOCK"), Some("flock")),
            Error::NotADevice => (Some("ENOTBLK"), None),
            Error::Call { call, .. } => (None, Some(*call)),
            _ => (None, None),
        };
        Self {
            message: message(call, error, errno),
            reason: error.to_string(),
            errno,
            code: code.map(str::to_owned),
            syscall: syscall.map(str::to_owned),
        }
    }

    pub(crate) fn bad_descriptor() -> Self {
        Self {
            message: "EBADF: bad file descriptor".to_owned(),
            reason: "the descriptor belongs to no open file".to_owned(),
            errno: None,
            code: Some("EBADF".to_owned()),
            syscall: None,
        }
    }
}

fn message(call: Call, error: &Error, errno: Option<i32>) -> String {
    let message = match (call, error, errno) {
        (_, Error::NotADevice, _) => "fd is not a block or character device",
        (_, Error::Locked, _) => "EWOULDBLOCK, the file is already locked",
        (Call::Lock(_), Error::Call { .. }, Some(libc::EBADF)) => {
            "EBADF, fd is an invalid file descriptor"
        }
        (Call::Lock(_), Error::Call { .. }, Some(libc::EINVAL)) => {
            "EINVAL, fd does not refer to a file"
        }
        (Call::Lock(_), Error::Call { .. }, Some(libc::ENOTSUP)) => {
            "ENOTSUP, fd is not of the correct type"
        }
        (Call::Lock(_), Error::Call { .. }, _) => "unable to obtain an exclusive lock",
        (Call::NoCache(_), Error::Call { .. }, Some(libc::EBADF)) => {
            "EBADF: bad file descriptor, fcntl"
        }
        (Call::NoCache(_), Error::Call { .. }, _) => "unexpected error, fcntl",
        (_, Error::Call { call, .. }, _) => return format!("{} failed", code_of(call)),
        _ => return error.to_string(),
    };
    message.to_owned()
}

/// The name in the old package's messages: `BLKSSZGET` for `ioctl(BLKSSZGET)`, `fstat` for `fstat`.
fn code_of(call: &str) -> &str {
    let inner = call
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(call)
}
