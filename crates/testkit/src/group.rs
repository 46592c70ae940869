use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

use crate::program::wait_for;

/// A control group. Its processes must have ended before the drop.
pub(crate) struct Group {
    pub(crate) path: PathBuf,
}

impl Group {
    /// Makes a group in a folder. `file` proves that the group has the controller.
    pub(crate) fn below(root: &Path, file: &str) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("writebench-test-{}-{number}", std::process::id()));
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        let group = Self { path };
        // A folder in a tmpfs would also be created, but lacks this file.
        fs::metadata(group.path.join(file))
            .with_context(|| format!("no {file} in {}", root.display()))?;
        Ok(group)
    }

    pub(crate) fn set(&self, file: &str, value: &str) -> Result<()> {
        fs::write(self.path.join(file), value).with_context(|| format!("{value} in {file}"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // An ended process may still be in the group for a moment.
        let _ = wait_for("an empty group", || fs::remove_dir(&self.path).ok());
    }
}
