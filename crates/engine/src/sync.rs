use std::os::fd::BorrowedFd;

use writebench_model::SyncCall;

use crate::call::{CallError, Result};

/// A failure is final: the kernel may have marked the pages clean and dropped the data, so a retry would only
/// hide the loss (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
pub(crate) fn sync(file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
    let result = match call {
        SyncCall::Fsync => direct_io::fsync(file),
        SyncCall::Fdatasync => direct_io::fdatasync(file),
        // Mappings sync themselves, write-through is done already, and `Case` refuses all other calls.
        SyncCall::None | SyncCall::Msync | SyncCall::ODsync | SyncCall::OSync | SyncCall::RwfDsync => Ok(()),
    };
    result.map_err(|error| CallError::from_direct_io(call.name(), &error))
}
