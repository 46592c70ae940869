//! The operations, each a system call on a file below.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fuser::{FileAttr, FileHandle, INodeNo, InitFlags, KernelConfig, TimeOrNow};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid};
use rustix::io::Errno;

use super::attributes;
use super::handles::{Entry, Handles, OpenDirectory, OpenFile};
use super::inodes::{Inodes, path, reopen};

/// The most that one request carries: as many pages as the kernel takes without an administrator's word
/// (`fs.fuse.max_pages_limit`).
pub(super) const REQUEST_BYTES: u32 = 1 << 20;

/// How long the kernel may answer from memory, as libfuse has it. Nobody but this process changes what is below.
pub(super) const VALID: Duration = Duration::from_secs(1);

/// What is done to files below.
#[derive(Debug)]
pub(super) struct Server {
    inodes: Mutex<Inodes>,
    pub(super) files: Handles<OpenFile>,
    pub(super) directories: Handles<OpenDirectory>,
    writeback_cache: bool,
}

/// What is to become of a file's attributes.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) mode: Option<u32>,
    pub(super) owner: Option<u32>,
    pub(super) group: Option<u32>,
    pub(super) size: Option<u64>,
    pub(super) accessed: Option<TimeOrNow>,
    pub(super) modified: Option<TimeOrNow>,
    pub(super) handle: Option<FileHandle>,
}

impl Server {
    pub(super) fn new(root: OwnedFd, writeback_cache: bool) -> Result<Self, Errno> {
        Ok(Self {
            inodes: Mutex::new(Inodes::new(root)?),
            files: Handles::new(),
            directories: Handles::new(),
            writeback_cache,
        })
    }

    /// Tells the kernel what it may do.
    pub(super) fn agree(&self, config: &mut KernelConfig) -> io::Result<()> {
        // It takes what it can of these.
        let _ = config.set_max_write(REQUEST_BYTES);
        for wish in [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_PARALLEL_DIROPS] {
            let _ = config.add_capabilities(wish);
        }
        if self.writeback_cache && config.add_capabilities(InitFlags::FUSE_WRITEBACK_CACHE).is_err() {
            return Err(Errno::OPNOTSUPP.into());
        }
        Ok(())
    }

    fn inodes(&self) -> MutexGuard<'_, Inodes> {
        self.inodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn below(&self, number: INodeNo) -> Result<Arc<OwnedFd>, Errno> {
        self.inodes().get(number)
    }

    /// The kernel's number goes where the file's own was: they are one to it.
    pub(super) fn lookup(&self, parent: INodeNo, name: &OsStr) -> Result<FileAttr, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.below(parent)?, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        let ino = self.inodes().remember(file, &stat);
        Ok(FileAttr { ino, ..attributes::of(&stat) })
    }

    pub(super) fn forget(&self, number: INodeNo, lookups: u64) {
        self.inodes().forget(number, lookups);
    }

    pub(super) fn attributes(&self, number: INodeNo) -> Result<FileAttr, Errno> {
        let stat = rustix::fs::fstat(self.below(number)?)?;
        Ok(FileAttr { ino: number, ..attributes::of(&stat) })
    }

    pub(super) fn change(&self, number: INodeNo, change: &Change) -> Result<FileAttr, Errno> {
        let file = self.below(number)?;
        if let Some(mode) = change.mode {
            rustix::fs::chmod(path(&file), Mode::from_raw_mode(mode))?;
        }
        if change.owner.is_some() || change.group.is_some() {
            let (owner, group) = (change.owner.map(Uid::from_raw), change.group.map(Gid::from_raw));
            rustix::fs::chownat(&*file, "", owner, group, AtFlags::EMPTY_PATH)?;
        }
        if let Some(size) = change.size {
            match change.handle {
                Some(handle) => rustix::fs::ftruncate(&self.files.get(handle)?.file, size)?,
                None => rustix::fs::ftruncate(reopen(&file, OFlags::WRONLY)?, size)?,
            }
        }
        if change.accessed.is_some() || change.modified.is_some() {
            let times = Timestamps {
                last_access: timespec(change.accessed),
                last_modification: timespec(change.modified),
            };
            rustix::fs::utimensat(rustix::fs::CWD, path(&file), &times, AtFlags::empty())?;
        }
        self.attributes(number)
    }

    pub(super) fn open(&self, number: INodeNo, flags: i32) -> Result<FileHandle, Errno> {
        let flags = self.flags_below(flags);
        let file = reopen(&*self.below(number)?, flags)?;
        Ok(self.opened(file, flags))
    }

    pub(super) fn create(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        flags: i32,
    ) -> Result<(FileAttr, FileHandle), Errno> {
        let given = OFlags::from_bits_retain(flags.cast_unsigned());
        let below = self.flags_below(flags) | OFlags::CREATE | (given & OFlags::EXCL);
        let directory = self.below(parent)?;
        let flags = below | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&*directory, name, flags, Mode::from_raw_mode(mode))?;
        let attributes = self.lookup(parent, name)?;
        Ok((attributes, self.opened(file, below)))
    }

    /// Only how the file is used. The kernel follows the other flags itself: it finds the end for `O_APPEND`, and
    /// asks for an fsync after each write for `O_SYNC`.
    fn flags_below(&self, flags: i32) -> OFlags {
        let flags = OFlags::from_bits_retain(flags.cast_unsigned()) & (OFlags::ACCMODE | OFlags::DIRECT);
        if self.writeback_cache && flags & OFlags::ACCMODE == OFlags::WRONLY {
            // Part of a page may have to be read before it is written back.
            return (flags - OFlags::ACCMODE) | OFlags::RDWR;
        }
        flags
    }

    fn opened(&self, file: OwnedFd, flags: OFlags) -> FileHandle {
        let direct = flags.contains(OFlags::DIRECT);
        self.files.add(OpenFile { file: File::from(file), direct })
    }

    pub(super) fn open_directory(&self, number: INodeNo) -> Result<FileHandle, Errno> {
        let file = reopen(&*self.below(number)?, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(self.directories.add(OpenDirectory { file: File::from(file), entries: Mutex::default() }))
    }

    /// What is in a directory, from the start if the offset is 0.
    pub(super) fn entries(&self, handle: FileHandle, offset: u64) -> Result<Vec<Entry>, Errno> {
        let directory = self.directories.get(handle)?;
        let mut entries = directory.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if offset == 0 {
            *entries = rustix::fs::Dir::read_from(&directory.file)?
                .map(|entry| {
                    let entry = entry?;
                    Ok(Entry {
                        number: entry.ino(),
                        kind: attributes::from_below(entry.file_type()),
                        name: OsStr::from_bytes(entry.file_name().to_bytes()).to_owned(),
                    })
                })
                .collect::<Result<_, Errno>>()?;
        }
        Ok(entries.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)).cloned().collect())
    }

    pub(super) fn sync(file: &File, only_data: bool) -> Result<(), Errno> {
        if only_data { rustix::fs::fdatasync(file) } else { rustix::fs::fsync(file) }
    }

    /// A close, with its error, of a file that stays open.
    pub(super) fn flush(&self, handle: FileHandle) -> Result<(), fuser::Errno> {
        let copy = self.files.get(handle).map_err(errno)?.file.try_clone()?;
        nix::unistd::close(copy).map_err(|error| fuser::Errno::from_i32(error as i32))
    }
}

/// The kernel is told what the file below was.
pub(super) fn errno(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.raw_os_error())
}

fn timespec(time: Option<TimeOrNow>) -> Timespec {
    match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(TimeOrNow::Now) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        Some(TimeOrNow::SpecificTime(time)) => {
            let since = time.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default();
            Timespec {
                tv_sec: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: since.subsec_nanos().into(),
            }
        }
    }
}
