use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use writebench_model::SyncCall;

use crate::call::{Call, CallError, Result};

const NO_DIRECTORIES: &str = "the directory cannot be synced here, so no new name in it is known to be durable. \
     Overwrite an existing file instead (prepare=overwrite)";

/// Filesystems without a sync of directories return EINVAL or EBADF.
const FSYNC_DIRECTORY: Call = Call {
    name: "fsync of the directory",
    lacks: &[Errno::INVAL, Errno::BADF],
    advice: &[
        (Errno::INVAL, NO_DIRECTORIES),
        (Errno::BADF, NO_DIRECTORIES),
    ],
};

/// Syncs a file by a call. A failure is final: the kernel may have marked the pages clean and dropped the data, so a
/// retry would only hide the loss (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
pub(crate) fn sync(file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
    let result = match call {
        SyncCall::Fsync => direct_io::fsync(file),
        SyncCall::Fdatasync => direct_io::fdatasync(file),
        // Mappings sync themselves, write-through is done already, and `Case` refuses all other calls.
        SyncCall::None
        | SyncCall::Msync
        | SyncCall::ODsync
        | SyncCall::OSync
        | SyncCall::RwfDsync => Ok(()),
    };
    result.map_err(|error| CallError::from_direct_io(call.name(), &error))
}

/// Syncs a directory, with which the new names in it are durable: fsync(2). An error names the directory.
pub(crate) fn sync_directory(directory: BorrowedFd<'_>) -> Result<()> {
    direct_io::fsync(directory).map_err(|error| {
        let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
        let path = std::fs::read_link(link).map(|path| path.display().to_string());
        CallError::from_direct_io(FSYNC_DIRECTORY, &error).about(&path.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use writebench_model::Phase;

    use super::*;

    #[test]
    fn a_directory_that_cannot_be_synced_is_not_supported() {
        // The kernel has the same error for a pipe.
        let (reader, _writer) = rustix::pipe::pipe().unwrap();
        let error = sync_directory(reader.as_fd()).unwrap_err();
        let outcome = error.outcome(Phase::Sync, None);
        let reason = outcome.reason().unwrap();
        assert!(
            matches!(outcome, writebench_model::Outcome::Unsupported(_)),
            "{reason}"
        );
        assert!(
            reason.contains("fsync of the directory") && reason.contains(NO_DIRECTORIES),
            "{reason}"
        );
    }
}
