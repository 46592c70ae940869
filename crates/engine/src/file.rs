//! Safe opening and removal: only the engine's own files, by name in an open directory and never through a
//! link, or the one given block device.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use direct_io::{OpenOptions, WriteThrough};
use rustix::fs::{AtFlags, IFlags, Mode};
use rustix::io::{Errno, retry_on_intr};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Cache, Case, Checksums, Cursor, Files, Opening, SyncCall};

use crate::call::{Call, CallError, Result, hand_over, retry};
use crate::region::to_usize;
use crate::{pattern, sync};

/// Where a sample is written to.
#[derive(Clone, Copy)]
pub enum Target<'t> {
    /// An open directory of the engine's own.
    Directory(BorrowedFd<'t>),
    /// A block device that the caller holds exclusively. It is overwritten in place.
    Device(BorrowedFd<'t>),
}

pub(crate) const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The name of the engine's own source. Errors also call the user's source by it.
pub(crate) const COPIED: &str = "copied";

/// EINVAL from a filesystem without direct I/O: open(2).
pub(crate) const OPEN_DIRECT: Call = Call {
    name: "open with O_DIRECT",
    lacks: &[Errno::INVAL],
    advice: &[],
};

/// The names of a rank's files: one for all, one per thread, or the rank's own.
pub(crate) fn names(request: &SampleRequest, rank: u32) -> Vec<String> {
    let stem = &request.file_stem;
    let case = &request.case;
    if case.method().writes_set() {
        // Each sample has a directory of its own, because filesystems place files by the directory.
        return vec![format!("{stem}-{:016x}", pattern::sample_seed(request))];
    }
    let threads = case.choices().threads;
    let numbers = match case.choices().files {
        Files::PerThread if case.thread_count() > 1 => rank * threads..(rank + 1) * threads,
        Files::PerRank => rank..rank + 1,
        Files::Shared | Files::PerThread => return vec![stem.clone()],
    };
    numbers.map(|number| format!("{stem}-{number}")).collect()
}

/// A new file is created exclusively, a shared one by the first of several ranks.
pub(crate) fn open(
    target: Target<'_>,
    name: &str,
    case: &Case,
    opening: Opening,
) -> Result<OwnedFd> {
    let options = access(case);
    let options = match opening {
        Opening::Emptied => options.truncate(true),
        Opening::Kept => options,
        Opening::New if case.choices().ranks > 1 && case.choices().files == Files::Shared => {
            options.create(true)
        }
        Opening::New => options.create_new(true),
    };
    let file = open_with(target, name, case.choices().cache, options)?;
    if opening == Opening::New || matches!(target, Target::Device(_)) {
        set_checksums(&file, case.given().checksums).map_err(|error| error.with_path(name))?;
    }
    Ok(file)
}

/// btrfs silently ignores the flag on files with data.
fn set_checksums(file: &OwnedFd, checksums: Checksums) -> Result<()> {
    if checksums == Checksums::Default {
        return Ok(());
    }
    let why = match set_nocow(file) {
        Ok(flags) if flags.contains(IFlags::NOCOW) => return Ok(()),
        Ok(_) => "FS_NOCOW_FL was accepted but not set".to_owned(),
        Err(errno @ (Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL)) => errno.to_string(),
        Err(errno) => return Err(CallError::new("ioctl(FS_IOC_SETFLAGS)", errno)),
    };
    let message = format!("{why}: only btrfs has files without checksums");
    Err(CallError::unsupported("checksums=no", message))
}

/// Returns the flags that the file has afterwards.
fn set_nocow(file: &OwnedFd) -> rustix::io::Result<IFlags> {
    let flags = retry_on_intr(|| rustix::fs::ioctl_getflags(file))?;
    retry_on_intr(|| rustix::fs::ioctl_setflags(file, flags | IFlags::NOCOW))?;
    retry_on_intr(|| rustix::fs::ioctl_getflags(file))
}

/// Makes a new file with data that is synced.
pub(crate) fn create_filled(
    directory: BorrowedFd<'_>,
    name: &str,
    length: u64,
    seed: u64,
    checksums: Checksums,
) -> Result<OwnedFd> {
    let options = OpenOptions::new().write(true).create_new(true);
    let file = open_with(Target::Directory(directory), name, Cache::Buffered, options)?;
    set_checksums(&file, checksums)
        .and_then(|()| fill(&file, length, seed))
        .map_err(|error| error.with_path(name))?;
    Ok(file)
}

fn fill(file: &OwnedFd, length: u64, seed: u64) -> Result<()> {
    let mut block = vec![0; 1 << 20];
    for at in (0..length).step_by(block.len()) {
        let piece_length = to_usize(length - at).min(block.len());
        let piece = &mut block[..piece_length];
        pattern::fill(seed, at, piece);
        hand_over("write", piece, at, |bytes, _| {
            rustix::io::write(file, bytes)
        })?;
    }
    sync::sync(file.as_fd(), SyncCall::Fsync)
}

pub(crate) fn open_to_read(target: Target<'_>, name: &str) -> Result<OwnedFd> {
    open_with(target, name, Cache::Buffered, OpenOptions::new().read(true))
}

/// Opens the source of a copy again, with a position and advice of its own.
pub(crate) fn reopen_to_read(file: BorrowedFd<'_>, cache: Cache) -> Result<OwnedFd> {
    let options = OpenOptions::new().read(true).direct(cache == Cache::Direct);
    open_with(Target::Device(file), COPIED, cache, options)
}

pub(crate) fn read_exact(
    purpose: &'static str,
    file: BorrowedFd<'_>,
    mut bytes: &mut [u8],
    mut offset: u64,
) -> Result<()> {
    while !bytes.is_empty() {
        let read = retry("pread", || rustix::io::pread(file, &mut *bytes, offset))
            .map_err(|error| error.at(offset))?;
        if read == 0 {
            return Err(CallError::other(purpose, "the file ends too early").at(offset));
        }
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Ok(())
}

/// Removes a file or a set. A missing one is not an error.
pub(crate) fn remove(target: Target<'_>, name: &str) -> Result<()> {
    let Target::Directory(directory) = target else {
        return Ok(());
    };
    let removed = retry("unlink", || {
        match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(true),
            Err(Errno::ISDIR) => Ok(false),
            other => other.map(|()| true),
        }
    });
    match removed.map_err(|error| error.with_path(name))? {
        true => Ok(()),
        false => remove_directory(directory, name),
    }
}

/// Removes a directory and everything in it, never through a link.
fn remove_directory(parent: BorrowedFd<'_>, name: &str) -> Result<()> {
    let path = format!("/proc/self/fd/{}/{name}", parent.as_raw_fd());
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CallError::from_io("rmdir", &error).with_path(name))
        }
        _ => Ok(()),
    }
}

/// Closes a file and reports late errors: see close(2) on NFS and quotas. After EINTR Linux has closed the descriptor.
pub(crate) fn close(file: OwnedFd) -> Result<()> {
    match nix::unistd::close(file) {
        Ok(()) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(errno) => Err(CallError::new(
            "close",
            Errno::from_raw_os_error(errno as i32),
        )),
    }
}

/// How the case opens its files. A shared writable mapping needs a descriptor that can read: mmap(2), EACCES.
fn access(case: &Case) -> OpenOptions {
    let write_through = match case.choices().sync.call {
        SyncCall::ODsync => WriteThrough::DataSync,
        SyncCall::OSync => WriteThrough::Sync,
        _ => WriteThrough::None,
    };
    OpenOptions::new()
        .read(case.method().card().cursor == Cursor::Mapping)
        .write(true)
        .direct(case.choices().cache == Cache::Direct)
        .write_through(write_through)
}

pub(crate) fn open_with(
    target: Target<'_>,
    name: &str,
    cache: Cache,
    options: OpenOptions,
) -> Result<OwnedFd> {
    let file = match target {
        Target::Directory(directory) => {
            options.no_follow(true).mode(0o600).open_at(directory, name)
        }
        Target::Device(device) => options.open(format!("/proc/self/fd/{}", device.as_raw_fd())),
    };
    let call = if cache == Cache::Direct {
        OPEN_DIRECT
    } else {
        "open".into()
    };
    file.map(OwnedFd::from)
        .map_err(|error| CallError::from_direct_io(call, &error).with_path(name))
}
