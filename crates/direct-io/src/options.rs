use crate::Error;

/// The options of [`std::fs::OpenOptions`], and those for direct I/O.
///
/// On Unix a new file has mode 0666 less the umask, unless `mode` is set. Descriptors are closed on exec, and
/// handles are not inherited.
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

/// The part of a write that is durable when the call returns.
///
/// Durable means that the system asked the device to keep the data. Some devices lie, and some filesystems do
/// not ask in direct I/O, so still flush at a barrier ([`fdatasync`](crate::fdatasync),
/// [`fsync`](crate::fsync)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteThrough {
    /// Data is durable only after a flush.
    #[default]
    None,
    /// The data, and the metadata needed to read it back, such as the length. `O_DSYNC` on Unix,
    /// `FILE_FLAG_WRITE_THROUGH` on Windows.
    DataSync,
    /// The data and all metadata, such as the modification time. `O_SYNC` on Unix. Windows does not distinguish
    /// it from `DataSync`.
    Sync,
}

impl OpenOptions {
    /// No options: neither reading nor writing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens for reading.
    pub fn read(self, read: bool) -> Self {
        Self { read, ..self }
    }

    /// Opens for writing.
    pub fn write(self, write: bool) -> Self {
        Self { write, ..self }
    }

    /// Creates the file if it does not exist. Needs `write`.
    pub fn create(self, create: bool) -> Self {
        Self { create, ..self }
    }

    /// Creates the file, and fails if the name exists, even as a dangling link. Needs `write`.
    pub fn create_new(self, create_new: bool) -> Self {
        Self { create_new, ..self }
    }

    /// Truncates the file to length 0. Needs `write`.
    pub fn truncate(self, truncate: bool) -> Self {
        Self { truncate, ..self }
    }

    /// Fails if the last part of the path is a symbolic link. `O_NOFOLLOW` on Unix (`ELOOP`, on FreeBSD
    /// `EMLINK`). Windows opens the link itself (`FILE_FLAG_OPEN_REPARSE_POINT`), and this crate then refuses
    /// it.
    pub fn no_follow(self, no_follow: bool) -> Self {
        Self { no_follow, ..self }
    }

    /// The permissions of a new file, less the umask: `0o600` for its owner alone. Windows does not have this option.
    #[cfg(unix)]
    pub fn mode(self, mode: u32) -> Self {
        Self {
            mode: Some(mode),
            ..self
        }
    }

    /// Bypasses the page cache.
    ///
    /// | system | by | limits |
    /// |---|---|---|
    /// | Linux | `O_DIRECT` | open fails with `EINVAL`, or the filesystem still uses the page cache (tmpfs, btrfs with checksums): see [`DirectIo`](crate::DirectIo) |
    /// | FreeBSD | `O_DIRECT` | accepted and ignored |
    /// | macOS | `fcntl(F_NOCACHE)` after opening | caches transfers not aligned to pages, and keeps cached pages |
    /// | Windows | `FILE_FLAG_NO_BUFFERING` | open fails |
    pub fn direct(self, direct: bool) -> Self {
        Self { direct, ..self }
    }

    /// Sets the part of a write that is durable when the call returns.
    pub fn write_through(self, write_through: WriteThrough) -> Self {
        Self {
            write_through,
            ..self
        }
    }

    /// Fails if another process has the file open exclusively, and prevents other exclusive opens.
    ///
    /// | system | by | for | meaning |
    /// |---|---|---|---|
    /// | Linux | `O_EXCL` | block devices | `EBUSY` if it is mounted, swap, part of RAID or LVM, or open exclusively. Opening without the flag still works |
    /// | FreeBSD | `O_EXCL` | disks | GEOM ignores the flag (`g_dev_open`), but always refuses to open a mounted disk for writing (`EPERM`) |
    /// | macOS | `O_EXLOCK` and `O_NONBLOCK` (cleared afterwards) | disks and files | `EBUSY` or `EAGAIN` |
    /// | Windows | sharing mode 0 | disks, volumes and files | `ERROR_SHARING_VIOLATION` for every other open |
    ///
    /// Linux and FreeBSD define `O_EXCL` alone for devices only. A regular file is therefore
    /// [`Error::Unsupported`] there: use [`lock`](crate::lock). The option contradicts `create`, `create_new`
    /// and `truncate`.
    pub fn exclusive(self, exclusive: bool) -> Self {
        Self { exclusive, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if !self.read && !self.write {
            return Err(Error::Options("neither read nor write"));
        }
        if !self.write && (self.create || self.create_new || self.truncate) {
            return Err(Error::Options("create, create_new and truncate need write"));
        }
        if self.exclusive && (self.create || self.create_new || self.truncate) {
            return Err(Error::Options(
                "exclusive is for existing files, and create_new for new ones",
            ));
        }
        Ok(())
    }
}
