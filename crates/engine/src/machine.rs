//! Counters of the process, the machine and the device; fresh memory, and its speed.

use std::time::Instant;

use memmap2::{Advice, MmapMut};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use writebench_model::{Sample, nanoseconds};

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
        let nanoseconds = |time: TimeVal| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000;
        // The call cannot fail with these arguments.
        getrusage(UsageWho::RUSAGE_SELF).map_or_else(
            |_| Self::default(),
            |usage| Self {
                user_cpu_ns: nanoseconds(usage.user_time()),
                system_cpu_ns: nanoseconds(usage.system_time()),
                page_faults: usage.minor_page_faults() + usage.major_page_faults(),
                context_switches: usage.voluntary_context_switches() + usage.involuntary_context_switches(),
            },
        )
    }

    /// Writes the difference to an earlier reading into a sample.
    pub(crate) fn write_since(self, then: &Self, sample: &mut Sample) {
        let since = |now: i64, then: i64| u64::try_from(now - then).unwrap_or(0);
        sample.user_cpu_ns = since(self.user_cpu_ns, then.user_cpu_ns);
        sample.system_cpu_ns = since(self.system_cpu_ns, then.system_cpu_ns);
        sample.page_faults = since(self.page_faults, then.page_faults);
        sample.context_switches = since(self.context_switches, then.context_switches);
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

/// Fresh memory, half in small pages and half in huge ones if the kernel has them: the page cache uses both
/// (ext4 and xfs keep a write of 2 MiB in one piece), and the kernel keeps their free memory in different
/// lists.
pub(crate) struct FreshMemory {
    halves: [MmapMut; 2],
}

impl FreshMemory {
    /// Allocates untouched memory; none if there is not enough.
    pub(crate) fn new(bytes_each: usize) -> Option<Self> {
        let halves = [MmapMut::map_anon(bytes_each).ok()?, MmapMut::map_anon(bytes_each).ok()?];
        // Kernels without huge pages refuse; then both halves are alike.
        let _ = halves[1].advise(Advice::HugePage);
        Some(Self { halves })
    }

    /// Touches every page.
    pub(crate) fn fill(&mut self) {
        for half in &mut self.halves {
            half.fill(1);
            std::hint::black_box(half);
        }
    }
}

/// A copy of a fixed amount of data into fresh memory. Its time shows the state of the machine: the memory
/// bandwidth and the current cost of a page's first touch.
pub(crate) struct MemoryProbe {
    from: Vec<u8>,
    fastest_ns: u64,
}

impl MemoryProbe {
    /// The size in each kind of page, small enough to add only milliseconds to a sample.
    pub(crate) const BYTES_EACH: usize = 8 << 20;

    /// A probe whose source pages are present.
    pub(crate) fn new() -> Self {
        Self { from: vec![1; Self::BYTES_EACH], fastest_ns: u64::MAX }
    }

    /// The time of one copy; 0 if there is no memory for it.
    pub(crate) fn copy_ns(&mut self) -> u64 {
        let start = Instant::now();
        let Some(mut to) = FreshMemory::new(Self::BYTES_EACH) else { return 0 };
        for half in &mut to.halves {
            half.copy_from_slice(&self.from);
            std::hint::black_box(half);
        }
        let elapsed_ns = nanoseconds(start.elapsed());
        self.fastest_ns = self.fastest_ns.min(elapsed_ns);
        elapsed_ns
    }

    /// Whether a copy was so much slower than the fastest one that memory must have been cold.
    pub(crate) fn was_cold(&self, copy_ns: u64) -> bool {
        copy_ns / 2 > self.fastest_ns
    }
}
