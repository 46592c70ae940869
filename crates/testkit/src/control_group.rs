use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::group::Group;
use crate::program::extended;

/// A hierarchy of control groups, and a setting of each group.
#[derive(Clone, Copy)]
struct Controller {
    folder: &'static str,
    file: &'static str,
}

// Each array has version 1, then version 2.
const MEMORY: [Controller; 2] = [
    Controller {
        folder: "/sys/fs/cgroup/memory",
        file: "memory.limit_in_bytes",
    },
    Controller {
        folder: "/sys/fs/cgroup",
        file: "memory.max",
    },
];
const PROCESSES: [Controller; 2] = [
    Controller {
        folder: "/sys/fs/cgroup/pids",
        file: "pids.max",
    },
    Controller {
        folder: "/sys/fs/cgroup",
        file: "pids.max",
    },
];
const CPU: [Controller; 2] = [
    Controller {
        folder: "/sys/fs/cgroup/cpu",
        file: "cpu.cfs_quota_us",
    },
    Controller {
        folder: "/sys/fs/cgroup",
        file: "cpu.max",
    },
];

/// These are version 2 next to version 1, version 2 alone, and version 1.
const FREEZERS: [Controller; 3] = [
    Controller {
        folder: "/sys/fs/cgroup/unified",
        file: "cgroup.freeze",
    },
    Controller {
        folder: "/sys/fs/cgroup",
        file: "cgroup.freeze",
    },
    Controller {
        folder: "/sys/fs/cgroup/freezer",
        file: "freezer.state",
    },
];

/// A control group with a setting. Its processes must have ended before the drop.
pub struct ControlGroup {
    /// The group of the processes, if the setting is above their own group.
    inner: Option<Group>,
    // Dropped after the subgroup.
    outer: Group,
    file: &'static str,
}

impl ControlGroup {
    /// A group whose processes together have so much memory.
    pub fn with_memory(bytes: u64) -> Result<Self> {
        Self::limited(MEMORY, bytes)
    }

    /// A group with so many processes and threads.
    pub fn with_processes(count: u64) -> Result<Self> {
        Self::limited(PROCESSES, count)
    }

    fn limited(versions: [Controller; 2], most: u64) -> Result<Self> {
        let Controller { folder, file } = mounted(versions);
        let outer = Group::below(Path::new(folder), file)?;
        outer.set(file, &most.to_string())?;
        Ok(Self {
            inner: None,
            outer,
            file,
        })
    }

    /// A limit on CPU time above the processes' own group.
    pub fn with_cpu_limit(percent: u32) -> Result<Self> {
        let group = Self::nested(mounted(CPU))?;
        let quota_us = percent * 1000;
        let limit = if group.file == "cpu.max" {
            format!("{quota_us} 100000")
        } else {
            quota_us.to_string()
        };
        group.outer.set(group.file, &limit)?;
        Ok(group)
    }

    /// A group of each version that can freeze processes. They freeze above the processes' own group.
    #[must_use]
    pub fn freezers() -> Vec<Self> {
        FREEZERS
            .iter()
            .filter_map(|version| Self::nested(*version).ok())
            .collect()
    }

    fn nested(Controller { folder, file }: Controller) -> Result<Self> {
        let outer = Group::below(Path::new(folder), file)?;
        Ok(Self {
            inner: Some(Group::below(&outer.path, "cgroup.procs")?),
            outer,
            file,
        })
    }

    /// The command in this group.
    #[must_use]
    pub fn with(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside
            .args(["-c", r#"echo $$ >"$0" && exec "$@""#])
            .arg(self.members().path.join("cgroup.procs"));
        extended(inside, command)
    }

    /// Moves a process into this group.
    pub fn add(&self, process: u32) -> Result<()> {
        self.members().set("cgroup.procs", &process.to_string())
    }

    fn members(&self) -> &Group {
        self.inner.as_ref().unwrap_or(&self.outer)
    }

    /// Freezes the processes, or thaws them.
    pub fn freeze(&self, frozen: bool) -> Result<()> {
        let is_version_1 = self.file == "freezer.state";
        let value = match (is_version_1, frozen) {
            (true, true) => "FROZEN",
            (true, false) => "THAWED",
            (false, true) => "1",
            (false, false) => "0",
        };
        self.outer.set(self.file, value)
    }
}

/// A machine has one of the two versions.
fn mounted([first, second]: [Controller; 2]) -> Controller {
    if Path::new(first.folder).exists() {
        first
    } else {
        second
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A frozen process could not end.
        if FREEZERS.iter().any(|version| version.file == self.file) {
            let _ = self.freeze(false);
        }
    }
}
