//! What may explain a sample: the machine right before it, and what held it up.

use std::fs;
use std::path::{Path, PathBuf};

use model::Watch;

use crate::machine::meminfo_bytes;

/// Counters of what holds a process up, at one moment, and the machine's memory.
pub struct Watcher {
    before: Watch,
}

impl Watcher {
    /// Looks at the machine.
    pub fn begin() -> Self {
        let before = Watch {
            available_memory_bytes: meminfo_bytes("MemAvailable"),
            dirty_bytes: meminfo_bytes("Dirty"),
            writeback_bytes: meminfo_bytes("Writeback"),
            throttled_ns: throttled_ns(),
            thermal_throttles: thermal_throttles(Path::new("/sys/devices/system/cpu")),
        };
        Self { before }
    }

    /// The state then, and what the counters counted from then to now.
    pub fn end(self) -> Watch {
        let since =
            |now: Option<u64>, then: Option<u64>| now.zip(then).map(|(now, then)| now.saturating_sub(then));
        let thermal = thermal_throttles(Path::new("/sys/devices/system/cpu"));
        Watch {
            throttled_ns: since(throttled_ns(), self.before.throttled_ns),
            thermal_throttles: since(thermal, self.before.thermal_throttles),
            ..self.before
        }
    }
}

/// How long the control group has waited for its share of CPU time: cgroup-v2.rst, `cpu.stat`. The root has no limit.
fn throttled_ns() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let stat = fs::read_to_string(PathBuf::from("/sys/fs/cgroup").join(path).join("cpu.stat")).ok()?;
    throttled_in(&stat)
}

fn throttled_in(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("throttled_usec "))?;
    line.trim().parse::<u64>().ok()?.checked_mul(1000)
}

/// Over all CPUs; none where no CPU counts them, as on most virtual machines.
fn thermal_throttles(cpus: &Path) -> Option<u64> {
    let counts = fs::read_dir(cpus).ok()?.flatten().filter_map(|cpu| {
        let file = cpu.path().join("thermal_throttle/core_throttle_count");
        fs::read_to_string(file).ok()?.trim().parse::<u64>().ok()
    });
    counts.fold(None, |sum, count| Some(sum.unwrap_or(0) + count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_cpu_is_read_from_the_control_groups_statistics() {
        assert_eq!(throttled_in("usage_usec 5\nnr_throttled 2\nthrottled_usec 1500\n"), Some(1_500_000));
        assert_eq!(throttled_in("usage_usec 5\n"), None);
    }

    #[test]
    fn heat_is_added_up_over_cpus_and_unknown_where_nobody_counts() {
        let cpus = tempfile::tempdir().unwrap();
        assert_eq!(thermal_throttles(cpus.path()), None);
        for (cpu, count) in [("cpu0", "3\n"), ("cpu1", "4\n")] {
            let folder = cpus.path().join(cpu).join("thermal_throttle");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("core_throttle_count"), count).unwrap();
        }
        assert_eq!(thermal_throttles(cpus.path()), Some(7));
    }

    #[test]
    fn this_machines_memory_is_known() {
        let watch = Watcher::begin().end();
        assert!(watch.available_memory_bytes.is_some_and(|bytes| bytes > 1 << 20), "{watch:?}");
        assert!(watch.dirty_bytes.is_some() && watch.writeback_bytes.is_some(), "{watch:?}");
    }
}
