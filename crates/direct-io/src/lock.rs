//! Locks: advisory ones on files, mandatory ones on Windows' volumes.

use crate::{AsFile, Error, sys};

/// Takes an exclusive advisory lock on an open file, without waiting: `flock(2)` with `LOCK_EX | LOCK_NB`.
///
/// It binds only those who ask for it too. It belongs to the open file description: descriptors duplicated from
/// it share it, and it is gone when it is unlocked through one of them or the last one is closed.
///
/// # Errors
/// [`Error::Locked`] if another open file description has it. [`Error::Unsupported`] on Windows. Some network
/// filesystems refuse (`ENOLCK`, `EOPNOTSUPP`).
pub fn lock(file: impl AsFile) -> Result<(), Error> {
    sys::lock(sys::borrow(&file))
}

/// Gives the lock of [`lock`] back: `flock(2)` with `LOCK_UN`. Without a lock it does nothing.
///
/// # Errors
/// As [`lock`], but for [`Error::Locked`].
pub fn unlock(file: impl AsFile) -> Result<(), Error> {
    sys::unlock(sys::borrow(&file))
}

/// Locks a volume (`\\.\D:`), so that only this handle can use it: `DeviceIoControl` with `FSCTL_LOCK_VOLUME`, on
/// Windows only.
///
/// Writing to a mounted volume's sectors needs it. The system writes back what it has cached first, and fails if
/// any file on the volume is open. The lock goes with the handle.
///
/// # Errors
/// The volume is in use, is the system's, or has a page file. [`Error::Unsupported`] elsewhere:
/// [`OpenOptions::exclusive`](crate::OpenOptions::exclusive) is what there is.
pub fn lock_volume(volume: impl AsFile) -> Result<(), Error> {
    sys::lock_volume(sys::borrow(&volume))
}

/// Gives the lock of [`lock_volume`] back: `FSCTL_UNLOCK_VOLUME`.
///
/// # Errors
/// The volume was not locked through this handle. [`Error::Unsupported`] elsewhere.
pub fn unlock_volume(volume: impl AsFile) -> Result<(), Error> {
    sys::unlock_volume(sys::borrow(&volume))
}
