//! How much of a ring's work the kernel's own threads do. io_uring passes operations that would block to io-wq, whose
//! threads belong to this process, so proc(5) counts what they write. They need no privilege to be read.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use nix::sys::resource::UsageWho;
use writebench_model::{KernelRelease, KernelThreads};

use crate::machine::Usage;

/// io-wq's threads are those of the process since Linux 5.12, with this beginning of their names.
const NAME: &str = "iou-wrk-";
const FIRST_KERNEL: KernelRelease = KernelRelease(5, 12);

/// The counters of this process's threads.
pub(crate) struct ThreadCounters {
    /// What the process had used before and after this reading.
    usage: [Usage; 2],
    /// The bytes written by all threads, those that have ended included.
    all_bytes: u64,
    /// The bytes written by threads other than io-wq's.
    own_bytes: u64,
    /// The CPU time of each thread of io-wq.
    worker_cpu_ns: HashMap<String, u64>,
}

impl ThreadCounters {
    /// None on a kernel whose io-wq is not part of the process.
    pub(crate) fn read() -> Option<Self> {
        let uname = rustix::system::uname();
        if KernelRelease::parse(uname.release().to_str().ok()?)? < FIRST_KERNEL {
            return None;
        }
        let begin = Usage::read(UsageWho::RUSAGE_SELF);
        let counters = Self::of_process(Path::new("/proc/self"))?;
        let end = Usage::read(UsageWho::RUSAGE_SELF);
        Some(Self {
            usage: [begin, end],
            ..counters
        })
    }

    /// Only io-wq's threads may end between two readings. Those that are idle for seconds do.
    fn of_process(process: &Path) -> Option<Self> {
        let mut counters = Self {
            usage: [Usage::default(); 2],
            all_bytes: written_bytes(process),
            own_bytes: 0,
            worker_cpu_ns: HashMap::new(),
        };
        for entry in fs::read_dir(process.join("task")).ok()?.flatten() {
            let thread = entry.path();
            // A thread may end meanwhile.
            let Ok(name) = fs::read_to_string(thread.join("comm")) else {
                continue;
            };
            if name.starts_with(NAME) {
                let id = entry.file_name().to_string_lossy().into_owned();
                counters.worker_cpu_ns.insert(id, cpu_ns(&thread));
            } else {
                counters.own_bytes += written_bytes(&thread);
            }
        }
        Some(counters)
    }

    /// What this reading itself took.
    pub(crate) fn cost(&self) -> Usage {
        let [begin, end] = self.usage;
        end.since(begin)
    }

    /// What the kernel's threads have done since this reading.
    pub(crate) fn so_far(&self) -> Option<KernelThreads> {
        Some(Self::read()?.since(self))
    }

    /// What happened after the earlier reading.
    fn since(&self, before: &Self) -> KernelThreads {
        let all_bytes = self.all_bytes.saturating_sub(before.all_bytes);
        let own_bytes = self.own_bytes.saturating_sub(before.own_bytes);
        // Idle threads of an earlier sample have not run since.
        let ran_ns: Vec<u64> = self
            .worker_cpu_ns
            .iter()
            .map(|(id, now_ns)| now_ns - before.worker_cpu_ns.get(id).unwrap_or(&0).min(now_ns))
            .filter(|&ran_ns| ran_ns > 0)
            .collect();
        KernelThreads {
            count: u32::try_from(ran_ns.len()).unwrap_or(u32::MAX),
            cpu_ns: ran_ns.iter().sum(),
            all_cpu_ns: self.usage[0].since(before.usage[1]).cpu_ns(),
            // Nobody else writes meanwhile, so these are theirs, even of those that have ended.
            written_bytes: all_bytes.saturating_sub(own_bytes),
            all_written_bytes: all_bytes,
        }
    }
}

/// The bytes of a process or thread that it passed to a device, or to the page cache of one: `write_bytes` in
/// proc_pid_io(5). 0 if the kernel has no such counter.
fn written_bytes(process_or_thread: &Path) -> u64 {
    let io = fs::read_to_string(process_or_thread.join("io")).unwrap_or_default();
    let bytes = io
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// The first field of the kernel's Documentation/scheduler/sched-stats.rst. 0 if the kernel has no such counter.
fn cpu_ns(thread: &Path) -> u64 {
    let stat = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    let time = stat.split(' ').next();
    time.and_then(|time| time.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A process in the form of proc(5): what it wrote, and each thread's name, bytes and CPU time.
    fn counters(all_bytes: u64, threads: &[(&str, u64, u64)]) -> ThreadCounters {
        let process = tempfile::tempdir().unwrap();
        let io = |bytes| format!("wchar: 9\nwrite_bytes: {bytes}\ncancelled_write_bytes: 7\n");
        fs::write(process.path().join("io"), io(all_bytes)).unwrap();
        for (id, (name, bytes, cpu_ns)) in threads.iter().enumerate() {
            let thread = process.path().join("task").join(id.to_string());
            fs::create_dir_all(&thread).unwrap();
            fs::write(thread.join("comm"), format!("{name}\n")).unwrap();
            fs::write(thread.join("io"), io(*bytes)).unwrap();
            fs::write(thread.join("schedstat"), format!("{cpu_ns} 5 2\n")).unwrap();
        }
        ThreadCounters::of_process(process.path()).unwrap()
    }

    #[test]
    fn what_no_thread_of_our_own_wrote_is_of_io_wq_even_if_its_thread_has_ended() {
        let before = counters(
            100 * MIB,
            &[("writebench", MIB, 900), ("iou-wrk-7", 0, 1000)],
        );
        let after = counters(
            108 * MIB,
            &[
                ("writebench", 3 * MIB, 990),
                ("iou-wrk-7", MIB, 1500),
                ("iou-wrk-7", 2 * MIB, 40),
            ],
        );
        let expected = KernelThreads {
            count: 2,
            cpu_ns: 540,
            all_cpu_ns: 0,
            written_bytes: 6 * MIB,
            all_written_bytes: 8 * MIB,
        };
        assert_eq!(after.since(&before), expected);
    }

    #[test]
    fn an_idle_thread_of_an_earlier_sample_does_not_count() {
        let before = counters(MIB, &[("writebench", 0, 900), ("iou-wrk-7", MIB, 1000)]);
        let after = counters(
            3 * MIB,
            &[("writebench", 2 * MIB, 950), ("iou-wrk-7", MIB, 1000)],
        );
        let expected = KernelThreads {
            count: 0,
            cpu_ns: 0,
            all_cpu_ns: 0,
            written_bytes: 0,
            all_written_bytes: 2 * MIB,
        };
        assert_eq!(after.since(&before), expected);
    }

    #[test]
    fn a_kernel_without_counters_says_nothing() {
        let process = tempfile::tempdir().unwrap();
        let thread = process.path().join("task/1");
        fs::create_dir_all(&thread).unwrap();
        fs::write(thread.join("comm"), "iou-wrk-1\n").unwrap();
        let counters = ThreadCounters::of_process(process.path()).unwrap();
        let found = counters.since(&counters);
        assert_eq!((found.cpu_ns, found.all_written_bytes), (0, 0));
    }
}
