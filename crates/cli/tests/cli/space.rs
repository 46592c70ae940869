//! The reserve of bytes and inodes, before and during a run.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Ended, Image, Mounted, Need, Trials, call, entries, unmount, wait_for};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    trials.add(
        "a first answer leaves out a method that does not fit, and goes on",
        &[Need::Root],
        candidate_that_does_not_fit,
    );
    let image = [Need::Image("ext4")];
    trials.add(
        "--reserve keeps space free, 5 % by default",
        &image,
        reserve,
    );
    trials.add("--reserve keeps inodes free", &image, inodes);
    trials.add("the space for a copy includes its source", &image, copied);
    trials.add("images keep the reserve of their directory", &image, images);
    trials.add(
        "a target filled by other programs ends the run at its reserve, with its samples",
        &image,
        filled,
    );
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn run(target: &Path, arguments: &[&str]) -> Result<Ended> {
    program()?.call(
        &[
            &[
                "run",
                text(target)?,
                "--yes",
                "--samples",
                "1",
                "--no-limits",
            ],
            arguments,
        ]
        .concat(),
    )
}

fn refused(ended: &Ended, texts: &[&str]) -> Result<()> {
    ensure!(
        ended.code == Some(3) && ended.stdout.is_empty(),
        "{ended:?}"
    );
    ensure!(ended.stderr.trim_end().lines().count() == 1, "{ended:?}");
    ensure!(
        texts.iter().all(|text| ended.stderr.contains(text)),
        "{ended:?}"
    );
    Ok(())
}

fn free_bytes(path: &Path) -> Result<u64> {
    let free = rustix::fs::statvfs(path)?;
    Ok(free.f_bavail * free.f_frsize)
}

fn reserve() -> Result<()> {
    let image = Image::mount("ext4", 64 << 20)?;
    let target = image.path();
    // Less than 5 % of 64 MiB, but more than the filesystem's metadata.
    let case = format!("write,size={}", free_bytes(&target)? - (1 << 20));
    refused(
        &run(&target, &["--case", &case])?,
        &["not enough free space", "missing", "--reserve"],
    )?;
    let ended = run(&target, &["--case", &case, "--reserve", "0%"])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let ended = run(&target, &["--case", "write,size=1MiB", "--reserve", "1GiB"])?;
    refused(&ended, &["the reserve 1 GiB, but "])?;
    ensure!(
        entries(&target)
            .iter()
            .all(|entry| entry.ends_with("lost+found"))
    );
    Ok(())
}

struct FewInodes(tempfile::TempDir);

impl FewInodes {
    fn mount(count: u32) -> Result<Self> {
        let point = tempfile::tempdir()?;
        let options = format!("size=64m,nr_inodes={count}");
        call(
            Command::new("mount")
                .args(["-t", "tmpfs", "-o", &options, "none"])
                .arg(point.path()),
        )?;
        Ok(Self(point))
    }
}

impl Drop for FewInodes {
    fn drop(&mut self) {
        let _ = unmount(self.0.path());
    }
}

fn inodes() -> Result<()> {
    let mounted = FewInodes::mount(40)?;
    let case = |threads: u32| format!("pwrite,size=1MiB,threads={threads},files=per-thread");
    let ended = run(mounted.0.path(), &["--case", &case(38)])?;
    refused(
        &ended,
        &["not enough free inodes", "fewer threads", "--reserve"],
    )?;
    let ended = run(mounted.0.path(), &["--case", &case(30)])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    Ok(())
}

fn copied() -> Result<()> {
    let image = Image::mount("ext4", 64 << 20)?;
    let size = free_bytes(&image.path())? / 2;
    for (case, code) in [("write", 0), ("read-write", 3)] {
        let ended = run(&image.path(), &["--case", &format!("{case},size={size}")])?;
        ensure!(ended.code == Some(code), "{case}: {ended:?}");
    }
    Ok(())
}

fn images() -> Result<()> {
    let below = tempfile::tempdir()?;
    let arguments = [
        "fs",
        "--on",
        "ext4",
        "--images",
        text(below.path())?,
        "--size",
        "1MiB",
        "--reserve",
        "100%",
    ];
    let ended = program()?.call(&arguments)?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("not enough free space"),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.contains("--reserve") && entries(below.path()).is_empty(),
        "{ended:?}"
    );
    Ok(())
}

fn filled() -> Result<()> {
    let (image, program) = (Image::mount("ext4", 64 << 20)?, program()?);
    let target = image.path();
    let arguments = [
        "run",
        text(&target)?,
        "--case",
        "write,size=8MiB",
        "--yes",
        "--samples",
        "100000",
        "--no-limits",
    ];
    let child = program.start(&arguments)?;
    let taken = || {
        let shown = program.call(&["show", "--export", "csv=-"]).ok()?;
        (shown.stdout.lines().count() > 2).then_some(())
    };
    wait_for("samples", taken)?;
    let theirs = target.join("theirs");
    let mut most_free = 0;
    for _ in 0..300 {
        let free = rustix::fs::statvfs(&target)?;
        most_free = most_free.max(free.f_bavail * free.f_frsize);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let size = most_free - (10 << 20);
    call(
        Command::new("fallocate")
            .args(["--length", &size.to_string()])
            .arg(&theirs),
    )?;
    let output = child.wait_with_output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(3) && stderr.contains("not enough free space"),
        "{output:?}"
    );
    ensure!(taken().is_some(), "the samples are kept");
    ensure!(theirs.metadata()?.size() == size, "theirs is untouched");
    ensure!(entries(&target).len() == 2, "{:?}", entries(&target));
    Ok(())
}

/// Some methods reserve 64 MiB ahead of the write, which is all of the filesystem.
fn candidate_that_does_not_fit() -> Result<()> {
    let target = Mounted::tmpfs(64 << 20)?;
    let words = ["--for", "stream", "--size", "4MiB", "--budget", "6s"];
    let export = program()?.run(target.path(), &words, 0)?;
    let finding = &export["findings"][0];
    ensure!(finding["case"].is_string(), "{finding}");
    Ok(())
}
