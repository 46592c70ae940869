//! Files that no output may take the place of.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::fs::Stat;

use super::Named;
use super::directory::{Directory, Identity, identity};
use crate::database;

/// The files that a command reads, or keeps its runs in. Existing files are known by device and
/// inode, so by all of their names, and missing ones by their place.
pub(crate) struct Kept {
    files: Vec<KeptFile>,
}

struct KeptFile {
    role: &'static str,
    file: Option<Identity>,
    /// The path, without links, of the file, which need not exist yet.
    path: PathBuf,
    /// The directory above, if that was looked at, too.
    parent: Option<Identity>,
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

    /// Adds the file at that path, which need not exist.
    pub(crate) fn and(mut self, role: &'static str, path: &Path) -> Self {
        let real = path.canonicalize().or_else(|_| std::path::absolute(path));
        let real = real.unwrap_or_else(|_| path.to_path_buf());
        let look = |path: &Path| path.metadata().ok().map(|it| (it.dev(), it.ino()));
        let (file, parent) = (look(path), real.parent().and_then(look));
        self.files.push(KeptFile { role, file, path: real, parent });
        self
    }

    /// Adds a file that has been looked at already, by its path without links; `file` is none if it
    /// does not exist.
    pub(crate) fn and_found(mut self, role: &'static str, path: &Path, file: Option<Identity>) -> Self {
        self.files.push(KeptFile { role, file, path: path.to_path_buf(), parent: None });
        self
    }

    /// Refuses a kept file, and a name that would become one.
    pub(super) fn check(
        &self,
        output: &Named,
        place: Option<(&Directory, &OsStr)>,
        now: Option<&Stat>,
    ) -> Result<()> {
        let (parent, path) = place.map(|(at, name)| (at.identity().ok(), at.real_path().join(name))).unzip();
        let name = place.map(|(_, name)| name);
        let is_there = |kept: &KeptFile| {
            path.as_ref() == Some(&kept.path)
                || kept.parent.is_some() && parent == Some(kept.parent) && kept.path.file_name() == name
        };
        let is_it =
            |kept: &&KeptFile| is_there(kept) || now.is_some_and(|now| kept.file == Some(identity(now)));
        self.files.iter().find(is_it).map_or(Ok(()), |kept| {
            let role = kept.role;
            Err(output.refused(&format!("this is {role}, which would be lost; name another file")))
        })
    }
}
