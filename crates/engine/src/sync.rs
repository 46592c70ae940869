//! Making data durable.

use std::os::fd::BorrowedFd;

use writebench_model::SyncCall;

use crate::call::CallError;

/// Syncs what was written through any descriptor of the file. A failure is final: the kernel may have
/// marked the pages clean and dropped the data, so asking again would only hide it (Rebello et al.,
/// *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
pub(crate) fn sync(file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
    match call {
        SyncCall::Fsync => direct_io::fsync(file).map_err(|error| CallError::of("fsync", &error)),
        SyncCall::Fdatasync => direct_io::fdatasync(file).map_err(|error| CallError::of("fdatasync", &error)),
        // Mappings do this themselves, and write-through has been done; `Case` refuses everything else.
        _ => Ok(()),
    }
}
