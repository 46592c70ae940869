use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use anyhow::Result;
use writebench_model::protocol::CopyDestination;

use super::OutputPath;
use super::directory::{Directory, Identity, identity, identity_at};
use crate::database;
use crate::exit::refused;

/// Files that no output may replace: the sources and databases of a command. Existing files are identified by device and
/// inode, so under all names, and missing files by their path.
pub(crate) struct ProtectedPaths(Vec<ProtectedFile>);

struct ProtectedFile {
    role: &'static str,
    file: Option<Identity>,
    /// The path with all links resolved. The file need not exist yet.
    path: PathBuf,
    parent: Option<Identity>,
}

impl ProtectedPaths {
    /// The named database, and those that other commands use, with their side files.
    pub(crate) fn database(named: Option<&Path>) -> Self {
        // Side files are in the directory of the file, not of a link to it.
        let databases = database::paths(named)
            .into_iter()
            .map(|path| path.canonicalize().unwrap_or(path));
        let files = databases.flat_map(|path| writebench_store::files(&path).collect::<Vec<_>>());
        files.fold(Self(Vec::new()), |protected, file| {
            protected.and("the database", &file)
        })
    }

    pub(crate) fn and(mut self, role: &'static str, path: &Path) -> Self {
        let real = path.canonicalize().or_else(|_| std::path::absolute(path));
        let real = real.unwrap_or_else(|_| path.to_path_buf());
        let file = identity_at(path);
        let parent = real.parent().and_then(identity_at);
        self.0.push(ProtectedFile {
            role,
            file,
            path: real,
            parent,
        });
        self
    }

    /// Adds a file without another system call. `path` has no links, and `file` is none if it does not exist.
    pub(crate) fn and_found(
        mut self,
        role: &'static str,
        path: &Path,
        file: Option<Identity>,
    ) -> Self {
        self.0.push(ProtectedFile {
            role,
            file,
            path: path.to_path_buf(),
            parent: None,
        });
        self
    }

    pub(super) fn check(
        &self,
        output: &OutputPath,
        destination: Option<(&Directory, &OsStr)>,
        now: Option<&Metadata>,
    ) -> Result<()> {
        let path = destination.map(|(directory, name)| directory.real_path().join(name));
        let parent = destination.and_then(|(directory, _)| directory.identity());
        self.reason(path.as_deref(), parent, now.map(identity))
            .map_or(Ok(()), |why| Err(output.refused(&why)))
    }

    /// Makes no system call on the target, which may hang.
    pub(crate) fn check_copy(&self, destination: &CopyDestination) -> Result<()> {
        let path = &destination.path;
        let parent = destination.directory.map(Into::into);
        let reason = self.reason(Some(path), parent, destination.identity().map(Into::into));
        reason.map_or(Ok(()), |why| {
            Err(refused!("--to {}: {why}", path.display()))
        })
    }

    fn reason(
        &self,
        path: Option<&Path>,
        parent: Option<Identity>,
        now: Option<Identity>,
    ) -> Option<String> {
        let name = path.and_then(Path::file_name);
        let is_it = |file: &&ProtectedFile| {
            let is_there =
                parent.is_some() && parent == file.parent && name == file.path.file_name();
            is_there || path == Some(&file.path) || now.is_some() && now == file.file
        };
        let role = self.0.iter().find(is_it)?.role;
        Some(format!(
            "this is {role}, which would be lost. Name another file"
        ))
    }
}
