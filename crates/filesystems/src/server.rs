//! Programs that serve a filesystem, and die with the thread that started them.
#![expect(unsafe_code, reason = "a child is told between fork and exec with whom it dies")]

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use crate::error::Error;
use crate::program;

const DOING: &str = "start a filesystem's server";

pub(crate) struct Server {
    child: Child,
    line: String,
    /// The file that the program writes to instead of its error output.
    log: Option<PathBuf>,
}

impl Server {
    /// Starts an installed program. `log` is the file of its output, if it has one.
    pub(crate) fn start(
        (name, package): (&str, &'static str),
        words: &[String],
        log: Option<&Path>,
    ) -> Result<Self, Error> {
        let file = program::require(name, Some(package))?;
        let mut command = Command::new(&file);
        command.args(words).env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Only the supervisor may handle Ctrl-C, since it unmounts first.
        command.process_group(0);
        die_with_this_thread(&mut command);
        let child = command.spawn().map_err(|error| Error::call(DOING, "execve", &file, error))?;
        Ok(Self { child, line: program::line(name, words), log: log.map(Path::to_owned) })
    }

    /// Waits until the server is ready; returns its command and its process.
    pub(crate) fn when(
        mut self,
        is_ready: impl Fn() -> bool,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(String, Child), Error> {
        let error = loop {
            let waited = self.child.try_wait();
            let failed = |error| Error::call(DOING, "waitpid", Path::new(&self.line), error);
            if let Some(status) = waited.map_err(failed)? {
                let said = self.last_words().unwrap_or_else(|| status.to_string());
                break Error::Refused { command: self.line, said };
            }
            if is_ready() {
                // Later output of the server is dropped.
                self.child.stderr = None;
                return Ok((self.line, self.child));
            }
            if interrupted() {
                break Error::Interrupted;
            }
            sleep(Duration::from_millis(2));
        };
        let _ = self.child.kill();
        let _ = self.child.wait();
        Err(error)
    }

    fn last_words(&mut self) -> Option<String> {
        let mut said = self.log.as_ref().and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
        // A failed read counts as no output.
        let _ = self.child.stderr.take()?.read_to_string(&mut said);
        program::last_word(&said)
    }
}

/// Starts a program that mounts at `point`, and waits until it answers there.
pub(crate) fn mount(
    (name, package): (&str, &'static str),
    words: &[String],
    log: Option<&Path>,
    point: &Path,
    interrupted: &dyn Fn() -> bool,
) -> Result<(String, Child), Error> {
    let device = || rustix::fs::stat(point).map(|it| it.st_dev);
    let below = device();
    // Only the server can answer this call.
    let is_mounted = || device().is_ok_and(|device| Ok(device) != below);
    let mounted = Server::start((name, package), words, log)?.when(is_mounted, interrupted);
    mounted.inspect_err(|_| {
        // A killed server leaves its mount. The first error counts.
        let _ = unmount(point, UnmountFlags::DETACH);
    })
}

/// Without this, the server of a mount would outlive the thread: its own mount keeps the namespace.
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
