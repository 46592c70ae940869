//! Runs a program on a filesystem whose disk records what arrives.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    /// It commits its journal after each call, as if another program had just called fsync(2). So each state between
    /// two calls can be on the disk.
    CommitEach,
}

/// A filesystem on a disk in memory.
#[derive(Debug, Clone, Copy)]
pub struct DiskRequest<'r> {
    pub kind: &'r DiskKind,
    pub mkfs_options: &'r [String],
    pub mount_options: Option<&'r str>,
    pub disk_bytes: u64,
}

/// The program and its filesystem.
pub struct Request<'r> {
    pub disk: DiskRequest<'r>,
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

/// The mount points of disks and filesystems. A program finds its filesystem at the same path in all states.
#[derive(Debug)]
pub(crate) struct Points {
    pub(crate) disk: PathBuf,
    pub(crate) filesystem: PathBuf,
}

impl Points {
    pub(crate) fn make(mounts: &PrivateMounts) -> Result<Self, Error> {
        // The kernel knows the file below a loop device by its path. With a path of its own, the next user of a device is
        // not taken for this one.
        let namespace = Path::new("/proc/thread-self/ns/mnt");
        let number = namespace
            .metadata()
            .map_err(|error| Error::call("make a disk", "stat", namespace, error))?
            .ino();
        Ok(Self {
            disk: mounts.point(&format!("disk-{number}"))?,
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
    let made = Made::new(mounts, request.disk)?;
    let ended = run_on(&made.point, &made.file, request);
    let content = made.file.content();
    let removed = made.remove();
    let ended = ended?;
    removed?;
    let events = content.lock().take_events();
    Ok(Recording {
        kind: request.disk.kind.clone(),
        mount_options: request.disk.mount_options.map(str::to_owned),
        disk_bytes: request.disk.disk_bytes,
        events,
        ended,
    })
}

/// Makes and mounts each filesystem and traces a process that does nothing, so that what is missing is known before
/// anything is run for the user.
///
/// # Errors
///
/// One of these is not possible here.
pub fn rehearse(
    mounts: &PrivateMounts,
    disks: &[DiskRequest<'_>],
    limits: Limits,
) -> Result<(), Error> {
    let mut nothing = Command::new("true");
    nothing.stdin(Stdio::null());
    trace::run(nothing, Path::new("/"), limits, &mut |_| Ok(()))?;
    for disk in disks {
        Made::new(mounts, *disk)?.remove()?;
    }
    Ok(())
}

/// A filesystem that is mounted, on a disk that records.
struct Made {
    // The loop device goes before the file below it.
    disk: Disk,
    file: DiskFile,
    point: PathBuf,
}

impl Made {
    fn new(mounts: &PrivateMounts, request: DiskRequest<'_>) -> Result<Self, Error> {
        let Points { disk, filesystem } = Points::make(mounts)?;
        let file = DiskFile::recording(&disk, request.disk_bytes)?;
        let disk = Disk::attach(request.kind, file.open()?, &file.path(), request.disk_bytes)?;
        disk.format(request.mkfs_options)?;
        disk.mount(&filesystem, request.mount_options)?;
        Ok(Self {
            disk,
            file,
            point: filesystem,
        })
    }

    fn remove(self) -> Result<(), Error> {
        self.disk.unmount(&self.point)?;
        self.disk.detach()?;
        Ok(())
    }
}

fn run_on(point: &Path, file: &DiskFile, request: &Request<'_>) -> Result<Ended, Error> {
    (request.set_up)(point)?;
    let root = File::open(point)
        .map_err(|error| Error::call("begin a recording", "open", point, error))?;
    let mut other = match request.steps {
        Steps::Own => None,
        Steps::CommitEach => Some(OtherProgram::begin(point, request.disk.kind)?),
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
