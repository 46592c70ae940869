//! Files that no output may take the place of.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::fs::Stat;
use writebench_runner::CopyPlace;

use super::Named;
use super::directory::{Directory, Identity, identity};
use crate::database;
use crate::exit::refused;

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

fn look(path: &Path) -> Option<Identity> {
    path.metadata().ok().map(|it| (it.dev(), it.ino()))
}

impl Kept {
    /// The user's databases, with all files beside them: the named one, and those that other commands find.
    pub(crate) fn database(named: Option<&Path>) -> Self {
        let mut kept = Self { files: Vec::new() };
        for path in database::paths(named) {
            // Side files stand beside the file, not beside a link to it.
            let path = path.canonicalize().unwrap_or(path);
            for file in writebench_store::files(&path) {
                kept = kept.and("the database", &file);
            }
        }
        kept
    }

    /// Adds the file at that path, which need not exist.
    pub(crate) fn and(mut self, role: &'static str, path: &Path) -> Self {
        let real = path.canonicalize().or_else(|_| std::path::absolute(path));
        let real = real.unwrap_or_else(|_| path.to_path_buf());
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
        let path = place.map(|(directory, name)| directory.real_path().join(name));
        let parent = place.and_then(|(directory, _)| directory.identity().ok());
        match self.reason(path.as_deref(), parent, now.map(identity)) {
            Some(why) => Err(output.refused(&why)),
            None => Ok(()),
        }
    }

    /// Refuses a kept file as the place of a copy, on which this process makes no call.
    pub(crate) fn check_copy(&self, place: &CopyPlace) -> Result<()> {
        let path = &place.path;
        match self.reason(Some(path), place.directory.map(Into::into), place.identity().map(Into::into)) {
            Some(why) => Err(refused!("--to {}: {why}", path.display())),
            None => Ok(()),
        }
    }

    /// The reason why this is no place for an output: a path without links, its directory, and the file there.
    fn reason(&self, path: Option<&Path>, parent: Option<Identity>, now: Option<Identity>) -> Option<String> {
        let name = path.and_then(Path::file_name);
        let is_it = |kept: &&KeptFile| {
            let is_there = parent.is_some() && parent == kept.parent && name == kept.path.file_name();
            is_there || path == Some(&kept.path) || now.is_some() && now == kept.file
        };
        let kept = self.files.iter().find(is_it)?;
        Some(format!("this is {}, which would be lost; name another file", kept.role))
    }
}
