//! `--from X --to Y`, or `<X >Y`: the file that is copied, and the copy that stays.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use model::{Bytes, RunRecord};
use rustix::fs::{Mode, OFlags};

use crate::arguments::RunCommand;
use crate::copy_to::{CopyTo, Existing};
use crate::exit;

/// A file to copy that was given, and where its copy goes, if that was given, too.
pub struct Copied {
    // Inherited by the worker, so without CLOEXEC.
    from: File,
    from_path: PathBuf,
    size_bytes: u64,
    to: Option<CopyTo>,
}

impl Copied {
    /// What the command line, or the redirections, name; none if they name nothing.
    pub fn of(command: &RunCommand) -> Result<Option<Self>> {
        if let Some(from) = &command.from {
            return Self::open(from, command.to.as_deref(), Existing::WrittenOver).map(Some);
        }
        if command.to.is_some() {
            return Err(exit::usage("--to needs --from: which file is copied?"));
        }
        let copies = command.selection.suite.iter().any(|suite| suite == "copy");
        if !copies || command.measuring.dry_run {
            return Ok(None);
        }
        let copied = Self::redirected()?;
        if copied.is_some() && !command.target.is_empty() {
            return Err(exit::usage(
                "with <X >Y the target is the directory of Y: leave TARGET out, or do not redirect (</dev/null)",
            ));
        }
        Ok(copied)
    }

    /// What a run that is resumed was told. A copy that stays must be `named` again, as the database may be a
    /// stranger's. What has come to be in its place meanwhile stays.
    pub fn of_run(run: &RunRecord, named: Option<&Path>) -> Result<Option<Self>> {
        let settings = &run.settings;
        let to = settings.copy_to.as_deref().map(Path::new);
        match (&settings.copy_from, to, named) {
            (Some(from), Some(to), None) => {
                let to = to.display();
                Err(exit::usage(format!("the run leaves {to} as a copy of {from}: if it shall, add --to {to}")))
            }
            (_, Some(to), Some(named)) if !is_same_place(to, named) => {
                Err(exit::usage(format!("--to {}: the run copies to {}", named.display(), to.display())))
            }
            (_, None, Some(named)) => {
                Err(exit::usage(format!("--to {}: the run leaves no copy", named.display())))
            }
            (None, ..) => Ok(None),
            (Some(from), ..) => Self::open(Path::new(from), to, Existing::Refused).map(Some),
        }
    }

    fn open(from: &Path, to: Option<&Path>, existing: Existing) -> Result<Self> {
        // A pipe would wait for its other end.
        let file: File = rustix::fs::open(from, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())
            .map_err(|errno| {
                exit::usage(format!("--from {}: {}", from.display(), exit::meaning(&errno.into())))
            })?
            .into();
        let metadata = file.metadata().with_context(|| format!("stat {}", from.display()))?;
        let copied = Self::new(file, from, &metadata, None)?;
        let to = to.map(|to| CopyTo::named(to, &metadata, existing)).transpose()?;
        Ok(Self { to, ..copied })
    }

    /// Standard input and output, where both are regular files: `<X >Y`. An output that holds something, or is
    /// appended to, is somebody's log, and not what a copy is wanted in.
    fn redirected() -> Result<Option<Self>> {
        let file = |fd: BorrowedFd<'_>| -> io::Result<(File, Metadata)> {
            let file = File::from(fd.try_clone_to_owned()?);
            let metadata = file.metadata()?;
            Ok((file, metadata))
        };
        // What is not open is no file.
        let (stdin, stdout) = (file(io::stdin().as_fd()), file(io::stdout().as_fd()));
        let (Ok((_, from)), Ok((to_file, to))) = (stdin, stdout) else { return Ok(None) };
        if !from.is_file() || !to.is_file() {
            return Ok(None);
        }
        let path = |number: u32| std::fs::read_link(format!("/proc/self/fd/{number}"));
        let (from_path, to_path) = (path(0)?, path(1)?);
        let to = CopyTo::stdout(to_file, to_path, &to, &from)?;
        let file: File = rustix::fs::open("/proc/self/fd/0", OFlags::RDONLY, Mode::empty())?.into();
        Self::new(file, &from_path, &from, Some(to)).map(Some)
    }

    fn new(file: File, path: &Path, metadata: &Metadata, to: Option<CopyTo>) -> Result<Self> {
        let refuse = |why: &str| exit::usage(format!("{}: {why}", path.display()));
        if !metadata.is_file() {
            return Err(refuse("not a regular file; only those can be copied"));
        }
        if metadata.len() == 0 {
            return Err(refuse("empty; there is nothing to copy"));
        }
        let from_path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        Ok(Self { from: file, from_path, size_bytes: metadata.len(), to })
    }

    /// The file, inherited by whoever is started.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.from.as_fd()
    }

    /// Its length.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Its path, for the record.
    pub fn source_path(&self) -> String {
        self.from_path.display().to_string()
    }

    /// The copy's path, for the record.
    pub fn copy_path(&self) -> Option<String> {
        self.to.as_ref().map(|to| to.path().display().to_string())
    }

    /// Whether results have to go elsewhere than to standard output.
    pub fn takes_stdout(&self) -> bool {
        self.to.as_ref().is_some_and(CopyTo::is_stdout)
    }

    /// The directory that the copy goes to, and so the one to measure in.
    pub fn target(&self) -> Option<&Path> {
        self.to.as_ref()?.path().parent()
    }

    /// Space that the copy which stays will take.
    pub fn copy_bytes(&self) -> u64 {
        if self.to.is_some() { self.size_bytes } else { 0 }
    }

    /// Whether so much can be copied of it.
    pub fn check_size(&self, sizes: &[Bytes]) -> Result<()> {
        let length = Bytes(self.size_bytes);
        for size in sizes {
            if size.0 > self.size_bytes {
                let from = self.from_path.display();
                return Err(exit::usage(format!("{from} has {length}, and --size {size} asks for more")));
            }
            if size.0 != self.size_bytes && self.to.is_some() {
                return Err(exit::usage(format!("--to is a copy of all of it, {length}: leave --size out")));
            }
        }
        Ok(())
    }

    /// Copies, and compares byte by byte, unless `stop` is set. Where the copy is; none if none was asked for.
    pub fn finish(self, stop: &AtomicBool) -> Result<Option<PathBuf>> {
        let Some(to) = self.to else { return Ok(None) };
        let doing = format!("copy {} to {}", self.from_path.display(), to.path().display());
        to.fill(&self.from, self.size_bytes, stop).context(doing).map(Some)
    }
}

/// Whether the name leads to the path that was recorded, which has no link in it; the file need not be there yet.
fn is_same_place(recorded: &Path, named: &Path) -> bool {
    let beside =
        || Some(std::path::absolute(named).ok()?.parent()?.canonicalize().ok()?.join(named.file_name()?));
    recorded == named || named.canonicalize().ok().or_else(beside).is_some_and(|path| path == recorded)
}
