//! Delays of a worker, or of this process, during a sample: signals, freezers, a suspended machine.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use writebench_model::DisturbedBy;
use writebench_probe::ControlGroups;

/// Inspects a child process several times a second, and detects absences of this process by more frequent
/// beats.
#[derive(Debug)]
pub(crate) struct StallTracker {
    process: u32,
    groups: ControlGroups,
    last_inspection: Instant,
    last_beat: Instant,
    stopped: Stall,
    frozen: Stall,
    absent: Duration,
}

#[derive(Debug, Default)]
struct Stall {
    was_seen: bool,
    lasts: bool,
    time: Duration,
}

impl Stall {
    /// The state has lasted for this interval, ended within it, or begins now.
    fn inspect(&mut self, lasts: bool, since_last: Duration) {
        if self.lasts {
            self.time += since_last;
        }
        self.lasts = lasts;
        self.was_seen |= lasts;
    }

    fn described(&self, what: &str) -> String {
        if self.time.is_zero() {
            what.to_owned()
        } else {
            format!("{what} for about {}", seconds(self.time))
        }
    }

    fn forget(&mut self) {
        *self = Self {
            was_seen: self.lasts,
            lasts: self.lasts,
            time: Duration::ZERO,
        };
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// The time for which this process did not run. A busy machine delays a beat a little.
fn absence(since_last: Duration) -> Duration {
    const SHORTEST: Duration = Duration::from_millis(100);
    if since_last > SHORTEST {
        since_last
    } else {
        Duration::ZERO
    }
}

impl StallTracker {
    /// Much shorter than a noticeable absence, so none hides between two beats.
    pub(crate) const BEAT: Duration = Duration::from_millis(20);
    const INSPECTION_INTERVAL: Duration = Duration::from_millis(100);

    pub(crate) fn for_process(process: u32) -> Self {
        Self {
            process,
            groups: ControlGroups::mounted(),
            last_inspection: Instant::now(),
            last_beat: Instant::now(),
            stopped: Stall::default(),
            frozen: Stall::default(),
            absent: Duration::ZERO,
        }
    }

    /// A wait for other processes is not a delay.
    pub(crate) fn reset(&mut self) {
        self.last_inspection = Instant::now();
        self.last_beat = self.last_inspection;
    }

    pub(crate) fn begin(&mut self) {
        self.inspect();
        self.stopped.forget();
        self.frozen.forget();
        self.absent = Duration::ZERO;
    }

    /// Reads the clock, and inspects if it is time. Returns the absence of this process, which also delays
    /// the worker's deadline.
    pub(crate) fn beat(&mut self) -> Duration {
        let now = Instant::now();
        let since_last = now.duration_since(std::mem::replace(&mut self.last_beat, now));
        let absent = absence(since_last);
        self.absent += absent;
        if now.duration_since(self.last_inspection) >= Self::INSPECTION_INTERVAL {
            self.inspect_worker(now);
        }
        absent
    }

    pub(crate) fn inspect(&mut self) {
        self.beat();
        self.inspect_worker(Instant::now());
    }

    fn inspect_worker(&mut self, now: Instant) {
        let since_last = now.duration_since(std::mem::replace(&mut self.last_inspection, now));
        let is_stopped = self.stop_events();
        self.stopped.inspect(is_stopped, since_last);
        self.frozen
            .inspect(self.groups.are_frozen(self.process), since_last);
    }

    /// Whether the worker is stopped, by the events of waitid(2). A continuation also proves a stop since
    /// the last poll.
    fn stop_events(&mut self) -> bool {
        let Some(process) = i32::try_from(self.process).ok().and_then(Pid::from_raw) else {
            return false;
        };
        let changes = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
        let mut is_stopped = self.stopped.lasts;
        while let Ok(Some(status)) = waitid(WaitId::Pid(process), changes) {
            is_stopped = status.stopped();
            self.stopped.was_seen = true;
        }
        is_stopped
    }

    /// A stall can begin and end while this process is stopped, too. Its length is unknown then, but that of
    /// this process's absence is known.
    pub(crate) fn reason(&self) -> Option<String> {
        let stall = if self.stopped.was_seen {
            Some(self.stopped.described("the worker was stopped by a signal"))
        } else if self.frozen.was_seen {
            Some(self.frozen.described("its control group was frozen"))
        } else {
            None
        };
        let is_absent = !self.absent.is_zero();
        let absence = is_absent.then(|| {
            format!(
                "{} for {}",
                DisturbedBy::Absent.words(),
                seconds(self.absent)
            )
        });
        match (stall, absence) {
            (Some(stall), Some(absence)) => Some(format!("{stall}, and {absence}")),
            (stall, absence) => stall.or(absence),
        }
    }

    /// Counters of delays by CPU limits, in the worker's current groups.
    pub(crate) fn cpu_stats(&self) -> Vec<String> {
        let files = self
            .groups
            .cpu_stats(self.process)
            .into_iter()
            .map(PathBuf::into_os_string);
        files.filter_map(|file| file.into_string().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absence_begins_above_100_ms_and_counts_whole() {
        let ms = Duration::from_millis;
        assert_eq!(
            [20, 100].map(|since| absence(ms(since))),
            [Duration::ZERO; 2]
        );
        assert_eq!(
            [101, 900].map(|since| absence(ms(since))),
            [101, 900].map(ms)
        );
    }

    #[test]
    fn absences_of_a_sample_are_added_and_the_next_sample_begins_without() {
        let mut stalls = StallTracker::for_process(std::process::id());
        for _ in 0..2 {
            stalls.last_beat = Instant::now()
                .checked_sub(Duration::from_millis(300))
                .unwrap();
            assert!(stalls.beat() >= Duration::from_millis(300));
        }
        assert!(stalls.absent >= Duration::from_millis(600));
        assert!(
            stalls
                .reason()
                .is_some_and(|reason| reason.starts_with("writebench itself did not run for"))
        );
        stalls.begin();
        assert_eq!(stalls.reason(), None);
    }

    #[test]
    fn a_stall_has_a_length_only_if_it_was_observed() {
        let ms = Duration::from_millis;
        let reason = |stopped: Stall, frozen: Stall, absent: Duration| {
            let tracker = StallTracker::for_process(std::process::id());
            StallTracker {
                stopped,
                frozen,
                absent,
                ..tracker
            }
            .reason()
            .unwrap_or_default()
        };
        let seen = |time: u64| Stall {
            was_seen: true,
            lasts: false,
            time: ms(time),
        };
        let by_signal = "the worker was stopped by a signal";
        assert_eq!(
            reason(seen(1234), Stall::default(), ms(0)),
            format!("{by_signal} for about 1.2 s")
        );
        let whole_group = format!("{by_signal}, and writebench itself did not run for 0.4 s");
        assert_eq!(reason(seen(0), Stall::default(), ms(420)), whole_group);
        assert_eq!(reason(seen(0), Stall::default(), ms(0)), by_signal);
        let frozen = "its control group was frozen, and writebench itself did not run for 0.9 s";
        assert_eq!(reason(Stall::default(), seen(0), ms(900)), frozen);
    }
}
