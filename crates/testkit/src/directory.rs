use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A kind of filesystem that tests find on most machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Tmpfs,
    Ext4,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Tmpfs, Self::Ext4];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tmpfs => "tmpfs",
            Self::Ext4 => "ext4",
        }
    }

    /// The number in linux/magic.h.
    fn magic(self) -> u64 {
        match self {
            Self::Tmpfs => 0x0102_1994,
            Self::Ext4 => 0xef53,
        }
    }

    fn likely_directory(self) -> PathBuf {
        match self {
            Self::Tmpfs => PathBuf::from("/dev/shm"),
            Self::Ext4 => build_directory(),
        }
    }

    /// A writable directory on such a filesystem.
    #[must_use]
    pub fn parent(self) -> Option<PathBuf> {
        let candidates = [
            self.likely_directory(),
            PathBuf::from("/var/tmp"),
            std::env::temp_dir(),
        ];
        candidates
            .into_iter()
            .find(|path| self.is_at(path) == Ok(true) && tempfile::tempdir_in(path).is_ok())
    }

    /// Whether a path is on such a filesystem.
    pub fn is_at(self, path: &Path) -> rustix::io::Result<bool> {
        let magic = rustix::fs::statfs(path)?.f_type;
        Ok(u64::try_from(magic).is_ok_and(|magic| magic == self.magic()))
    }
}

/// A new directory on such a filesystem.
///
/// # Panics
///
/// It panics if no such filesystem is mounted: state the need in the trial.
#[must_use]
pub fn directory_on(kind: Kind) -> TempDir {
    let parent = kind
        .parent()
        .unwrap_or_else(|| panic!("no {} is mounted", kind.name()));
    tempfile::Builder::new()
        .prefix("writebench-test-")
        .tempdir_in(parent)
        .expect("a writable directory")
}

/// The directory of the test's own program.
fn build_directory() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(Path::to_path_buf))
        .unwrap_or_default()
}
