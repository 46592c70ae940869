//! Samples that overwrite a file in place share one, if its blocks stay where they are. Another program looks at it.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Case, Extent, Phase, Sample};
use writebench_testkit::{Image, Kind, Need, Trials, directory_on, entries};

const NAME: &str = "old";
const SEED: u64 = 7;

fn main() -> ExitCode {
    let mut trials = Trials::default();
    trials.add(
        "samples of all methods share the file that they overwrite",
        &[Need::Filesystem(Kind::Ext4)],
        || {
            let directory = directory_on(Kind::Ext4);
            let inodes = inodes(
                directory.path(),
                &[BUFFERED[0], DIRECT, BUFFERED[1], BUFFERED[2]],
            )?;
            ensure!(inodes.iter().all(|inode| *inode == inodes[0]), "{inodes:?}");
            Ok(())
        },
    );
    trials.add(
        "samples on xfs share a file, although its reserved end goes",
        &[Need::Image("xfs")],
        || {
            let image = Image::mount("xfs", 512 << 20)?;
            let inodes = inodes(&image.path(), &BUFFERED)?;
            ensure!(inodes.iter().all(|inode| *inode == inodes[0]), "{inodes:?}");
            Ok(())
        },
    );
    trials.add(
        "a file that moves with each write is made anew for each sample",
        &[Need::Image("btrfs")],
        || {
            let image = Image::mount("btrfs", 512 << 20)?;
            let inodes = inodes(&image.path(), &BUFFERED)?;
            ensure!(
                inodes.windows(2).all(|pair| pair[0] != pair[1]),
                "{inodes:?}"
            );
            Ok(())
        },
    );
    trials.add(
        "a file in memory is made anew for each sample",
        &[Need::Filesystem(Kind::Tmpfs)],
        || {
            let directory = directory_on(Kind::Tmpfs);
            inodes(directory.path(), &BUFFERED)?;
            ensure!(entries(directory.path()).is_empty(), "a file remains");
            Ok(())
        },
    );
    trials.add(
        "a file that another program has replaced is made anew",
        &[Need::Filesystem(Kind::Ext4)],
        replaced_file,
    );
    trials.add(
        "a lost block is found in each sample that shares a file",
        &[Need::Filesystem(Kind::Ext4)],
        lost_block,
    );
    for next in [
        "write,size=1MiB,prepare=overwrite",
        "write,size=2MiB,prepare=truncate",
        "write,size=2MiB",
        "pwrite,size=2MiB,prepare=overwrite,threads=2,files=per-thread",
        "write,size=2MiB,prepare=overwrite,data=zero",
    ] {
        trials.add(
            format!("the shared file goes before a sample of {next}"),
            &[Need::Filesystem(Kind::Ext4)],
            move || goes_before(next),
        );
    }
    trials.add(
        "the shared file goes with a failed sample",
        &[Need::Filesystem(Kind::Ext4)],
        failed_sample,
    );
    trials.run(2)
}

const BUFFERED: [&str; 3] = [
    "write,size=2MiB,prepare=overwrite,sync=fsync",
    "mmap,size=2MiB,prepare=overwrite",
    "io_uring,size=2MiB,prepare=overwrite,depth=4",
];
const DIRECT: &str = "pwrite,size=2MiB,prepare=overwrite,threads=2,cache=direct,sync=fdatasync";

/// The inode that each case finds, twice for each.
fn inodes(directory: &Path, cases: &[&str]) -> Result<Vec<u64>> {
    let found = RefCell::new(None);
    let path = directory.join(NAME);
    let at_open = |phase| {
        // Mappings have this phase twice.
        if phase == Phase::Open && found.borrow().is_none() {
            found.replace(path.metadata().ok().map(|metadata| metadata.ino()));
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &at_open);
    let mut inodes = Vec::new();
    for case in cases.iter().chain(cases) {
        let sample = take(&mut engine, directory, case)?;
        ensure!(sample.outcome.is_ok(), "{case}: {:?}", sample.outcome);
        inodes.push(found.take().context("the sample found no file")?);
    }
    Ok(inodes)
}

fn take(engine: &mut Engine<'_>, directory: &Path, case: &str) -> Result<Sample> {
    let place = File::open(directory)?;
    let request = SampleRequest {
        read_back: Some(Extent::Whole),
        ..SampleRequest::bare(Case::parse(case)?, NAME, SEED)
    };
    Ok(engine.sample(Target::Directory(place.as_fd()), &request))
}

fn replaced_file() -> Result<()> {
    let directory = directory_on(Kind::Ext4);
    let path = directory.path().join(NAME);
    let found = RefCell::new(0);
    let at_open = |phase| {
        if phase == Phase::Open {
            found.replace(path.metadata().map_or(0, |metadata| metadata.ino()));
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &at_open);
    take(&mut engine, directory.path(), BUFFERED[0])?;
    let copy = directory.path().join("copy");
    std::fs::copy(&path, &copy)?;
    // The number of a removed file may be used again, but not while a descriptor holds it.
    let held = File::open(&copy)?;
    held.sync_all()?;
    let inode = held.metadata()?.ino();
    std::fs::rename(&copy, &path)?;
    let sample = take(&mut engine, directory.path(), BUFFERED[0])?;
    ensure!(sample.outcome.is_ok(), "{:?}", sample.outcome);
    ensure!(found.take() != inode, "the copy was used");
    Ok(())
}

/// The file gets the block back that was there before the sample, as if the write had not reached it.
fn lost_block() -> Result<()> {
    const BLOCK: usize = 4096;
    let directory = directory_on(Kind::Ext4);
    let path = directory.path().join(NAME);
    let before = RefCell::new(vec![0; BLOCK]);
    let loses = RefCell::new(false);
    let lose = |phase| {
        if phase == Phase::Open {
            let file = File::open(&path).expect("the old file");
            file.read_exact_at(&mut before.borrow_mut(), 1 << 20)
                .expect("a block");
        }
        if phase == Phase::Verify && *loses.borrow() {
            let file = File::options().write(true).open(&path).expect("the file");
            file.write_all_at(&before.borrow(), 1 << 20)
                .expect("a block");
        }
    };
    for shared in 0..3 {
        let mut engine = Engine::new(None, || Ok(0), &lose);
        loses.replace(false);
        for _ in 0..shared {
            let sample = take(&mut engine, directory.path(), BUFFERED[0])?;
            ensure!(sample.outcome.is_ok(), "{:?}", sample.outcome);
        }
        loses.replace(true);
        let sample = take(&mut engine, directory.path(), BUFFERED[0])?;
        let reason = sample.outcome.reason();
        let reason = reason.with_context(|| format!("not found after {shared} samples"))?;
        ensure!(reason.contains("content differs"), "{reason}");
    }
    Ok(())
}

fn goes_before(next: &str) -> Result<()> {
    let directory = directory_on(Kind::Ext4);
    let path = directory.path().join(NAME);
    let shared = RefCell::new(0);
    let is_there = RefCell::new(false);
    let at_open = |phase| {
        let inode = path.metadata().map_or(0, |metadata| metadata.ino());
        if phase == Phase::Open && *shared.borrow() != 0 {
            is_there.replace(inode == *shared.borrow());
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &at_open);
    take(&mut engine, directory.path(), BUFFERED[0])?;
    let held = File::open(&path).context("no file is kept")?;
    shared.replace(held.metadata()?.ino());
    let sample = take(&mut engine, directory.path(), next)?;
    ensure!(sample.outcome.is_ok(), "{:?}", sample.outcome);
    ensure!(!is_there.take(), "the shared file is still there");
    ensure!(held.metadata()?.nlink() == 0, "the shared file has a name");
    Ok(())
}

fn failed_sample() -> Result<()> {
    let directory = directory_on(Kind::Ext4);
    let path = directory.path().join(NAME);
    let cut = RefCell::new(false);
    let cut_off = |phase| {
        if phase == Phase::Verify && *cut.borrow() {
            let file = File::options().write(true).open(&path).expect("the file");
            file.set_len(1 << 20).expect("a shorter file");
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &cut_off);
    take(&mut engine, directory.path(), BUFFERED[0])?;
    ensure!(path.exists(), "no file is kept");
    cut.replace(true);
    let sample = take(&mut engine, directory.path(), BUFFERED[0])?;
    ensure!(!sample.outcome.is_ok(), "{:?}", sample.outcome);
    ensure!(!path.exists(), "the file of a failed sample is kept");
    cut.replace(false);
    let sample = take(&mut engine, directory.path(), BUFFERED[0])?;
    ensure!(sample.outcome.is_ok(), "{:?}", sample.outcome);
    drop(engine);
    ensure!(entries(directory.path()).is_empty(), "the file remains");
    Ok(())
}
