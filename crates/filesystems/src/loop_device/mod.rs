mod sys;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use writebench_model::Failure;

use crate::error::Error;
use crate::image::ImageFile;
use crate::patience;

/// After a drop it detaches itself as soon as it is neither mounted nor open.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// `loop3`.
    pub(crate) name: String,
    /// In sysfs. A different text means another process's device.
    backing: String,
    pub(crate) direct_io: bool,
    pub(crate) direct_io_refused: Option<String>,
    /// The kernel's choice.
    pub(crate) logical_sector_bytes: u64,
    /// Keeps the device attached.
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
        let is_direct = || Ok::<_, Error>(fact(&name, "loop/dio")? == "1");
        let mut direct_io = is_direct()?;
        if !direct_io && refused.is_none() {
            // LOOP_CONFIGURE ignores the request silently. This call returns the reason.
            refused = sys::set_direct_io(&device).err();
            direct_io = is_direct()?;
        }
        let no_reason = || "no reason given".to_owned();
        let refused = || refused.map_or_else(no_reason, |errno| Failure::io_message(&errno.into()));
        Ok(Self {
            backing: fact(&name, "loop/backing_file")?,
            direct_io,
            direct_io_refused: (!direct_io).then(refused),
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

    pub(crate) fn fill_holes(&self) -> Result<(), Error> {
        // The data of mkfs must reach the image before the search for holes.
        self.device
            .sync_all()
            .map_err(|error| Error::call(DOING, "fsync", Path::new(&self.node()), error))?;
        self.image.fill_holes()
    }

    pub(crate) fn detach(self) -> Result<(), Error> {
        let Self {
            name,
            backing,
            device,
            ..
        } = self;
        drop(device);
        // Another process may already have it.
        let is_detached = || {
            Ok(fact(&name, "loop/backing_file")
                .ok()
                .is_none_or(|now| now != backing))
        };
        if patience::is_soon(is_detached)? {
            return Ok(());
        }
        Err(Error::StillAttached {
            device: name,
            waited_s: patience::LIMIT.as_secs(),
        })
    }
}

fn open(path: &Path) -> Result<File, Error> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.map_err(|error| Error::no_loop_device("open", path, error))
}

/// Buffered if the image cannot be opened for direct I/O. Returns the reason.
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

fn fact(name: &str, of: &str) -> Result<String, Error> {
    let path = PathBuf::from(format!("/sys/block/{name}/{of}"));
    let text =
        fs::read_to_string(&path).map_err(|error| Error::call(DOING, "read", &path, error))?;
    Ok(text.trim_end().to_owned())
}
