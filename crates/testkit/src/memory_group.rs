//! A control group with a limit on memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

use crate::program::wait_for;

/// Where the controller is, and what its limit is called: the first generation, and the second.
const PLACES: [(&str, &str); 2] =
    [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];

/// A group below the root one. Removed when dropped: its processes must have ended.
pub struct MemoryGroup {
    path: PathBuf,
}

/// Why there can be none here; none if there can.
pub(crate) fn missing() -> Option<String> {
    MemoryGroup::limited(1 << 30)
        .err()
        .map(|error| format!("no control group with a limit on memory: {error:#}"))
}

impl MemoryGroup {
    /// A group that may use so much.
    ///
    /// # Errors
    /// There is no such controller, or no right to it.
    pub fn limited(bytes: u64) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let has_limit = |(root, limit): &&(&str, &str)| {
            // The root group of the second generation has none itself.
            let controllers = fs::read_to_string(Path::new(root).join("cgroup.subtree_control"));
            Path::new(root).join(limit).exists() || controllers.is_ok_and(|names| names.contains("memory"))
        };
        let (root, limit) = PLACES.iter().find(has_limit).context("no memory controller is mounted")?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(root).join(format!("writebench-test-{}-{number}", std::process::id()));
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        let group = Self { path };
        fs::write(group.path.join(limit), bytes.to_string()).context("set the limit")?;
        Ok(group)
    }

    /// The same program, in the group from its beginning on.
    #[must_use]
    pub fn with(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", r#"echo $$ >"$0" && exec "$@""#]).arg(self.path.join("cgroup.procs"));
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A process that has just ended may still be in it.
        let _ = wait_for("an empty group", || fs::remove_dir(&self.path).ok());
    }
}
