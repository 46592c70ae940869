use std::fs::File;
use std::io::IoSlice;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use direct_io::{
    AlignedBuffer, DirectIo, Error, Misaligned, OpenOptions, Part, WriteThrough, preallocate,
    read_at, read_exact_at, write_all_at, write_tail_at, write_vectored_at,
};
use writebench_testkit::{Image, Kind, LoopDevice, Need, Trials, directory_on};

const SIZE: u64 = 64 << 20;

pub(crate) fn add(trials: &mut Trials) {
    let ext4 = [Need::Filesystem(Kind::Ext4)];
    let loops = [Need::LoopDevice];
    let images = [Need::Image("ext4")];
    let told_loops = [Need::LoopDevice, Need::DirectIoAlignment];
    let told_images = [Need::Image("ext4"), Need::DirectIoAlignment];
    trials.add(
        "the kernel sees the flags that were asked for, and no others",
        &ext4,
        flags,
    );
    trials.add(
        "a direct read ends with the file, inside a sector",
        &ext4,
        mid_sector,
    );
    for sector in [512, 4096] {
        trials.add(
            format!("a misaligned write to a device with sectors of {sector} bytes names the part"),
            &told_loops,
            move || {
                let device = LoopDevice::attach_with_sectors(SIZE, sector)?;
                misaligned(
                    &OpenOptions::new()
                        .read(true)
                        .write(true)
                        .direct(true)
                        .open(device.path())?,
                    sector,
                )
            },
        );
    }
    trials.add(
        "a misaligned write to a file on sectors of 4096 bytes names the part",
        &told_images,
        || {
            let device = LoopDevice::attach_with_sectors(SIZE, 4096)?;
            let mounted = device.format_and_mount(device.path(), "ext4")?;
            let options = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .direct(true);
            misaligned(&options.open(mounted.path().join("file"))?, 4096)
        },
    );
    trials.add(
        "a tail on sectors of 4096 bytes is written past the page cache",
        &told_images,
        || {
            let device = LoopDevice::attach_with_sectors(SIZE, 4096)?;
            let mounted = device.format_and_mount(device.path(), "ext4")?;
            tail(&mounted.path().join("file"))
        },
    );
    trials.add(
        "a tail on a device is refused before anything is written",
        &loops,
        tail_of_a_device,
    );
    trials.add(
        "an error with another cause keeps its text",
        &loops,
        other_cause,
    );
    trials.add(
        "the alignment that the kernel reports is the one it needs",
        &told_loops,
        told,
    );
    trials.add(
        "a preallocation that does not fit is an error and no write",
        &images,
        too_much,
    );
}

fn flags() -> Result<()> {
    const O_DSYNC: u32 = libc::O_DSYNC.cast_unsigned();
    const O_SYNC: u32 = libc::O_SYNC.cast_unsigned();
    const O_DIRECT: u32 = libc::O_DIRECT.cast_unsigned();
    let directory = directory_on(Kind::Ext4);
    let write = OpenOptions::new().write(true).create(true);
    let all = [
        (write, 0),
        (write.direct(true), O_DIRECT),
        (write.write_through(WriteThrough::DataSync), O_DSYNC),
        (write.write_through(WriteThrough::Sync), O_SYNC),
        (
            write.direct(true).write_through(WriteThrough::DataSync),
            O_DIRECT | O_DSYNC,
        ),
    ];
    for (options, expected) in all {
        let file = options.open(directory.path().join("file"))?;
        let flags = rustix::fs::fcntl_getfl(&file)?.bits() & (O_DIRECT | O_SYNC);
        ensure!(
            flags == expected,
            "{options:?}: {flags:o} instead of {expected:o}"
        );
        ensure!(rustix::io::fcntl_getfd(&file)?.contains(rustix::io::FdFlags::CLOEXEC));
    }
    Ok(())
}

fn mid_sector() -> Result<()> {
    let directory = directory_on(Kind::Ext4);
    let path = directory.path().join("file");
    std::fs::write(&path, vec![7; 5000])?;
    let file = OpenOptions::new().read(true).direct(true).open(&path)?;
    let mut buffer = AlignedBuffer::new(16384, 4096)?;
    let error = read_exact_at(&file, &mut buffer, 0)
        .err()
        .context("it is not filled")?;
    ensure!(
        error.to_string() == "pread at offset 5000: the file ends here",
        "{error}"
    );
    ensure!(
        buffer[..5000].iter().all(|&byte| byte == 7)
            && buffer[5000..].iter().all(|&byte| byte == 0)
    );
    ensure!(read_at(&file, &mut buffer, 8192)? == 0);
    Ok(())
}

/// Each part in turn is off by half a sector.
fn misaligned(file: &File, sector_bytes: u32) -> Result<()> {
    let sector = usize::try_from(sector_bytes)?;
    let buffer = AlignedBuffer::new(16 * 4096, 4096)?;
    write_all_at(file, &buffer, u64::from(sector_bytes))?;
    let half = sector / 2;
    let wrong = [
        (&buffer[..sector], half as u64, Part::Offset),
        (&buffer[..sector + half], 0, Part::Length),
        // The buffer spans more than one page: Linux 6.18 accepts addresses inside one if they split no sector.
        (&buffer[1..=8 * 4096], 0, Part::Address),
    ];
    for (bytes, offset, expected) in wrong {
        match write_all_at(file, bytes, offset) {
            Err(Error::Misaligned(Misaligned {
                part, needed_bytes, ..
            })) => {
                // The memory may need less alignment than a sector.
                let is_needed = needed_bytes == u64::from(sector_bytes) || part == Part::Address;
                ensure!(part == expected && is_needed, "{part:?}, {needed_bytes}");
            }
            other => bail!("{expected:?}: {other:?}"),
        }
        let mut copy = AlignedBuffer::new(4 * sector, sector)?;
        ensure!(
            read_at(file, &mut copy[..sector], u64::from(sector_bytes))? == sector,
            "reading goes on"
        );
    }
    // Linux 6.18 accepts a slice of half a sector if the next one completes it.
    let slices = [&buffer[..sector], &buffer[..half]].map(IoSlice::new);
    match write_vectored_at(file, &slices, u64::from(sector_bytes)) {
        Err(Error::Misaligned(Misaligned {
            part: Part::Length,
            value,
            ..
        })) => ensure!(value == half as u64),
        other => bail!("{other:?}"),
    }
    Ok(())
}

fn tail(path: &Path) -> Result<()> {
    let options = OpenOptions::new().read(true).write(true).direct(true);
    let file = options.create_new(true).open(path)?;
    let bytes = AlignedBuffer::from_slice(&[7; 3 * 4096], 4096)?;
    // The rest alone may begin anywhere, because it is copied.
    write_tail_at(&file, &bytes[1..101], 0)?;
    ensure!(std::fs::read(path)? == [7; 100]);
    write_tail_at(&file, &bytes[..2 * 4096 + 1000], 4096)?;
    ensure!(file.metadata()?.len() == 3 * 4096 + 1000);
    match write_tail_at(&file, &bytes[..100], 100) {
        Err(Error::Misaligned(Misaligned {
            part: Part::Offset,
            value: 100,
            needed_bytes: 4096,
            ..
        })) => {}
        other => bail!("{other:?}"),
    }
    let flags = rustix::fs::fcntl_getfl(&file)?.bits();
    ensure!(
        flags & libc::O_DIRECT.cast_unsigned() != 0,
        "it is still open for direct I/O: {flags:o}"
    );
    let mut read = AlignedBuffer::new(4 * 4096, 4096)?;
    ensure!(read_at(&file, &mut read, 0)? == 3 * 4096 + 1000);
    let expected = [(0..100, 7), (100..4096, 0), (4096..3 * 4096 + 1000, 7)];
    for (range, byte) in expected {
        ensure!(
            read[range.clone()].iter().all(|&one| one == byte),
            "{range:?}"
        );
    }
    Ok(())
}

fn tail_of_a_device() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .direct(true)
        .open(device.path())?;
    let bytes = AlignedBuffer::from_slice(&[7; 4096], 4096)?;
    let error = write_tail_at(&file, &bytes[..700], 0)
        .err()
        .context("a device has no end")?;
    ensure!(
        error
            .to_string()
            .starts_with("ftruncate is not supported: only a regular file"),
        "{error}"
    );
    let mut read = bytes;
    read_exact_at(&file, &mut read, 0)?;
    ensure!(read.iter().all(|&byte| byte == 0));
    Ok(())
}

fn other_cause() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let file = OpenOptions::new()
        .write(true)
        .direct(true)
        .open(device.path())?;
    let buffered = OpenOptions::new().write(true).open(device.path())?;
    let error = write_all_at(&buffered, b"x", u64::MAX)
        .err()
        .context("a negative offset")?;
    ensure!(error.raw_os_error() == Some(22), "{error}");
    let buffer = AlignedBuffer::new(4096, 4096)?;
    let error = write_all_at(&file, &buffer, SIZE)
        .err()
        .context("behind the end")?;
    ensure!(error.raw_os_error() == Some(28), "{error}");
    ensure!(
        error
            .to_string()
            .starts_with(&format!("pwrite at offset {SIZE}: No space left")),
        "{error}"
    );
    Ok(())
}

fn told() -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SIZE, 4096)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .direct(true)
        .open(device.path())?;
    let alignment = match DirectIo::for_file(&file)? {
        DirectIo::Supported(alignment) => alignment,
        // Older kernels do not report it.
        DirectIo::Unknown => return Ok(()),
        DirectIo::Unsupported => bail!("a loop device has direct I/O"),
    };
    ensure!(alignment.offset_bytes == 4096, "{alignment:?}");
    // Only every `memory_bytes`th of these addresses may work.
    let buffer = AlignedBuffer::new(4096 + alignment.memory_bytes, 4096)?;
    let begin = alignment.memory_bytes;
    write_all_at(&file, &buffer[begin..begin + 4096], 0)?;
    if begin > 1 {
        ensure!(
            write_all_at(&file, &buffer[begin / 2..begin / 2 + 4096], 0).is_err(),
            "{alignment:?}"
        );
    }
    Ok(())
}

fn too_much() -> Result<()> {
    let image = Image::mount("ext4", 16 << 20)?;
    let path: &Path = &image.path().join("file");
    let file = OpenOptions::new().write(true).create(true).open(path)?;
    let error = preallocate(&file, 1 << 30)
        .err()
        .context("more than there is")?;
    ensure!(
        error.raw_os_error() == Some(28) && error.to_string().starts_with("fallocate: "),
        "{error}"
    );
    Ok(())
}
