use crate::{AsFile, Error, sys};

/// Takes an exclusive advisory lock without waiting: `flock(2)` with `LOCK_EX | LOCK_NB`.
///
/// The lock binds only processes that ask for it. It belongs to the open file description, which duplicated
/// descriptors share. It ends when one of them unlocks it or the last one is closed.
///
/// # Errors
///
/// The error is [`Error::Locked`] if another open file description holds the lock, and [`Error::Unsupported`] on
/// Windows. Some network filesystems refuse (`ENOLCK`, `EOPNOTSUPP`).
pub fn lock(file: impl AsFile) -> Result<(), Error> {
    sys::flock(sys::borrow(&file), true)
}

/// Releases [`lock`]: `flock(2)` with `LOCK_UN`. Without a lock it does nothing.
///
/// # Errors
///
/// The errors are those of [`lock`], except [`Error::Locked`].
pub fn unlock(file: impl AsFile) -> Result<(), Error> {
    sys::flock(sys::borrow(&file), false)
}

/// Locks a volume (`\\.\D:`) for this handle alone: `DeviceIoControl` with `FSCTL_LOCK_VOLUME`, on Windows
/// only.
///
/// Writes to a mounted volume's sectors need this lock. The system first writes cached data back, and fails if
/// a file on the volume is open. Closing the handle releases the lock.
///
/// # Errors
///
/// The volume is in use, is the system's, or has a page file. Other systems return [`Error::Unsupported`]: use
/// [`OpenOptions::exclusive`](crate::OpenOptions::exclusive) there.
pub fn lock_volume(volume: impl AsFile) -> Result<(), Error> {
    sys::lock_volume(sys::borrow(&volume), true)
}

/// Releases [`lock_volume`]: `FSCTL_UNLOCK_VOLUME`.
///
/// # Errors
///
/// The volume was not locked through this handle. Other systems return [`Error::Unsupported`].
pub fn unlock_volume(volume: impl AsFile) -> Result<(), Error> {
    sys::lock_volume(sys::borrow(&volume), false)
}
