#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    BlockDevice,
    /// `true` turns caching off.
    NoCache(bool),
    /// Advisory.
    Lock(bool),
    LockVolume(bool),
}
