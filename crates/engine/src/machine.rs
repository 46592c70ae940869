use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};
use writebench_model::Sample;

/// User and system CPU time in nanoseconds, page faults and context switches. Kernels with tick accounting
/// (usually 4 ms) know the sum of both times exactly, and split it by ticks.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Usage(pub [i64; 4]);

impl Usage {
    /// getrusage(2).
    pub(crate) fn read(whom: UsageWho) -> Self {
        let nanoseconds = |time: TimeVal| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000;
        // Cannot fail with these arguments.
        let Ok(usage) = getrusage(whom) else {
            return Self::default();
        };
        Self([
            nanoseconds(usage.user_time()),
            nanoseconds(usage.system_time()),
            usage.minor_page_faults() + usage.major_page_faults(),
            usage.voluntary_context_switches() + usage.involuntary_context_switches(),
        ])
    }

    pub(crate) fn since(self, then: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] - then.0[at]))
    }

    pub(crate) fn write(self, sample: &mut Sample) {
        let [user, system, faults, switches] =
            self.0.map(|number| u64::try_from(number).unwrap_or(0));
        (sample.user_cpu_ns, sample.system_cpu_ns) = (user, system);
        (sample.page_faults, sample.context_switches) = (faults, switches);
    }
}

/// Over all CPUs: `steal` in proc_stat(5).
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

/// Sectors of 512 bytes since the device appeared: field 7 of the kernel's Documentation/block/stat.rst.
pub(crate) fn device_bytes(device_number: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/sys/dev/block/{device_number}/stat")).ok()?;
    let sectors: u64 = stat.split_whitespace().nth(6)?.parse().ok()?;
    sectors.checked_mul(512)
}

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
