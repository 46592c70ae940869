use std::os::fd::BorrowedFd;

use writebench_model::SyncCall;

use crate::call::{CallError, Result};

/// A failure is final: the kernel may have marked the pages clean and dropped the data, so a retry would only
/// hide the loss (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
pub(crate) fn sync(file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
    match call {
        SyncCall::Fsync => direct_io::fsync(file).map_err(|error| CallError::from_direct_io("fsync", &error)),
        SyncCall::Fdatasync => {
            direct_io::fdatasync(file).map_err(|error| CallError::from_direct_io("fdatasync", &error))
        }
        // Mappings sync themselves, write-through is done already, and `Case` refuses all other calls.
        SyncCall::None | SyncCall::Msync | SyncCall::ODsync | SyncCall::OSync | SyncCall::RwfDsync => Ok(()),
    }
}
