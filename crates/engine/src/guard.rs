//! A process between a worker and the user's program. However either ends, no process of the program survives.
#![expect(
    unsafe_code,
    reason = "an inherited descriptor is known by its number alone"
)]

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use nix::sys::resource::UsageWho;
use rustix::io::{Errno, FdFlags};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
};
use serde::{Deserialize, Serialize};
use writebench_model::nanoseconds;

use crate::machine::Usage;

/// The descriptor for the program's own times: `docs/reference/commands.md`.
pub(crate) const PHASES_FD: &str = "WRITEBENCH_PHASES_FD";
/// The word that makes this program a guard.
pub const GUARD: &str = "guard";

/// The time of this program is the cost of starting a process.
const NOTHING: &str = "true";
const INSPECTION_INTERVAL: Duration = Duration::from_millis(1);

/// The guard's report to the worker.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ended {
    /// The status as wait(2) returns it.
    pub status: i32,
    pub elapsed_ns: u64,
    /// How long the program `true` takes, if there is one.
    pub startup_ns: Option<u64>,
    pub usage: Usage,
    /// How many processes were left and killed at the end.
    pub left: usize,
}

/// Runs a program under a guard, and waits until all of the program's processes have ended.
pub(crate) fn run_guarded(
    words: &[OsString],
    phases: BorrowedFd<'_>,
    errors: OwnedFd,
) -> io::Result<Ended> {
    // The kernel gives the children of a killed guard to this process.
    set_child_subreaper(Some(getpid()))?;
    keep_inherited_descriptors()?;
    rustix::io::fcntl_setfd(phases, FdFlags::empty())?;
    let (mut own, guards) = UnixStream::pair()?;
    // The supervisor takes the end of the worker's error output for the worker's end.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(GUARD)
        .args(words)
        .env(PHASES_FD, phases.as_raw_fd().to_string());
    // The guard must outlive the worker's group, which is killed as a whole.
    let mut guard = command
        .stdin(OwnedFd::from(guards))
        .stdout(errors)
        .process_group(0)
        .spawn()?;
    drop(command);
    let mut text = String::new();
    let read = own.read_to_string(&mut text);
    let status = guard.wait();
    end_children();
    let status = status?;
    read?;
    let report: Result<Ended, i32> = serde_json::from_str(&text)
        .map_err(|_| io::Error::other(format!("its guard ended with {status}")))?;
    report.map_err(io::Error::from_raw_os_error)
}

/// The user's programs must not inherit the worker's descriptors.
fn keep_inherited_descriptors() -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(number) = number.filter(|&number: &i32| number > libc::STDERR_FILENO) {
            // SAFETY: the call takes numbers, and closes nothing here. The directory's own may be closed
            // already.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Runs a program for the worker at the other end of standard input. Standard output is the program's error
/// output.
///
/// # Errors
///
/// It is an error if the worker has ended.
pub fn guard(words: &mut dyn Iterator<Item = OsString>) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let worker = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut closed = worker.try_clone()?;
    Builder::new().spawn(move || {
        // The worker sends nothing, so this ends when it dies.
        let _ = closed.read(&mut [0]);
        loop {
            end_children();
            sleep(INSPECTION_INTERVAL);
        }
    })?;
    // The time is unknown where the program `true` is missing.
    let startup_ns = time_of_nothing().ok();
    let ended = run(words);
    let left = end_children();
    let report = match ended {
        Ok(ended) => Ok(Ended {
            startup_ns,
            left,
            ..ended
        }),
        Err(error) => Err(error.raw_os_error().unwrap_or(libc::EIO)),
    };
    Ok(serde_json::to_writer(&worker, &report)?)
}

fn run(words: &mut dyn Iterator<Item = OsString>) -> io::Result<Ended> {
    let mut command = Command::new(words.next().unwrap_or_default());
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.stderr(io::stdout().as_fd().try_clone_to_owned()?);
    let before = Usage::read(UsageWho::RUSAGE_CHILDREN);
    let start = Instant::now();
    let status = command.spawn()?.wait()?;
    let elapsed_ns = nanoseconds(start.elapsed());
    let usage = Usage::read(UsageWho::RUSAGE_CHILDREN).since(before);
    Ok(Ended {
        status: status.into_raw(),
        elapsed_ns,
        startup_ns: None,
        usage,
        left: 0,
    })
}

fn time_of_nothing() -> io::Result<u64> {
    let mut command = Command::new(NOTHING);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    command.status()?;
    Ok(nanoseconds(start.elapsed()))
}

/// Kills all children, including orphans that become this process's children. Returns their number.
fn end_children() -> usize {
    let mut killed = HashSet::new();
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Err(errno) if errno != Errno::INTR => return killed.len(),
            Ok(None) => {
                killed
                    .extend(children().filter(|&child| kill_process(child, Signal::KILL).is_ok()));
                sleep(INSPECTION_INTERVAL);
            }
            Ok(Some(_)) | Err(_) => {}
        }
    }
}

/// This process's children that still run.
fn children() -> impl Iterator<Item = Pid> {
    let own = getpid().as_raw_nonzero().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(move |process| {
        let number = process.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
        is_running_child_of(&own, &stat).then(|| Pid::from_raw(number))?
    })
}

/// Whether the text of proc_pid_stat(5) is that of such a child.
fn is_running_child_of(parent: &str, stat: &str) -> bool {
    // The name in parentheses before the state may have any characters.
    let Some((_, fields)) = stat.rsplit_once(") ") else {
        return false;
    };
    let mut fields = fields.split(' ');
    let state = fields.next();
    state.is_some_and(|state| state != "Z") && fields.next() == Some(parent)
}
