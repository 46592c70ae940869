//! Runs a program on a filesystem whose disk records what arrives.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use writebench_filesystems::{Disk, DiskKind, PrivateMounts};

use crate::disk::{DiskFile, SharedContent};
use crate::error::Error;
use crate::event::{Event, Recording, SystemCall};
use crate::noise::OtherProgram;
use crate::program::{Ended, Limits, Output};
use crate::trace;

/// What the filesystem does between the calls of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// Nothing but what the program asks for.
    Own,
    /// After each call it commits its journal, as if another program had just called fsync(2). So each state between
    /// two calls can be on the disk.
    CommitEach,
}

/// The program and its filesystem.
pub struct Request<'r> {
    pub kind: &'r DiskKind,
    pub mkfs_options: &'r [String],
    pub mount_options: Option<&'r str>,
    pub disk_bytes: u64,
    /// Makes what is there before the program. It gets the mount point.
    pub set_up: &'r dyn Fn(&Path) -> Result<(), Error>,
    /// The program. It gets the mount point, and the file in which it may write that its data is durable.
    pub program: &'r dyn Fn(&Path, &Path) -> Command,
    /// Looks at what the program has left, before its end is recorded.
    pub finish: &'r dyn Fn(&Path),
    /// Whether the program also says so with its successful end.
    pub is_durable_at_exit: bool,
    pub steps: Steps,
    pub limits: Limits,
}

/// Where disks and filesystems are mounted. A program finds its filesystem at the same path in all states.
#[derive(Debug)]
pub(crate) struct Points {
    pub(crate) disk: PathBuf,
    pub(crate) filesystem: PathBuf,
}

impl Points {
    pub(crate) fn make(mounts: &PrivateMounts) -> Result<Self, Error> {
        Ok(Self {
            disk: mounts.point("disk")?,
            filesystem: mounts.point("filesystem")?,
        })
    }
}

/// Runs the program once.
///
/// # Errors
///
/// The filesystem cannot be made, or the setup or the program fails.
pub fn record(mounts: &PrivateMounts, request: &Request<'_>) -> Result<Recording, Error> {
    let points = Points::make(mounts)?;
    let file = DiskFile::recording(&points.disk, request.disk_bytes)?;
    let disk = Disk::attach(request.kind, file.open()?, &file.path(), request.disk_bytes)?;
    disk.format(request.mkfs_options)?;
    disk.mount(&points.filesystem, request.mount_options)?;
    let ended = run_on(&points.filesystem, &file, request);
    let unmounted = disk.unmount(&points.filesystem);
    let ended = ended?;
    unmounted?;
    disk.detach()?;
    let events = file.content().lock().take_events();
    Ok(Recording {
        kind: request.kind.clone(),
        mount_options: request.mount_options.map(str::to_owned),
        disk_bytes: request.disk_bytes,
        events,
        ended,
    })
}

fn run_on(point: &Path, file: &DiskFile, request: &Request<'_>) -> Result<Ended, Error> {
    (request.set_up)(point)?;
    let root = File::open(point)
        .map_err(|error| Error::call("begin a recording", "open", point, error))?;
    let mut other = match request.steps {
        Steps::Own => None,
        Steps::CommitEach => Some(OtherProgram::begin(point, request.kind)?),
    };
    sync(&root, point)?;
    let content = file.content();
    content.lock().record(Event::Begin);
    let output = Output::new()?;
    let mut command = (request.program)(point, &file.marker());
    command.stdout(output.for_program()?);
    command.stderr(output.for_program()?);
    let mut steps = RecordedSteps {
        content: &content,
        output,
        other: other.as_mut(),
    };
    let ended = trace::run(command, point, request.limits, &mut |call| {
        steps.after(call)
    })?;
    let ended = steps.output.explain(ended)?;
    content.lock().record(Event::Exit);
    if request.is_durable_at_exit && ended.is_success() {
        content.lock().record(Event::Durable);
    }
    (request.finish)(point);
    // What the filesystem writes later must keep the promises, too.
    sync(&root, point)?;
    content.lock().record(Event::End);
    Ok(ended)
}

fn sync(root: &File, point: &Path) -> Result<(), Error> {
    rustix::fs::syncfs(root.as_fd())
        .map_err(|errno| Error::call("sync the filesystem", "syncfs", point, errno))
}

/// What follows each system call of the program, while it waits.
struct RecordedSteps<'s> {
    content: &'s SharedContent,
    output: Output,
    other: Option<&'s mut OtherProgram>,
}

impl RecordedSteps<'_> {
    fn after(&mut self, call: Option<SystemCall>) -> Result<(), Error> {
        for _ in 0..self.output.new_durable_lines()? {
            self.content.lock().record(Event::Durable);
        }
        let Some(call) = call else {
            return Ok(());
        };
        self.content.lock().record(Event::Call(call));
        match &mut self.other {
            Some(other) => other.commit(),
            None => Ok(()),
        }
    }
}
