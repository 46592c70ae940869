//! The calls on an open file.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// The facts of the device.
    BlockDevice,
    /// Turns caching off or on.
    NoCache(bool),
    /// Takes or releases the advisory lock.
    Lock(bool),
    /// Locks or unlocks the volume.
    LockVolume(bool),
}
