//! Programs that serve a filesystem, and die with the thread that started them.
#![expect(unsafe_code, reason = "between fork and exec a child sets the signal for its parent's death")]

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

const DOING: &str = "start a filesystem's server";

/// Returns once the program answers at its mount `point`.
pub(crate) fn mount(
    file: &Path,
    words: &[String],
    point: &Path,
    interrupted: &dyn Fn() -> bool,
) -> Result<(String, Child), Error> {
    let device = || rustix::fs::stat(point).map(|stat| stat.st_dev);
    let below = device();
    let mut command = Command::new(file);
    command.args(words).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Only the supervisor may handle Ctrl-C, because it unmounts first.
    command.process_group(0);
    die_with_this_thread(&mut command);
    let mut child = command.spawn().map_err(|error| Error::call(DOING, "execve", file, error))?;
    let line = program::line(&file.file_name().unwrap_or_default().to_string_lossy(), words);
    let error = loop {
        match child.try_wait() {
            Err(error) => break Error::call(DOING, "waitpid", Path::new(&line), error),
            Ok(Some(status)) => {
                let said = last_words(&mut child).unwrap_or_else(|| status.to_string());
                break Error::Refused { command: line, said };
            }
            // Only the server can answer this call.
            Ok(None) if device().is_ok_and(|device| Ok(device) != below) => {
                child.stderr = None;
                return Ok((line, child));
            }
            Ok(None) if interrupted() => break Error::Interrupted,
            Ok(None) => sleep(Duration::from_millis(2)),
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    // A killed server leaves its mount. The first error counts.
    let _ = unmount(point, UnmountFlags::DETACH);
    Err(error)
}

fn last_words(child: &mut Child) -> Option<String> {
    let mut said = String::new();
    let _ = child.stderr.take()?.read_to_string(&mut said);
    program::last_word(&said)
}

/// Otherwise the server would outlive the thread, because its own mount keeps the namespace.
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
