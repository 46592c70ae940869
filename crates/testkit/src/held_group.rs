//! A control group that holds up the processes in it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::group::Group;

/// Where a controller may be: a folder in which groups can be made, and a file that each of them has.
type Place = (&'static str, &'static str);

/// The first generation, and the second.
const CPU: [Place; 2] = [("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"), ("/sys/fs/cgroup", "cpu.max")];

/// The second generation also where it stands beside the first, and the first.
const FREEZERS: [Place; 3] = [
    ("/sys/fs/cgroup/unified", "cgroup.freeze"),
    ("/sys/fs/cgroup", "cgroup.freeze"),
    ("/sys/fs/cgroup/freezer", "freezer.state"),
];

/// A group, and one below it for processes, so that what holds them up is set around their own. Removed when dropped:
/// its processes must have ended.
pub struct HeldGroup {
    inner: Group,
    // After the one below it.
    outer: Group,
    file: &'static str,
}

impl HeldGroup {
    /// Processes in it have that share of the time of a CPU.
    ///
    /// # Errors
    /// There is no such controller, or no right to it.
    pub fn with_cpu_limit(percent: u32) -> Result<Self> {
        let group = CPU.iter().find_map(|place| Self::make(*place).ok()).context("no cpu controller here")?;
        let quota_us = percent * 1000;
        let limit = if group.file == "cpu.max" { format!("{quota_us} 100000") } else { quota_us.to_string() };
        group.outer.set(group.file, &limit)?;
        Ok(group)
    }

    /// One of each kind that can be frozen here.
    #[must_use]
    pub fn freezers() -> Vec<Self> {
        FREEZERS.iter().filter_map(|place| Self::make(*place).ok()).collect()
    }

    fn make((root, file): Place) -> Result<Self> {
        let outer = Group::below(Path::new(root))?;
        let inner = Group::below(&outer.path)?;
        // A folder of a tmpfs can be made, too.
        fs::metadata(outer.path.join(file)).context(file)?;
        Ok(Self { inner, outer, file })
    }

    /// Moves a process into it.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn add(&self, process: u32) -> Result<()> {
        self.inner.set("cgroup.procs", &process.to_string())
    }

    /// Has its processes stand still, or go on.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn freeze(&self, frozen: bool) -> Result<()> {
        let state = match (self.file, frozen) {
            ("freezer.state", true) => "FROZEN",
            ("freezer.state", false) => "THAWED",
            (_, true) => "1",
            (_, false) => "0",
        };
        self.outer.set(self.file, state)
    }
}

impl Drop for HeldGroup {
    fn drop(&mut self) {
        // What stays frozen could not end.
        if self.file != "cpu.max" && self.file != "cpu.cfs_quota_us" {
            let _ = self.freeze(false);
        }
    }
}
