use std::io;
use std::path::Path;

use writebench_model::Failure;

/// Why nothing could be recorded or checked. Each message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Filesystem(#[from] writebench_filesystems::Error),
    #[error("{what} {how}{}", .said.as_ref().map_or(String::new(), |said| format!(": {said}")))]
    Program {
        /// `the setup` or `the program`.
        what: &'static str,
        /// `ended with exit code 1`.
        how: String,
        /// The last line that it printed.
        said: Option<String>,
    },
    #[error(
        "no disk in memory without FUSE: {call} {path}: {}. Load the kernel module fuse, and give a container the device: \
         --device {path}", Failure::io_message(.error)
    )]
    NoFuse {
        call: &'static str,
        path: &'static str,
        error: io::Error,
    },
    #[error(
        "a disk of {disk} is in memory, and this machine has {memory}. Use a smaller --disk-size"
    )]
    NoMemory { disk: String, memory: String },
    #[error(
        "programs cannot be traced: {call}: {}. Allow a container ptrace(2), for example with --cap-add SYS_PTRACE, and \
         do not run it under strace or a debugger", Failure::io_message(.error)
    )]
    Trace {
        call: &'static str,
        error: io::Error,
    },
}

impl Error {
    pub(crate) fn call(
        doing: &'static str,
        call: &'static str,
        path: &Path,
        error: impl Into<io::Error>,
    ) -> Self {
        writebench_filesystems::Error::call(doing, call, path, error).into()
    }
}
