//! Facts about loop devices, which tell what they were made with.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use direct_io::{BlockDevice, Error, OpenOptions};
use tempfile::TempDir;
use testkit::{Kind, LoopDevice, Need, Trials, call, directory_on};

const SIZE: u64 = 64 << 20;

const EBUSY: i32 = 16;

pub fn add(trials: &mut Trials) {
    let loops = [Need::LoopDevice];
    let images = [Need::Image("ext4")];
    for sector in [512, 4096] {
        trials.add(
            format!("a device with sectors of {sector} bytes tells them, and its size"),
            &loops,
            move || sectors(sector),
        );
        trials.add(format!("the device below a file, with sectors of {sector} bytes"), &images, move || {
            below(sector)
        });
    }
    trials.add("a partition has its own size and its disk's sectors", &images, partition);
    trials.add("a device of no size has an unknown size", &loops, empty);
    trials.add("a mounted device cannot be opened exclusively: EBUSY", &images, mounted);
    trials.add("a device is open exclusively once: EBUSY", &loops, twice);
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add("a memory filesystem stands on no device", &tmpfs, on_no_device);
    trials.add("a terminal's device is a device without sectors", &[], || {
        let error = BlockDevice::of(File::open("/dev/null")?).err().context("it has none")?;
        ensure!(error.to_string().starts_with("ioctl(BLKSSZGET): "), "{error}");
        Ok(())
    });
}

/// A filesystem on a device, unmounted when dropped.
pub struct Mounted(TempDir);

impl Mounted {
    pub fn new(device: &Path) -> Result<Self> {
        let point = tempfile::Builder::new().prefix("direct-io-mount-").tempdir()?;
        call(Command::new("mkfs.ext4").arg("-q").arg(device))?;
        call(Command::new("mount").arg(device).arg(point.path()))?;
        Ok(Self(point))
    }

    pub fn file(&self) -> PathBuf {
        self.0.path().join("file")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

fn open(path: &Path) -> Result<BlockDevice> {
    Ok(BlockDevice::of(OpenOptions::new().read(true).open(path)?)?)
}

fn sectors(sector_bytes: u32) -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SIZE, sector_bytes)?;
    let facts = open(device.path())?;
    ensure!(facts.logical_sector_bytes == Some(sector_bytes.into()), "{facts:?}");
    ensure!(facts.physical_sector_bytes.is_some_and(|bytes| bytes >= sector_bytes.into()), "{facts:?}");
    ensure!(facts.capacity_bytes == Some(SIZE) && facts.serial.is_none(), "{facts:?}");
    Ok(())
}

fn below(sector_bytes: u32) -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SIZE, sector_bytes)?;
    let mounted = Mounted::new(device.path())?;
    let below = BlockDevice::below(File::create(mounted.file())?)?;
    ensure!(below == open(device.path())?, "{below:?}");
    Ok(())
}

fn partition() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let partition = device.partition()?;
    let facts = open(&partition)?;
    ensure!(facts.capacity_bytes == Some(SIZE - (1 << 20)), "{facts:?}");
    let mounted = Mounted::new(&partition)?;
    let below = BlockDevice::below(File::create(mounted.file())?)?;
    ensure!(below == facts, "{below:?}");
    Ok(())
}

fn empty() -> Result<()> {
    let device = LoopDevice::attach(0)?;
    let facts = open(device.path())?;
    ensure!(facts.capacity_bytes.is_none() && facts.logical_sector_bytes == Some(512), "{facts:?}");
    Ok(())
}

fn busy(path: &Path) -> Result<()> {
    let error =
        OpenOptions::new().read(true).write(true).exclusive(true).open(path).err().context("it opened")?;
    ensure!(error.raw_os_error() == Some(EBUSY), "{error}");
    ensure!(error.to_string().contains(path.to_str().context("UTF-8")?), "{error}");
    Ok(())
}

fn mounted() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let mounted = Mounted::new(device.path())?;
    busy(device.path())?;
    drop(mounted);
    OpenOptions::new().write(true).exclusive(true).open(device.path())?;
    Ok(())
}

fn twice() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let _first = OpenOptions::new().write(true).exclusive(true).direct(true).open(device.path())?;
    busy(device.path())?;
    OpenOptions::new().read(true).open(device.path())?;
    Ok(())
}

fn on_no_device() -> Result<()> {
    let directory = directory_on(Kind::Tmpfs);
    let file = File::create(directory.path().join("file"))?;
    ensure!(matches!(BlockDevice::below(&file), Err(Error::NoSingleDevice)));
    Ok(())
}
