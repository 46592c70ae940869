//! Where a copy goes that stays. Nothing is made or emptied before all has been measured.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use rustix::fs::{Access, OFlags};

use crate::exit;

/// A file that is to become a copy.
pub struct CopyTo {
    path: PathBuf,
    // Where it is standard output, which is open already.
    stdout: Option<File>,
}

/// What becomes of a file that is there and holds something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It was named, and is written over, as cp would.
    WrittenOver,
    /// It is not known whether it is the one that was named.
    Refused,
}

impl CopyTo {
    /// The file that `--to` names; it is looked at and not touched.
    pub fn named(path: &Path, from: &Metadata, existing: Existing) -> Result<Self> {
        let refuse = |why: String| exit::usage(format!("--to {}: {why}", path.display()));
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::new_file(path),
            Err(error) => return Err(refuse(exit::meaning(&error))),
        };
        if !metadata.is_file() {
            return Err(refuse("not a regular file".to_owned()));
        }
        if is_same(from, &metadata) {
            return Err(refuse("the same file as --from".to_owned()));
        }
        if existing == Existing::Refused && metadata.len() > 0 {
            return Err(refuse(
                "holds something now, and a run that is resumed copies into no such file".to_owned(),
            ));
        }
        rustix::fs::access(path, Access::WRITE_OK).map_err(|errno| refuse(exit::meaning(&errno.into())))?;
        let path = path.canonicalize().with_context(|| format!("find {}", path.display()))?;
        Ok(Self { path, stdout: None })
    }

    /// One that is not there yet.
    fn new_file(path: &Path) -> Result<Self> {
        let refuse =
            |error: io::Error| exit::usage(format!("--to {}: {}", path.display(), exit::meaning(&error)));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or_else(|| refuse(ErrorKind::InvalidFilename.into()))?;
        Ok(Self { path: parent.canonicalize().map_err(refuse)?.join(name), stdout: None })
    }

    /// Standard output, if it can be meant.
    pub fn stdout(file: File, path: PathBuf, metadata: &Metadata, from: &Metadata) -> Result<Self> {
        let appends = rustix::fs::fcntl_getfl(&file).is_ok_and(|flags| flags.contains(OFlags::APPEND));
        if metadata.len() > 0 || appends {
            return Err(exit::usage(
                "standard input and output are files, so the one would be copied to the other, but the output \
                 is not empty: use --from and --to, or redirect them elsewhere (</dev/null)",
            ));
        }
        if is_same(from, metadata) {
            return Err(exit::usage("standard input and output are the same file"));
        }
        Ok(Self { path, stdout: Some(file) })
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        self.stdout.is_some()
    }

    /// Copies all of `from` into it, and compares byte by byte. What is broken off is emptied: half a copy
    /// looks like a whole one.
    pub fn fill(self, from: &File, length: u64, stop: &AtomicBool) -> Result<PathBuf> {
        // Before anything is emptied.
        let now = from.metadata()?.len();
        if now != length {
            bail!("the file has {now} bytes now, and had {length} when it was measured");
        }
        let to = match self.stdout {
            Some(file) => file,
            None => OpenOptions::new().write(true).create(true).truncate(false).open(&self.path)?,
        };
        to.set_len(0)?;
        let result = copy(from, &to, length, stop);
        if result.is_err() {
            let _ = to.set_len(0);
        }
        result?;
        if !is_equal(from, &self.path, length)? {
            bail!("the copy differs; did somebody write to one of them?");
        }
        Ok(self.path)
    }
}

const BLOCK_BYTES: usize = 1 << 20;

fn copy(from: &File, to: &File, length: u64, stop: &AtomicBool) -> Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    let mut at = 0;
    while at < length {
        if stop.load(Ordering::Relaxed) {
            bail!("interrupted; the copy is empty");
        }
        let piece = usize::try_from(length - at).unwrap_or(usize::MAX).min(block.len());
        from.read_exact_at(&mut block[..piece], at)?;
        to.write_all_at(&block[..piece], at)?;
        at += piece as u64;
    }
    Ok(())
}

fn is_equal(from: &File, copy: &Path, length: u64) -> io::Result<bool> {
    // The descriptor of a redirection cannot read.
    let copy = File::open(copy)?;
    let (mut a, mut b) = (vec![0; BLOCK_BYTES], vec![0; BLOCK_BYTES]);
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

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
