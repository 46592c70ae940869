//! Giving a file its length or its blocks without data: a method of its own, and the work of phase `prepare`.

use std::os::fd::BorrowedFd;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use writebench_model::{AllocateCall, Cache, SyncCall};

use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{Call, CallError, hand_over, retry};
use crate::region::to_usize;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    move |file: BorrowedFd<'_>, _: &mut WriteLoop| {
        allocate(file, region.choices.call, region.file_length)
    }
}

const FALLOCATE: Call = Call {
    name: "fallocate",
    lacks: &[],
    advice: &[],
};

/// EINVAL from a filesystem without fallocate under O_DIRECT: the C library then writes a byte into each block
/// (posix_fallocate(3)).
const POSIX_FALLOCATE: Call = Call {
    name: "posix_fallocate",
    lacks: &[Errno::INVAL],
    advice: &[],
};

/// `FALLOC_FL_WRITE_ZEROES` of linux/falloc.h, since 6.17. rustix has no name for it.
const WRITE_ZEROES_FLAG: FallocateFlags = FallocateFlags::from_bits_retain(0x80);
const WRITE_ZEROES: Call = Call {
    name: "fallocate(FALLOC_FL_WRITE_ZEROES)",
    lacks: &[],
    advice: &[(
        Errno::OPNOTSUPP,
        "it needs Linux 6.17, ext4, and a device that can zero blocks itself",
    )],
};

pub(crate) fn allocate(file: BorrowedFd<'_>, call: AllocateCall, length: u64) -> Result<()> {
    let (name, flags) = match call {
        AllocateCall::Ftruncate => {
            return retry("ftruncate", || rustix::fs::ftruncate(file, length));
        }
        AllocateCall::Fallocate => (FALLOCATE, FallocateFlags::empty()),
        AllocateCall::FallocateZeroRange => (FALLOCATE, FallocateFlags::ZERO_RANGE),
        AllocateCall::FallocateKeepSize => (FALLOCATE, FallocateFlags::KEEP_SIZE),
        AllocateCall::WriteZeroes => (WRITE_ZEROES, WRITE_ZEROES_FLAG),
        AllocateCall::PosixFallocate => {
            let length =
                i64::try_from(length).map_err(|_| CallError::new(POSIX_FALLOCATE, Errno::FBIG))?;
            return retry(POSIX_FALLOCATE, || {
                // The C library's function returns the error number and leaves errno alone.
                nix::fcntl::posix_fallocate(file, 0, length)
                    .map_err(|errno| Errno::from_raw_os_error(errno as i32))
            });
        }
    };
    retry(name, || rustix::fs::fallocate(file, flags, 0, length))
}

/// Fills a file with zeros, so that a later overwrite changes no metadata. The zeros leave the page cache if the data
/// will, because `RWF_DONTCACHE` drops only its own pages.
pub(crate) fn zero_fill(file: BorrowedFd<'_>, length: u64, cache: Cache) -> Result<()> {
    // Direct I/O needs aligned memory.
    #[repr(align(4096))]
    struct Zeros([u8; 64 << 10]);
    static ZEROS: Zeros = Zeros([0; 64 << 10]);
    for at in (0..length).step_by(ZEROS.0.len()) {
        let piece = &ZEROS.0[..to_usize(length - at).min(ZEROS.0.len())];
        hand_over("pwrite", piece, at, |bytes, at| {
            rustix::io::pwrite(file, bytes, at)
        })?;
    }
    crate::sync::sync(file, SyncCall::Fsync)?;
    if cache == Cache::Dontcache {
        retry("posix_fadvise", || {
            rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)
        })?;
    }
    Ok(())
}
