//! The kernel's counters of this process, of the machine, and of a device.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};
use writebench_model::Sample;

/// What a process has used. Kernels with tick accounting (usually 4 ms) know the sum of both times exactly, and split
/// it by ticks.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    user_cpu_ns: i64,
    system_cpu_ns: i64,
    page_faults: i64,
    context_switches: i64,
}

impl Usage {
    /// The counters of getrusage(2).
    pub(crate) fn read(whom: UsageWho) -> Self {
        // The call cannot fail with these arguments.
        let Ok(usage) = getrusage(whom) else {
            return Self::default();
        };
        Self {
            user_cpu_ns: nanoseconds(usage.user_time()),
            system_cpu_ns: nanoseconds(usage.system_time()),
            page_faults: usage.minor_page_faults() + usage.major_page_faults(),
            context_switches: usage.voluntary_context_switches()
                + usage.involuntary_context_switches(),
        }
    }

    /// Both times together.
    pub(crate) fn cpu_ns(self) -> u64 {
        u64::try_from(self.user_cpu_ns + self.system_cpu_ns).unwrap_or(0)
    }

    pub(crate) fn since(self, then: Self) -> Self {
        Self {
            user_cpu_ns: self.user_cpu_ns - then.user_cpu_ns,
            system_cpu_ns: self.system_cpu_ns - then.system_cpu_ns,
            page_faults: self.page_faults - then.page_faults,
            context_switches: self.context_switches - then.context_switches,
        }
    }

    pub(crate) fn write(self, sample: &mut Sample) {
        sample.user_cpu_ns = u64::try_from(self.user_cpu_ns).unwrap_or(0);
        sample.system_cpu_ns = u64::try_from(self.system_cpu_ns).unwrap_or(0);
        sample.page_faults = u64::try_from(self.page_faults).unwrap_or(0);
        sample.context_switches = u64::try_from(self.context_switches).unwrap_or(0);
    }
}

fn nanoseconds(time: TimeVal) -> i64 {
    time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000
}

/// The time that the hypervisor took from all CPUs: `steal` in proc_stat(5).
pub(crate) fn steal_ns() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: u64 = stat
        .lines()
        .next()?
        .split_whitespace()
        .nth(8)?
        .parse()
        .ok()?;
    ticks.checked_mul(1_000_000_000 / rustix::param::clock_ticks_per_second())
}

/// The bytes written to a device since it appeared: field 7 of the kernel's Documentation/block/stat.rst, which counts
/// sectors of 512 bytes.
pub(crate) fn device_bytes(device_number: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/sys/dev/block/{device_number}/stat")).ok()?;
    let sectors: u64 = stat.split_whitespace().nth(6)?.parse().ok()?;
    sectors.checked_mul(512)
}

/// A line of `/proc/meminfo`, by its name.
pub(crate) fn meminfo_bytes(name: &str) -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}
