use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::group::Group;
use crate::program::extended;

/// A folder for groups, and a file of each group.
type Place = (&'static str, &'static str);

// Version 1, then version 2.
const MEMORY: [Place; 2] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup", "memory.max"),
];
const PROCESSES: [Place; 2] = [
    ("/sys/fs/cgroup/pids", "pids.max"),
    ("/sys/fs/cgroup", "pids.max"),
];
const CPU: [Place; 2] = [
    ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"),
    ("/sys/fs/cgroup", "cpu.max"),
];

/// Version 2, alone or next to version 1, and version 1.
const FREEZERS: [Place; 3] = [
    ("/sys/fs/cgroup/unified", "cgroup.freeze"),
    ("/sys/fs/cgroup", "cgroup.freeze"),
    ("/sys/fs/cgroup/freezer", "freezer.state"),
];

/// Its processes must have ended before the drop.
pub struct ControlGroup {
    /// For the processes, if the setting is above their own group.
    inner: Option<Group>,
    // Dropped after the subgroup.
    outer: Group,
    file: &'static str,
}

impl ControlGroup {
    pub fn with_memory(bytes: u64) -> Result<Self> {
        Self::limited(MEMORY, bytes)
    }

    pub fn with_processes(count: u64) -> Result<Self> {
        Self::limited(PROCESSES, count)
    }

    fn limited(places: [Place; 2], most: u64) -> Result<Self> {
        let (folder, file) = mounted(places);
        let outer = Group::below(Path::new(folder), file)?;
        outer.set(file, &most.to_string())?;
        Ok(Self {
            inner: None,
            outer,
            file,
        })
    }

    /// Above the processes' own group.
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

    /// They freeze above the processes' own group.
    #[must_use]
    pub fn freezers() -> Vec<Self> {
        FREEZERS
            .iter()
            .filter_map(|place| Self::nested(*place).ok())
            .collect()
    }

    fn nested((folder, file): Place) -> Result<Self> {
        let outer = Group::below(Path::new(folder), file)?;
        Ok(Self {
            inner: Some(Group::below(&outer.path, "cgroup.procs")?),
            outer,
            file,
        })
    }

    #[must_use]
    pub fn with(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside
            .args(["-c", r#"echo $$ >"$0" && exec "$@""#])
            .arg(self.members().path.join("cgroup.procs"));
        extended(inside, command)
    }

    pub fn add(&self, process: u32) -> Result<()> {
        self.members().set("cgroup.procs", &process.to_string())
    }

    fn members(&self) -> &Group {
        self.inner.as_ref().unwrap_or(&self.outer)
    }

    pub fn freeze(&self, frozen: bool) -> Result<()> {
        let [thawed, stopped] = if self.file == "freezer.state" {
            ["THAWED", "FROZEN"]
        } else {
            ["0", "1"]
        };
        self.outer
            .set(self.file, if frozen { stopped } else { thawed })
    }
}

/// A machine has one of the two hierarchies.
fn mounted([first, second]: [Place; 2]) -> Place {
    if Path::new(first.0).exists() {
        first
    } else {
        second
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A frozen process could not end.
        if FREEZERS.iter().any(|(_, file)| *file == self.file) {
            let _ = self.freeze(false);
        }
    }
}
