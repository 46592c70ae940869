//! Why a block device is not written to.

/// Why a block device is not written to. The text goes on after the device's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceRefusal {
    /// It, or a partition of it, is mounted there.
    #[error("is mounted at {0}: unmount it first")]
    Mounted(String),
    /// It, or a partition of it, is swap in use.
    #[error("is used as swap: swapoff it first")]
    Swap,
    /// That stands on it, or on a partition of it.
    #[error("is used by {0}: take that down first")]
    Held(String),
    /// The kernel does not give it to us alone.
    #[error(
        "is in use by the kernel: a filesystem, swap, RAID or another program has it for itself; end that first"
    )]
    Busy,
    /// It cannot be written.
    #[error("is read-only: make it writable, or name another device")]
    ReadOnly,
    /// Nothing fits on it.
    #[error("has {size_bytes} bytes, less than one sector of {sector_bytes}: name another device")]
    TooSmall {
        /// Its size.
        size_bytes: u64,
        /// Of a logical sector.
        sector_bytes: u64,
    },
    /// It has these partitions.
    #[error("has partitions ({0}): add --destroy-data to overwrite them")]
    Partitioned(String),
    /// That is on it.
    #[error("carries {0}: add --destroy-data to overwrite it")]
    CarriesData(String),
    /// Nobody could say what is on it, for that reason.
    #[error(
        "is not touched: cannot tell whether it carries data, {0}; add --destroy-data to overwrite whatever it is"
    )]
    CannotTell(String),
    /// The node stands for another device than it did a moment ago.
    #[error("became another device while it was looked at: see what it is now, and try again")]
    Changed,
}
