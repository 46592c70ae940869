//! A control group with a limit.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::group::Group;
use crate::program::extended;

/// A controller's place and the name of its limit: in the first generation, and in the second.
type Places = [(&'static str, &'static str); 2];

const MEMORY: Places = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
const PROCESSES: Places = [("/sys/fs/cgroup/pids", "pids.max"), ("/sys/fs/cgroup", "pids.max")];

/// A control group below the root one, with a limit. Removed when dropped: its processes must have ended.
pub struct ControlGroup {
    group: Group,
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
        let has_controller = |(root, limit): &&(&str, &str)| {
            // The root groups have no limit on processes, and in the second generation none at all.
            let controllers = fs::read_to_string(Path::new(root).join("cgroup.subtree_control"));
            let is_first = Path::new(root).join("cgroup.procs").exists() && root.ends_with(controller);
            is_first
                || Path::new(root).join(limit).exists()
                || controllers.is_ok_and(|it| it.contains(controller))
        };
        let (root, limit) = places.iter().find(has_controller).context("no such controller is mounted")?;
        let group = Group::below(Path::new(root))?;
        group.set(limit, &most.to_string())?;
        Ok(Self { group })
    }

    /// The same program, in the group from its beginning on.
    #[must_use]
    pub fn with(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", r#"echo $$ >"$0" && exec "$@""#]).arg(self.group.path.join("cgroup.procs"));
        extended(inside, command)
    }
}
