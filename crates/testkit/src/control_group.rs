//! A control group with a limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

use crate::program::wait_for;

/// A controller's place and the name of its limit: in the first generation, and in the second.
type Places = [(&'static str, &'static str); 2];

const MEMORY: Places = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
const PROCESSES: Places = [("/sys/fs/cgroup/pids", "pids.max"), ("/sys/fs/cgroup", "pids.max")];

/// A control group below the root one, with a limit. Removed when dropped: its processes must have ended.
pub struct ControlGroup {
    path: PathBuf,
}

/// Why there can be no group with a limit on memory here; none if there can.
pub(crate) fn memory_missing() -> Option<String> {
    let error = ControlGroup::with_memory(1 << 30).err()?;
    Some(format!("no control group with a limit on memory: {error:#}"))
}

/// Why there can be no group with a limit on processes here; none if there can.
pub(crate) fn processes_missing() -> Option<String> {
    let error = ControlGroup::with_processes(100).err()?;
    Some(format!("no control group with a limit on processes: {error:#}"))
}

impl ControlGroup {
    /// A group that may use so much memory.
    ///
    /// # Errors
    /// There is no such controller, or no right to it.
    pub fn with_memory(bytes: u64) -> Result<Self> {
        Self::limited("memory", MEMORY, bytes)
    }

    /// A group that may have so many processes and threads.
    ///
    /// # Errors
    /// There is no such controller, or no right to it.
    pub fn with_processes(count: u64) -> Result<Self> {
        Self::limited("pids", PROCESSES, count)
    }

    fn limited(controller: &str, places: Places, most: u64) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let has_controller = |(root, limit): &&(&str, &str)| {
            // The root groups have no limit on processes, and in the second generation none at all.
            let controllers = fs::read_to_string(Path::new(root).join("cgroup.subtree_control"));
            let is_first = Path::new(root).join("cgroup.procs").exists() && root.ends_with(controller);
            is_first
                || Path::new(root).join(limit).exists()
                || controllers.is_ok_and(|it| it.contains(controller))
        };
        let (root, limit) = places.iter().find(has_controller).context("no such controller is mounted")?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(root).join(format!("writebench-test-{}-{number}", std::process::id()));
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        let group = Self { path };
        fs::write(group.path.join(limit), most.to_string()).context("set the limit")?;
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

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A process that has just ended may still be in it.
        let _ = wait_for("an empty group", || fs::remove_dir(&self.path).ok());
    }
}
