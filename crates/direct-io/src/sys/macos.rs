use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, opcode};

pub(crate) use super::unix::*;
use crate::{BlockDevice, DirectIo, Error, OpenOptions};

// These codes are in sys/disk.h.
const DKIOCGETBLOCKSIZE: Opcode = opcode::read::<u32>(b'd', 24);
const DKIOCGETBLOCKCOUNT: Opcode = opcode::read::<u64>(b'd', 25);
const DKIOCGETPHYSICALBLOCKSIZE: Opcode = opcode::read::<u32>(b'd', 77);

pub(crate) fn open_at(
    options: &OpenOptions,
    directory: BorrowedFd<'_>,
    path: &Path,
) -> Result<File, Error> {
    let exclusive = if options.exclusive {
        // Without `O_NONBLOCK`, `O_EXLOCK` would wait for the lock.
        OFlags::from_bits_retain(libc::O_EXLOCK.cast_unsigned()) | OFlags::NONBLOCK
    } else {
        OFlags::empty()
    };
    let file = open_with(options, directory, path, exclusive)?;
    if options.exclusive {
        let flags =
            rustix::fs::fcntl_getfl(&file).map_err(|errno| Error::call("fcntl(F_GETFL)", errno))?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)
            .map_err(|errno| Error::call("fcntl(F_SETFL)", errno))?;
    }
    if options.direct {
        set_no_cache(file.as_fd(), true)?;
    }
    Ok(file)
}

pub(crate) fn device(file: BorrowedFd<'_>) -> Result<BlockDevice, Error> {
    require_device(file)?;
    // SAFETY: sys/disk.h declares the code for a uint32_t.
    let logical: u32 = unsafe { get::<DKIOCGETBLOCKSIZE, _>(file, "ioctl(DKIOCGETBLOCKSIZE)") }?;
    // SAFETY: sys/disk.h declares the code for a uint32_t.
    let physical: u32 =
        unsafe { get::<DKIOCGETPHYSICALBLOCKSIZE, _>(file, "ioctl(DKIOCGETPHYSICALBLOCKSIZE)") }?;
    // SAFETY: sys/disk.h declares the code for a uint64_t.
    let count = unsafe { get::<DKIOCGETBLOCKCOUNT, u64>(file, "ioctl(DKIOCGETBLOCKCOUNT)") }?;
    Ok(BlockDevice {
        logical_sector_bytes: Some(logical.into()),
        physical_sector_bytes: Some(physical.into()),
        capacity_bytes: u64::from(logical).checked_mul(count),
        serial: None,
    })
}

pub(crate) fn direct(_: BorrowedFd<'_>) -> Result<DirectIo, Error> {
    Ok(DirectIo::Unknown)
}

pub(crate) fn fdatasync(_: BorrowedFd<'_>) -> Result<(), Error> {
    Err(Error::Unsupported {
        call: "fdatasync",
        reason: "macOS does not declare it. Use fsync or F_FULLFSYNC",
    })
}

pub(crate) fn full_fsync(file: BorrowedFd<'_>) -> Result<(), Error> {
    rustix::fs::fcntl_fullfsync(file).map_err(|errno| Error::call("fcntl(F_FULLFSYNC)", errno))
}

pub(crate) fn set_no_cache(file: BorrowedFd<'_>, off: bool) -> Result<(), Error> {
    rustix::fs::fcntl_nocache(file, off).map_err(|errno| Error::call("fcntl(F_NOCACHE)", errno))
}

/// The usual `ftruncate` to the wanted length would cut a longer file.
pub(crate) fn preallocate(file: BorrowedFd<'_>, length_bytes: u64) -> Result<(), Error> {
    let status = rustix::fs::fstat(file).map_err(|errno| Error::call("fstat", errno))?;
    let present = u64::try_from(status.st_size).unwrap_or(0);
    if length_bytes <= present {
        return Ok(());
    }
    let fst_length = libc::off_t::try_from(length_bytes - present)
        .map_err(|_| Error::call("fcntl(F_PREALLOCATE)", Errno::FBIG))?;
    let mut store = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length,
        fst_bytesalloc: 0,
    };
    // SAFETY: the descriptor is open while borrowed, and `store` is what F_PREALLOCATE takes: fcntl(2).
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut store) };
    if result == -1 {
        return Err(Error::call(
            "fcntl(F_PREALLOCATE)",
            std::io::Error::last_os_error(),
        ));
    }
    set_length(file, length_bytes)
}
