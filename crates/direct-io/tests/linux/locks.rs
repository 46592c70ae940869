//! Locks between this process and util-linux's `flock`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use direct_io::{Error, lock, unlock};
use writebench_testkit::{Need, Trials};

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::Program("flock")];
    trials.add("a lock is seen by a second process", &needs, ours);
    trials.add("a second process's lock is seen", &needs, theirs);
}

fn gets_it(path: &Path) -> Result<bool> {
    let status = Command::new("flock")
        .arg("--nonblock")
        .arg(path)
        .arg("true")
        .status()?;
    ensure!(matches!(status.code(), Some(0 | 1)), "{status}");
    Ok(status.success())
}

fn ours() -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    ensure!(gets_it(file.path())?);
    lock(file.as_file())?;
    ensure!(!gets_it(file.path())?);
    unlock(file.as_file())?;
    ensure!(gets_it(file.path())?);
    lock(File::open(file.path())?)?;
    ensure!(gets_it(file.path())?, "closing gives it back");
    Ok(())
}

fn theirs() -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    // `flock` prints a line when it has the lock, and releases it when its input ends.
    let mut other = Command::new("flock");
    other
        .arg(file.path())
        .args(["sh", "-c", "echo; read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut other = other.spawn()?;
    other
        .stdout
        .take()
        .context("stdout")?
        .read_exact(&mut [0])?;
    ensure!(matches!(lock(file.as_file()), Err(Error::Locked)));
    drop(other.stdin.take());
    other.wait()?;
    lock(file.as_file())?;
    Ok(())
}
