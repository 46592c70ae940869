//! The directories of a set of files, and the names in them.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::statfs::{EXT4_SUPER_MAGIC, fstatfs};
use rustix::fs::{IFlags, Mode, OFlags};
use writebench_model::{Directory, Naming, Range};

use crate::call::{CallError, Result, hand_over, retry};
use crate::region::{Region, to_usize};
use crate::{file, pattern, settle};

/// A directory, or a thread's files in it.
pub(crate) struct SetDirectory<'a> {
    /// The name in the set, or `None` for the set's own directory.
    pub name: Option<String>,
    pub files: Vec<SetFile<'a>>,
}

pub(crate) struct SetFile<'a> {
    pub name: CString,
    /// The name until the file is complete. It is empty if none is needed.
    pub temporary: CString,
    pub region: Region<'a>,
}

impl<'a> SetFile<'a> {
    fn new(thread: &Region<'a>, number: usize, range: Range) -> Self {
        let temporary = match thread.choices.naming {
            Naming::Direct => CString::default(),
            _ => CString::new(format!(".writebench{number:07}.tmp")).unwrap_or_default(),
        };
        Self {
            // The names are as long as mdtest's. Shorter names fill a block of ext4's directories with more entries,
            // which each new file searches.
            name: CString::new(format!("writebench{number:07}")).unwrap_or_default(),
            temporary,
            region: thread.file(range.offset - thread.range.offset, range.length),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }
}

impl SetDirectory<'_> {
    pub(crate) fn open(&self, set: BorrowedFd<'_>) -> Result<OwnedFd> {
        let name = self.name.as_deref().unwrap_or(".");
        open_directory(set, name)
    }

    pub(crate) fn make(&self, set: BorrowedFd<'_>) -> Result<()> {
        let Some(name) = &self.name else {
            return Ok(());
        };
        retry("mkdir", || rustix::fs::mkdirat(set, name, Mode::RWXU))
            .map_err(|error| error.with_path(name))
    }
}

pub(crate) fn open_directory(parent: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    retry("open", || {
        rustix::fs::openat(parent, name, flags, Mode::empty())
    })
    .map_err(|error| error.with_path(name))
}

/// The files of one thread, in their directories.
pub(crate) fn directories<'a>(region: &Region<'a>) -> Vec<SetDirectory<'a>> {
    let choices = region.choices;
    let begin = region.range.offset;
    let end = begin + region.range.length;
    let own: Vec<(usize, Range)> = region
        .given
        .file_size
        .files(region.given.size_bytes)
        .enumerate()
        .skip_while(|(_, file)| file.offset < begin)
        .take_while(|(_, file)| file.offset < end)
        .collect();
    let first = own.first().map_or(0, |(number, _)| *number);
    let files: Vec<SetFile<'a>> = own
        .into_iter()
        .map(|(number, file)| SetFile::new(region, number, file))
        .collect();
    let each = match choices.directory {
        Directory::One => return vec![SetDirectory { name: None, files }],
        Directory::PerThread => files.len(),
        Directory::FanOut => Directory::FAN_OUT_FILES,
    };
    let mut rest = files.into_iter();
    let count = rest.len().div_ceil(each.max(1));
    (0..count)
        .map(|index| SetDirectory {
            // The number of a directory's first file is unique among threads and ranks.
            name: Some(format!("d{:07}", first + index * each)),
            files: rest.by_ref().take(each).collect(),
        })
        .collect()
}

/// Makes the directory of a set in an open directory of the engine's own.
pub(crate) fn make_set(parent: BorrowedFd<'_>, name: &str) -> Result<()> {
    if lacks_journal(parent) {
        // Without a journal, ext4 searches past every inode removed in the last minutes. The flag spreads
        // directories over the disk, away from those of earlier samples. Other filesystems refuse it.
        let flags = rustix::fs::ioctl_getflags(parent).map(|flags| flags | IFlags::TOPDIR);
        let _ = flags.and_then(|flags| rustix::fs::ioctl_setflags(parent, flags));
    }
    retry("mkdir", || rustix::fs::mkdirat(parent, name, Mode::RWXU))
        .map_err(|error| error.with_path(name))
}

/// Whether this is ext4 without a journal, which has no entry in /proc/fs/jbd2.
fn lacks_journal(directory: BorrowedFd<'_>) -> bool {
    let is_ext4 =
        fstatfs(directory).is_ok_and(|status| status.filesystem_type() == EXT4_SUPER_MAGIC);
    if !is_ext4 {
        return false;
    }
    let Some(device) = device_name(directory) else {
        return false;
    };
    let Ok(journals) = std::fs::read_dir("/proc/fs/jbd2") else {
        return false;
    };
    let prefix = format!("{device}-");
    !journals
        .flatten()
        .any(|journal| journal.file_name().to_string_lossy().starts_with(&prefix))
}

/// The kernel's name of the device that holds a directory.
fn device_name(directory: BorrowedFd<'_>) -> Option<String> {
    let number = rustix::fs::fstat(directory).ok()?.st_dev;
    let major = rustix::fs::major(number);
    let minor = rustix::fs::minor(number);
    let link = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    Some(link.file_name()?.to_str()?.to_owned())
}

/// Drops the old content of all files from the page cache.
pub(crate) fn drop_pages(set: BorrowedFd<'_>, directories: &[SetDirectory<'_>]) -> Result<()> {
    for directory in directories {
        let opened = directory.open(set)?;
        for file in &directory.files {
            drop_pages_of(&opened, &file.name).map_err(|error| error.with_path(&file.name()))?;
        }
    }
    Ok(())
}

fn drop_pages_of(directory: &OwnedFd, name: &CStr) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = retry("open", || {
        rustix::fs::openat(directory, name, flags, Mode::empty())
    })?;
    settle::drop_pages(file.as_fd())?;
    file::close(file)
}

/// Writes other content of the same sizes. The files are closed but not synced: the caller waits for write-back.
pub(crate) fn fill_with_old_content(
    set: BorrowedFd<'_>,
    directories: &[SetDirectory<'_>],
    seed: u64,
) -> Result<()> {
    let mut block = vec![0; 1 << 20];
    for directory in directories {
        directory.make(set)?;
        let opened = directory.open(set)?;
        for file in &directory.files {
            write_old_content(&opened, file, seed, &mut block)
                .map_err(|error| error.with_path(&file.name()))?;
        }
    }
    Ok(())
}

fn write_old_content(
    directory: &OwnedFd,
    SetFile { name, region, .. }: &SetFile<'_>,
    seed: u64,
    block: &mut [u8],
) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = retry("open", || {
        rustix::fs::openat(directory, name, flags, file::MODE)
    })?;
    for at in (0..region.file_length).step_by(block.len()) {
        let length = to_usize(region.file_length - at).min(block.len());
        let piece = &mut block[..length];
        pattern::fill(!seed, region.range.offset + at, piece);
        hand_over("write", piece, at, |bytes, _| {
            rustix::io::write(&file, bytes)
        })?;
    }
    file::close(file)
}

/// The number of names in a directory, without `.` and `..`.
pub(crate) fn entries(directory: impl AsFd) -> Result<u64> {
    count_entries(directory).map_err(|errno| CallError::new("readdir", errno))
}

fn count_entries(directory: impl AsFd) -> rustix::io::Result<u64> {
    let mut count = 0;
    for entry in rustix::fs::Dir::read_from(directory)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            count += 1;
        }
    }
    Ok(count)
}
