//! FreeBSD.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

pub(crate) use super::unix::*;
use crate::{Alignment, BlockDevice, DirectIo, Error, OpenOptions, WriteThrough};

// sys/disk.h
const DIOCGSECTORSIZE: Opcode = opcode::read::<u32>(b'd', 128);
const DIOCGMEDIASIZE: Opcode = opcode::read::<i64>(b'd', 129);
const DIOCGIDENT: Opcode = opcode::read::<[u8; 256]>(b'd', 137);
const DIOCGSTRIPESIZE: Opcode = opcode::read::<i64>(b'd', 139);

pub(crate) fn open_at(options: &OpenOptions, directory: BorrowedFd<'_>, path: &Path) -> Result<File, Error> {
    let direct = if options.direct { OFlags::DIRECT } else { OFlags::empty() };
    let exclusive = if options.exclusive { OFlags::EXCL } else { OFlags::empty() };
    let write_through = match options.write_through {
        WriteThrough::None => OFlags::empty(),
        WriteThrough::DataSync => OFlags::DSYNC,
        WriteThrough::Sync => OFlags::SYNC,
    };
    let file = open_with(options, directory, path, direct | exclusive | write_through)?;
    if options.exclusive {
        refuse_exclusive_file(&file)?;
    }
    Ok(file)
}

pub(crate) fn device(file: BorrowedFd<'_>) -> Result<BlockDevice, Error> {
    if !is_device(file)? {
        return Err(Error::NotADevice);
    }
    let failed = |call| move |errno: Errno| Error::call(call, errno);
    // SAFETY: sys/disk.h declares the code for a u_int.
    let sector = unsafe { Getter::<DIOCGSECTORSIZE, u32>::new() };
    // SAFETY: it only writes to the value that belongs to `sector`.
    let sector = unsafe { ioctl(file, sector) }.map_err(failed("ioctl(DIOCGSECTORSIZE)"))?;
    // SAFETY: sys/disk.h declares the code for an off_t.
    let stripe = unsafe { Getter::<DIOCGSTRIPESIZE, i64>::new() };
    // SAFETY: it only writes to the value that belongs to `stripe`.
    let stripe = unsafe { ioctl(file, stripe) }.map_err(failed("ioctl(DIOCGSTRIPESIZE)"))?;
    // SAFETY: sys/disk.h declares the code for an off_t.
    let size = unsafe { Getter::<DIOCGMEDIASIZE, i64>::new() };
    // SAFETY: it only writes to the value that belongs to `size`.
    let size = unsafe { ioctl(file, size) }.map_err(failed("ioctl(DIOCGMEDIASIZE)"))?;
    // SAFETY: sys/disk.h declares the code for DISK_IDENT_SIZE, 256 bytes.
    let ident = unsafe { Getter::<DIOCGIDENT, [u8; 256]>::new() };
    // SAFETY: it only writes to the value that belongs to `ident`. Virtual disks have none, and refuse.
    let ident = unsafe { ioctl(file, ident) }.ok();
    let text = |ident: [u8; 256]| Some(CStr::from_bytes_until_nul(&ident).ok()?.to_string_lossy().into_owned());
    Ok(BlockDevice {
        logical_sector_bytes: Some(sector.into()),
        physical_sector_bytes: u64::try_from(stripe).ok(),
        capacity_bytes: u64::try_from(size).ok(),
        serial: ident.and_then(text),
    })
}

pub(crate) fn device_at(path: &Path) -> Result<BlockDevice, Error> {
    device(open(&OpenOptions::new().read(true), path)?.as_fd())
}

pub(crate) fn device_below(file: BorrowedFd<'_>) -> Result<BlockDevice, Error> {
    device(mounted_device(file)?.as_fd())
}

pub(crate) fn direct(file: BorrowedFd<'_>) -> Result<DirectIo, Error> {
    if !is_device(file)? {
        return Ok(DirectIo::Unknown);
    }
    let sector = device(file)?.logical_sector_bytes.filter(|&bytes| bytes > 0);
    let memory = sector.and_then(|bytes| usize::try_from(bytes).ok());
    Ok(match (memory, sector) {
        (Some(memory_bytes), Some(offset_bytes)) => {
            DirectIo::Supported(Alignment { memory_bytes, offset_bytes })
        }
        _ => DirectIo::Unknown,
    })
}

pub(crate) fn preallocate(file: BorrowedFd<'_>, length_bytes: u64) -> Result<(), Error> {
    preallocate_by("posix_fallocate", file, length_bytes)
}
