//! The calls that an open file is asked for.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// The facts of the device.
    BlockDevice,
    /// Caching off, or on.
    NoCache(bool),
    /// The advisory lock taken, or given back.
    Lock(bool),
    /// The volume locked, or unlocked.
    LockVolume(bool),
}
