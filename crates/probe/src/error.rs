//! Why a probe found nothing.

use std::io;
use std::path::{Path, PathBuf};

use writebench_model::Failure;

/// What could not be learnt although the caller needs it.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A call failed.
    // The error is in the message, so it is not the `source` as well, which would print it twice.
    #[error("{call} {}: {}", .path.display(), Failure::io_message(.error))]
    Call {
        /// Which.
        call: &'static str,
        /// On what.
        path: PathBuf,
        /// How the system puts it.
        error: io::Error,
    },
    /// A file of the kernel's lacks the line that was looked for.
    #[error("{} has no {line}", .path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// How the line begins.
        line: &'static str,
    },
    /// Where a block device is needed there is something else.
    #[error("{} is no block device: name one, such as /dev/sdb", .path.display())]
    NotABlockDevice {
        /// What was named.
        path: PathBuf,
    },
    /// A node in the file tree stands for no device.
    #[error("{} stands for block device {number}, which sysfs does not have: name one that is there", .path.display())]
    NoSuchDevice {
        /// The node.
        path: PathBuf,
        /// Its major and minor number.
        number: String,
    },
    /// It is not told which file a loop device shows.
    #[error("cannot tell whether {name} shows its bytes ({cause}): be root, or detach {name}")]
    UnknownLoop {
        /// The kernel's name of the loop device.
        name: String,
        /// What failed.
        cause: Box<ProbeError>,
    },
}

impl ProbeError {
    pub(crate) fn call(call: &'static str, path: &Path, error: impl Into<io::Error>) -> Self {
        Self::Call { call, path: path.to_owned(), error: error.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_reads_as_the_call_its_path_the_meaning_and_the_number() {
        let error = ProbeError::call("statvfs", Path::new("/data"), io::Error::from_raw_os_error(13));
        assert_eq!(error.to_string(), "statvfs /data: Permission denied (13)");
    }

    #[test]
    fn a_missing_line_reads_as_its_file_and_its_name() {
        let error = ProbeError::Absent { path: "/proc/meminfo".into(), line: "MemAvailable" };
        assert_eq!(error.to_string(), "/proc/meminfo has no MemAvailable");
    }
}
