use std::path::Path;

use anyhow::{Context, Result};

use crate::group::Group;

/// A folder for groups, and a file of each group.
type Place = (&'static str, &'static str);

/// Version 1, and version 2.
const CPU: [Place; 2] = [("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"), ("/sys/fs/cgroup", "cpu.max")];

/// Version 2, alone or next to version 1, and version 1.
const FREEZERS: [Place; 3] = [
    ("/sys/fs/cgroup/unified", "cgroup.freeze"),
    ("/sys/fs/cgroup", "cgroup.freeze"),
    ("/sys/fs/cgroup/freezer", "freezer.state"),
];

/// The limit is above the processes' own group. They must have ended before the drop.
pub struct HeldGroup {
    inner: Group,
    // Dropped after the subgroup.
    outer: Group,
    file: &'static str,
}

impl HeldGroup {
    pub fn with_cpu_limit(percent: u32) -> Result<Self> {
        let group = CPU.iter().find_map(|place| Self::make(*place).ok()).context("no cpu controller here")?;
        let quota_us = percent * 1000;
        let limit = if group.file == "cpu.max" { format!("{quota_us} 100000") } else { quota_us.to_string() };
        group.outer.set(group.file, &limit)?;
        Ok(group)
    }

    #[must_use]
    pub fn freezers() -> Vec<Self> {
        FREEZERS.iter().filter_map(|place| Self::make(*place).ok()).collect()
    }

    fn make((root, file): Place) -> Result<Self> {
        let outer = Group::below(Path::new(root), file)?;
        let inner = Group::below(&outer.path, "cgroup.procs")?;
        Ok(Self { inner, outer, file })
    }

    pub fn add(&self, process: u32) -> Result<()> {
        self.inner.set("cgroup.procs", &process.to_string())
    }

    pub fn freeze(&self, frozen: bool) -> Result<()> {
        let [thawed, stopped] = if self.file == "freezer.state" { ["THAWED", "FROZEN"] } else { ["0", "1"] };
        self.outer.set(self.file, if frozen { stopped } else { thawed })
    }
}

impl Drop for HeldGroup {
    fn drop(&mut self) {
        // A frozen process could not end.
        if self.file != "cpu.max" && self.file != "cpu.cfs_quota_us" {
            let _ = self.freeze(false);
        }
    }
}
