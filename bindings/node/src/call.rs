/// A call of direct-io that JavaScript asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    BlockDevice,
    /// `true` turns caching off.
    NoCache(bool),
    /// `true` takes an advisory lock on a file, and `false` releases it.
    Lock(bool),
    /// `true` locks a volume of Windows, and `false` releases it.
    LockVolume(bool),
}
