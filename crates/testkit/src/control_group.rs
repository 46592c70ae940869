use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::group::Group;
use crate::program::extended;

/// For version 1, then version 2.
type Places = [(&'static str, &'static str); 2];

const MEMORY: Places = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
const PROCESSES: Places = [("/sys/fs/cgroup/pids", "pids.max"), ("/sys/fs/cgroup", "pids.max")];

/// Its processes must have ended before the drop.
pub struct ControlGroup {
    group: Group,
}

impl ControlGroup {
    pub fn with_memory(bytes: u64) -> Result<Self> {
        Self::limited(MEMORY, bytes)
    }

    pub fn with_processes(count: u64) -> Result<Self> {
        Self::limited(PROCESSES, count)
    }

    fn limited([first, second]: Places, most: u64) -> Result<Self> {
        let make = |(root, limit)| {
            let group = Group::below(Path::new(root), limit)?;
            group.set(limit, &most.to_string())?;
            Ok(Self { group })
        };
        // A machine has one of the two hierarchies, whose error counts.
        if Path::new(first.0).exists() { make(first) } else { make(second) }
    }

    #[must_use]
    pub fn with(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", r#"echo $$ >"$0" && exec "$@""#]).arg(self.group.path.join("cgroup.procs"));
        extended(inside, command)
    }
}
