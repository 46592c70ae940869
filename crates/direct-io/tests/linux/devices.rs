use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use direct_io::{BlockDevice, Error, LoopBacking, OpenOptions};
use writebench_testkit::{Kind, LoopDevice, Need, Trials, directory_on};

const SIZE: u64 = 64 << 20;

const EBUSY: i32 = 16;

pub(crate) fn add(trials: &mut Trials) {
    let loops = [Need::LoopDevice];
    let images = [Need::Image("ext4")];
    for sector in [512, 4096] {
        trials.add(
            format!("a device reports its size and its sectors of {sector} bytes"),
            &loops,
            move || sectors(sector),
        );
        trials.add(
            format!("the device below a file has its sectors of {sector} bytes"),
            &images,
            move || below(sector),
        );
    }
    trials.add(
        "a partition has its own size and its disk's sectors",
        &images,
        partition,
    );
    trials.add("a device of no size has an unknown size", &loops, empty);
    trials.add(
        "a mounted device cannot be opened exclusively: EBUSY",
        &images,
        mounted,
    );
    trials.add("a device is open exclusively once: EBUSY", &loops, twice);
    trials.add(
        "a loop device reports the numbers of the file behind it",
        &loops,
        behind_a_loop_device,
    );
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add("a memory filesystem has no device", &tmpfs, on_no_device);
    trials.add("a character device has no sectors", &[], || {
        let error = BlockDevice::from_file(File::open("/dev/null")?)
            .err()
            .context("it has none")?;
        ensure!(
            error.to_string().starts_with("ioctl(BLKSSZGET): "),
            "{error}"
        );
        ensure!(matches!(
            BlockDevice::at("/dev/null"),
            Err(Error::NotADevice)
        ));
        let error = BlockDevice::at("/dev/no-such")
            .err()
            .context("it is not there")?;
        ensure!(
            error
                .to_string()
                .starts_with("statx /dev/no-such: No such file"),
            "{error}"
        );
        Ok(())
    });
}

fn facts(path: &Path) -> Result<BlockDevice> {
    let facts = BlockDevice::from_file(OpenOptions::new().read(true).open(path)?)?;
    let at = BlockDevice::at(path)?;
    ensure!(at == facts, "{at:?}, {facts:?}");
    Ok(facts)
}

fn sectors(sector_bytes: u32) -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SIZE, sector_bytes)?;
    let facts = facts(device.path())?;
    ensure!(
        facts.logical_sector_bytes == Some(sector_bytes.into()),
        "{facts:?}"
    );
    ensure!(
        facts
            .physical_sector_bytes
            .is_some_and(|bytes| bytes >= sector_bytes.into()),
        "{facts:?}"
    );
    ensure!(
        facts.capacity_bytes == Some(SIZE) && facts.serial.is_none(),
        "{facts:?}"
    );
    Ok(())
}

fn below(sector_bytes: u32) -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SIZE, sector_bytes)?;
    let mounted = device.format_and_mount(device.path(), "ext4")?;
    let below = BlockDevice::below(File::create(mounted.path().join("file"))?)?;
    ensure!(below == facts(device.path())?, "{below:?}");
    Ok(())
}

fn partition() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let partition = device.partition()?;
    let facts = facts(&partition)?;
    ensure!(facts.capacity_bytes == Some(SIZE - (1 << 20)), "{facts:?}");
    let mounted = device.format_and_mount(&partition, "ext4")?;
    let below = BlockDevice::below(File::create(mounted.path().join("file"))?)?;
    ensure!(below == facts, "{below:?}");
    Ok(())
}

fn empty() -> Result<()> {
    let device = LoopDevice::attach(0)?;
    let facts = facts(device.path())?;
    ensure!(
        facts.capacity_bytes.is_none() && facts.logical_sector_bytes == Some(512),
        "{facts:?}"
    );
    Ok(())
}

fn busy(path: &Path) -> Result<()> {
    let error = OpenOptions::new()
        .read(true)
        .write(true)
        .exclusive(true)
        .open(path)
        .err()
        .context("it opened")?;
    ensure!(error.raw_os_error() == Some(EBUSY), "{error}");
    ensure!(
        error.to_string().contains(path.to_str().context("UTF-8")?),
        "{error}"
    );
    Ok(())
}

fn mounted() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let mounted = device.format_and_mount(device.path(), "ext4")?;
    busy(device.path())?;
    drop(mounted);
    OpenOptions::new()
        .write(true)
        .exclusive(true)
        .open(device.path())?;
    Ok(())
}

fn twice() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let _first = OpenOptions::new()
        .write(true)
        .exclusive(true)
        .direct(true)
        .open(device.path())?;
    busy(device.path())?;
    OpenOptions::new().read(true).open(device.path())?;
    Ok(())
}

fn behind_a_loop_device() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let backing =
        LoopBacking::from_device(File::open(device.path())?)?.context("a file is attached")?;
    let image = std::fs::metadata(device.image())?;
    ensure!(
        (backing.filesystem, backing.inode) == (image.dev(), image.ino()),
        "{backing:?}"
    );
    ensure!(
        (backing.device, backing.offset_bytes) == (None, 0),
        "{backing:?}"
    );
    let above = LoopDevice::over(device.path(), &["--offset", "4096"])?;
    let backing =
        LoopBacking::from_device(File::open(above.path())?)?.context("a device is attached")?;
    let number = std::fs::metadata(device.path())?.rdev();
    ensure!(
        (backing.device, backing.offset_bytes) == (Some(number), 4096),
        "{backing:?}"
    );
    let error = LoopBacking::from_device(File::open("/dev/null")?)
        .err()
        .context("no loop device")?;
    ensure!(
        error.to_string().starts_with("ioctl(LOOP_GET_STATUS64): "),
        "{error}"
    );
    Ok(())
}

fn on_no_device() -> Result<()> {
    let directory = directory_on(Kind::Tmpfs);
    let file = File::create(directory.path().join("file"))?;
    ensure!(matches!(
        BlockDevice::below(&file),
        Err(Error::NoSingleDevice)
    ));
    Ok(())
}
