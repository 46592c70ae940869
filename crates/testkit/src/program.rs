use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempDir;

/// The program writebench with a home and a database of its own.
pub struct Program {
    binary: PathBuf,
    home: TempDir,
}

/// How a call of the program ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code, or `None` after a signal.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    pub fn new(binary: &str) -> Result<Self> {
        Ok(Self {
            binary: PathBuf::from(binary),
            home: tempfile::tempdir()?,
        })
    }

    #[must_use]
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// A command without the caller's own settings.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .env("HOME", self.home())
            .env("XDG_DATA_HOME", self.home())
            .env_remove("WRITEBENCH_DB")
            .stdin(Stdio::null());
        command
    }

    /// Calls the program and waits for its end.
    pub fn call(&self, arguments: &[&str]) -> Result<Ended> {
        let output = self
            .command(arguments)
            .output()
            .context("start writebench")?;
        Ok(Ended {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Calls `writebench run` and returns the JSON export. The call must end with that exit code.
    pub fn run(&self, target: &Path, arguments: &[&str], code: i32) -> Result<Value> {
        let export = self.home().join("export.json");
        let target = target.to_str().context("a target in UTF-8")?;
        let export_argument = format!("--export=json={}", export.display());
        let ended = self.call(&[&["run", target, &export_argument], arguments].concat())?;
        ensure!(
            ended.code == Some(code),
            "expected exit code {code}: {ended:#?}"
        );
        Ok(serde_json::from_str(&std::fs::read_to_string(export)?)?)
    }

    /// Starts the program without waiting for its end.
    pub fn start(&self, arguments: &[&str]) -> Result<Child> {
        Ok(self
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?)
    }
}

/// The command `outer` with another command as its last arguments.
#[must_use]
pub fn extended(mut outer: Command, command: &Command) -> Command {
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// Longer than anything takes that will happen at all, also on a machine with more work than CPUs: there, mkfs can need
/// half a minute.
const MOST_WAIT: Duration = Duration::from_secs(180);

/// Waits until `found` returns a value. It is an error if that takes minutes.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> Result<T> {
    let start = Instant::now();
    while start.elapsed() < MOST_WAIT {
        if let Some(value) = found() {
            return Ok(value);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    bail!("waited {} s for {what}", MOST_WAIT.as_secs())
}

/// The children of a process, first those of its first thread.
#[must_use]
pub fn children(process: u32) -> Vec<u32> {
    let mut threads = entries(Path::new(&format!("/proc/{process}/task")));
    threads.sort();
    let mut children = Vec::new();
    for thread in threads {
        let list = std::fs::read_to_string(thread.join("children")).unwrap_or_default();
        children.extend(
            list.split_whitespace()
                .filter_map(|number| number.parse::<u32>().ok()),
        );
    }
    children
}

/// The agent of a run that takes its samples. There is none between two workers.
#[must_use]
pub fn worker(run: u32) -> Option<u32> {
    children(run).into_iter().find(|&child| is_worker(child))
}

/// Whether a process is an agent that takes samples.
#[must_use]
pub fn is_worker(process: u32) -> bool {
    is_agent(process) && arguments(process).nth(1).as_deref() == Some("--samples")
}

/// Whether a process is an agent.
#[must_use]
pub fn is_agent(process: u32) -> bool {
    arguments(process).next().as_deref() == Some("agent")
}

/// The arguments of a process after the name of its program.
fn arguments(process: u32) -> impl Iterator<Item = String> {
    let line = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<String> = line.split('\0').skip(1).map(str::to_owned).collect();
    words.into_iter()
}

/// Kills a run, and waits for the end of its agents.
pub fn kill_run(mut run: Child) -> Result<()> {
    let all = children(run.id());
    run.kill()?;
    run.wait()?;
    wait_for("its agents to end", || {
        (!all.iter().copied().any(is_alive)).then_some(())
    })
}

/// Whether a process runs. A zombie has ended.
#[must_use]
pub fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

pub fn send(process: u32, signal: Signal) -> rustix::io::Result<()> {
    let pid = i32::try_from(process)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(Errno::SRCH)?;
    rustix::process::kill_process(pid, signal)
}

/// The most memory that a process had at once: `VmHWM` of proc_pid_status(5).
pub fn most_memory_bytes(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .context("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib << 10)
}

#[must_use]
pub fn descendants(process: u32) -> Vec<u32> {
    children(process)
        .into_iter()
        .flat_map(|child| [vec![child], descendants(child)].concat())
        .collect()
}

/// The paths in a directory. One that cannot be read has none.
#[must_use]
pub fn entries(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .collect()
}
