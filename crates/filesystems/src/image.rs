//! Nameless image files with every block written.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use direct_io::AlignedBuffer;
use rustix::fs::{AtFlags, IFlags, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;
use writebench_model::Reserve;

use crate::error::Error;

const OPENING: &str = "open the directory for images";
const DOING: &str = "make an image";

/// A directory for image files. It is open, so no later mount can cover it.
#[derive(Debug)]
pub(crate) struct ImageDirectory {
    pub(crate) path: PathBuf,
    /// The kind of the directory's filesystem, as mount(8) names it.
    pub(crate) filesystem: String,
    /// The number of the filesystem's device, such as `8:1`.
    pub(crate) device: String,
    directory: File,
    reserve: Reserve,
}

impl ImageDirectory {
    pub(crate) fn open(path: &Path, reserve: Reserve) -> Result<Self, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| Error::call(OPENING, "open", path, errno))?;
        let mount = rustix::fs::statx(&directory, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)
            .map_err(|errno| Error::call(OPENING, "statx", path, errno))?
            .stx_mnt_id;
        let number = rustix::fs::fstat(&directory)
            .map_err(|errno| Error::call(OPENING, "fstat", path, errno))?
            .st_dev;
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        Ok(Self {
            path: path.to_owned(),
            filesystem: mount_kind(mount, &mounts).unwrap_or_else(|| "unknown".to_owned()),
            device: device_number(number),
            directory: directory.into(),
            reserve,
        })
    }

    /// It is an error if images of this size would use space that is kept in reserve.
    pub(crate) fn check_space(&self, needed_bytes: u64) -> Result<(), Error> {
        let space = rustix::fs::fstatvfs(&self.directory)
            .map_err(|errno| Error::call(DOING, "fstatvfs", &self.path, errno))?;
        let total_bytes = space.f_blocks.saturating_mul(space.f_frsize);
        let available_bytes = space.f_bavail.saturating_mul(space.f_frsize);
        let reserve_bytes = self.reserve.of_bytes(total_bytes);
        if needed_bytes.saturating_add(reserve_bytes) <= available_bytes {
            return Ok(());
        }
        Err(Error::NoSpace {
            path: self.path.clone(),
            needed_bytes,
            available_bytes,
            reserve_bytes,
        })
    }

    /// Makes an image of zeros, which is on the device on return. `interrupted` is polled every few milliseconds.
    pub(crate) fn image(
        &self,
        size_bytes: u64,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<ImageFile, Error> {
        let file = self
            .nameless()
            .map_err(|errno| Error::call(DOING, "open", &self.path, errno))?;
        if self.filesystem == "btrfs" {
            self.disable_copy_on_write(&file)?;
        }
        rustix::fs::ftruncate(&file, size_bytes)
            .map_err(|errno| Error::call(DOING, "ftruncate", &self.path, errno))?;
        let image = ImageFile {
            directory: self.path.clone(),
            size_bytes,
            direct: opened_again_direct(&file),
            file,
        };
        image.fill(0, size_bytes, interrupted)?;
        image
            .file
            .sync_all()
            .map_err(|error| Error::call(DOING, "fsync", &self.path, error))?;
        Ok(image)
    }

    /// Disables copy-on-write, because every write to the image would allocate again. The flag can be set only on an
    /// empty file.
    fn disable_copy_on_write(&self, file: &File) -> Result<(), Error> {
        let flags = rustix::fs::ioctl_getflags(file)
            .map_err(|errno| Error::call(DOING, "ioctl(FS_IOC_GETFLAGS)", &self.path, errno))?;
        rustix::fs::ioctl_setflags(file, flags | IFlags::NOCOW)
            .map_err(|errno| Error::call(DOING, "ioctl(FS_IOC_SETFLAGS)", &self.path, errno))
    }

    /// A new empty file without a name, so that it disappears with its last descriptor.
    fn nameless(&self) -> Result<File, Errno> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        match rustix::fs::openat(&self.directory, ".", flags | OFlags::TMPFILE, mode) {
            // Filesystems and kernels without O_TMPFILE return one of these.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {}
            opened => return opened.map(File::from),
        }
        let name = format!(
            ".writebench-image-{}",
            rustix::process::getpid().as_raw_nonzero()
        );
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(&self.directory, &name, flags | new, mode)?;
        rustix::fs::unlinkat(&self.directory, &name, AtFlags::empty())?;
        Ok(file.into())
    }
}

/// An open image file.
#[derive(Debug)]
pub(crate) struct ImageFile {
    directory: PathBuf,
    size_bytes: u64,
    pub(crate) file: File,
    /// The same file, opened for writes past the page cache, or why that is impossible.
    pub(crate) direct: Result<File, Errno>,
}

impl ImageFile {
    /// A file that the caller has made.
    pub(crate) fn of(file: File, path: &Path, size_bytes: u64) -> Self {
        Self {
            directory: path.to_owned(),
            size_bytes,
            direct: opened_again_direct(&file),
            file,
        }
    }

    /// Writes zeros from `start` to `end`. Otherwise the first write to each block would pay for its allocation
    /// during some sample.
    fn fill(&self, start: u64, end: u64, interrupted: &dyn Fn() -> bool) -> Result<(), Error> {
        const CHUNK_BYTES: u64 = 4 << 20;
        let length = usize::try_from(CHUNK_BYTES.min(end - start)).unwrap_or(usize::MAX);
        let zeros = AlignedBuffer::new(length, 4096)
            .map_err(|error| self.failed("pwrite", io::Error::other(error)))?;
        // Direct writes keep the image out of the page cache.
        let file = self.direct.as_ref().unwrap_or(&self.file);
        let mut offset = start;
        while offset < end {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let rest = usize::try_from(end - offset).unwrap_or(usize::MAX);
            let chunk = &zeros[..rest.min(length)];
            file.write_all_at(chunk, offset)
                .map_err(|error| self.failed("pwrite", error))?;
            offset += chunk.len() as u64;
        }
        Ok(())
    }

    /// Writes the ranges that `mkfs` left without blocks, or with unwritten ones (`BLKZEROOUT`).
    pub(crate) fn fill_holes(&self) -> Result<(), Error> {
        let mut filled_bytes = 0;
        while let Some(hole) = self.next_hole(filled_bytes)? {
            self.fill(hole.start, hole.end, &|| false)?;
            filled_bytes = hole.end;
        }
        self.file
            .sync_all()
            .map_err(|error| self.failed("fsync", error))
    }

    fn next_hole(&self, from: u64) -> Result<Option<Range<u64>>, Error> {
        let start = match rustix::fs::seek(&self.file, SeekFrom::Hole(from)) {
            Err(Errno::NXIO | Errno::INVAL) => return Ok(None),
            found => found.map_err(|errno| self.failed("lseek", errno.into()))?,
        };
        // The end of the file counts as a hole.
        if start >= self.size_bytes {
            return Ok(None);
        }
        let end = match rustix::fs::seek(&self.file, SeekFrom::Data(start)) {
            Err(Errno::NXIO) => self.size_bytes,
            found => found.map_err(|errno| self.failed("lseek", errno.into()))?,
        };
        Ok(Some(start..end))
    }

    fn failed(&self, call: &'static str, error: io::Error) -> Error {
        Error::call(DOING, call, &self.directory, error)
    }
}

/// A file without a name can be opened again by its descriptor.
fn opened_again_direct(file: &File) -> Result<File, Errno> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(File::from)
}

fn device_number(number: u64) -> String {
    let major = rustix::fs::major(number);
    let minor = rustix::fs::minor(number);
    format!("{major}:{minor}")
}

/// The kind of the filesystem at the mount with this number.
fn mount_kind(mount: u64, mounts: &str) -> Option<String> {
    let number = mount.to_string();
    let line = mounts
        .lines()
        .find(|line| line.split(' ').next() == Some(&number))?;
    // Optional fields end with a lone dash: proc_pid_mountinfo(5).
    let (_, filesystem) = line.split_once(" - ")?;
    filesystem.split(' ').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_mount_is_found_by_its_number() {
        let mounts = "27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n7 27 0:23 / /dev/shm rw - tmpfs tmpfs rw\n";
        assert_eq!(mount_kind(27, mounts).as_deref(), Some("ext4"));
        assert_eq!(mount_kind(7, mounts).as_deref(), Some("tmpfs"));
        assert_eq!(mount_kind(2, mounts), None);
    }

    #[test]
    fn an_image_has_no_name_and_no_holes_and_an_interrupt_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let images = ImageDirectory::open(directory.path(), Reserve::DEFAULT).unwrap();
        let image = images.image(3 << 20, &|| false).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert_eq!(
            rustix::fs::seek(&image.file, SeekFrom::Hole(0)),
            Ok(3 << 20)
        );
        assert!(matches!(
            images.image(3 << 20, &|| true),
            Err(Error::Interrupted)
        ));
    }

    #[test]
    fn holes_are_filled() {
        let directory = tempfile::tempdir().unwrap();
        let image = ImageDirectory::open(directory.path(), Reserve::DEFAULT)
            .unwrap()
            .image(4 << 20, &|| false)
            .unwrap();
        for offset in [1 << 20, 3 << 20] {
            let flags =
                rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
            rustix::fs::fallocate(&image.file, flags, offset, 1 << 20).unwrap();
        }
        assert_eq!(
            rustix::fs::seek(&image.file, SeekFrom::Hole(0)),
            Ok(1 << 20)
        );
        image.fill_holes().unwrap();
        assert_eq!(
            rustix::fs::seek(&image.file, SeekFrom::Hole(0)),
            Ok(4 << 20)
        );
    }

    #[test]
    fn an_image_that_would_fill_the_filesystem_is_refused_with_the_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let error = ImageDirectory::open(directory.path(), Reserve::DEFAULT)
            .unwrap()
            .check_space(1 << 60)
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("images of 1 EiB") || text.contains("1024 PiB") || text.contains("TiB"),
            "{text}"
        );
        assert!(text.contains("in reserve"), "{text}");
    }
}
