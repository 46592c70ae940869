//! Files that no output may take the place of.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::fs::Stat;

use super::Named;
use super::directory::{Directory, Identity, identity, stat};
use crate::database;

/// The files that a command reads, or keeps its runs in. They are known by device and inode, so by all of their names,
/// and those that are not there yet by their place.
pub(crate) struct Kept {
    files: Vec<KeptFile>,
}

struct KeptFile {
    /// Its part in the command.
    role: &'static str,
    file: Option<Identity>,
    place: Option<Place>,
}

/// Where a file is, or will be.
enum Place {
    /// A name in that directory.
    In(Identity, OsString),
    /// A path without a link in it.
    Path(PathBuf),
}

/// The files that SQLite keeps beside a database.
const SIDE_FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

impl Kept {
    /// The database that the command line names, with all that belongs to it.
    pub(crate) fn database(named: Option<&Path>) -> Self {
        let mut kept = Self { files: Vec::new() };
        // Without a home directory there is none to be kept.
        let Ok(path) = database::path(named) else { return kept };
        // Side files stand beside the file, not beside a link to it.
        let path = path.canonicalize().unwrap_or(path);
        for suffix in SIDE_FILES {
            let mut file = path.clone().into_os_string();
            file.push(suffix);
            kept = kept.and("the database", Path::new(&file));
        }
        kept
    }

    /// And the file at that path, which need not be there.
    pub(crate) fn and(mut self, role: &'static str, path: &Path) -> Self {
        let real = path.canonicalize().or_else(|_| std::path::absolute(path));
        let real = real.unwrap_or_else(|_| path.to_path_buf());
        let parent = real.parent().and_then(|parent| stat(parent).ok());
        let place = parent
            .zip(real.file_name())
            .map(|(parent, name)| Place::In(identity(&parent), name.to_os_string()));
        let file = stat(path).ok().map(|stat| identity(&stat));
        self.files.push(KeptFile { role, file, place });
        self
    }

    /// And a file that has been looked at already, by its path without a link; `file` is none if it is not there.
    pub(crate) fn and_found(mut self, role: &'static str, path: &Path, file: Option<Identity>) -> Self {
        self.files.push(KeptFile { role, file, place: Some(Place::Path(path.to_path_buf())) });
        self
    }

    /// Refuses a name that is one of these files, or would become one.
    pub(super) fn check(
        &self,
        output: &Named,
        directory: &Directory,
        name: &OsStr,
        now: Option<&Stat>,
    ) -> Result<()> {
        let (parent, path) =
            (directory.identity().ok(), directory.real_path().ok().map(|path| path.join(name)));
        let is_there = |kept: &KeptFile| match &kept.place {
            Some(Place::In(kept_parent, kept_name)) => Some(*kept_parent) == parent && kept_name == name,
            Some(Place::Path(kept_path)) => path.as_ref() == Some(kept_path),
            None => false,
        };
        let is_it =
            |kept: &&KeptFile| is_there(kept) || now.is_some_and(|now| kept.file == Some(identity(now)));
        self.files.iter().find(is_it).map_or(Ok(()), |kept| Err(output.refused_as(kept.role)))
    }

    /// Refuses an open file that is one of these.
    pub(super) fn check_open(&self, output: &Named, now: &Stat) -> Result<()> {
        let found = self.files.iter().find(|kept| kept.file == Some(identity(now)));
        found.map_or(Ok(()), |kept| Err(output.refused_as(kept.role)))
    }
}
