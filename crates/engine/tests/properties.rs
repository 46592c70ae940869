//! Properties of real filesystems, as far as they are known beforehand.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::{PropertiesRequest, SampleRequest};
use writebench_model::{Allocation, Case, DirectWrite, Found, Learnt, Outcome, Prepare, Properties, Zeros};
use writebench_testkit::{Image, Kind, Need, Trials, call, directory_on};

const SIZE: u64 = 16 << 20;
const STEM: &str = "properties";
/// The calls that reserve blocks.
const RESERVING: [Prepare; 4] =
    [Prepare::Fallocate, Prepare::PosixFallocate, Prepare::FallocateKeepSize, Prepare::FallocateZeroRange];

fn main() -> ExitCode {
    const EXT4: Need = Need::Filesystem(Kind::Ext4);
    const TMPFS: Need = Need::Filesystem(Kind::Tmpfs);
    let mut trials = Trials::default();
    trials.add("here: fallocate on ext4 reserves blocks and writes none", &[EXT4], || {
        reserves(&learn(directory_on(Kind::Ext4).path())?)
    });
    trials.add("here: tmpfs reports no extents, and zeros are unknown", &[TMPFS], tmpfs);
    for kind in ["ext4", "xfs", "btrfs"] {
        let name = format!("{kind} reserves blocks and writes none");
        trials.add(name, &[Need::Image(kind)], move || reserves(&on_image(kind)?));
    }
    for kind in ["ext2", "ext3"] {
        let name = format!("{kind} refuses fallocate, and posix_fallocate writes zeros there");
        trials.add(name, &[Need::Image(kind)], move || refuses(&on_image(kind)?));
    }
    for kind in ["ext2", "ext3"] {
        let name = format!("{kind} does not support posix_fallocate before direct I/O");
        trials.add(name, &[Need::Image(kind)], move || no_posix_fallocate(kind));
    }
    for kind in ["ext4", "xfs"] {
        let name = format!("O_DIRECT on {kind} is direct");
        trials.add(name, &[Need::Image(kind)], move || direct_io(&on_image(kind)?, [DirectWrite::Direct; 3]));
    }
    for kind in ["ext2", "ext3"] {
        let name = format!("O_DIRECT on {kind} goes through the page cache in a hole, and nowhere else");
        trials.add(name, &[Need::Image(kind)], move || {
            direct_io(&on_image(kind)?, [DirectWrite::Direct, DirectWrite::PageCache, DirectWrite::Direct])
        });
    }
    trials.add("O_DIRECT on btrfs is one or the other everywhere", &[Need::Image("btrfs")], || {
        // Since 6.15 the kernel uses the page cache, for the checksums.
        let found = on_image("btrfs")?;
        let way = *found.direct_io[0].found.known().context("no refusal")?;
        direct_io(&found, [way; 3])
    });
    trials.add("O_DIRECT on btrfs without checksums is direct", &[Need::Image("btrfs")], || {
        let image = Image::mount("btrfs", 512 << 20)?;
        let directory = image.path().join("without");
        std::fs::create_dir(&directory)?;
        call(std::process::Command::new("chattr").arg("+C").arg(&directory))?;
        direct_io(&learn(&directory)?, [DirectWrite::Direct; 3])
    });
    trials.add("a full disk fails each state by itself", &[Need::Image("ext4")], full_disk);
    trials.add("a file that was there stays, and the rest goes on", &[EXT4], a_file_that_was_there);
    trials.add("a size that no case can have is a failure in each place", &[TMPFS], no_size);
    trials.run(2)
}

/// The C library would write a byte into each block, which O_DIRECT refuses.
fn no_posix_fallocate(kind: &str) -> Result<()> {
    let image = Image::mount(kind, 512 << 20)?;
    let name = "pwrite,size=1MiB,prepare=posix-fallocate,cache=direct";
    let case = Case::parse(name)?;
    let directory = File::open(image.path())?;
    let target = Target::Directory(directory.as_fd());
    let sample = Engine::default().sample(target, &SampleRequest::bare(case, STEM, 1));
    ensure!(matches!(sample.outcome, Outcome::Unsupported(_)), "{:?}", sample.outcome);
    Ok(())
}

fn learn(directory: &Path) -> Result<Properties> {
    let found = learn_with(directory, SIZE)?;
    ensure!(std::fs::read_dir(directory)?.all(|entry| !is_ours(entry)), "a file was left behind");
    Ok(found)
}

fn is_ours(entry: std::io::Result<std::fs::DirEntry>) -> bool {
    entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(STEM))
}

fn learn_with(directory: &Path, file_size_bytes: u64) -> Result<Properties> {
    let device_number = writebench_probe::environment(directory)?.device.map(|device| device.number);
    let request = PropertiesRequest {
        target: 0,
        file_stem: STEM.to_owned(),
        file_size_bytes,
        data_seed: 7,
        device_number,
    };
    let found = Engine::default().properties(File::open(directory)?.as_fd(), &request);
    ensure!(found.prepared.iter().map(|it| it.prepare).eq(Prepare::ALL.iter().copied()), "in order");
    Ok(found)
}

fn on_image(kind: &str) -> Result<Properties> {
    let image = Image::mount(kind, 512 << 20)?;
    learn(&image.path())
}

/// Checks the paths for a growing file, a hole, and data.
fn direct_io(found: &Properties, ways: [DirectWrite; 3]) -> Result<()> {
    let states = [Prepare::Create, Prepare::SetLen, Prepare::Overwrite];
    ensure!(found.direct_io.iter().map(|it| it.prepare).eq(states), "{:?}", found.direct_io);
    let is_right = found.direct_io.iter().zip(ways).all(|(it, way)| it.found == Learnt::Known(way));
    ensure!(is_right, "{:?}", found.direct_io);
    Ok(())
}

fn of(found: &Properties, prepare: Prepare) -> Result<&Found> {
    let it = found.prepared.iter().find(|it| it.prepare == prepare).context("it is there")?;
    it.found.known().with_context(|| format!("{it:?}"))
}

fn unwritten_bytes(allocation: &Allocation) -> Option<u64> {
    Some(allocation.extents.known()?.unwritten_bytes)
}

/// Checks the properties of every filesystem: states with and without blocks, and written files.
fn common(found: &Properties) -> Result<()> {
    ensure!(found.block_size_bytes.known().is_some_and(|bytes| bytes.is_power_of_two()), "{found:#?}");
    for prepare in [Prepare::Create, Prepare::Truncate, Prepare::SetLen] {
        let it = of(found, prepare)?;
        ensure!(it.after_prepare.allocated_bytes == 0, "{prepare}: {it:?}");
        ensure!(it.zeros.is_none(), "{prepare} reserves nothing: {it:?}");
    }
    for prepare in [Prepare::ZeroFill, Prepare::Overwrite] {
        let it = of(found, prepare)?;
        ensure!(it.after_prepare.allocated_bytes >= SIZE, "{prepare}: {it:?}");
        ensure!(unwritten_bytes(&it.after_prepare).unwrap_or(0) == 0, "{prepare}: {it:?}");
    }
    for it in found.prepared.iter().filter_map(|it| it.found.known()) {
        let after = it.after_write.known().with_context(|| format!("{it:?}"))?;
        ensure!(after.allocated_bytes >= SIZE, "{it:?}");
        ensure!(unwritten_bytes(after).unwrap_or(0) == 0, "{it:?}");
    }
    Ok(())
}

fn reserves(found: &Properties) -> Result<()> {
    common(found)?;
    for prepare in RESERVING {
        let it = match of(found, prepare) {
            Ok(it) => it,
            // btrfs refuses calls that it lacks.
            Err(_) if prepare == Prepare::FallocateZeroRange => continue,
            Err(error) => return Err(error),
        };
        ensure!(unwritten_bytes(&it.after_prepare) == Some(SIZE), "{prepare}: {it:?}");
        ensure!(it.zeros == Some(Zeros::Unwritten), "{prepare}: {it:?}");
    }
    Ok(())
}

fn refuses(found: &Properties) -> Result<()> {
    common(found)?;
    for prepare in [Prepare::Fallocate, Prepare::FallocateKeepSize, Prepare::FallocateZeroRange] {
        let it = found.prepared.iter().find(|it| it.prepare == prepare).context("it is there")?;
        let Learnt::Refused(failure) = &it.found else { anyhow::bail!("{it:?}") };
        ensure!(failure.errno == Some(95) && failure.call == "fallocate", "{failure:?}");
    }
    let it = of(found, Prepare::PosixFallocate)?;
    ensure!(it.zeros == Some(Zeros::Written), "{it:?}");
    ensure!(it.prepare_device_bytes.is_some_and(|bytes| bytes >= SIZE), "{it:?}");
    Ok(())
}

fn tmpfs() -> Result<()> {
    let found = learn(directory_on(Kind::Tmpfs).path())?;
    common(&found)?;
    let it = of(&found, Prepare::Fallocate)?;
    ensure!(it.after_prepare.allocated_bytes == SIZE, "{it:?}");
    let Learnt::Refused(failure) = &it.after_prepare.extents else { anyhow::bail!("{it:?}") };
    ensure!(failure.errno == Some(95), "{failure:?}");
    ensure!(matches!(it.zeros, Some(Zeros::Unknown { .. })), "{it:?}");
    for direct in &found.direct_io {
        // Linux before 6.6 refuses.
        let is_right = matches!(direct.found, Learnt::Known(DirectWrite::PageCache) | Learnt::Refused(_));
        ensure!(is_right, "{direct:?}");
    }
    Ok(())
}

fn full_disk() -> Result<()> {
    let image = Image::mount("ext4", 64 << 20)?;
    let found = learn_with(&image.path(), 128 << 20)?;
    for it in &found.prepared {
        let no_space =
            |failure: Option<&writebench_model::Failure>| failure.is_some_and(|it| it.errno == Some(28));
        let failed = match &it.found {
            Learnt::Known(found) => no_space(found.after_write.failure()),
            other => no_space(other.failure()),
        };
        ensure!(failed, "{it:?}");
    }
    ensure!(of(&found, Prepare::SetLen)?.after_prepare.allocated_bytes == 0, "it was made before it failed");
    ensure!(std::fs::read_dir(image.path())?.all(|entry| !is_ours(entry)), "a file was left behind");
    Ok(())
}

fn a_file_that_was_there() -> Result<()> {
    let directory = directory_on(Kind::Ext4);
    let theirs = directory.path().join(format!("{STEM}-{}", Prepare::Fallocate));
    std::fs::write(&theirs, "theirs")?;
    let found = learn_with(directory.path(), 1 << 20)?;
    let failed: Vec<Prepare> =
        found.prepared.iter().filter(|it| it.found.known().is_none()).map(|it| it.prepare).collect();
    ensure!(failed == [Prepare::Fallocate], "{failed:?}");
    ensure!(std::fs::read(&theirs)? == b"theirs", "it is not ours to remove");
    Ok(())
}

fn no_size() -> Result<()> {
    let found = learn_with(directory_on(Kind::Tmpfs).path(), 1000)?;
    let Learnt::Failed(failure) = &found.direct_io[0].found else { anyhow::bail!("{found:#?}") };
    ensure!(failure.message.contains("sector"), "{failure}");
    ensure!(of(&found, Prepare::Create)?.after_write.known().is_some(), "of what needs no sectors");
    Ok(())
}
