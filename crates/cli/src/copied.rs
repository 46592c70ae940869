//! `--from X --to Y`, or `<X >Y`: the file that is copied, and the copy that stays.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use model::{Bytes, Failure, RunRecord};
use rustix::fs::{Mode, OFlags};

use crate::arguments::RunCommand;
use crate::exit;

/// A file to copy that was given, and where its copy goes, if that was given, too.
pub struct Copied {
    // Inherited by the worker, so without CLOEXEC.
    from: File,
    from_path: PathBuf,
    size_bytes: u64,
    to: Option<CopyTo>,
}

struct CopyTo {
    file: File,
    path: PathBuf,
    is_stdout: bool,
}

impl Copied {
    /// What the command line, or the redirections, name; none if they name nothing.
    pub fn of(command: &RunCommand) -> Result<Option<Self>> {
        if let Some(from) = &command.from {
            return Self::open(from, command.to.as_deref()).map(Some);
        }
        let copies = command.suite.iter().any(|suite| suite == "copy");
        if !copies || command.resume.is_some() || command.dry_run {
            return Ok(None);
        }
        Self::redirected()
    }

    /// What a run that is resumed was told.
    pub fn of_run(run: &RunRecord) -> Result<Option<Self>> {
        let settings = &run.settings;
        let Some(from) = &settings.copy_from else { return Ok(None) };
        Self::open(Path::new(from), settings.copy_to.as_deref().map(Path::new)).map(Some)
    }

    fn open(from: &Path, to: Option<&Path>) -> Result<Self> {
        let file: File = rustix::fs::open(from, OFlags::RDONLY, Mode::empty())
            .map_err(|errno| exit::usage(format!("--from {}: {}", from.display(), meaning(errno))))?
            .into();
        let metadata = file.metadata().with_context(|| format!("stat {}", from.display()))?;
        let to = to.map(|to| open_to(to, &metadata)).transpose()?;
        Self::new(file, from, &metadata, to)
    }

    /// Standard input and output, where both are regular files: `<X >Y`. An output that holds something, or is
    /// appended to, is somebody's log, and not what a copy is wanted in.
    fn redirected() -> Result<Option<Self>> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let metadata = |fd: BorrowedFd<'_>| -> io::Result<(File, Metadata)> {
            let file = File::from(fd.try_clone_to_owned()?);
            let metadata = file.metadata()?;
            Ok((file, metadata))
        };
        // What is not open is no file.
        let (Ok((_, from)), Ok((to_file, to))) = (metadata(stdin.as_fd()), metadata(stdout.as_fd())) else {
            return Ok(None);
        };
        if !from.is_file() || !to.is_file() {
            return Ok(None);
        }
        let appends = rustix::fs::fcntl_getfl(&to_file).is_ok_and(|flags| flags.contains(OFlags::APPEND));
        if to.len() > 0 || appends {
            return Err(exit::usage(
                "standard input and output are files, so the one would be copied to the other, but the output \
                 is not empty: use --from and --to, or redirect them elsewhere (</dev/null)",
            ));
        }
        let path = |number: u32| std::fs::read_link(format!("/proc/self/fd/{number}"));
        let (from_path, to_path) = (path(0)?, path(1)?);
        if is_same(&from, &to) {
            return Err(exit::usage("standard input and output are the same file"));
        }
        let file: File = rustix::fs::open("/proc/self/fd/0", OFlags::RDONLY, Mode::empty())?.into();
        let to = CopyTo { file: to_file, path: to_path, is_stdout: true };
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
        self.to.as_ref().map(|to| to.path.display().to_string())
    }

    /// Whether results have to go elsewhere than to standard output.
    pub fn takes_stdout(&self) -> bool {
        self.to.as_ref().is_some_and(|to| to.is_stdout)
    }

    /// The directory that the copy goes to, and so the one to measure in.
    pub fn target(&self) -> Option<&Path> {
        let parent = self.to.as_ref()?.path.parent()?;
        Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
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

    /// Copies, and compares byte by byte. Where the copy is; none if none was asked for.
    pub fn finish(mut self) -> Result<Option<PathBuf>> {
        let Some(to) = &mut self.to else { return Ok(None) };
        let doing = || format!("copy {} to {}", self.from_path.display(), to.path.display());
        let copied = (|| {
            to.file.set_len(0)?;
            to.file.seek(SeekFrom::Start(0))?;
            self.from.seek(SeekFrom::Start(0))?;
            io::copy(&mut (&self.from).take(self.size_bytes), &mut &to.file)
        })();
        let copied = copied.with_context(doing)?;
        if copied != self.size_bytes {
            bail!("{}: the file became shorter: {copied} of {} bytes", doing(), self.size_bytes);
        }
        if !is_equal(&self.from, &to.path, copied).with_context(doing)? {
            bail!("{}: the copy differs; did somebody write to one of them?", doing());
        }
        Ok(Some(to.path.clone()))
    }
}

fn open_to(path: &Path, from: &Metadata) -> Result<CopyTo> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let file: File = rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))
        .map_err(|errno| exit::usage(format!("--to {}: {}", path.display(), meaning(errno))))?
        .into();
    let metadata = file.metadata().with_context(|| format!("stat {}", path.display()))?;
    if !metadata.is_file() {
        return Err(exit::usage(format!("--to {}: not a regular file", path.display())));
    }
    if is_same(from, &metadata) {
        return Err(exit::usage(format!("--to {}: the same file as --from", path.display())));
    }
    let path = path.canonicalize().with_context(|| format!("find {}", path.display()))?;
    Ok(CopyTo { file, path, is_stdout: false })
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn is_equal(from: &File, copy: &Path, length: u64) -> io::Result<bool> {
    // The descriptor of a redirection cannot read.
    let copy = File::open(copy)?;
    let (mut a, mut b) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut at = 0;
    while at < length {
        let piece = usize::try_from(length - at).unwrap_or(usize::MAX).min(a.len());
        from.read_exact_at(&mut a[..piece], at)?;
        copy.read_exact_at(&mut b[..piece], at)?;
        if a[..piece] != b[..piece] {
            return Ok(false);
        }
        at += piece as u64;
    }
    Ok(copy.metadata()?.len() == length)
}

fn meaning(errno: rustix::io::Errno) -> String {
    let number = errno.raw_os_error();
    format!("{} ({number})", Failure::errno_message(number))
}
