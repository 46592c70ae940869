//! Counters of the process, the machine and the device.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use writebench_model::Sample;

/// The CPU time of this process, over all threads. Kernels that account by ticks (usually 4 ms) know the sum
/// of user and system time exactly, and split it by the ticks they saw.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    user_cpu_ns: i64,
    system_cpu_ns: i64,
    page_faults: i64,
    context_switches: i64,
}

impl Usage {
    /// From getrusage(2).
    pub(crate) fn now() -> Self {
        Self::read(UsageWho::RUSAGE_SELF)
    }

    /// The counters of all processes that were started here and have ended.
    pub(crate) fn children() -> Self {
        Self::read(UsageWho::RUSAGE_CHILDREN)
    }

    fn read(whom: UsageWho) -> Self {
        let nanoseconds = |time: TimeVal| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000;
        // The call cannot fail with these arguments.
        getrusage(whom).map_or_else(
            |_| Self::default(),
            |usage| Self {
                user_cpu_ns: nanoseconds(usage.user_time()),
                system_cpu_ns: nanoseconds(usage.system_time()),
                page_faults: usage.minor_page_faults() + usage.major_page_faults(),
                context_switches: usage.voluntary_context_switches() + usage.involuntary_context_switches(),
            },
        )
    }

    /// The difference to an earlier reading.
    pub(crate) fn since(self, then: &Self) -> Self {
        let (now, then) = (self.numbers(), then.numbers());
        Self::from_numbers(std::array::from_fn(|at| now[at] - then[at]))
    }

    /// The counters in a fixed order.
    pub(crate) fn numbers(self) -> [i64; 4] {
        [self.user_cpu_ns, self.system_cpu_ns, self.page_faults, self.context_switches]
    }

    /// The counters from their numbers.
    pub(crate) fn from_numbers([user_cpu_ns, system_cpu_ns, page_faults, context_switches]: [i64; 4]) -> Self {
        Self { user_cpu_ns, system_cpu_ns, page_faults, context_switches }
    }

    /// Writes a difference into a sample.
    pub(crate) fn write(self, sample: &mut Sample) {
        let [user, system, faults, switches] = self.numbers().map(|number| u64::try_from(number).unwrap_or(0));
        (sample.user_cpu_ns, sample.system_cpu_ns) = (user, system);
        (sample.page_faults, sample.context_switches) = (faults, switches);
    }
}

/// Time that the hypervisor gave to other machines, over all CPUs: `steal` in proc_stat(5).
pub(crate) fn steal_ns() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: u64 = stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    ticks.checked_mul(1_000_000_000 / rustix::param::clock_ticks_per_second())
}

/// Bytes written to the device since it appeared: sectors of 512 bytes, field 7 of the kernel's
/// Documentation/block/stat.rst.
pub(crate) fn device_bytes(device_number: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/sys/dev/block/{device_number}/stat")).ok()?;
    let sectors: u64 = stat.split_whitespace().nth(6)?.parse().ok()?;
    sectors.checked_mul(512)
}

/// A line of `/proc/meminfo`, in bytes.
pub(crate) fn meminfo_bytes(name: &str) -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
