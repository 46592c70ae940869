//! A process that makes and keeps filesystems, seen from outside.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use writebench_filesystems::{FilesystemRequest, Filesystems};
use writebench_model::{FilesystemSpec, Reserve};
use writebench_testkit::{Kind, children, directory_on, entries, loop_devices, wait_for};

pub(crate) const COMMAND: &str = "keep";

/// `keep IMAGES CONTENT_BYTES WISH…` removes the filesystems when its input ends.
pub(crate) fn keep(mut words: impl Iterator<Item = OsString>) -> Result<()> {
    let mut word = || words.next().and_then(|word| word.into_string().ok());
    let images = PathBuf::from(word().context("IMAGES")?);
    let content_bytes = word().context("CONTENT_BYTES")?.parse()?;
    let mut filesystems =
        Filesystems::begin(&images, Reserve::DEFAULT, &[&std::env::current_dir()?])?;
    while let Some(request) = word() {
        let request: Value = serde_json::from_str(&request)?;
        let request = FilesystemRequest {
            kind: request["kind"].as_str().context("kind")?.parse()?,
            mkfs_options: serde_json::from_value(request["mkfs"].clone())?,
            mount_options: serde_json::from_value(request["mount"].clone())?,
        };
        let made = filesystems.make(&request, content_bytes, &|| false);
        say(&match made {
            Ok(made) => json!({ "path": made.path, "making": made.spec }),
            Err(error) => json!({ "error": error.to_string() }),
        })?;
    }
    say(&json!("kept"))?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    say(&match filesystems.remove() {
        Ok(()) => json!("removed"),
        Err(error) => json!({ "error": error.to_string() }),
    })
}

fn say(what: &Value) -> Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{what}")?;
    Ok(stdout.flush()?)
}

pub(crate) fn request(kind: &str, mkfs: &[&str], mount: Option<&str>) -> Value {
    json!({ "kind": kind, "mkfs": mkfs, "mount": mount })
}

pub(crate) struct Kept {
    child: Child,
    stdout: BufReader<ChildStdout>,
    images: TempDir,
    made: Vec<Value>,
}

impl Kept {
    pub(crate) fn start(images_on: Kind, content_bytes: u64, requests: &[Value]) -> Result<Self> {
        Self::start_in(directory_on(images_on), content_bytes, requests)
    }

    pub(crate) fn start_in(
        images: TempDir,
        content_bytes: u64,
        requests: &[Value],
    ) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(COMMAND)
            .arg(images.path())
            .arg(content_bytes.to_string());
        command.args(requests.iter().map(Value::to_string));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let stdout = BufReader::new(child.stdout.take().context("stdout")?);
        Ok(Self {
            child,
            stdout,
            images,
            made: Vec::new(),
        })
    }

    pub(crate) fn made(mut self) -> Result<Self> {
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line)?;
            let value: Value = serde_json::from_str(&line).context("the process has ended")?;
            if value == "kept" {
                return Ok(self);
            }
            self.made.push(value);
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn images(&self) -> &Path {
        self.images.path()
    }

    /// The path of a filesystem, as seen from outside the namespace.
    pub(crate) fn path(&self, index: usize) -> Result<PathBuf> {
        let path = self.made[index]["path"]
            .as_str()
            .with_context(|| self.made[index].to_string())?;
        Ok(PathBuf::from(format!("/proc/{}/root{path}", self.pid())))
    }

    pub(crate) fn making(&self, index: usize) -> Result<FilesystemSpec> {
        serde_json::from_value(self.made[index]["making"].clone())
            .with_context(|| self.made[index].to_string())
    }

    pub(crate) fn error(&self, index: usize) -> Result<&str> {
        self.made[index]["error"]
            .as_str()
            .with_context(|| self.made[index].to_string())
    }

    pub(crate) fn mount_line(&self, index: usize) -> Result<String> {
        let point = self.made[index]["path"].as_str().context("made")?;
        let mounts = fs::read_to_string(format!("/proc/{}/mountinfo", self.pid()))?;
        let line = mounts
            .lines()
            .find(|line| line.split(' ').nth(4) == Some(point));
        Ok(line.with_context(|| mounts.clone())?.to_owned())
    }

    /// The process may still run.
    pub(crate) fn remove(mut self) -> Result<()> {
        let outside = Outside::around(&self);
        let said = self.try_to_remove()?;
        ensure!(said == "removed", "{said}");
        ensure!(
            outside.left()? == Vec::<String>::new(),
            "{:?}",
            outside.left()?
        );
        ensure!(self.child.wait()?.success());
        Ok(())
    }

    pub(crate) fn try_to_remove(&mut self) -> Result<Value> {
        drop(self.child.stdin.take());
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        serde_json::from_str(&line).context("the process has ended")
    }

    pub(crate) fn end_by(mut self, signal: rustix::process::Signal) -> Result<()> {
        let outside = Outside::around(&self);
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal)?;
        self.child.wait()?;
        let mut left = Vec::new();
        let gone = wait_for("everything to be gone", || {
            left = outside
                .left()
                .unwrap_or_else(|error| vec![error.to_string()]);
            left.is_empty().then_some(())
        });
        gone.with_context(|| format!("{left:?}"))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Outside {
    images: PathBuf,
    children: Vec<u32>,
}

impl Outside {
    fn around(kept: &Kept) -> Self {
        Self {
            images: kept.images().to_owned(),
            children: children(kept.pid()),
        }
    }

    fn left(&self) -> Result<Vec<String>> {
        let mut left: Vec<_> = loops_over(&self.images)
            .iter()
            .map(|device| device.display().to_string())
            .collect();
        left.extend(
            entries(&self.images)
                .iter()
                .map(|path| path.display().to_string()),
        );
        left.extend(
            self.children
                .iter()
                .map(|pid| format!("/proc/{pid}"))
                .filter(|path| Path::new(path).exists()),
        );
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        left.extend(
            mounts
                .lines()
                .filter(|line| line.contains(" writebench rw"))
                .map(str::to_owned),
        );
        Ok(left)
    }
}

pub(crate) fn loops_over(images: &Path) -> Vec<PathBuf> {
    let prefix = format!("{}/", images.display());
    let ours = loop_devices()
        .into_iter()
        .filter(|(_, file)| file.starts_with(&prefix));
    ours.map(|(device, _)| device).collect()
}
