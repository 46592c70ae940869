//! What may explain a sample: the machine right before it, and what held it up.

use std::fs;
use std::path::Path;

use writebench_model::Watch;

use crate::machine::{device_bytes, meminfo_bytes, steal_ns};

/// Counters of what holds a process up and of its device, at one moment, and the machine's memory.
pub(crate) struct Watcher<'s> {
    before: Watch,
    cpu_stats: &'s [String],
    throttled_ns: Vec<Option<u64>>,
    device_number: Option<&'s str>,
    device_bytes: Option<u64>,
    steal_ns: u64,
}

impl<'s> Watcher<'s> {
    /// Looks at the machine, at the files that say how long each control group's limit held it up, and at the device
    /// of that number in `/sys/dev/block`.
    pub(crate) fn begin(cpu_stats: &'s [String], device_number: Option<&'s str>) -> Self {
        let before = Watch {
            available_memory_bytes: meminfo_bytes("MemAvailable"),
            dirty_bytes: meminfo_bytes("Dirty"),
            writeback_bytes: meminfo_bytes("Writeback"),
            throttled_ns: None,
            thermal_throttles: thermal_throttles(Path::new(CPUS)),
        };
        Self {
            before,
            cpu_stats,
            throttled_ns: cpu_stats.iter().map(throttled_ns).collect(),
            device_number,
            device_bytes: device_number.and_then(device_bytes),
            steal_ns: steal_ns().unwrap_or(0),
        }
    }

    /// The state then and what held the process up from then to now; the CPU time that the hypervisor gave to others
    /// meanwhile, over all CPUs; the bytes that the device was given, where there is one.
    pub(crate) fn end(self) -> (Watch, u64, Option<u64>) {
        let since =
            |now: Option<u64>, then: Option<u64>| now.zip(then).map(|(now, then)| now.saturating_sub(then));
        let device_bytes = since(self.device_number.and_then(device_bytes), self.device_bytes);
        let steal_ns = steal_ns().unwrap_or(0).saturating_sub(self.steal_ns);
        let groups = self.cpu_stats.iter().zip(self.throttled_ns);
        let held_up = groups.filter_map(|(path, then)| since(throttled_ns(path), then));
        let watch = Watch {
            // One group's limit at a time is what a process waits for.
            throttled_ns: held_up.max(),
            thermal_throttles: since(thermal_throttles(Path::new(CPUS)), self.before.thermal_throttles),
            ..self.before
        };
        (watch, steal_ns, device_bytes)
    }
}

const CPUS: &str = "/sys/devices/system/cpu";

/// How long a control group has waited for its share of CPU time.
fn throttled_ns(cpu_stat: &String) -> Option<u64> {
    throttled_in(&fs::read_to_string(cpu_stat).ok()?)
}

/// Microseconds in cgroup-v2.rst's `cpu.stat`, nanoseconds in that of sched-bwc.rst, which is the first generation's.
fn throttled_in(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        let unit_ns = match name {
            "throttled_usec" => 1000,
            "throttled_time" => 1,
            _ => return None,
        };
        value.trim().parse::<u64>().ok()?.checked_mul(unit_ns)
    })
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
        assert_eq!(throttled_in("nr_periods 7\nnr_throttled 2\nthrottled_time 1500\n"), Some(1500));
    }

    #[test]
    fn the_group_that_held_it_up_the_most_counts() {
        let groups = tempfile::tempdir().unwrap();
        let paths = ["own", "around"].map(|name| groups.path().join(name).to_str().unwrap().to_owned());
        let set = |path: &String, time: u64| fs::write(path, format!("throttled_time {time}\n")).unwrap();
        set(&paths[0], 100);
        set(&paths[1], 200);
        let watcher = Watcher::begin(&paths, None);
        set(&paths[0], 110);
        set(&paths[1], 250);
        assert_eq!(watcher.end().0.throttled_ns, Some(50));
        assert_eq!(Watcher::begin(&[], None).end().0.throttled_ns, None);
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
        let watch = Watcher::begin(&[], None).end().0;
        assert!(watch.available_memory_bytes.is_some_and(|bytes| bytes > 1 << 20), "{watch:?}");
        assert!(watch.dirty_bytes.is_some() && watch.writeback_bytes.is_some(), "{watch:?}");
    }
}
