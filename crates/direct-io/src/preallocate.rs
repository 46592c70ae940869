use crate::{AsFile, Error, sys};

/// Reserves the first `length_bytes` of a file and makes it at least that long. It never shortens a file, and
/// keeps its content.
///
/// | system | by | note |
/// |---|---|---|
/// | Linux | `fallocate(2)`, mode 0 | `EOPNOTSUPP` on some filesystems. Nothing is written instead |
/// | FreeBSD | `posix_fallocate(2)` | `EINVAL` on ZFS |
/// | macOS | `fcntl(F_PREALLOCATE)` beyond the end, then `ftruncate(2)` to a greater length | holes before the end remain |
/// | Windows | `SetFileInformationByHandle` with `FileAllocationInfo`, then `FileEndOfFileInfo`, each only to a greater length | |
///
/// On macOS and Windows the length is read first: another process's data at the end could be cut. Hold a lock,
/// or be the only writer.
///
/// # Errors
///
/// The system refuses: there is no space, the filesystem has no such call, or the file is not open for writing.
pub fn preallocate(file: impl AsFile, length_bytes: u64) -> Result<(), Error> {
    if length_bytes == 0 {
        return Ok(());
    }
    sys::preallocate(sys::borrow(&file), length_bytes)
}
