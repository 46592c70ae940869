//! One program at work, what is done to it, and how it ends.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Resource, Rlimit, Signal};
use writebench_testkit::{Program, entries};

use super::trouble::{Paused, Trouble};
use super::work::Work;

/// What is called, and what goes wrong.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) work: Work,
    pub(super) arguments: Vec<String>,
    pub(super) trouble: Trouble,
    pub(super) target: PathBuf,
    /// The FUSE server of the target, if it has one that can be stopped.
    pub(super) server: Option<u32>,
    /// The database that is locked.
    pub(super) database: PathBuf,
    /// Where what it says is kept.
    pub(super) output: PathBuf,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "writebench {} ({:?})", self.arguments.join(" "), self.trouble)
    }
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// What it complained of.
    pub(super) said: String,
    pub(super) most_descriptors: usize,
    pub(super) most_memory_kib: u64,
}

impl Ended {
    pub(super) fn status(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown".to_owned(),
        }
    }
}

/// A file of others.
pub(super) const OTHERS: &str = "others";

/// Longer than a sample of the sizes that are asked for.
const PAUSE: Duration = Duration::from_secs(3);

/// Longer than anything that is asked for.
const HANGS_AFTER: Duration = Duration::from_secs(180);

impl Call {
    /// Does it to the end.
    pub(super) fn perform(&self, program: &Program) -> Result<Ended> {
        let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut command = program.command(&words);
        command.stderr(File::create(&self.output).context("a file for what it says")?).stdout(Stdio::null());
        if matches!(self.trouble, Trouble::ReaderLeaves) {
            command.stdout(Stdio::piped());
        }
        let mut child = command.spawn().context("start writebench")?;
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut String::new())?;
        }
        let mut held = Held::default();
        let status = self.watch(&mut child, &mut held)?;
        let said = fs::read(&self.output).map(|said| String::from_utf8_lossy(&said).into_owned())?;
        Ok(Ended {
            code: status.code(),
            signal: status.signal(),
            said,
            most_descriptors: held.most_descriptors,
            most_memory_kib: held.most_memory_kib,
        })
    }

    fn watch(&self, child: &mut Child, held: &mut Held) -> Result<ExitStatus> {
        let start = Instant::now();
        let mut next = self.first();
        self.limit(child)?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            held.look(child.id());
            if next.is_some_and(|at| start.elapsed() >= at) {
                next = self.strike(child)?.map(|later| start.elapsed() + later);
            }
            if start.elapsed() > HANGS_AFTER {
                child.kill()?;
                // What hangs in the kernel is not waited for: it is counted in the end.
                bail!("did not end in {} s", HANGS_AFTER.as_secs());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// When it strikes first; none if never, or from the beginning.
    fn first(&self) -> Option<Duration> {
        match self.trouble {
            Trouble::Signal(_, at) | Trouble::Workers(_, at) | Trouble::Removal(at) | Trouble::Fill(at) => {
                Some(at)
            }
            Trouble::Silence(at) | Trouble::Pause(_, at) | Trouble::Lock(at) => Some(at),
            Trouble::KeptFiles => None,
            Trouble::Nothing | Trouble::FileLimit(_) | Trouble::ReaderLeaves => None,
            Trouble::Faults(..) | Trouble::Hang(..) => None,
        }
    }

    fn limit(&self, child: &Child) -> Result<()> {
        if let Trouble::FileLimit(bytes) = self.trouble {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            match rustix::process::prlimit(Some(pid(child.id())?), Resource::Fsize, limit) {
                // It has ended.
                Ok(_) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error).context("prlimit"),
            }
        }
        Ok(())
    }

    /// When it strikes again; none if that was the only time.
    fn strike(&self, child: &Child) -> Result<Option<Duration>> {
        match self.trouble {
            Trouble::Signal(signal, _) => send(child.id(), signal)?,
            Trouble::Workers(signal, every) => {
                if let Some(worker) = writebench_testkit::worker(child.id()) {
                    send(worker, signal)?;
                }
                return Ok(Some(every.max(Duration::from_millis(50))));
            }
            Trouble::Removal(_) => {
                // What is made meanwhile is for the next time.
                if fs::remove_dir_all(&self.target).is_err() {
                    return Ok(Some(Duration::from_millis(5)));
                }
            }
            Trouble::Fill(_) => fill(&self.target.join(OTHERS))?,
            Trouble::Silence(_) => self.server.map_or(Ok(()), |server| send(server, Signal::STOP))?,
            Trouble::Pause(who, _) => {
                let worker = || writebench_testkit::worker(child.id());
                let paused = if who == Paused::Program { Some(child.id()) } else { worker() };
                if let Some(paused) = paused {
                    send(paused, Signal::STOP)?;
                    std::thread::sleep(PAUSE);
                    send(paused, Signal::CONT)?;
                }
            }
            Trouble::Lock(_) => lock(&self.database)?,
            Trouble::Nothing | Trouble::FileLimit(_) | Trouble::ReaderLeaves | Trouble::KeptFiles => {}
            Trouble::Faults(..) | Trouble::Hang(..) => {}
        }
        Ok(None)
    }
}

/// The most that a program held at any look.
#[derive(Default)]
struct Held {
    most_descriptors: usize,
    most_memory_kib: u64,
}

impl Held {
    fn look(&mut self, process: u32) {
        let descriptors = entries(&PathBuf::from(format!("/proc/{process}/fd"))).len();
        self.most_descriptors = self.most_descriptors.max(descriptors);
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
        self.most_memory_kib = self.most_memory_kib.max(peak.unwrap_or(0));
    }
}

fn pid(process: u32) -> Result<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw).context("the number of a process")
}

fn send(process: u32, signal: Signal) -> Result<()> {
    match rustix::process::kill_process(pid(process)?, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error).context("kill"),
    }
}

/// Python has SQLite, and this program has not.
fn lock(database: &Path) -> Result<()> {
    const LINES: &str = "import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
database.execute('BEGIN IMMEDIATE')
time.sleep(6)
database.execute('ROLLBACK')";
    let mut python = Command::new("python3");
    python.args(["-c", LINES]).arg(database).stderr(Stdio::null());
    // There is no database before the first run has begun.
    python.status().context("python3").map(drop)
}

/// Until there is no room.
fn fill(file: &Path) -> Result<()> {
    let chunk = vec![1; 1 << 20];
    let mut file = File::create(file).context("a file that fills the filesystem")?;
    while file.write_all(&chunk).is_ok() {}
    Ok(())
}
