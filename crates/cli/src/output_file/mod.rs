//! Files that the user asks for.
//!
//! An [`OutputFile`] is found before anything is measured, and its directory is held open. Devices, links and
//! [`ProtectedPaths`] are refused. A regular file is written as `.NAME.writebench-ID.part` in the same directory, and renamed
//! once it is complete and on the disk. Readers see the old file or the new one, even after a kill or on a full disk. The
//! next writer of the same file removes the leftovers of a killed one. `O_EXCL` and the open directory make planted links
//! harmless.

mod directory;
mod many;
mod pipe;
mod protected;

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Result, anyhow, ensure};
use rustix::fs::{Access, OFlags};
use writebench_model::Failure;

pub(crate) use self::many::OutputDirectory;
pub(crate) use self::protected::ProtectedPaths;

use self::directory::{Directory, open};
use self::pipe::Pipe;
use crate::closed_output;
use crate::exit::{refused, usage};
use crate::output::Output;

pub(crate) struct OutputFile {
    named: OutputPath,
    sink: Sink,
}

enum Sink {
    /// A regular file, or a new name.
    File(Directory, OsString),
    /// Standard output or standard error, by another name than `-`.
    Standard(File),
    /// An `O_PATH` descriptor of a pipe, or of the caller's open file.
    Pipe(File),
    /// `-`, in place of the tables.
    Results,
}

impl OutputFile {
    /// Opens the directory or the descriptor of the path. Changes nothing.
    pub(crate) fn find(named: OutputPath) -> Result<Self> {
        let sink = match descriptor(&named.path) {
            _ if named.path.as_os_str() == "-" => Sink::Results,
            Some(number) => opened_by_caller(&named, number)?,
            None => named_sink(&named)?,
        };
        Ok(Self { named, sink })
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.sink, &other.sink) {
            (Sink::Results, Sink::Results) => true,
            (Sink::File(own, name), Sink::File(theirs, other)) => {
                name == other && own.identity() == theirs.identity()
            }
            _ => false,
        }
    }

    pub(crate) fn is_for_results(&self) -> bool {
        matches!(self.sink, Sink::Results)
    }

    /// Waits for the reader of a pipe until a signal.
    pub(crate) fn write(&self, content: &str, output: &Output) -> Result<()> {
        match &self.sink {
            Sink::File(directory, name) => {
                directory.sweep(Some(name));
                self.named
                    .finish(directory, name, self.named.begin(directory, name, content)?)
            }
            _ => self.stream(content, output).map(drop),
        }
    }

    /// Opens the output for writing during a run. The beginning is written before a regular file replaces an older one.
    pub(crate) fn stream(&self, beginning: &str, output: &Output) -> Result<Box<dyn Write>> {
        let mut opened: Box<dyn Write> = match &self.sink {
            Sink::File(directory, name) => {
                directory.sweep(Some(name));
                let file = self.named.begin(directory, name, beginning)?;
                return Ok(Box::new(self.named.publish(directory, name, file)?));
            }
            Sink::Results => return output.export(beginning).map(|()| output.exporter()),
            Sink::Standard(file) => Box::new(self.named.call("dup", file.try_clone())?),
            Sink::Pipe(found) => {
                let path = self.named.path.display();
                let waits = || output.note(&format!("Waiting for a reader of {path}."));
                Box::new(self.named.call("open", Pipe::open(found, waits))?)
            }
        };
        match opened
            .write_all(beginning.as_bytes())
            .and_then(|()| opened.flush())
        {
            // A closed pipe is an error of the next line, not of the run.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(self.named.failed("write", &error))
            }
            _ => Ok(opened),
        }
    }
}

/// The name of an output in errors.
#[derive(Clone)]
pub(crate) struct OutputPath {
    pub option: &'static str,
    pub path: PathBuf,
    pub protected: Rc<ProtectedPaths>,
}

impl OutputPath {
    fn refused(&self, why: &str) -> anyhow::Error {
        refused!("{} {}: {why}", self.option, self.path.display())
    }

    fn refused_link(&self, link: &Path, kind: &str) -> anyhow::Error {
        let leads_to = std::fs::read_link(link).unwrap_or_default();
        let leads_to = leads_to.display();
        self.refused(&format!(
            "a symbolic link to {leads_to}, perhaps another user's. Name that {kind} itself"
        ))
    }

    fn usage(&self, path: &Path, why: &str) -> anyhow::Error {
        usage!("{}: {} is {why}", self.option, path.display())
    }

    fn failed(&self, call: &str, error: &io::Error) -> anyhow::Error {
        anyhow!(
            "cannot write {}: {call}: {}",
            self.path.display(),
            Failure::io_message(error)
        )
    }

    fn call<T>(&self, call: &str, result: Result<T, impl Into<io::Error>>) -> Result<T> {
        result.map_err(|error| self.failed(call, &error.into()))
    }

    fn parent(&self) -> Result<(Directory, OsString)> {
        let name = self
            .path
            .file_name()
            .ok_or_else(|| self.usage(&self.path, "a directory. Name a file"))?;
        let parent = self
            .path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        Ok((
            self.outside_runs(parent, Directory::open(parent))?,
            name.to_os_string(),
        ))
    }

    /// An existing directory, which is not a run's.
    fn outside_runs(&self, path: &Path, opened: io::Result<Directory>) -> Result<Directory> {
        let directory = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                self.usage(path, "not a directory. Give one that exists")
            }
            _ => usage!(
                "{}: {}: {}",
                self.option,
                path.display(),
                Failure::io_message(&error)
            ),
        })?;
        let is_outside = !is_in_workspace(&directory.real_path());
        ensure!(
            is_outside,
            self.refused("a run works in this directory, and removes it. Name another")
        );
        Ok(directory)
    }

    fn check_writable(&self, directory: &Directory) -> Result<()> {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        self.call(
            "its directory",
            directory.check_access(OsStr::new("."), access),
        )
    }

    /// Refuses a name that is neither free nor a regular file's.
    fn check_name(&self, directory: &Directory, name: &OsStr) -> Result<Option<Metadata>> {
        let now = self.call("stat", directory.inspect(name))?;
        self.protected
            .check(self, Some((directory, name)), now.as_ref())?;
        match now {
            Some(found) if found.is_dir() => {
                Err(self.usage(&self.path, "a directory. Name a file"))
            }
            Some(found) if found.is_symlink() => {
                Err(self.refused_link(&directory.real_path().join(name), "file"))
            }
            Some(found) if found.is_file() => Ok(Some(found)),
            Some(_) => Err(self.refused(
                "neither a regular file nor a pipe. Name another file, or - for standard output",
            )),
            None => Ok(None),
        }
    }
}

fn named_sink(named: &OutputPath) -> Result<Sink> {
    let (directory, name) = named.parent()?;
    if let Ok(found) = directory.open_file(&name, OFlags::PATH)
        && let Some(pipe) = found
            .metadata()
            .ok()
            .filter(|found| found.file_type().is_fifo())
    {
        let uid = pipe.uid();
        ensure!(
            !named.call("stat", directory.may_have_planted(&pipe))?,
            named.refused(&format!(
                "a pipe of another user (uid {uid}) in a directory with write permission for all. Name another file"
            ))
        );
        return Ok(Sink::Pipe(found));
    }
    let existing = named.check_name(&directory, &name)?;
    named.check_writable(&directory)?;
    if existing.is_some() {
        named.call("access", directory.check_access(&name, Access::WRITE_OK))?;
    }
    Ok(Sink::File(directory, name))
}

/// A file opened by the shell, such as `/dev/stdout` or `/dev/fd/63`.
fn opened_by_caller(named: &OutputPath, number: u32) -> Result<Sink> {
    let found = named.call(
        "open",
        open(Path::new(&format!("/proc/self/fd/{number}")), OFlags::PATH),
    )?;
    let metadata = named.call("stat", found.metadata())?;
    named.protected.check(named, None, Some(&metadata))?;
    ensure!(
        !metadata.is_dir(),
        named.usage(&named.path, "a directory. Name a file")
    );
    ensure!(
        !metadata.file_type().is_block_device(),
        named.refused("a device. Name a file, or a pipe")
    );
    let standard = |fd: BorrowedFd<'_>| named.call("dup", fd.try_clone_to_owned());
    named.call("write", closed_output::check(number.cast_signed()))?;
    Ok(match number {
        1 => Sink::Standard(standard(io::stdout().as_fd())?.into()),
        2 => Sink::Standard(standard(io::stderr().as_fd())?.into()),
        _ => Sink::Pipe(found),
    })
}

/// The number of this process's descriptor at that path, if it has one.
fn descriptor(path: &Path) -> Option<u32> {
    // `/dev/stdout` → `/proc/self/fd/1`.
    const MOST_LINKS: usize = 4;
    let own = Path::new("/proc/self/fd").canonicalize().ok()?;
    let mut path = std::path::absolute(path).ok()?;
    for _ in 0..MOST_LINKS {
        let parent = path.parent()?.canonicalize().ok()?;
        if parent == own {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = parent.join(std::fs::read_link(&path).ok()?);
    }
    None
}

fn is_in_workspace(path: &Path) -> bool {
    let prefix = writebench_runner::workspace_path(Path::new(""), "").into_os_string();
    path.iter().any(|name| {
        let id = name
            .as_encoded_bytes()
            .strip_prefix(prefix.as_encoded_bytes());
        id.is_some_and(|id| !id.is_empty() && id.iter().all(u8::is_ascii_alphanumeric))
    })
}
