//! The directories of a set of files, and the names in them.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::statfs::{EXT4_SUPER_MAGIC, fstatfs};
use rustix::fs::{IFlags, Mode, OFlags};
use rustix::io::Errno;
use writebench_model::{Directory, Naming};

use crate::call::{CallError, Result, hand_over, retry};
use crate::region::Region;
use crate::{file, pattern, settle};

/// A directory, or a thread's files in it.
pub(crate) struct SetDirectory<'a> {
    /// None: the set's own directory.
    pub name: Option<String>,
    pub files: Vec<SetFile<'a>>,
}

pub(crate) struct SetFile<'a> {
    pub name: CString,
    /// Until the file is complete. Empty if that is not needed.
    pub temporary: CString,
    pub region: Region<'a>,
}

impl SetFile<'_> {
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

/// The files of one thread.
pub(crate) fn directories<'a>(region: &Region<'a>) -> Vec<SetDirectory<'a>> {
    let axes = region.axes;
    let (begin, end) = (
        region.range.offset,
        region.range.offset + region.range.length,
    );
    let all = axes.file_size.files(axes.size_bytes).enumerate();
    let own = all
        .skip_while(|(_, file)| file.offset < begin)
        .take_while(|(_, file)| file.offset < end);
    let mut first = None;
    let files: Vec<SetFile<'a>> = own
        .map(|(number, file)| {
            first.get_or_insert(number);
            // As long as mdtest's names. Shorter names fill a block of ext4's directories with more entries, which
            // each new file searches.
            let name = CString::new(format!("writebench{number:07}")).unwrap_or_default();
            let temporary = match axes.naming {
                Naming::Direct => CString::default(),
                _ => CString::new(format!(".writebench{number:07}.tmp")).unwrap_or_default(),
            };
            SetFile {
                name,
                temporary,
                region: region.file(file.offset - begin, file.length),
            }
        })
        .collect();
    let first = first.unwrap_or(0);
    let each = match axes.directory {
        Directory::One => return vec![SetDirectory { name: None, files }],
        Directory::PerThread => files.len(),
        Directory::FanOut => Directory::FAN_OUT_FILES,
    };
    let mut rest = files.into_iter();
    let count = (rest.len()).div_ceil(each.max(1));
    (0..count)
        .map(|index| {
            // The number of its first file is unique among threads and ranks.
            let name = Some(format!("d{:07}", first + index * each));
            SetDirectory {
                name,
                files: rest.by_ref().take(each).collect(),
            }
        })
        .collect()
}

/// In an open directory of the engine's own.
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
    let device = rustix::fs::fstat(directory)
        .ok()
        .filter(|_| is_ext4)
        .and_then(|stat| {
            let (major, minor) = (
                rustix::fs::major(stat.st_dev),
                rustix::fs::minor(stat.st_dev),
            );
            let link = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
            Some(format!("{}-", link.file_name()?.to_str()?))
        });
    let (Some(device), Ok(journals)) = (device, std::fs::read_dir("/proc/fs/jbd2")) else {
        return false;
    };
    !journals
        .flatten()
        .any(|journal| journal.file_name().to_string_lossy().starts_with(&device))
}

/// Of all files, with their old content.
pub(crate) fn drop_pages(set: BorrowedFd<'_>, directories: &[SetDirectory<'_>]) -> Result<()> {
    for directory in directories {
        let opened = directory.open(set)?;
        for SetFile { name, .. } in &directory.files {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let drop = || {
                let file = retry("open", || {
                    rustix::fs::openat(&opened, name, flags, Mode::empty())
                })?;
                settle::drop_pages(file.as_fd())?;
                file::close(file)
            };
            drop().map_err(|error| error.with_path(&name.to_string_lossy()))?;
        }
    }
    Ok(())
}

/// Other content of the same sizes, closed but not synced: the caller waits for write-back.
pub(crate) fn fill_with_old_content(
    set: BorrowedFd<'_>,
    directories: &[SetDirectory<'_>],
    seed: u64,
) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut block = vec![0; 1 << 20];
    for directory in directories {
        directory.make(set)?;
        let opened = directory.open(set)?;
        for SetFile { name, region, .. } in &directory.files {
            let mut fill = || {
                let file = retry("open", || {
                    rustix::fs::openat(&opened, name, flags, file::MODE)
                })?;
                for at in (0..region.file_length).step_by(block.len()) {
                    let bytes = block
                        .len()
                        .min(usize::try_from(region.file_length - at).unwrap_or(usize::MAX));
                    let piece = &mut block[..bytes];
                    pattern::fill(!seed, region.range.offset + at, piece);
                    hand_over("write", piece, at, |bytes, _| {
                        rustix::io::write(&file, bytes)
                    })?;
                }
                file::close(file)
            };
            fill().map_err(|error| error.with_path(&name.to_string_lossy()))?;
        }
    }
    Ok(())
}

/// The names in a directory, without `.` and `..`.
pub(crate) fn entries(directory: impl AsFd) -> Result<u64> {
    let count = || -> rustix::io::Result<u64> {
        let names = rustix::fs::Dir::read_from(directory)?;
        names
            .map(|entry| {
                Ok(u64::from(!matches!(
                    entry?.file_name().to_bytes(),
                    b"." | b".."
                )))
            })
            .sum()
    };
    count().map_err(|errno: Errno| CallError::new("readdir", errno))
}
