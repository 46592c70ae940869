//! The program under test, as a person or a script would call it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempDir;

/// `writebench`, with a database of its own.
pub struct Program {
    binary: PathBuf,
    home: TempDir,
}

/// What a call came to.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it printed beside results.
    pub stderr: String,
}

impl Program {
    /// The program at that path.
    ///
    /// # Errors
    /// No temporary directory can be made.
    pub fn new(binary: &str) -> Result<Self> {
        Ok(Self { binary: PathBuf::from(binary), home: tempfile::tempdir()? })
    }

    /// Where it is.
    #[must_use]
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The directory that is its home: its database is in it, and exports may be.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// A call that has not begun. It finds nothing of the caller's own settings.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env("HOME", self.home()).env("XDG_DATA_HOME", self.home());
        command.env_remove("WRITEBENCH_DB").stdin(Stdio::null());
        command
    }

    /// A call, to its end.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn call(&self, arguments: &[&str]) -> Result<Ended> {
        let output = self.command(arguments).output().context("start writebench")?;
        Ok(Ended {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// `writebench run TARGET ARGUMENTS…` to its end, which must be that exit code; its JSON export.
    ///
    /// # Errors
    /// Another exit code, or no JSON.
    pub fn run(&self, target: &Path, arguments: &[&str], code: i32) -> Result<Value> {
        let export = self.home().join("export.json");
        let target = target.to_str().context("a target in UTF-8")?;
        let export_argument = format!("--export=json={}", export.display());
        let ended = self.call(&[&["run", target, &export_argument], arguments].concat())?;
        ensure!(ended.code == Some(code), "expected exit code {code}: {ended:#?}");
        Ok(serde_json::from_str(&std::fs::read_to_string(export)?)?)
    }

    /// A call in the background.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, arguments: &[&str]) -> Result<Child> {
        Ok(self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    }
}

/// A program that is followed by another as its last words, with the environment that was set for that.
pub(crate) fn extended(mut outer: Command, command: &Command) -> Command {
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// Waits until `found` finds something, half a minute at most.
///
/// # Errors
/// It does not come.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> Result<T> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if let Some(it) = found() {
            return Ok(it);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    bail!("waited 30 s for {what}")
}

/// The children of a process, by number: those of its first thread first.
#[must_use]
pub fn children(process: u32) -> Vec<u32> {
    let mut threads = entries(Path::new(&format!("/proc/{process}/task")));
    threads.sort();
    let lists =
        threads.iter().map(|thread| std::fs::read_to_string(thread.join("children")).unwrap_or_default());
    let numbers =
        |list: String| list.split_whitespace().filter_map(|number| number.parse().ok()).collect::<Vec<_>>();
    lists.flat_map(numbers).collect()
}

/// The worker among the children of a run, by number: at most one, and none between two of them.
#[must_use]
pub fn worker(run: u32) -> Option<u32> {
    children(run).into_iter().find(|child| {
        let line = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).nth(1) == Some(b"worker")
    })
}

/// Kills a run, and waits for its worker and its keepers to follow it.
///
/// # Errors
/// They do not.
pub fn kill_run(mut run: Child) -> Result<()> {
    let all = children(run.id());
    run.kill()?;
    run.wait()?;
    // One that nobody waits for stays as a zombie.
    let is_there = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    wait_for("its worker and its keepers to end", || (!all.iter().any(is_there)).then_some(()))
}

/// Sends a signal to a process.
///
/// # Errors
/// The kernel refuses, or there is no such process.
pub fn send(process: u32, signal: Signal) -> rustix::io::Result<()> {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    rustix::process::kill_process(pid, signal)
}

/// The most memory that a process ever had: `VmHWM` of proc_pid_status(5).
///
/// # Errors
/// It has ended.
pub fn most_memory_bytes(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib << 10)
}

/// Its children, theirs, and so on.
#[must_use]
pub fn descendants(process: u32) -> Vec<u32> {
    children(process).into_iter().flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

/// What is in a directory.
#[must_use]
pub fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.filter_map(Result::ok).map(|entry| entry.path()).collect()
}
