//! Space for data that is going to be written.

use crate::{AsFile, Error, sys};

/// Reserves the first `length_bytes` of a file and makes it at least that long. Never shortens it, and keeps
/// its content.
///
/// | system | by | note |
/// |---|---|---|
/// | Linux | `fallocate(2)`, mode 0 | `EOPNOTSUPP` where the filesystem has none; nothing is written instead |
/// | FreeBSD | `posix_fallocate(2)` | `EINVAL` on ZFS |
/// | macOS | `fcntl(F_PREALLOCATE)` for what is beyond the end, then `ftruncate(2)` if that makes it longer | holes before the end stay holes |
/// | Windows | `SetFileInformationByHandle` with `FileAllocationInfo`, then `FileEndOfFileInfo`, each only if it makes it longer | |
///
/// On macOS and Windows the length is read first, so a file that another process extends in between could be
/// cut. Hold a lock, or be the only writer.
///
/// # Errors
/// The system refuses: no space, no such call on this filesystem, or a file that is not open for writing.
pub fn preallocate(file: impl AsFile, length_bytes: u64) -> Result<(), Error> {
    if length_bytes == 0 {
        return Ok(());
    }
    sys::preallocate(sys::borrow(&file), length_bytes)
}
