use std::io;
use std::path::Path;

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
        "the program is not traced: {call}: {error}. In a container, add the capability SYS_PTRACE"
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
