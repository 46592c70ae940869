//! The properties that a worker finds of a filesystem, asked as the program asks.

use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use writebench_model::protocol::PropertiesRequest;
use writebench_model::{Learnt, Prepare, Properties};
use writebench_runner::{Answer, Casualties, RunnerError, WorkerCommand, Workers};
use writebench_testkit::{Trials, entries};

pub(crate) fn add(trials: &mut Trials) {
    trials.add("a worker finds out what a filesystem does, and leaves nothing behind", &[], in_a_directory);
    trials.add("a worker on a device makes no files, and says so", &[], on_a_device);
}

fn ask(arguments: &[&str]) -> Result<Answer<Properties>, RunnerError> {
    let arguments = std::iter::once("worker").chain(arguments.iter().copied()).map(Into::into).collect();
    let command =
        WorkerCommand { program: env!("CARGO_BIN_EXE_writebench").into(), arguments, has_barrier: false };
    let request = PropertiesRequest {
        target: 0,
        file_stem: "properties".to_owned(),
        file_size_bytes: 1 << 20,
        data_seed: 3,
        device_number: None,
    };
    let (stop, mut casualties) = (AtomicBool::new(false), Casualties::default());
    Workers::new(&command, &stop, &mut casualties).ask(0, request, Duration::from_secs(120))
}

fn in_a_directory() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let facts = directory.path().metadata()?;
    let (device, inode) = (facts.dev().to_string(), facts.ino().to_string());
    let path = directory.path().to_string_lossy();
    let Answer::Reply(found) = ask(&["--directory", &path, "--identity", &device, &inode])? else {
        bail!("the worker came to no end")
    };
    ensure!(found.prepared.len() == Prepare::ALL.len() && found.direct_io.len() == 3, "{found:#?}");
    ensure!(matches!(found.prepared[0].found, Learnt::Known(_)), "{found:#?}");
    ensure!(entries(directory.path()).is_empty(), "a file was left behind");
    Ok(())
}

fn on_a_device() -> Result<()> {
    // A worker that was told that a file is a device writes nothing into it.
    let file = tempfile::NamedTempFile::new()?;
    rustix::io::fcntl_setfd(file.as_file(), rustix::io::FdFlags::empty())?;
    match ask(&["--device", &file.as_file().as_raw_fd().to_string()]) {
        Err(RunnerError::Protocol(why)) => ensure!(why == "a device has no files to be made", "{why}"),
        other => bail!("{other:?}"),
    }
    ensure!(file.as_file().metadata()?.len() == 0, "nothing was written");
    Ok(())
}
