//! Free memory that the host backs. On a virtual machine a page's first touch can be ten times slower than
//! later ones, and free pages return to the host every two seconds (free page reporting).

use std::sync::LazyLock;
use std::time::Instant;

use memmap2::{Advice, MmapMut};
use writebench_model::nanoseconds;

use crate::machine::meminfo_bytes;

/// What is known about the free memory.
pub(crate) struct WarmMemory {
    from: Vec<u8>,
    fastest_ns: u64,
    known: Option<Known>,
    is_needed: bool,
}

/// A probe of this size adds only milliseconds to a sample.
const PROBE_BYTES: usize = 2 << 20;

/// Memory that was taken and released. It is still free and backed if neither counter has changed.
struct Known {
    bytes: u64,
    free_bytes: u64,
    given_back_bytes: u64,
}

impl WarmMemory {
    pub(crate) fn new() -> Self {
        Self {
            from: vec![1; PROBE_BYTES],
            fastest_ns: u64::MAX,
            known: None,
            is_needed: false,
        }
    }

    /// Warms the sample's memory and returns the last probe. Memory is taken and released, unless the kernel
    /// counts the pages that it gives back and the known warm memory is enough. If the probe still finds cold
    /// memory, there are two more attempts.
    pub(crate) fn prepare(&mut self, bytes: u64, most_bytes: u64) -> u64 {
        // The probe needs some memory too, in small pages and in huge ones.
        const LEFT_OVER_BYTES: u64 = 2 * PROBE_BYTES as u64;
        const TRIES: u32 = 3;
        self.is_needed = bytes > 0;
        let wanted = bytes.saturating_add(LEFT_OVER_BYTES).min(most_bytes);
        let mut probe_ns = 0;
        for attempt in 0..TRIES {
            let keeps = attempt == 0 && self.still_warm_bytes() >= wanted;
            if !keeps {
                let taken = wanted.saturating_add(LEFT_OVER_BYTES).min(most_bytes);
                take_and_release(usize::try_from(taken).unwrap_or(0));
                self.known = Known::now(taken);
            }
            probe_ns = self.probe_ns();
            // Memory was cold if a copy took more than twice the fastest one's time.
            if probe_ns / 2 <= self.fastest_ns {
                break;
            }
        }
        probe_ns
    }

    /// How much memory the kernel has given back to the host since the warming. It is `None` if the sample takes no
    /// memory, if none was warmed, or if the kernel does not count.
    pub(crate) fn given_back_bytes(&self) -> Option<u64> {
        let known = self
            .known
            .as_ref()
            .filter(|known| self.is_needed && known.bytes > 0)?;
        given_back_bytes()?.checked_sub(known.given_back_bytes)
    }

    /// Times a copy into fresh memory, half in small pages and half in huge ones: the page cache uses both, and the
    /// kernel keeps their free memory in different lists. It shows the memory bandwidth and the current cost of
    /// a page's first touch. It is 0 if there is no memory.
    fn probe_ns(&mut self) -> u64 {
        let start = Instant::now();
        for huge in [false, true] {
            let Some(mut to) = fresh_memory(PROBE_BYTES, huge) else {
                return 0;
            };
            to.copy_from_slice(&self.from);
            std::hint::black_box(&to);
        }
        let elapsed_ns = nanoseconds(start.elapsed());
        self.fastest_ns = self.fastest_ns.min(elapsed_ns);
        elapsed_ns
    }

    fn still_warm_bytes(&self) -> u64 {
        self.known
            .as_ref()
            .zip(Known::now(0))
            .map_or(0, |(then, now)| then.left(&now))
    }
}

impl Known {
    /// It is `None` without counters.
    fn now(bytes: u64) -> Option<Self> {
        Some(Self {
            bytes,
            free_bytes: meminfo_bytes("MemFree")?,
            given_back_bytes: given_back_bytes()?,
        })
    }

    /// How much of it is still warm. Other processes may have taken some.
    fn left(&self, now: &Self) -> u64 {
        if now.given_back_bytes != self.given_back_bytes {
            return 0;
        }
        self.bytes
            .saturating_sub(self.free_bytes.saturating_sub(now.free_bytes))
    }
}

/// How much memory the kernel has given back to the host since it started, by free page reporting. It is 0 without a
/// hypervisor, and `None` if the kernel does not count.
pub(crate) fn given_back_bytes() -> Option<u64> {
    static HAS_HYPERVISOR: LazyLock<bool> = LazyLock::new(|| {
        // Only x86 reports it, among the flags of a CPU.
        let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let flags = cpus.lines().find(|line| line.starts_with("flags"));
        flags.is_none_or(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
    });
    if !*HAS_HYPERVISOR {
        return Some(0);
    }
    let counter =
        std::fs::read_to_string("/sys/module/page_reporting/parameters/reported_kib").ok()?;
    counter.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Untouched memory, or `None` if there is not enough.
pub(crate) fn fresh_memory(bytes: usize, huge: bool) -> Option<MmapMut> {
    let memory = MmapMut::map_anon(bytes).ok()?;
    if huge {
        // Kernels without huge pages refuse.
        let _ = memory.advise(Advice::HugePage);
    }
    Some(memory)
}

/// Touches memory and frees it, so that the host backs it. Only huge blocks are given back (`page_reporting_order`). But
/// once one is split, its other parts are cold in the lists of smaller blocks, which supply smaller pages.
pub(crate) fn take_and_release(bytes: usize) {
    for huge in [false, true] {
        let Some(mut memory) = fresh_memory(bytes, huge) else {
            return;
        };
        memory
            .iter_mut()
            .step_by(rustix::param::page_size())
            .for_each(|byte| *byte = 1);
        std::hint::black_box(&memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Known = Known {
        bytes: 100,
        free_bytes: 1000,
        given_back_bytes: 7,
    };

    #[test]
    fn memory_remains_warm_until_some_is_given_back() {
        assert_eq!(KNOWN.left(&KNOWN), 100);
        assert_eq!(
            KNOWN.left(&Known {
                given_back_bytes: 8,
                ..KNOWN
            }),
            0
        );
    }

    #[test]
    fn memory_of_other_processes_does_not_count_as_warm() {
        assert_eq!(
            KNOWN.left(&Known {
                free_bytes: 970,
                ..KNOWN
            }),
            70
        );
        assert_eq!(
            KNOWN.left(&Known {
                free_bytes: 1,
                ..KNOWN
            }),
            0
        );
        assert_eq!(
            KNOWN.left(&Known {
                free_bytes: 2000,
                ..KNOWN
            }),
            100
        );
    }

    #[test]
    fn pages_given_back_count_only_for_samples_that_take_memory() {
        let known = || {
            Known::now(1 << 20).map(|now| Known {
                given_back_bytes: 0,
                ..now
            })
        };
        let mut memory = WarmMemory {
            known: known(),
            ..WarmMemory::new()
        };
        assert_eq!(memory.given_back_bytes(), None);
        memory.is_needed = true;
        // The counter began with the machine.
        let before = given_back_bytes();
        assert!(memory.given_back_bytes() >= before, "{before:?}");
        assert_eq!(memory.given_back_bytes().is_some(), before.is_some());
    }

    #[test]
    fn a_sample_takes_at_most_its_limit_of_memory() {
        let mut memory = WarmMemory::new();
        memory.prepare(u64::MAX, 1 << 20);
        let is_counted = Known::now(0).is_some();
        assert_eq!(
            memory.known.map(|known| known.bytes),
            is_counted.then_some(1 << 20)
        );
    }
}
