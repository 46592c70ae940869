mod sys;

pub(crate) use self::sys::forget_btrfs;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use writebench_model::Failure;

use crate::error::Error;
use crate::image::ImageFile;
use crate::patience;

/// A loop device over an image file. After a drop it detaches itself as soon as it is neither mounted nor open.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// The kernel's name, such as `loop3`.
    pub(crate) name: String,
    /// The text of `loop/backing_file` in sysfs. If it changes, another process has the device.
    backing: String,
    /// Whether the device reads and writes its image past the page cache.
    pub(crate) direct_io: bool,
    /// Why the kernel refused direct I/O.
    pub(crate) direct_io_refused: Option<String>,
    /// The sector size that the kernel chose.
    pub(crate) logical_sector_bytes: u64,
    /// The open descriptor keeps the device attached.
    device: File,
    image: ImageFile,
}

const CONTROL: &str = "/dev/loop-control";
const DOING: &str = "attach a loop device";

/// How often other processes may win the race for a free device.
const TRIES: usize = 100;

impl LoopDevice {
    pub(crate) fn attach(image: ImageFile) -> Result<Self, Error> {
        let control_path = Path::new(CONTROL);
        let control = open(control_path)?;
        for _ in 0..TRIES {
            let number = sys::free_number(&control).map_err(|errno| {
                Error::no_loop_device("ioctl(LOOP_CTL_GET_FREE)", control_path, errno)
            })?;
            let name = format!("loop{number}");
            let node = PathBuf::from(format!("/dev/{name}"));
            let device = open(&node)?;
            match configure(&device, &image) {
                Ok(refused) => return Self::attached(name, device, image, refused),
                // Another process took the device first.
                Err(Errno::BUSY) => {}
                Err(errno) => {
                    return Err(Error::call(DOING, "ioctl(LOOP_CONFIGURE)", &node, errno));
                }
            }
        }
        Err(Error::no_loop_device(
            "ioctl(LOOP_CONFIGURE)",
            control_path,
            Errno::BUSY,
        ))
    }

    /// The kernel may grant less than requested.
    fn attached(
        name: String,
        device: File,
        image: ImageFile,
        mut refused: Option<Errno>,
    ) -> Result<Self, Error> {
        let mut direct_io = has_direct_io(&name)?;
        if !direct_io && refused.is_none() {
            // LOOP_CONFIGURE ignores the request silently. This call returns the reason.
            refused = sys::set_direct_io(&device).err();
            direct_io = has_direct_io(&name)?;
        }
        Ok(Self {
            backing: fact(&name, "loop/backing_file")?,
            direct_io,
            direct_io_refused: (!direct_io).then(|| reason(refused)),
            logical_sector_bytes: fact(&name, "queue/logical_block_size")?
                .parse()
                .unwrap_or_default(),
            name,
            device,
            image,
        })
    }

    pub(crate) fn node(&self) -> String {
        format!("/dev/{}", self.name)
    }

    /// Writes every block of the image that mkfs left without one.
    pub(crate) fn fill_holes(&self) -> Result<(), Error> {
        // The data of mkfs must reach the image before the search for holes.
        self.device
            .sync_all()
            .map_err(|error| Error::call(DOING, "fsync", Path::new(&self.node()), error))?;
        self.image.fill_holes()
    }

    /// Drops the kernel's cached blocks, so that the next mount reads the file again.
    pub(crate) fn forget_blocks(&self) -> Result<(), Error> {
        sys::flush_buffers(&self.device).map_err(|errno| {
            Error::call(
                "drop cached blocks",
                "ioctl(BLKFLSBUF)",
                Path::new(&self.node()),
                errno,
            )
        })
    }

    /// Closes the device, and waits until its last user has closed it too.
    pub(crate) fn detach(self) -> Result<(), Error> {
        drop(self.device);
        if patience::is_soon(|| Ok(is_detached(&self.name, &self.backing)))? {
            return Ok(());
        }
        Err(Error::StillAttached {
            device: self.name,
            waited_s: patience::LIMIT.as_secs(),
        })
    }
}

fn has_direct_io(name: &str) -> Result<bool, Error> {
    Ok(fact(name, "loop/dio")? == "1")
}

fn reason(refused: Option<Errno>) -> String {
    match refused {
        Some(errno) => Failure::io_message(&errno.into()),
        None => "no reason given".to_owned(),
    }
}

/// Whether the device no longer has this file. Another process may already have attached its own.
fn is_detached(name: &str, backing: &str) -> bool {
    match fact(name, "loop/backing_file") {
        Ok(now) => now != backing,
        Err(_) => true,
    }
}

fn open(path: &Path) -> Result<File, Error> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.map_err(|error| Error::no_loop_device("open", path, error))
}

/// Attaches the image, with direct I/O if possible. Otherwise it returns why not.
fn configure(device: &File, image: &ImageFile) -> Result<Option<Errno>, Errno> {
    let refused = match &image.direct {
        Ok(direct) => match sys::configure(device, direct, true) {
            Ok(()) => return Ok(None),
            Err(Errno::INVAL) => Errno::INVAL,
            Err(errno) => return Err(errno),
        },
        Err(errno) => *errno,
    };
    sys::configure(device, &image.file, false).map(|()| Some(refused))
}

fn fact(name: &str, file: &str) -> Result<String, Error> {
    let path = PathBuf::from(format!("/sys/block/{name}/{file}"));
    let text =
        fs::read_to_string(&path).map_err(|error| Error::call(DOING, "read", &path, error))?;
    Ok(text.trim_end().to_owned())
}
