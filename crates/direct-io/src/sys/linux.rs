use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use linux_raw_sys::loop_device::{self, loop_info64};
use rustix::fs::{AtFlags, FileType, Statx, StatxFlags};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, opcode};

pub(crate) use super::unix::*;
use crate::{BlockDevice, DirectIo, Error, LoopBacking};

/// linux/fs.h declares it for a `size_t`, but it fills a `u64`.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);

// rustix through libc, which Miri uses, needs a wider number.
const LOOP_GET_STATUS64: Opcode = loop_device::LOOP_GET_STATUS64 as Opcode;

pub(crate) fn device(file: BorrowedFd<'_>) -> Result<BlockDevice, Error> {
    require_device(file)?;
    let logical = rustix::fs::ioctl_blksszget(file)
        .map_err(|errno| Error::call("ioctl(BLKSSZGET)", errno))?;
    let physical = rustix::fs::ioctl_blkpbszget(file)
        .map_err(|errno| Error::call("ioctl(BLKPBSZGET)", errno))?;
    // SAFETY: the kernel fills a u64 on all architectures, despite the code's declaration.
    let capacity = unsafe { get::<BLKGETSIZE64, u64>(file, "ioctl(BLKGETSIZE64)") }?;
    let status = status(file, StatxFlags::BASIC_STATS)?;
    let disk = Disk::from_number(status.stx_rdev_major, status.stx_rdev_minor);
    Ok(BlockDevice {
        logical_sector_bytes: Some(logical.into()),
        physical_sector_bytes: Some(physical.into()),
        capacity_bytes: Some(capacity),
        serial: disk.and_then(|disk| serial(&disk.whole)),
    })
}

pub(crate) fn device_at(path: &Path) -> Result<BlockDevice, Error> {
    let status = rustix::fs::statx(
        rustix::fs::CWD,
        path,
        AtFlags::empty(),
        StatxFlags::BASIC_STATS,
    )
    .map_err(|errno| Error::call("statx", errno))?;
    if FileType::from_raw_mode(status.stx_mode.into()) != FileType::BlockDevice {
        return Err(Error::NotADevice);
    }
    facts(status.stx_rdev_major, status.stx_rdev_minor)
}

pub(crate) fn device_below(file: BorrowedFd<'_>) -> Result<BlockDevice, Error> {
    let status = status(file, StatxFlags::BASIC_STATS)?;
    // Major number 0 marks filesystems on no device or several.
    if status.stx_dev_major == 0 {
        return Err(Error::NoSingleDevice);
    }
    facts(status.stx_dev_major, status.stx_dev_minor)
}

pub(crate) fn loop_backing(device: BorrowedFd<'_>) -> Result<Option<LoopBacking>, Error> {
    // SAFETY: the kernel fills a `struct loop_info64` for this code.
    let info = match unsafe {
        get::<LOOP_GET_STATUS64, loop_info64>(device, "ioctl(LOOP_GET_STATUS64)")
    } {
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => return Ok(None),
        info => info?,
    };
    Ok(Some(LoopBacking {
        filesystem: info.lo_device,
        inode: info.lo_inode,
        device: Some(info.lo_rdevice).filter(|&number| number != 0),
        offset_bytes: info.lo_offset,
    }))
}

pub(crate) fn direct(file: BorrowedFd<'_>) -> Result<DirectIo, Error> {
    let status = status(file, StatxFlags::DIOALIGN)?;
    if !StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::DIOALIGN) {
        return Ok(DirectIo::Unknown);
    }
    // "If direct I/O is not supported on this file, the values are 0": statx(2).
    match DirectIo::by(
        Some(status.stx_dio_mem_align.into()),
        Some(status.stx_dio_offset_align.into()),
    ) {
        DirectIo::Unknown => Ok(DirectIo::Unsupported),
        supported => Ok(supported),
    }
}

fn status(file: BorrowedFd<'_>, wanted: StatxFlags) -> Result<Statx, Error> {
    rustix::fs::statx(file.as_fd(), "", AtFlags::EMPTY_PATH, wanted)
        .map_err(|errno| Error::call("statx", errno))
}

/// The folders of a disk or a partition in sysfs.
struct Disk {
    own: PathBuf,
    /// The folder of the whole disk, which is another one for a partition.
    whole: PathBuf,
}

impl Disk {
    fn from_number(major: u32, minor: u32) -> Option<Self> {
        let own = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
        let whole = if own.join("partition").exists() {
            own.parent()?.to_owned()
        } else {
            own.clone()
        };
        Some(Self { own, whole })
    }
}

fn facts(major: u32, minor: u32) -> Result<BlockDevice, Error> {
    /// Sysfs counts in this unit, whatever the sector size is.
    const UNIT_BYTES: u64 = 512;
    let Disk { own, whole } = Disk::from_number(major, minor).ok_or(Error::Unsupported {
        call: "/sys/dev/block",
        reason: "the kernel has no device of that number, or sysfs is not mounted",
    })?;
    Ok(BlockDevice {
        logical_sector_bytes: value(&whole.join("queue/logical_block_size")),
        physical_sector_bytes: value(&whole.join("queue/physical_block_size")),
        capacity_bytes: value::<u64>(&own.join("size"))
            .map(|units| units.saturating_mul(UNIT_BYTES)),
        serial: serial(&whole),
    })
}

/// NVMe disks and memory cards have the number next to the model, virtio disks next to the queue, SCSI disks
/// only in vital product data.
fn serial(disk: &Path) -> Option<String> {
    text(&disk.join("device/serial"))
        .or_else(|| text(&disk.join("serial")))
        .or_else(|| serial_on_page(&fs::read(disk.join("device/vpd_pg80")).ok()?))
}

/// The content of a file, unless it is blank.
fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// The number on page 0x80 of SCSI, behind a header of four bytes that ends with the length.
fn serial_on_page(page: &[u8]) -> Option<String> {
    let [_, 0x80, high, low, rest @ ..] = page else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
    Some(String::from_utf8_lossy(&rest[..length]).into_owned())
}

fn value<T: FromStr>(path: &Path) -> Option<T> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_disk_has_its_serial_number_found() {
        let places: [(&str, &[u8], &str); 3] = [
            ("device/serial", b"S5H9NS0N\n", "S5H9NS0N\n"),
            ("serial", b"vol-0123", "vol-0123"),
            (
                "device/vpd_pg80",
                b"\0\x80\0\x09  WD-WCC4beyond",
                "  WD-WCC4",
            ),
        ];
        for (place, content, expected) in places {
            let disk = tempfile::tempdir().unwrap();
            fs::create_dir(disk.path().join("device")).unwrap();
            fs::write(disk.path().join("serial"), " \n").unwrap();
            fs::write(disk.path().join(place), content).unwrap();
            assert_eq!(serial(disk.path()).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_truncated_or_different_page_is_no_error() {
        assert_eq!(serial_on_page(b""), None);
        assert_eq!(serial_on_page(b"\0\x83\0\x01x"), None);
        assert_eq!(serial_on_page(b"\0\x80\xff\xffx").as_deref(), Some("x"));
    }
}
