//! A control group that holds up the processes in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

use crate::program::wait_for;

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
    path: PathBuf,
    file: &'static str,
}

/// Why there can be none with a limit on CPU time here; none if there can.
pub(crate) fn cpu_missing() -> Option<String> {
    let error = HeldGroup::with_cpu_limit(50).err()?;
    Some(format!("no control group with a limit on CPU time: {error:#}"))
}

/// Why none can be frozen here; none if one can.
pub(crate) fn freezer_missing() -> Option<String> {
    HeldGroup::freezers().is_empty().then(|| "no control group that can be frozen".to_owned())
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
        group.set(&limit)?;
        Ok(group)
    }

    /// One of each kind that can be frozen here.
    #[must_use]
    pub fn freezers() -> Vec<Self> {
        FREEZERS.iter().filter_map(|place| Self::make(*place).ok()).collect()
    }

    fn make((root, file): Place) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(root).join(format!("writebench-hold-{}-{number}", std::process::id()));
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        let group = Self { path, file };
        fs::create_dir(group.inner())?;
        // A folder of a tmpfs can be made, too.
        fs::metadata(group.path.join(file)).context(file)?;
        Ok(group)
    }

    fn inner(&self) -> PathBuf {
        self.path.join("inner")
    }

    fn set(&self, value: &str) -> Result<()> {
        fs::write(self.path.join(self.file), value).with_context(|| format!("{value} in {}", self.file))
    }

    /// Moves a process into it.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn add(&self, process: u32) -> Result<()> {
        fs::write(self.inner().join("cgroup.procs"), process.to_string()).context("cgroup.procs")
    }

    /// Has its processes stand still, or go on.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn freeze(&self, frozen: bool) -> Result<()> {
        self.set(match (self.file, frozen) {
            ("freezer.state", true) => "FROZEN",
            ("freezer.state", false) => "THAWED",
            (_, true) => "1",
            (_, false) => "0",
        })
    }
}

impl Drop for HeldGroup {
    fn drop(&mut self) {
        // What stays frozen could not end.
        if self.file != "cpu.max" && self.file != "cpu.cfs_quota_us" {
            let _ = self.freeze(false);
        }
        // A process that has just ended may still be in it.
        for path in [self.inner(), self.path.clone()] {
            let _ =
                wait_for("an empty group", || (!path.exists() || fs::remove_dir(&path).is_ok()).then_some(()));
        }
    }
}
