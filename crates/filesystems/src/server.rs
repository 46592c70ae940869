//! The server of a `fuse:` filesystem, bindfs, which dies with the thread that started it.
#![expect(
    unsafe_code,
    reason = "between fork and exec a child sets the signal for its parent's death"
)]

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use crate::error::Error;
use crate::program;

pub(crate) const PROGRAM: &str = "bindfs";

/// `forward-odirect` also opens the file below with `O_DIRECT`. Its number aligns memory, not requests.
/// `xattr-none` saves a request before each write.
const OPTIONS: &str = "subtype=bindfs,multithreaded,xattr-none,forward-odirect=4096";

/// libfuse 3 has neither option. `hard_remove` removes an open file without a `.fuse_hidden…`. `big_writes`
/// allows requests larger than a page.
const OPTIONS_OF_LIBFUSE_2: &str = "hard_remove,big_writes";

const DOING: &str = "start a filesystem's server";

/// Returns the command line and the process, once this answers at the mount `point`.
pub(crate) fn mount(
    source: &Path,
    point: &Path,
    options: Option<&str>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(String, Child), Error> {
    let file = program::require(PROGRAM, Some(PROGRAM))?;
    let words = [
        "-f".to_owned(),
        "-o".to_owned(),
        all_options(&file, options),
        source.to_string_lossy().into_owned(),
        point.to_string_lossy().into_owned(),
    ];
    let line = program::line(PROGRAM, &words);
    let below = device_at(point);
    let mut child = spawn(&file, &words)?;
    match wait_for_mount(&mut child, &line, point, below, interrupted) {
        Ok(()) => {
            child.stderr = None;
            Ok((line, child))
        }
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            // A killed server leaves its mount. The first error counts.
            let _ = unmount(point, UnmountFlags::DETACH);
            Err(error)
        }
    }
}

/// The device of the filesystem at a mount point. Once the server has mounted there, only it can answer this call.
fn device_at(point: &Path) -> Result<u64, Errno> {
    rustix::fs::stat(point).map(|stat| stat.st_dev)
}

fn spawn(file: &Path, words: &[String]) -> Result<Child, Error> {
    let mut command = Command::new(file);
    command
        .args(words)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // Only the supervisor may handle Ctrl-C, because it unmounts first.
    command.process_group(0);
    die_with_this_thread(&mut command);
    command
        .spawn()
        .map_err(|error| Error::call(DOING, "execve", file, error))
}

/// Waits until another device than `below` is at the mount point. It is an error if the server ends before, or if the
/// user interrupts.
fn wait_for_mount(
    child: &mut Child,
    line: &str,
    point: &Path,
    below: Result<u64, Errno>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Error> {
    loop {
        let ended = child
            .try_wait()
            .map_err(|error| Error::call(DOING, "waitpid", Path::new(line), error))?;
        if let Some(status) = ended {
            return Err(Error::Refused {
                command: line.to_owned(),
                said: last_words(child).unwrap_or_else(|| status.to_string()),
            });
        }
        if device_at(point).is_ok_and(|device| Ok(device) != below) {
            return Ok(());
        }
        if interrupted() {
            return Err(Error::Interrupted);
        }
        sleep(Duration::from_millis(2));
    }
}

fn all_options(file: &Path, user: Option<&str>) -> String {
    let mut options = vec![OPTIONS];
    if is_on_libfuse_2(file) {
        options.push(OPTIONS_OF_LIBFUSE_2);
    }
    options.extend(user);
    options.join(",")
}

fn is_on_libfuse_2(file: &Path) -> bool {
    let output = Command::new(file)
        .arg("--fuse-version")
        .stdin(Stdio::null())
        .output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("linked version 2."))
}

fn last_words(child: &mut Child) -> Option<String> {
    let mut said = String::new();
    let _ = child.stderr.take()?.read_to_string(&mut said);
    program::last_line(&said)
}

/// Otherwise the server would outlive the thread, because its own mount keeps the namespace.
fn die_with_this_thread(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec the closure makes two system calls, and takes no lock and no memory.
    unsafe { command.pre_exec(move || die_with(parent)) };
}

/// Called in the child, whose parent may have died before the prctl.
fn die_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(Errno::SRCH.into())
    }
}
