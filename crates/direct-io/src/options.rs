//! Options for opening past the page cache, written through, and exclusively.

use crate::Error;

/// The options for opening a file or device: those of [`std::fs::OpenOptions`], and those that direct I/O
/// needs.
///
/// Files that are created have mode 0666 less the umask on Unix, unless `mode` says otherwise. Descriptors
/// are closed on exec, and handles are not inherited.
///
/// ```no_run
/// use direct_io::{AlignedBuffer, Alignment, DirectIo, OpenOptions, WriteThrough, write_all_at};
///
/// let file = OpenOptions::new()
///     .write(true)
///     .create(true)
///     .direct(true)
///     .write_through(WriteThrough::DataSync)
///     .open("journal")?;
/// let alignment = DirectIo::for_file(&file)?.alignment().unwrap_or(Alignment::new(4096, 4096));
/// let block = AlignedBuffer::for_alignment(4096, alignment)?;
/// write_all_at(&file, &block, 0)?;
/// # Ok::<(), direct_io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct OpenOptions {
    #[cfg(unix)]
    pub(crate) mode: Option<u32>,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) create_new: bool,
    pub(crate) truncate: bool,
    pub(crate) no_follow: bool,
    pub(crate) direct: bool,
    pub(crate) exclusive: bool,
    pub(crate) write_through: WriteThrough,
}

/// How much of a write is durable when it returns.
///
/// Durable means that the system asked the device to keep the data. Some devices lie, and some filesystems do
/// not ask when they bypass the page cache, so a flush ([`fdatasync`](crate::fdatasync),
/// [`fsync`](crate::fsync)) at a barrier is still good advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteThrough {
    /// Data is durable only after a flush.
    #[default]
    None,
    /// The data is durable, with the metadata needed to read it back, such as the length. `O_DSYNC` on Unix,
    /// `FILE_FLAG_WRITE_THROUGH` on Windows.
    DataSync,
    /// The data and all metadata are durable, such as the modification time. `O_SYNC` on Unix,
    /// `FILE_FLAG_WRITE_THROUGH` on Windows, which does not distinguish the two.
    Sync,
}

impl OpenOptions {
    /// No options: neither reading nor writing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens for reading.
    pub fn read(mut self, read: bool) -> Self {
        self.read = read;
        self
    }

    /// Opens for writing.
    pub fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// Creates the file if it does not exist. Needs `write`.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Creates the file and fails if the name exists, even as a dangling link. Needs `write`.
    pub fn create_new(mut self, create_new: bool) -> Self {
        self.create_new = create_new;
        self
    }

    /// Truncates the file to length 0. Needs `write`.
    pub fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Fails if the last part of the path is a symbolic link. `O_NOFOLLOW` on Unix (`ELOOP`; `EMLINK` on
    /// FreeBSD); on Windows the link itself is opened (`FILE_FLAG_OPEN_REPARSE_POINT`) and then refused.
    pub fn no_follow(mut self, no_follow: bool) -> Self {
        self.no_follow = no_follow;
        self
    }

    /// The permissions of a new file, less the umask: `0o600` for its owner alone. Not on Windows.
    #[cfg(unix)]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Bypasses the page cache.
    ///
    /// | system | by | where it cannot be done |
    /// |---|---|---|
    /// | Linux | `O_DIRECT` | open fails with `EINVAL`. Some filesystems accept it and use the page cache all the same (tmpfs; btrfs with checksums): [`DirectIo`](crate::DirectIo) tells what is known. |
    /// | FreeBSD | `O_DIRECT` | accepted and ignored |
    /// | macOS | `fcntl(F_NOCACHE)` after opening | transfers that are not aligned to pages go through the cache; pages that are cached already stay |
    /// | Windows | `FILE_FLAG_NO_BUFFERING` | open fails |
    pub fn direct(mut self, direct: bool) -> Self {
        self.direct = direct;
        self
    }

    /// Sets how much of a write is durable when it returns.
    pub fn write_through(mut self, write_through: WriteThrough) -> Self {
        self.write_through = write_through;
        self
    }

    /// Fails if another process has the file open exclusively, and keeps others from opening it so.
    ///
    /// | system | by | for | meaning |
    /// |---|---|---|---|
    /// | Linux | `O_EXCL` | block devices | `EBUSY` if it is mounted, swap, part of RAID or LVM, or open exclusively; others may still open it without |
    /// | FreeBSD | `O_EXCL` | disks | GEOM does not look at the flag (`g_dev_open`), but refuses to open a mounted disk for writing in any case (`EPERM`) |
    /// | macOS | `O_EXLOCK` and `O_NONBLOCK` (taken off again) | disks and files | `EBUSY` or `EAGAIN` |
    /// | Windows | sharing mode 0 | disks, volumes and files | `ERROR_SHARING_VIOLATION` for everybody else |
    ///
    /// On Linux and FreeBSD a regular file is refused with [`Error::Unsupported`], since `O_EXCL` alone has
    /// no meaning there; use [`lock`](crate::lock) for files. On all systems the option contradicts `create`,
    /// `create_new` and `truncate`.
    pub fn exclusive(mut self, exclusive: bool) -> Self {
        self.exclusive = exclusive;
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if !self.read && !self.write {
            return Err(Error::Options("neither read nor write"));
        }
        if !self.write && (self.create || self.create_new || self.truncate) {
            return Err(Error::Options("create, create_new and truncate need write"));
        }
        if self.exclusive && (self.create || self.create_new || self.truncate) {
            return Err(Error::Options("exclusive is for what is there already; create_new is for new files"));
        }
        Ok(())
    }
}
