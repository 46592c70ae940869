//! What a filesystem does with files beside how fast: space, extents, direct I/O.

use serde::{Deserialize, Serialize};

use crate::sample::Failure;
use crate::value::{Prepare, named_values};

/// What a filesystem does with files, learnt by making some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// What it counts space in: `f_frsize` of statvfs(3).
    pub block_size_bytes: Learnt<u64>,
    /// The size of the files that were made.
    pub file_size_bytes: u64,
    /// One for each state of a file, in the order of [`Prepare::ALL`].
    pub prepared: Vec<Prepared>,
    /// What `O_DIRECT` came to in files that grow, in a hole, and over data.
    pub direct_io: Vec<DirectIo>,
}

/// Something that was found out, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learnt<T> {
    /// It is known.
    Known(T),
    /// The filesystem does not do that, and says so.
    Refused(Failure),
    /// A call failed.
    Failed(Failure),
}

impl<T> Learnt<T> {
    /// What is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Refused(_) | Self::Failed(_) => None,
        }
    }

    /// Why nothing is known.
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
    /// The state.
    pub prepare: Prepare,
    /// What came of it.
    pub found: Learnt<Found>,
}

/// What a file that could be put into a state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Once it is in the state, and synced.
    pub after_prepare: Allocation,
    /// What the device was given for that, the sync included, by anyone; none where there is no device.
    pub prepare_device_bytes: Option<u64>,
    /// What the call that reserves blocks did to them; none for states without such a call.
    pub zeros: Option<Zeros>,
    /// Once all of it is written, synced and closed.
    pub after_write: Learnt<Allocation>,
}

/// The space of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// `st_blocks` of stat(2), each of 512 bytes. What the filesystem needs to find the blocks may be in it.
    pub allocated_bytes: u64,
    /// As the filesystem tells them.
    pub extents: Learnt<Extents>,
}

/// The pieces that a file is in: `FS_IOC_FIEMAP`, Documentation/filesystems/fiemap.rst of the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// How many in the size that the file was to have. Filesystems without extents (ext2, ext3) tell of runs of blocks.
    pub count: u32,
    /// In those that are marked as unwritten (`FIEMAP_EXTENT_UNWRITTEN`), and read as zeros.
    pub unwritten_bytes: u64,
    /// Behind the size that the file was to have: reserved ahead, and in neither of the others.
    pub beyond_bytes: u64,
}

/// What a call that reserves blocks did to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Zeros {
    /// Zeros were written into them.
    Written,
    /// Nothing was written into them.
    Unwritten,
    /// There are none.
    NoBlocks,
    /// Nobody tells.
    Unknown {
        /// Who did not, or what contradicts what.
        why: String,
    },
}

impl Zeros {
    /// What is to be made of a file that was given blocks and synced, and of what its device was given meanwhile.
    ///
    /// The filesystem's word counts, if the device was not given something else. Where the filesystem does not
    /// tell, the device decides, and where neither does, it is unknown. Half of the file is the border: others may
    /// write to the device, too, and a journal does.
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
    /// The state.
    pub prepare: Prepare,
    /// Which way the data went.
    pub found: Learnt<DirectWrite>,
}

named_values! {
    /// Which way data went that was written with `O_DIRECT`.
    DirectWrite {
        /// Past the page cache.
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
    fn the_filesystem_is_believed_where_the_device_does_not_contradict() {
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
    fn the_device_decides_where_the_filesystem_does_not_tell() {
        assert_eq!(zeros(refused(), Some(SIZE / 2)), Zeros::Written);
        assert_eq!(zeros(refused(), Some(SIZE / 2 - 1)), Zeros::Unwritten);
        let Zeros::Unknown { why } = zeros(refused(), None) else { panic!("nobody told") };
        assert_eq!(why, "no FIEMAP, and no device whose sectors could be counted");
    }

    #[test]
    fn without_blocks_there_is_nothing_to_write_zeros_into() {
        let hole = Allocation { allocated_bytes: 4096, extents: refused() };
        assert_eq!(Zeros::of(SIZE, &hole, Some(SIZE)), Zeros::NoBlocks);
    }

    #[test]
    fn properties_survive_their_line_between_the_processes() {
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
