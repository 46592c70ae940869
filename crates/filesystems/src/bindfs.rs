//! `fuse:KIND`: bindfs, which shows a directory at another place and dies with the thread that started it.
#![expect(unsafe_code, reason = "a child is told between fork and exec with whom it dies")]

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use crate::error::Error;
use crate::program;

pub(crate) const PROGRAM: &str = "bindfs";

/// `forward-odirect` opens the file below with `O_DIRECT`, too; the number aligns memory, never requests. `xattr-none`
/// saves the kernel a question before each write.
const OPTIONS: &str = "subtype=bindfs,multithreaded,xattr-none,forward-odirect=4096";

/// libfuse 3 knows neither word. `hard_remove`: a removed file is gone at once, without a `.fuse_hidden…` until its last
/// close. `big_writes`: a write is handed over in larger pieces than pages.
const OPTIONS_OF_LIBFUSE_2: &str = "hard_remove,big_writes";

/// Starts it and waits until it answers; the command, and the process, which ends when it has lost its mount.
pub(crate) fn mount(
    source: &Path,
    point: &Path,
    options: Option<&str>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(String, Child), Error> {
    let file = program::require(PROGRAM, Some(PROGRAM))?;
    let [source, target] = [source, point].map(|path| path.to_string_lossy().into_owned());
    let words = ["-f".to_owned(), "-o".to_owned(), all_options(&file, options), source, target];
    let line = program::line(PROGRAM, &words);
    let mut command = Command::new(&file);
    command.args(&words).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl-C is for the supervisor, which unmounts first.
    command.process_group(0);
    die_with_this_thread(&mut command);
    let failed = |call| move |error| Error::call("start a FUSE server", call, Path::new(PROGRAM), error);
    let device = || rustix::fs::stat(point).map(|it| it.st_dev);
    let device_below = device();
    let mut server = command.spawn().map_err(failed("execve"))?;
    let error = loop {
        if let Some(status) = server.try_wait().map_err(failed("waitpid"))? {
            let said = last_words(&mut server).unwrap_or_else(|| status.to_string());
            break Error::Refused { command: line, said };
        }
        // The kernel has an answer to this from the server alone.
        if device().is_ok_and(|device| Ok(device) != device_below) {
            // What it has to say from now on nobody would read.
            server.stderr = None;
            return Ok((line, server));
        }
        if interrupted() {
            break Error::Interrupted;
        }
        sleep(Duration::from_millis(2));
    };
    // A server that was killed leaves its mount, and the error that counts is the first.
    let _ = server.kill();
    let _ = server.wait();
    let _ = unmount(point, UnmountFlags::DETACH);
    Err(error)
}

/// Ours, then the user's.
fn all_options(file: &Path, user: Option<&str>) -> String {
    let mut options = vec![OPTIONS];
    if is_on_libfuse_2(file) {
        options.push(OPTIONS_OF_LIBFUSE_2);
    }
    options.extend(user);
    options.join(",")
}

fn is_on_libfuse_2(file: &Path) -> bool {
    let output = Command::new(file).arg("--fuse-version").stdin(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("linked version 2."))
}

/// Nobody else would end it: its mount is what keeps the namespace.
fn die_with_this_thread(command: &mut Command) {
    let this = getpid();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // This process may have gone before the kernel was told.
        if getppid() == Some(this) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec it makes two system calls, and takes no lock and no memory.
    unsafe { command.pre_exec(prepare) };
}

fn last_words(server: &mut Child) -> Option<String> {
    let mut said = String::new();
    // A failed read is as good as silence.
    let _ = server.stderr.take()?.read_to_string(&mut said);
    program::last_word(&said)
}
