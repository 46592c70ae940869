//! The source, and the remaining copy.
//!
//! The copy is made in the workspace, compared, and then renamed. No partial copy ever appears, and a link
//! planted in the target is replaced, not followed.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;

use rustix::fs::{Access, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use writebench_model::protocol::{CopyDestination, CopySource, Existing};
use writebench_model::{Holes, counted};

use crate::directory_entry;
use crate::error::{RunnerError, failed};
use crate::workspace::Workspace;

const DESCRIPTORS: &str = "/proc/self/fd";
const BLOCK_BYTES: usize = 1 << 20;
/// The name of an unfinished copy in the workspace.
const UNFINISHED: &str = "copy";

fn identity(metadata: &Metadata) -> [u64; 2] {
    [metadata.dev(), metadata.ino()]
}

pub(super) fn source(named: &Path) -> Result<CopySource, RunnerError> {
    let path = if named.starts_with(DESCRIPTORS) {
        named.read_link()
    } else {
        named.canonicalize()
    };
    // Opening a pipe would wait for its other end.
    let metadata = named.metadata().map_err(failed("stat", named))?;
    let is_regular = metadata.is_file();
    let size_bytes = metadata.len();
    let mut ends_at_size = true;
    let mut data_bytes = size_bytes;
    if is_regular {
        let file = open(named).map_err(failed("open", named))?;
        ends_at_size = ends_at(&file, size_bytes).map_err(failed("read", named))?;
        data_bytes = writebench_probe::data_bytes(&file, size_bytes);
    }
    let path = path.map_err(failed("realpath", named))?;
    let name = if named.starts_with(DESCRIPTORS) {
        named.to_path_buf()
    } else {
        path.clone()
    };
    let identity = identity(&metadata);
    Ok(CopySource {
        name,
        path,
        identity,
        size_bytes,
        is_regular,
        ends_at_size,
        data_bytes,
    })
}

/// Whether there is a byte before the offset, and none at it.
fn ends_at(file: &File, size_bytes: u64) -> io::Result<bool> {
    let has_byte = |offset| file.read_at(&mut [0], offset).map(|read| read > 0);
    Ok((size_bytes == 0 || has_byte(size_bytes - 1)?) && !has_byte(size_bytes)?)
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
}

/// Fails if another file has the name now.
pub fn open_source(name: &Path, identity_then: [u64; 2]) -> Result<File, RunnerError> {
    let file = open(name).map_err(failed("open", name))?;
    let metadata = file.metadata().map_err(failed("stat", name))?;
    if identity(&metadata) != identity_then {
        return Err(RunnerError::Swapped {
            path: name.to_path_buf(),
        });
    }
    Ok(file)
}

pub(super) fn destination(named: &Path) -> Result<CopyDestination, RunnerError> {
    if named.starts_with(DESCRIPTORS) {
        let metadata = named.metadata().map_err(failed("stat", named))?;
        let (name, identity, size_bytes) =
            (named.to_path_buf(), identity(&metadata), metadata.len());
        let descriptor = Existing::Descriptor {
            name,
            identity,
            size_bytes,
        };
        let existing = if metadata.is_file() {
            descriptor
        } else {
            Existing::Other
        };
        let path = named.read_link().map_err(failed("readlink", named))?;
        return Ok(CopyDestination {
            path,
            directory: None,
            existing,
        });
    }
    let parent = named
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let name = named
        .file_name()
        .ok_or(ErrorKind::InvalidFilename)
        .map_err(failed("open", named))?;
    let directory = parent.metadata().map_err(failed("stat", parent))?;
    let path = parent
        .canonicalize()
        .map_err(failed("realpath", named))?
        .join(name);
    let existing = match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Existing::Nothing,
        Err(error) => return Err(failed("stat", named)(error)),
        Ok(metadata) if metadata.is_symlink() => Existing::Link {
            to: path.read_link().map_err(failed("readlink", named))?,
        },
        Ok(metadata) if metadata.is_file() => Existing::File {
            identity: identity(&metadata),
            size_bytes: metadata.len(),
            is_writable: rustix::fs::access(&path, Access::WRITE_OK).is_ok(),
        },
        Ok(_) => Existing::Other,
    };
    Ok(CopyDestination {
        path,
        directory: Some(identity(&directory)),
        existing,
    })
}

/// `target` is the open directory of the destination, unless that is a descriptor.
pub(super) fn copy(
    source: &CopySource,
    destination: &CopyDestination,
    holes: Holes,
    target: &OwnedFd,
    workspace: &Workspace,
) -> Result<(), RunnerError> {
    let from = open_source(&source.name, source.identity)?;
    let length = from.metadata().map_err(failed("stat", &source.path))?.len();
    if length != source.size_bytes {
        let path = source.path.display();
        let before = source.size_bytes;
        let now = counted(length, "byte");
        let why = format!("{path} has {now} now, and had {before} when it was measured");
        return Err(RunnerError::Told(why));
    }
    match &destination.existing {
        Existing::Descriptor { name, .. } => {
            let to = OpenOptions::new().read(true).write(true).open(name);
            let to = to.map_err(failed("open", &destination.path))?;
            to.set_len(0)
                .map_err(failed("ftruncate", &destination.path))?;
            // A partial copy would look complete.
            fill(&from, &to, source, destination, holes).inspect_err(|_| _ = to.set_len(0))
        }
        Existing::Nothing | Existing::File { .. } => {
            let to = unfinished(&from, destination, workspace)?;
            fill(&from, &to, source, destination, holes)?;
            to.sync_data()
                .map_err(failed("fdatasync", &destination.path))?;
            rename_to_destination(destination, target, workspace)
        }
        Existing::Link { .. } | Existing::Other => {
            let path = destination.path.display();
            Err(RunnerError::Told(format!(
                "{path} is not a regular file, so it cannot receive the copy"
            )))
        }
    }
}

pub(super) fn empty(destination: &CopyDestination) -> Result<(), RunnerError> {
    let Existing::Descriptor { name, .. } = &destination.existing else {
        return Ok(());
    };
    let emptied = OpenOptions::new()
        .write(true)
        .open(name)
        .and_then(|file| file.set_len(0));
    emptied.map_err(failed("ftruncate", &destination.path))
}

/// Gives the copy the owner and mode that cp(1) would choose: those of a replaced file, or else the source's mode
/// without the umask.
fn unfinished(
    from: &File,
    destination: &CopyDestination,
    workspace: &Workspace,
) -> Result<File, RunnerError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let of_source = from
        .metadata()
        .map_err(failed("stat", &destination.path))?
        .mode();
    let mode = Mode::from_bits_truncate(of_source & 0o777);
    let file = rustix::fs::openat(&workspace.directory, UNFINISHED, flags, mode);
    let file = File::from(file.map_err(failed("open", &destination.path))?);
    if matches!(destination.existing, Existing::File { .. }) {
        let now = destination
            .path
            .symlink_metadata()
            .map_err(failed("stat", &destination.path))?;
        // Only root may change the owner. Another user's file becomes this user's when replaced.
        let _ = fchown(&file, Some(now.uid()), Some(now.gid()));
        file.set_permissions(now.permissions())
            .map_err(failed("fchmod", &destination.path))?;
    }
    Ok(file)
}

fn fill(
    from: &File,
    to: &File,
    source: &CopySource,
    destination: &CopyDestination,
    holes: Holes,
) -> Result<(), RunnerError> {
    let written = failed("write", &destination.path);
    let size_bytes = source.size_bytes;
    if holes == Holes::Keep {
        to.set_len(size_bytes)
            .map_err(failed("ftruncate", &destination.path))?;
    }
    let mut block = vec![0; BLOCK_BYTES];
    let mut copied = vec![0; BLOCK_BYTES];
    let mut at = 0;
    while let Some(data) = match holes {
        Holes::Fill => (at < size_bytes).then_some(at..size_bytes),
        Holes::Keep => writebench_probe::next_data(from, at, size_bytes),
    } {
        at = data.end;
        for (offset, length) in blocks(data) {
            from.read_exact_at(&mut block[..length], offset)
                .map_err(|error| not_read(source, error))?;
            to.write_all_at(&block[..length], offset).map_err(written)?;
        }
    }
    if !ends_at(from, size_bytes).map_err(failed("read", &source.path))? {
        let why = format!(
            "{} became longer or shorter during the copy",
            source.path.display()
        );
        return Err(RunnerError::Told(why));
    }
    for (offset, length) in blocks(0..size_bytes) {
        from.read_exact_at(&mut block[..length], offset)
            .map_err(|error| not_read(source, error))?;
        to.read_exact_at(&mut copied[..length], offset)
            .map_err(written)?;
        if block[..length] != copied[..length] {
            let copy = destination.path.display();
            let source = source.path.display();
            let why =
                format!("{copy} differs from {source}: check for other writers of both files");
            return Err(RunnerError::Told(why));
        }
    }
    Ok(())
}

/// A range in blocks, each with its offset and length.
fn blocks(range: Range<u64>) -> impl Iterator<Item = (u64, usize)> {
    range.clone().step_by(BLOCK_BYTES).map(move |offset| {
        let left = usize::try_from(range.end - offset).unwrap_or(usize::MAX);
        (offset, left.min(BLOCK_BYTES))
    })
}

/// The kernel gives files of sysfs a length that their content does not have.
fn not_read(source: &CopySource, error: io::Error) -> RunnerError {
    if error.kind() != ErrorKind::UnexpectedEof {
        return failed("read", &source.path)(error);
    }
    let path = source.path.display();
    let length = counted(source.size_bytes, "byte");
    RunnerError::Told(format!(
        "{path} ends before its length of {length}. Name a file that does not change, on a disk"
    ))
}

fn rename_to_destination(
    destination: &CopyDestination,
    target: &OwnedFd,
    workspace: &Workspace,
) -> Result<(), RunnerError> {
    let swapped = || RunnerError::Swapped {
        path: destination.path.clone(),
    };
    let name = destination.path.file_name().ok_or_else(swapped)?;
    let now = match rustix::fs::statat(target, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(directory_entry::identity(&stat)),
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(failed("stat", &destination.path)(errno)),
    };
    if now != destination.identity() {
        return Err(swapped());
    }
    let flags = if now.is_none() {
        RenameFlags::NOREPLACE
    } else {
        RenameFlags::empty()
    };
    let renamed =
        match rustix::fs::renameat_with(&workspace.directory, UNFINISHED, target, name, flags) {
            // On filesystems without flags, a file created at this moment is replaced. A link is never
            // followed.
            Err(Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::renameat(&workspace.directory, UNFINISHED, target, name)
            }
            renamed => renamed,
        };
    match renamed {
        Err(Errno::EXIST) => return Err(swapped()),
        renamed => renamed.map_err(failed("rename", &destination.path))?,
    }
    // Without it, a power loss can undo the rename.
    match rustix::fs::fsync(target) {
        // Some filesystems do not sync directories.
        Err(Errno::INVAL) => Ok(()),
        synced => synced.map_err(failed("fsync of the directory of", &destination.path)),
    }
}
