//! Nameless image files with every block written.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use direct_io::AlignedBuffer;
use rustix::fs::{AtFlags, IFlags, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;
use writebench_model::Reserve;

use crate::error::Error;

const DOING: &str = "make an image";

/// Open, so no later mount can cover it.
#[derive(Debug)]
pub(crate) struct ImageDirectory {
    pub(crate) path: PathBuf,
    /// As mount(8) names it.
    pub(crate) filesystem: String,
    /// `8:1`.
    pub(crate) device: String,
    directory: File,
    reserve: Reserve,
}

impl ImageDirectory {
    pub(crate) fn open(path: &Path, reserve: Reserve) -> Result<Self, Error> {
        let failed = |call| {
            move |errno: Errno| Error::call("open the directory for images", call, path, errno)
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(failed("open"))?;
        let mount = rustix::fs::statx(&directory, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
        let mount = mount.map_err(failed("statx"))?.stx_mnt_id;
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let filesystem = mount_kind(mount, &mounts).unwrap_or_else(|| "unknown".to_owned());
        let number = rustix::fs::fstat(&directory)
            .map_err(failed("fstat"))?
            .st_dev;
        let device = format!(
            "{}:{}",
            rustix::fs::major(number),
            rustix::fs::minor(number)
        );
        Ok(Self {
            path: path.to_owned(),
            filesystem,
            device,
            directory: directory.into(),
            reserve,
        })
    }

    pub(crate) fn check_space(&self, needed_bytes: u64) -> Result<(), Error> {
        let space = rustix::fs::fstatvfs(&self.directory);
        let space = space.map_err(|errno| Error::call(DOING, "fstatvfs", &self.path, errno))?;
        let available_bytes = space.f_bavail.saturating_mul(space.f_frsize);
        let reserve_bytes = self
            .reserve
            .of_bytes(space.f_blocks.saturating_mul(space.f_frsize));
        if needed_bytes.saturating_add(reserve_bytes) <= available_bytes {
            return Ok(());
        }
        let path = self.path.clone();
        Err(Error::NoSpace {
            path,
            needed_bytes,
            available_bytes,
            reserve_bytes,
        })
    }

    /// An image of zeros, which is on the device on return. `interrupted` is polled every few milliseconds.
    pub(crate) fn image(
        &self,
        size_bytes: u64,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<ImageFile, Error> {
        let failed = |call| move |errno: Errno| Error::call(DOING, call, &self.path, errno);
        let file: File = self.nameless().map_err(failed("open"))?;
        if self.filesystem == "btrfs" {
            // Without this flag every write to the image would allocate again. It can be set only on an empty
            // file.
            let flags =
                rustix::fs::ioctl_getflags(&file).map_err(failed("ioctl(FS_IOC_GETFLAGS)"))?;
            rustix::fs::ioctl_setflags(&file, flags | IFlags::NOCOW)
                .map_err(failed("ioctl(FS_IOC_SETFLAGS)"))?;
        }
        rustix::fs::ftruncate(&file, size_bytes).map_err(failed("ftruncate"))?;
        let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let direct = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
        let image = ImageFile {
            directory: self.path.clone(),
            size_bytes,
            file,
            direct,
        };
        image.fill(0, size_bytes, interrupted)?;
        image
            .file
            .sync_all()
            .map_err(|error| Error::call(DOING, "fsync", &self.path, error))?;
        Ok(image)
    }

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

#[derive(Debug)]
pub(crate) struct ImageFile {
    directory: PathBuf,
    size_bytes: u64,
    pub(crate) file: File,
    /// The same file past the page cache.
    pub(crate) direct: Result<File, Errno>,
}

impl ImageFile {
    /// Otherwise the first write to each block would pay for its allocation during some sample.
    fn fill(&self, start: u64, end: u64, interrupted: &dyn Fn() -> bool) -> Result<(), Error> {
        const CHUNK_BYTES: u64 = 4 << 20;
        let failed = |error: std::io::Error| Error::call(DOING, "pwrite", &self.directory, error);
        let length = usize::try_from(CHUNK_BYTES.min(end - start)).unwrap_or(usize::MAX);
        // Keeps the image out of the page cache.
        let file = self.direct.as_ref().unwrap_or(&self.file);
        let zeros = AlignedBuffer::new(length, 4096)
            .map_err(|error| failed(std::io::Error::other(error)))?;
        let mut at = start;
        while at < end {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let part = usize::try_from(end - at).unwrap_or(usize::MAX).min(length);
            std::os::unix::fs::FileExt::write_all_at(file, &zeros[..part], at).map_err(failed)?;
            at += part as u64;
        }
        Ok(())
    }

    /// `mkfs` may leave ranges without blocks, or with unwritten ones (`BLKZEROOUT`).
    pub(crate) fn fill_holes(&self) -> Result<(), Error> {
        let failed = |call| move |errno: Errno| Error::call(DOING, call, &self.directory, errno);
        let mut at = 0;
        loop {
            let hole = match rustix::fs::seek(&self.file, SeekFrom::Hole(at)) {
                Err(Errno::NXIO | Errno::INVAL) => break,
                found => found.map_err(failed("lseek"))?,
            };
            if hole >= self.size_bytes {
                break;
            }
            at = match rustix::fs::seek(&self.file, SeekFrom::Data(hole)) {
                Err(Errno::NXIO) => self.size_bytes,
                found => found.map_err(failed("lseek"))?,
            };
            self.fill(hole, at, &|| false)?;
        }
        self.file
            .sync_all()
            .map_err(|error| Error::call(DOING, "fsync", &self.directory, error))
    }
}

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
