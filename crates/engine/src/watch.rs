//! Possible explanations for a sample: the machine's state right before it, and delays during it.

use std::fs;
use std::path::Path;

use writebench_model::SystemState;

use crate::machine::{device_bytes, meminfo_bytes, steal_ns};

/// The counters at the beginning of a sample.
pub(crate) struct Watcher<'s> {
    before: SystemState,
    cpu_stats: &'s [String],
    throttled_ns: Vec<Option<u64>>,
    device_number: Option<&'s str>,
    device_bytes: Option<u64>,
    steal_ns: u64,
}

impl<'s> Watcher<'s> {
    /// `cpu_stats` are the control groups' files, and the device number is that of `/sys/dev/block`.
    pub(crate) fn begin(cpu_stats: &'s [String], device_number: Option<&'s str>) -> Self {
        let before = SystemState {
            available_memory_bytes: meminfo_bytes("MemAvailable"),
            dirty_bytes: meminfo_bytes("Dirty"),
            writeback_bytes: meminfo_bytes("Writeback"),
            thermal_throttles: thermal_throttles(Path::new(CPUS)),
            ..SystemState::default()
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

    pub(crate) fn end(self) -> Watched {
        let device_bytes = since(self.device_number.and_then(device_bytes), self.device_bytes);
        let steal_ns = steal_ns().unwrap_or(0).saturating_sub(self.steal_ns);
        let thermal_throttles = since(
            thermal_throttles(Path::new(CPUS)),
            self.before.thermal_throttles,
        );
        let throttled_ns = self
            .cpu_stats
            .iter()
            .zip(self.throttled_ns)
            .filter_map(|(path, then)| since(throttled_ns(path), then))
            // A process waits for one group's limit at a time.
            .max();
        Watched {
            state: SystemState {
                throttled_ns,
                thermal_throttles,
                ..self.before
            },
            steal_ns,
            device_bytes,
        }
    }
}

/// What happened during a sample.
pub(crate) struct Watched {
    /// The state at the beginning, with the delays since then.
    pub state: SystemState,
    /// The CPU time that the hypervisor took, over all CPUs.
    pub steal_ns: u64,
    /// The bytes written to the device.
    pub device_bytes: Option<u64>,
}

/// The growth of a counter, if it was there at both times.
fn since(now: Option<u64>, then: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(then?))
}

const CPUS: &str = "/sys/devices/system/cpu";

fn throttled_ns(cpu_stat: &String) -> Option<u64> {
    throttled_in(&fs::read_to_string(cpu_stat).ok()?)
}

/// The delays in `cpu.stat`, which are microseconds in cgroup-v2.rst, and nanoseconds in sched-bwc.rst for version 1.
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

/// How often a CPU was slowed down because it was hot. It is `None` if no CPU counts, as on most virtual machines.
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
        assert_eq!(
            throttled_in("usage_usec 5\nnr_throttled 2\nthrottled_usec 1500\n"),
            Some(1_500_000)
        );
        assert_eq!(throttled_in("usage_usec 5\n"), None);
        assert_eq!(
            throttled_in("nr_periods 7\nnr_throttled 2\nthrottled_time 1500\n"),
            Some(1500)
        );
    }

    #[test]
    fn the_longest_delay_of_any_group_counts() {
        let groups = tempfile::tempdir().unwrap();
        let paths =
            ["own", "around"].map(|name| groups.path().join(name).to_str().unwrap().to_owned());
        let set =
            |path: &String, time: u64| fs::write(path, format!("throttled_time {time}\n")).unwrap();
        set(&paths[0], 100);
        set(&paths[1], 200);
        let watcher = Watcher::begin(&paths, None);
        set(&paths[0], 110);
        set(&paths[1], 250);
        assert_eq!(watcher.end().state.throttled_ns, Some(50));
        assert_eq!(Watcher::begin(&[], None).end().state.throttled_ns, None);
    }

    #[test]
    fn thermal_throttling_is_summed_over_cpus_or_unknown() {
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
        let watch = Watcher::begin(&[], None).end().state;
        assert!(
            watch
                .available_memory_bytes
                .is_some_and(|bytes| bytes > 1 << 20),
            "{watch:?}"
        );
        assert!(
            watch.dirty_bytes.is_some() && watch.writeback_bytes.is_some(),
            "{watch:?}"
        );
    }
}
