use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use anyhow::{Result, ensure};
use rustix::fs::OFlags;
use writebench_report::formats;

use super::OutputPath;
use super::directory::Directory;

/// Replaces only files with the mark of writebench ([`formats::MARK`]), unless `replaces_all`.
pub(crate) struct OutputDirectory {
    named: OutputPath,
    destination: Destination,
    replaces_all: bool,
}

enum Destination {
    Existing(Directory),
    /// A name in an open directory. The new directory is made with its first file.
    New(Directory, OsString),
}

impl OutputDirectory {
    /// Opens the directory, or its parent. Changes nothing.
    pub(crate) fn find(named: OutputPath, replaces_all: bool) -> Result<Self> {
        let path = named.path.as_path();
        let destination = if path.file_name().is_some() {
            let (parent, name) = named.parent()?;
            match named.call("stat", parent.inspect(&name))? {
                None => Destination::New(parent, name),
                Some(found) if found.is_symlink() => {
                    return Err(named.refused_link(&parent.real_path().join(name), "directory"));
                }
                Some(_) => Destination::Existing(named.outside_runs(path, parent.inner(&name))?),
            }
        } else {
            // `.` and `..` are never links.
            Destination::Existing(named.outside_runs(path, Directory::open(path))?)
        };
        let (Destination::Existing(written) | Destination::New(written, _)) = &destination;
        named.check_writable(written)?;
        Ok(Self {
            named,
            destination,
            replaces_all,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.named.path
    }

    pub(crate) fn check(&self, name: &str) -> Result<()> {
        match &self.destination {
            Destination::Existing(directory) => self.check_in(directory, name),
            Destination::New(..) => Ok(()),
        }
    }

    /// Writes all files, or none if one may not be written.
    pub(crate) fn write(&self, files: &[(String, String)]) -> Result<()> {
        let made;
        let directory = match &self.destination {
            Destination::Existing(directory) => directory,
            Destination::New(parent, name) => {
                let make = || match std::fs::create_dir(parent.at(name)) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                    _ => parent.inner(name),
                };
                made = self.named.call("make the directory", make())?;
                &made
            }
        };
        for (name, _) in files {
            self.check_in(directory, name)?;
        }
        directory.sweep(None);
        for (name, content) in files {
            let named = self.file(name);
            let name = OsStr::new(name);
            named.finish(directory, name, named.begin(directory, name, content)?)?;
        }
        Ok(())
    }

    fn file(&self, name: &str) -> OutputPath {
        OutputPath {
            path: self.named.path.join(name),
            ..self.named.clone()
        }
    }

    fn check_in(&self, directory: &Directory, name: &str) -> Result<()> {
        let named = self.file(name);
        let existing = named.check_name(directory, OsStr::new(name))?;
        ensure!(
            existing.is_none() || self.replaces_all || named.call("read", has_mark(directory, name))?,
            named.refused(
                "not made by writebench, whose files have a mark. Name another directory, or add --force"
            )
        );
        Ok(())
    }
}

fn has_mark(directory: &Directory, name: &str) -> io::Result<bool> {
    // Longer than the text before the mark.
    const BEGINNING_BYTES: u64 = 200;
    let mut beginning = Vec::new();
    let file = directory.open_file(OsStr::new(name), OFlags::empty())?;
    file.take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
    Ok(formats::has_mark(&beginning))
}
