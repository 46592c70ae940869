use std::io;
use std::path::{Path, PathBuf};

use writebench_model::Failure;

/// Why a target or a device could not be inspected.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error("{call} {}: {}", .path.display(), Failure::io_message(.error))]
    Call {
        call: &'static str,
        path: PathBuf,
        /// The message of the whole contains this error, so it is not marked as its `source`.
        error: io::Error,
    },
    #[error("{} has no {line}", .path.display())]
    Absent {
        path: PathBuf,
        /// The word at the beginning of the missing line.
        line: &'static str,
    },
    #[error("{} is not a block device: name one, such as /dev/sdb", .path.display())]
    NotABlockDevice { path: PathBuf },
    #[error("{} is the node of block device {number}, which does not exist: name another device", .path.display())]
    NoSuchDevice {
        path: PathBuf,
        /// The major and minor numbers, as in `8:1`.
        number: String,
    },
    #[error("the file behind {name} is unknown ({cause}): be root, or detach {name}")]
    UnknownLoop {
        name: String,
        cause: Box<ProbeError>,
    },
}

impl ProbeError {
    pub(crate) fn call(call: &'static str, path: &Path, error: impl Into<io::Error>) -> Self {
        Self::Call {
            call,
            path: path.to_owned(),
            error: error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_reads_as_the_call_its_path_the_meaning_and_the_number() {
        let error = ProbeError::call(
            "statvfs",
            Path::new("/data"),
            io::Error::from_raw_os_error(13),
        );
        assert_eq!(error.to_string(), "statvfs /data: Permission denied (13)");
    }

    #[test]
    fn a_missing_line_reads_as_its_file_and_its_name() {
        let error = ProbeError::Absent {
            path: "/proc/meminfo".into(),
            line: "MemAvailable",
        };
        assert_eq!(error.to_string(), "/proc/meminfo has no MemAvailable");
    }
}
