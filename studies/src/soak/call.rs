use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Resource, Rlimit, Signal};
use writebench_testkit::{Bindfs, DatabaseLock, Program, entries, most_memory_bytes, worker};

use super::fault_injector::{FaultInjector, Injection};
use super::work::Work;

pub(super) struct Call<'a> {
    pub(super) program: &'a Program,
    pub(super) work: Work,
    pub(super) arguments: Vec<String>,
    pub(super) injector: &'a FaultInjector,
    pub(super) target: &'a Path,
    /// The server of the target, if it can be stopped.
    pub(super) server: Option<&'a Bindfs>,
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "writebench {} ({:?})",
            self.arguments.join(" "),
            self.injector
        )
    }
}

#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// The program said this on standard error.
    pub(super) said: String,
    pub(super) peak: Usage,
}

/// The numbers are descriptors and MiB of memory.
pub(super) type Usage = [u64; 2];

pub(super) const OTHERS: &str = "others";

/// A pause is longer than any sample.
const PAUSE: Duration = Duration::from_secs(3);

/// Two programs are locked out one after the other. Each waits 10 s for the database.
const LOCKED: Duration = Duration::from_secs(4);

/// Every command ends earlier.
const HANGS_AFTER: Duration = Duration::from_secs(180);

impl Call<'_> {
    pub(super) fn perform(&self) -> Result<Ended> {
        let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut command = self.program.command(&words);
        let output = tempfile::NamedTempFile::new().context("a file for standard error")?;
        command.stderr(output.reopen()?).stdout(Stdio::null());
        if matches!(self.injector.kind, Injection::ReaderLeaves) {
            command.stdout(Stdio::piped());
        }
        let mut child = command.spawn().context("start writebench")?;
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut String::new())?;
        }
        let mut peak = Usage::default();
        let status = self.watch(&mut child, &mut peak)?;
        let said = String::from_utf8_lossy(&fs::read(output.path())?).into_owned();
        Ok(Ended { status, said, peak })
    }

    fn watch(&self, child: &mut Child, peak: &mut Usage) -> Result<ExitStatus> {
        let start = Instant::now();
        let mut next = self.injector.after;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            let descriptors = entries(Path::new(&format!("/proc/{}/fd", child.id()))).len() as u64;
            let memory_mib = most_memory_bytes(child.id()).unwrap_or(0) >> 20;
            *peak = [peak[0].max(descriptors), peak[1].max(memory_mib)];
            if next.is_some_and(|at| start.elapsed() >= at) {
                next = self.strike(child)?.map(|later| start.elapsed() + later);
            }
            if start.elapsed() > HANGS_AFTER {
                child.kill()?;
                // A process may hang in the kernel. The final count includes it.
                bail!("did not end in {} s", HANGS_AFTER.as_secs());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the time until the next injection.
    fn strike(&self, child: &Child) -> Result<Option<Duration>> {
        match self.injector.kind {
            Injection::Signal(signal) => send(Some(child.id()), signal)?,
            Injection::Workers(signal) => {
                send(worker(child.id()), signal)?;
                return Ok(self
                    .injector
                    .after
                    .map(|every| every.max(Duration::from_millis(50))));
            }
            // The program may create files during the removal.
            Injection::Removal => {
                let is_gone = fs::remove_dir_all(self.target).is_ok();
                return Ok((!is_gone).then_some(Duration::from_millis(5)));
            }
            Injection::FileLimit(bytes) => {
                let limit = Rlimit {
                    current: Some(bytes),
                    maximum: Some(bytes),
                };
                let set =
                    rustix::process::prlimit(Some(Pid::from_child(child)), Resource::Fsize, limit);
                has_ended_or(set.map(drop))?;
            }
            // This ends when the filesystem is full.
            Injection::Fill => {
                let file = File::create(self.target.join(OTHERS));
                let _ = io::copy(
                    &mut io::repeat(1),
                    &mut file.context("a file to fill the filesystem")?,
                );
            }
            Injection::Silence => self.server.map_or(Ok(()), Bindfs::stop)?,
            Injection::PausedProgram | Injection::PausedWorker => {
                let is_worker = matches!(self.injector.kind, Injection::PausedWorker);
                let paused = if is_worker {
                    worker(child.id())
                } else {
                    Some(child.id())
                };
                send(paused, Signal::STOP)?;
                std::thread::sleep(PAUSE);
                send(paused, Signal::CONT)?;
            }
            Injection::Lock => {
                // Before the first run, there is no database.
                let lock = DatabaseLock::on(&self.program.home().join("writebench/writebench.db"));
                std::thread::sleep(lock.as_ref().map_or(Duration::ZERO, |_| LOCKED));
            }
            _ => {}
        }
        Ok(None)
    }
}

fn send(process: Option<u32>, signal: Signal) -> Result<()> {
    process.map_or(Ok(()), |process| {
        has_ended_or(writebench_testkit::send(process, signal))
    })
}

fn has_ended_or(result: rustix::io::Result<()>) -> Result<()> {
    match result {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error).context("a signal or a limit"),
    }
}
