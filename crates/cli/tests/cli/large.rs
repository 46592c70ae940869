//! A length of 64 GiB on a small filesystem.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Ended, Image, Mounted, Need, Trials, entries};

use crate::program;

/// The lock file of the run's directory.
const ONLY_ITS_LOCK: &str = " and wrote 32 B.";

pub(crate) fn add(trials: &mut Trials) {
    trials.add(
        "64 GiB on a tmpfs of 16 MiB get a length, but neither blocks nor data",
        &[Need::Root],
        on_tmpfs,
    );
    let image = [Need::Image("ext4")];
    trials.add(
        "64 GiB on ext4 in a sparse image are allocated almost without writing",
        &image,
        on_ext4,
    );
}

const HOLE: &str = "allocate,size=64GiB,call=ftruncate";
const RESERVED: &str = "allocate,size=64GiB,call=fallocate";
const WRITTEN: &str = "write,size=64GiB";

/// Warming a quarter of the memory would take longer.
const MOST_TIME: Duration = Duration::from_secs(15);

fn run(target: &Path, case: &str, more: &[&str]) -> Result<Ended> {
    let target = target.to_str().context("UTF-8")?;
    let arguments = [
        "run",
        target,
        "--case",
        case,
        "--samples",
        "3",
        "--no-limits",
    ];
    let start = Instant::now();
    let ended = program()?.call(&[&arguments, more].concat())?;
    ensure!(
        start.elapsed() < MOST_TIME,
        "{case} took {:?}",
        start.elapsed()
    );
    Ok(ended)
}

fn on_tmpfs() -> Result<()> {
    let tmpfs = Mounted::tmpfs(16 << 20)?;
    let planned = run(tmpfs.path(), HOLE, &["--dry-run"])?;
    ensure!(planned.stdout.contains("0 B to be written"), "{planned:?}");
    let set = run(tmpfs.path(), HOLE, &[])?;
    ensure!(
        set.code == Some(0) && set.stderr.contains(ONLY_ITS_LOCK),
        "{set:?}"
    );
    let reserved = run(tmpfs.path(), RESERVED, &[])?;
    ensure!(reserved.code == Some(4), "{reserved:?}");
    ensure!(
        reserved
            .stdout
            .contains("failed: fallocate: No space left on device (28)"),
        "{reserved:?}"
    );
    let planned = run(tmpfs.path(), WRITTEN, &["--dry-run"])?;
    ensure!(planned.stdout.contains("64 GiB in a round"), "{planned:?}");
    let written = run(tmpfs.path(), WRITTEN, &[])?;
    ensure!(
        written.code == Some(3) && written.stderr.trim_end().lines().count() == 1,
        "{written:?}"
    );
    ensure!(
        written.stderr.contains("needs 64 GiB and the reserve ")
            && written.stderr.contains("but 16 MiB are free"),
        "{written:?}"
    );
    ensure!(entries(tmpfs.path()).is_empty(), "something stays");
    Ok(())
}

fn on_ext4() -> Result<()> {
    let image = Image::mount("ext4", 80 << 30)?;
    let file = image.device().image();
    let blocks = || -> Result<u64> { Ok(std::fs::metadata(&file)?.blocks() * 512) };
    let before = blocks()?;
    for case in [HOLE, RESERVED] {
        let ended = run(&image.path(), case, &[])?;
        ensure!(
            ended.code == Some(0) && ended.stderr.contains(ONLY_ITS_LOCK),
            "{ended:?}"
        );
    }
    let grown = blocks()?.saturating_sub(before);
    ensure!(grown < 1 << 30, "the image grew by {grown} bytes");
    Ok(())
}
