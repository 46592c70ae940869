//! Properties of a filesystem other than speed: space, extents, direct I/O.

use serde::{Deserialize, Serialize};

use crate::bounded::list;
use crate::sample::Failure;
use crate::value::{Prepare, named_values};

/// The treatment of files by a filesystem, learnt by making some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// The unit of space: `f_frsize` of statvfs(3).
    pub block_size_bytes: Learnt<u64>,
    /// The size of the test files.
    pub file_size_bytes: u64,
    /// One entry for each state of a file, in the order of [`Prepare::ALL`].
    #[serde(deserialize_with = "list")]
    pub prepared: Vec<Prepared>,
    /// The path of `O_DIRECT` writes in a growing file, in a hole, and over data.
    #[serde(deserialize_with = "list")]
    pub direct_io: Vec<DirectIo>,
}

/// A fact, or the reason why it is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learnt<T> {
    Known(T),
    /// The filesystem refuses the operation.
    Refused(Failure),
    /// A call failed.
    Failed(Failure),
}

impl<T> Learnt<T> {
    /// The fact, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Refused(_) | Self::Failed(_) => None,
        }
    }

    /// The reason why the fact is unknown.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Known(_) => None,
            Self::Refused(failure) | Self::Failed(failure) => Some(failure),
        }
    }
}

/// A file that was put into a state, and then written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    pub prepare: Prepare,
    pub found: Learnt<Found>,
}

/// The properties of a file that could be put into a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The allocation in that state, synced.
    pub after_prepare: Allocation,
    /// The bytes that the device received meanwhile, including the sync and other writers; none without a
    /// device.
    pub prepare_device_bytes: Option<u64>,
    /// The effect of a call that reserves blocks; none for states without such a call.
    pub zeros: Option<Zeros>,
    /// The allocation after the file was written, synced and closed.
    pub after_write: Learnt<Allocation>,
}

/// The space of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// `st_blocks` of stat(2), in units of 512 bytes. It may include metadata that locates the blocks.
    pub allocated_bytes: u64,
    /// The extents that the filesystem reports.
    pub extents: Learnt<Extents>,
}

/// The contiguous pieces of a file: `FS_IOC_FIEMAP`, Documentation/filesystems/fiemap.rst of the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// The number within the intended size. Filesystems without extents (ext2, ext3) report runs of blocks.
    pub count: u32,
    /// The bytes in extents marked as unwritten (`FIEMAP_EXTENT_UNWRITTEN`), which read as zeros.
    pub unwritten_bytes: u64,
    /// The bytes reserved beyond the intended size, which the other two do not include.
    pub beyond_bytes: u64,
}

/// The effect of a call that reserves blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Zeros {
    /// The call wrote zeros into the blocks.
    Written,
    /// The call wrote nothing into the blocks.
    Unwritten,
    /// The file has no blocks.
    NoBlocks,
    Unknown {
        /// The missing or contradictory facts.
        why: String,
    },
}

impl Zeros {
    /// Interprets the state of a file with reserved blocks after a sync, and the bytes that its device
    /// received meanwhile.
    ///
    /// The filesystem's answer counts unless the device contradicts it. Without one, the device decides;
    /// without either, the effect is unknown. The border is half of the file, because a journal and other
    /// programs may write to the device, too.
    #[must_use]
    pub fn of(file_size_bytes: u64, allocation: &Allocation, device_bytes: Option<u64>) -> Self {
        let is_much = |bytes: u64| bytes >= file_size_bytes.div_ceil(2);
        if !is_much(allocation.allocated_bytes) {
            return Self::NoBlocks;
        }
        let is_marked = allocation.extents.known().map(|extents| is_much(extents.unwritten_bytes));
        match (is_marked, device_bytes.map(is_much)) {
            (Some(true), Some(false) | None) | (None, Some(false)) => Self::Unwritten,
            (Some(false), Some(true) | None) | (None, Some(true)) => Self::Written,
            (Some(true), Some(true)) => Self::unknown("marked as unwritten, but the device was busy meanwhile"),
            (Some(false), Some(false)) => {
                Self::unknown("not marked as unwritten, but the device was given less than half of it")
            }
            (None, None) => Self::unknown("no FIEMAP, and no device whose sectors could be counted"),
        }
    }

    fn unknown(why: &str) -> Self {
        Self::Unknown { why: why.to_owned() }
    }
}

/// A file that was put into a state, and then written with `O_DIRECT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectIo {
    pub prepare: Prepare,
    /// The path of the data.
    pub found: Learnt<DirectWrite>,
}

named_values! {
    /// The path of data written with `O_DIRECT`.
    DirectWrite {
        /// Bypassing the page cache.
        Direct = "direct",
        /// Through the page cache, although `O_DIRECT` was accepted.
        PageCache = "page-cache",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;

    const SIZE: u64 = 16 << 20;

    fn refused<T>() -> Learnt<T> {
        Learnt::Refused(Failure {
            phase: Phase::Verify,
            call: "ioctl FS_IOC_FIEMAP".to_owned(),
            path: None,
            offset: None,
            errno: Some(95),
            message: Failure::errno_message(95),
        })
    }

    fn marked(unwritten_bytes: u64) -> Learnt<Extents> {
        Learnt::Known(Extents { count: 1, unwritten_bytes, beyond_bytes: 0 })
    }

    fn zeros(extents: Learnt<Extents>, device_bytes: Option<u64>) -> Zeros {
        Zeros::of(SIZE, &Allocation { allocated_bytes: SIZE, extents }, device_bytes)
    }

    #[test]
    fn the_filesystem_is_believed_unless_the_device_contradicts() {
        for device_bytes in [None, Some(100_000)] {
            assert_eq!(zeros(marked(SIZE), device_bytes), Zeros::Unwritten);
        }
        for device_bytes in [None, Some(SIZE)] {
            assert_eq!(zeros(marked(0), device_bytes), Zeros::Written);
        }
        assert!(matches!(zeros(marked(SIZE), Some(SIZE)), Zeros::Unknown { .. }));
        assert!(matches!(zeros(marked(0), Some(0)), Zeros::Unknown { .. }));
    }

    #[test]
    fn the_device_decides_if_the_filesystem_does_not_tell() {
        assert_eq!(zeros(refused(), Some(SIZE / 2)), Zeros::Written);
        assert_eq!(zeros(refused(), Some(SIZE / 2 - 1)), Zeros::Unwritten);
        let Zeros::Unknown { why } = zeros(refused(), None) else { panic!("nobody told") };
        assert_eq!(why, "no FIEMAP, and no device whose sectors could be counted");
    }

    #[test]
    fn a_file_without_blocks_has_no_zeros() {
        let hole = Allocation { allocated_bytes: 4096, extents: refused() };
        assert_eq!(Zeros::of(SIZE, &hole, Some(SIZE)), Zeros::NoBlocks);
    }

    #[test]
    fn properties_survive_serialization() {
        let allocation = |extents| Allocation { allocated_bytes: SIZE, extents };
        let found = Found {
            after_prepare: allocation(refused()),
            prepare_device_bytes: Some(7),
            zeros: Some(Zeros::Unknown { why: "nobody told".to_owned() }),
            after_write: Learnt::Known(allocation(marked(0))),
        };
        let properties = Properties {
            block_size_bytes: Learnt::Known(4096),
            file_size_bytes: SIZE,
            prepared: vec![
                Prepared { prepare: Prepare::Fallocate, found: Learnt::Known(found) },
                Prepared { prepare: Prepare::Create, found: refused() },
            ],
            direct_io: vec![
                DirectIo { prepare: Prepare::Create, found: refused() },
                DirectIo { prepare: Prepare::SetLen, found: Learnt::Known(DirectWrite::PageCache) },
            ],
        };
        let line = serde_json::to_string(&properties).unwrap();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(serde_json::from_str::<Properties>(&line).unwrap(), properties);
        let request = crate::protocol::Request::PropertiesRequest(crate::protocol::PropertiesRequest {
            target: 0,
            file_stem: "properties".to_owned(),
            file_size_bytes: SIZE,
            data_seed: u64::MAX,
            device_number: Some("8:1".to_owned()),
        });
        let line = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<crate::protocol::Request>(&line).unwrap(), request);
    }
}
