use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, RawMode};
use rustix::io::{Errno, retry_on_intr};
use rustix::ioctl::{Getter, Opcode, ioctl};

use super::Vectored;
#[cfg(not(target_os = "linux"))]
use crate::BlockDevice;
use crate::{Error, OpenOptions, WriteThrough};

pub(crate) fn borrow<F: AsFd>(file: &F) -> BorrowedFd<'_> {
    file.as_fd()
}

fn flags(options: &OpenOptions) -> OFlags {
    let access = match (options.read, options.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    // rustix takes `O_DSYNC` for `O_SYNC` on Linux, where they differ since 2.6.33: open(2).
    #[cfg(target_os = "linux")]
    const DSYNC: OFlags = OFlags::from_bits_retain(libc::O_DSYNC.cast_unsigned());
    #[cfg(not(target_os = "linux"))]
    const DSYNC: OFlags = OFlags::DSYNC;
    let mut flags = access | OFlags::CLOEXEC;
    flags.set(OFlags::CREATE, options.create || options.create_new);
    flags.set(OFlags::EXCL, options.create_new);
    flags.set(OFlags::TRUNC, options.truncate);
    flags.set(OFlags::NOFOLLOW, options.no_follow);
    match options.write_through {
        WriteThrough::None => flags,
        WriteThrough::DataSync => flags | DSYNC,
        WriteThrough::Sync => flags | OFlags::SYNC,
    }
}

/// Opens a file with the flags of all Unix systems and those of this `system`. The default mode is the standard
/// library's.
pub(crate) fn open_with(
    options: &OpenOptions,
    directory: BorrowedFd<'_>,
    path: &Path,
    system: OFlags,
) -> Result<File, Error> {
    // `mode_t` is smaller on FreeBSD and macOS, and open(2) ignores bits beyond the permissions.
    let mode = RawMode::try_from(options.mode.unwrap_or(0o666) & 0o7777)
        .map_or(Mode::empty(), Mode::from_raw_mode);
    let flags = flags(options) | system;
    retry_on_intr(|| rustix::fs::openat(directory, path, flags, mode))
        .map(File::from)
        .map_err(|errno| Error::call("openat", errno))
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn open_at(
    options: &OpenOptions,
    directory: BorrowedFd<'_>,
    path: &Path,
) -> Result<File, Error> {
    let mut flags = OFlags::empty();
    flags.set(OFlags::DIRECT, options.direct);
    flags.set(OFlags::EXCL, options.exclusive);
    let file = open_with(options, directory, path, flags)?;
    // `O_EXCL` without `O_CREAT` has a meaning for devices only, and not on every system: open(2).
    if options.exclusive && !is_device(file.as_fd())? {
        return Err(Error::Unsupported {
            call: "open with O_EXCL",
            reason: "without a new file it is for devices. Lock a file instead",
        });
    }
    Ok(file)
}

pub(crate) fn open(options: &OpenOptions, path: &Path) -> Result<File, Error> {
    super::open_at(options, rustix::fs::CWD, path)
}

pub(crate) const WRITE_AT: &str = "pwrite";

pub(crate) fn write_at(file: BorrowedFd<'_>, bytes: &[u8], offset: u64) -> io::Result<usize> {
    Ok(retry_on_intr(|| rustix::io::pwrite(file, bytes, offset))?)
}

pub(crate) const READ_AT: &str = "pread";

pub(crate) fn read_at(file: BorrowedFd<'_>, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    Ok(retry_on_intr(|| {
        rustix::io::pread(file, &mut *bytes, offset)
    })?)
}

pub(crate) const WRITE_VECTORED_AT: &str = "pwritev";

pub(crate) fn write_vectored_at(
    file: BorrowedFd<'_>,
    slices: &[IoSlice<'_>],
    offset: u64,
) -> Vectored {
    Ok(retry_on_intr(|| rustix::io::pwritev(file, slices, offset)).map_err(io::Error::from))
}

pub(crate) const READ_VECTORED_AT: &str = "preadv";

pub(crate) fn read_vectored_at(
    file: BorrowedFd<'_>,
    slices: &mut [IoSliceMut<'_>],
    offset: u64,
) -> Vectored {
    Ok(retry_on_intr(|| rustix::io::preadv(file, slices, offset)).map_err(io::Error::from))
}

pub(crate) fn length_bytes(file: BorrowedFd<'_>) -> Result<Option<u64>, Error> {
    let stat = rustix::fs::fstat(file).map_err(|errno| Error::call("fstat", errno))?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(u64::try_from(stat.st_size).ok().filter(|_| is_file))
}

pub(crate) const SET_LENGTH: &str = "ftruncate";

pub(crate) fn set_length(file: BorrowedFd<'_>, length_bytes: u64) -> Result<(), Error> {
    retry_on_intr(|| rustix::fs::ftruncate(file, length_bytes))
        .map_err(|errno| Error::call(SET_LENGTH, errno))
}

/// Whether transfers may bypass the page cache. macOS does not report it, and FreeBSD's disks always do.
pub(crate) fn may_be_direct(file: BorrowedFd<'_>) -> bool {
    let always = cfg!(target_os = "freebsd") && is_device(file).unwrap_or(false);
    always || rustix::fs::fcntl_getfl(file).is_ok_and(may_have_direct)
}

#[cfg(target_os = "macos")]
fn may_have_direct(_: OFlags) -> bool {
    true
}

#[cfg(not(target_os = "macos"))]
fn may_have_direct(flags: OFlags) -> bool {
    flags.contains(OFlags::DIRECT)
}

pub(crate) fn is_device(file: BorrowedFd<'_>) -> Result<bool, Error> {
    let stat = rustix::fs::fstat(file).map_err(|errno| Error::call("fstat", errno))?;
    Ok(matches!(
        FileType::from_raw_mode(stat.st_mode),
        FileType::BlockDevice | FileType::CharacterDevice
    ))
}

pub(crate) fn require_device(file: BorrowedFd<'_>) -> Result<(), Error> {
    if is_device(file)? {
        Ok(())
    } else {
        Err(Error::NotADevice)
    }
}

/// The answer to a reading ioctl.
///
/// # Safety
/// The system fills a `T` for this code.
pub(crate) unsafe fn get<const CODE: Opcode, T>(
    file: BorrowedFd<'_>,
    call: &'static str,
) -> Result<T, Error> {
    // SAFETY: as the caller promises.
    let getter = unsafe { Getter::<CODE, T>::new() };
    // SAFETY: the call only writes to `getter`'s own value.
    unsafe { ioctl(file, getter) }.map_err(|errno| Error::call(call, errno))
}

pub(crate) fn flock(file: BorrowedFd<'_>, locks: bool) -> Result<(), Error> {
    let operation = if locks {
        FlockOperation::NonBlockingLockExclusive
    } else {
        FlockOperation::Unlock
    };
    retry_on_intr(|| rustix::fs::flock(file, operation)).map_err(|errno| match errno {
        Errno::WOULDBLOCK => Error::Locked,
        _ => Error::call("flock", errno),
    })
}

#[inline]
pub(crate) fn fsync(file: BorrowedFd<'_>) -> Result<(), Error> {
    rustix::fs::fsync(file).map_err(|errno| Error::call("fsync", errno))
}

#[cfg(not(target_os = "macos"))]
#[inline]
pub(crate) fn fdatasync(file: BorrowedFd<'_>) -> Result<(), Error> {
    rustix::fs::fdatasync(file).map_err(|errno| Error::call("fdatasync", errno))
}

/// Mode 0 of fallocate(2), like posix_fallocate(2), never shrinks the file.
#[cfg(not(target_os = "macos"))]
pub(crate) fn preallocate(file: BorrowedFd<'_>, length_bytes: u64) -> Result<(), Error> {
    const CALL: &str = if cfg!(target_os = "linux") {
        "fallocate"
    } else {
        "posix_fallocate"
    };
    retry_on_intr(|| {
        rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, length_bytes)
    })
    .map_err(|errno| Error::call(CALL, errno))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn device_at(path: &Path) -> Result<BlockDevice, Error> {
    super::device(open(&OpenOptions::new().read(true), path)?.as_fd())
}

/// The device of `file`'s filesystem, whose source is opened for reading.
#[cfg(not(target_os = "linux"))]
pub(crate) fn device_below(file: BorrowedFd<'_>) -> Result<BlockDevice, Error> {
    use std::os::unix::ffi::OsStringExt;
    let status = rustix::fs::fstatfs(file).map_err(|errno| Error::call("fstatfs", errno))?;
    let name: Vec<u8> = status
        .f_mntfromname
        .iter()
        .map(|byte| byte.to_ne_bytes()[0])
        .take_while(|&byte| byte != 0)
        .collect();
    let path = std::path::PathBuf::from(std::ffi::OsString::from_vec(name));
    if !path.starts_with("/dev") {
        return Err(Error::NoSingleDevice);
    }
    let opened =
        open(&OpenOptions::new().read(true), &path).map_err(|error| error.with_path(&path))?;
    super::device(opened.as_fd())
}
