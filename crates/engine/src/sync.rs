//! Making data durable.

use std::os::fd::BorrowedFd;

use model::Sync;

use crate::call::CallError;

/// Syncs what was written through any descriptor of the file. A failure is final: the kernel may have
/// marked the pages clean and dropped the data, so asking again would only hide it (Rebello et al.,
/// *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
pub fn sync(file: BorrowedFd<'_>, call: Sync) -> Result<(), CallError> {
    match call {
        Sync::Fsync => rustix::fs::fsync(file).map_err(|errno| CallError::new("fsync", errno)),
        Sync::Fdatasync => rustix::fs::fdatasync(file).map_err(|errno| CallError::new("fdatasync", errno)),
        // Mappings do this themselves; a method without one has no such case.
        Sync::Msync | Sync::None => Ok(()),
    }
}
