use std::path::{Path, PathBuf};

use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Tmpfs,
    Ext4,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Tmpfs, Self::Ext4];

    #[must_use]
    pub fn name(self) -> &'static str {
        self.card().0
    }

    /// The name, the number in linux/magic.h, and a likely place.
    fn card(self) -> (&'static str, u64, PathBuf) {
        match self {
            Self::Tmpfs => ("tmpfs", 0x0102_1994, PathBuf::from("/dev/shm")),
            Self::Ext4 => ("ext4", 0xef53, build_directory()),
        }
    }

    #[must_use]
    pub fn parent(self) -> Option<PathBuf> {
        let candidates = [
            self.card().2,
            PathBuf::from("/var/tmp"),
            std::env::temp_dir(),
        ];
        candidates
            .into_iter()
            .find(|path| self.is_at(path) == Ok(true) && tempfile::tempdir_in(path).is_ok())
    }

    pub fn is_at(self, path: &Path) -> rustix::io::Result<bool> {
        Ok(u64::try_from(rustix::fs::statfs(path)?.f_type)
            .is_ok_and(|magic| magic == self.card().1))
    }
}

/// # Panics
/// No such filesystem is mounted: state the need in the trial.
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

/// Above the test's own program.
fn build_directory() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(Path::to_path_buf))
        .unwrap_or_default()
}
