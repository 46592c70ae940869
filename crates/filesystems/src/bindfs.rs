//! `fuse:KIND`: bindfs, which shows a directory at another path and dies with the thread that started it.
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

/// `forward-odirect` opens the file below with `O_DIRECT`, too; its number aligns memory, not requests.
/// `xattr-none` saves a request before each write.
const OPTIONS: &str = "subtype=bindfs,multithreaded,xattr-none,forward-odirect=4096";

/// libfuse 3 knows neither option. `hard_remove` removes a file at once, without a `.fuse_hidden…` until its
/// last close. `big_writes` allows requests larger than a page.
const OPTIONS_OF_LIBFUSE_2: &str = "hard_remove,big_writes";

/// Starts bindfs and waits until it answers. Returns the command and the process, which ends when its mount
/// does.
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
    // Only the supervisor may handle Ctrl-C, since it unmounts first.
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
        // Only the server can answer this call.
        if device().is_ok_and(|device| Ok(device) != device_below) {
            // Later output of the server is dropped.
            server.stderr = None;
            return Ok((line, server));
        }
        if interrupted() {
            break Error::Interrupted;
        }
        sleep(Duration::from_millis(2));
    };
    // A killed server leaves its mount. The first error counts.
    let _ = server.kill();
    let _ = server.wait();
    let _ = unmount(point, UnmountFlags::DETACH);
    Err(error)
}

/// Our options, then the user's.
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

/// Without this, bindfs would outlive the thread: its own mount keeps the namespace.
fn die_with_this_thread(command: &mut Command) {
    let this = getpid();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the prctl.
        if getppid() == Some(this) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec the closure makes two system calls, and takes no lock and no memory.
    unsafe { command.pre_exec(prepare) };
}

fn last_words(server: &mut Child) -> Option<String> {
    let mut said = String::new();
    // A failed read counts as no output.
    let _ = server.stderr.take()?.read_to_string(&mut said);
    program::last_word(&said)
}
