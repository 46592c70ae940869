use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, opcode};

pub(crate) use super::unix::*;
use crate::{BlockDevice, DirectIo, Error};

// These codes are in sys/disk.h.
const DIOCGSECTORSIZE: Opcode = opcode::read::<u32>(b'd', 128);
const DIOCGMEDIASIZE: Opcode = opcode::read::<i64>(b'd', 129);
const DIOCGIDENT: Opcode = opcode::read::<[u8; 256]>(b'd', 137);
const DIOCGSTRIPESIZE: Opcode = opcode::read::<i64>(b'd', 139);

pub(crate) fn device(file: BorrowedFd<'_>) -> Result<BlockDevice, Error> {
    require_device(file)?;
    // SAFETY: sys/disk.h declares the code for a u_int.
    let sector: u32 = unsafe { get::<DIOCGSECTORSIZE, _>(file, "ioctl(DIOCGSECTORSIZE)") }?;
    // SAFETY: sys/disk.h declares the code for an off_t.
    let stripe: i64 = unsafe { get::<DIOCGSTRIPESIZE, _>(file, "ioctl(DIOCGSTRIPESIZE)") }?;
    // SAFETY: sys/disk.h declares the code for an off_t.
    let size: i64 = unsafe { get::<DIOCGMEDIASIZE, _>(file, "ioctl(DIOCGMEDIASIZE)") }?;
    // Virtual disks have no serial number, and refuse.
    // SAFETY: sys/disk.h declares the code for DISK_IDENT_SIZE, 256 bytes.
    let ident = unsafe { get::<DIOCGIDENT, [u8; 256]>(file, "ioctl(DIOCGIDENT)") }.ok();
    Ok(BlockDevice {
        logical_sector_bytes: Some(sector.into()),
        physical_sector_bytes: u64::try_from(stripe).ok(),
        capacity_bytes: u64::try_from(size).ok(),
        serial: ident.and_then(|ident| text(&ident)),
    })
}

/// The text before the first zero.
fn text(ident: &[u8]) -> Option<String> {
    let text = CStr::from_bytes_until_nul(ident).ok()?;
    Some(text.to_string_lossy().into_owned())
}

pub(crate) fn direct(file: BorrowedFd<'_>) -> Result<DirectIo, Error> {
    if !is_device(file)? {
        return Ok(DirectIo::Unknown);
    }
    let sector = device(file)?.logical_sector_bytes;
    Ok(DirectIo::by(sector, sector))
}
