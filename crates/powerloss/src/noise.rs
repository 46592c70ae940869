//! Another program on the same filesystem, whose fsync commits the journal.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use writebench_filesystems::DiskKind;

use crate::error::Error;
use crate::trace::sys;

/// Each of its writes makes its file longer.
pub(crate) struct OtherProgram {
    file: File,
    root: File,
    is_btrfs: bool,
    commits: u64,
}

/// The name of its file in the root of the filesystem.
pub const OTHER_PROGRAM: &str = ".another-program";
const DOING: &str = "commit the journal";
const BLOCK_BYTES: u64 = 4096;

impl OtherProgram {
    pub(crate) fn begin(point: &Path, kind: &DiskKind) -> Result<Self, Error> {
        let path = point.join(OTHER_PROGRAM);
        let file = File::create(&path).map_err(|error| Error::call(DOING, "open", &path, error))?;
        Ok(Self {
            file,
            root: File::open(point).map_err(|error| Error::call(DOING, "open", point, error))?,
            is_btrfs: kind.to_string().starts_with("btrfs"),
            commits: 0,
        })
    }

    /// Commits all transactions so far, as an fsync does on ext4 and xfs. The file must become longer, because a change
    /// of its time alone may need no commit. On btrfs, an fsync logs only one file.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        let path = Path::new(OTHER_PROGRAM);
        let failed = |call| move |error: std::io::Error| Error::call(DOING, call, path, error);
        self.file
            .write_all_at(b"more", self.commits * BLOCK_BYTES)
            .map_err(failed("pwrite"))?;
        self.commits += 1;
        if self.is_btrfs {
            return sys::commit_btrfs(self.root.as_raw_fd())
                .map_err(|errno| Error::call(DOING, "ioctl(BTRFS_IOC_WAIT_SYNC)", path, errno));
        }
        self.file.sync_all().map_err(failed("fsync"))
    }
}
