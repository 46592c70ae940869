//! Throughput over time inside phase write.
//!
//! The clock is read only between pieces of 256 KiB or 4096 hand-overs. A thread that reads counters from
//! outside would cost 2 % of the CPU time of writes of 4 KiB, because system calls are slower in a process with
//! several threads.

use std::time::{Duration, Instant};

use writebench_model::{Axis, Case, Timeline, nanoseconds};

use crate::region::Region;

/// Longer phases have longer intervals.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);
/// Above this number, every second reading is dropped.
const MAX_READINGS: usize = 400;
/// A shorter phase has no timeline.
const SHORTEST_NS: u64 = 1_000_000_000;
/// Fewer intervals cannot show a course.
const FEWEST_INTERVALS: u64 = 5;
/// With fewer hand-overs per interval, their exact times would look like a change.
const HAND_OVERS_EACH: u64 = 20;
/// A piece has so many bytes, or so many hand-overs if those are fewer bytes.
const PIECE_BYTES: u64 = 256 << 10;
const PIECE_HAND_OVERS: u64 = 4096;

/// Takes readings of a thread's progress while it writes.
pub(crate) struct ProgressSampler {
    /// The clock is read at the first hand-over that reaches so many bytes.
    border: u64,
    step: u64,
    interval: Duration,
    last: Instant,
    readings: Vec<(Instant, u64)>,
}

impl ProgressSampler {
    pub(crate) fn new(chunk_bytes: u64) -> Self {
        let step = PIECE_BYTES
            .min(chunk_bytes.saturating_mul(PIECE_HAND_OVERS))
            .max(1);
        Self {
            border: step,
            step,
            interval: FIRST_INTERVAL,
            last: Instant::now(),
            readings: Vec::with_capacity(MAX_READINGS),
        }
    }

    /// The bytes between two readings of the clock.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// The thread has handed over so many bytes.
    #[inline(always)]
    pub(crate) fn advance_to(&mut self, bytes: u64) {
        if bytes >= self.border {
            self.read_clock(bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn read_clock(&mut self, bytes: u64) {
        self.border = bytes + self.step;
        let now = Instant::now();
        if now - self.last >= self.interval {
            self.last = now;
            self.add_reading(now, bytes);
        }
    }

    fn add_reading(&mut self, at: Instant, bytes: u64) {
        self.readings.push((at, bytes));
        if self.readings.len() >= MAX_READINGS {
            let mut is_second = [false, true].into_iter().cycle();
            self.readings.retain(|_| is_second.next() == Some(true));
            self.interval *= 2;
        }
    }

    /// The progress as bytes at nanoseconds since the phase began.
    pub(crate) fn curve(
        &self,
        began: Instant,
        elapsed_ns: u64,
        handed_over_bytes: u64,
    ) -> ProgressCurve {
        let mut readings = Vec::new();
        for &(at, bytes) in &self.readings {
            let at_ns = nanoseconds(at.saturating_duration_since(began));
            if at_ns < elapsed_ns {
                readings.push(Reading { at_ns, bytes });
            }
        }
        readings.push(Reading {
            at_ns: elapsed_ns,
            bytes: handed_over_bytes,
        });
        ProgressCurve {
            readings,
            spacing_ns: nanoseconds(self.interval),
        }
    }
}

/// How many bytes a thread had handed over at which times.
pub(crate) struct ProgressCurve {
    readings: Vec<Reading>,
    spacing_ns: u64,
}

#[derive(Clone, Copy, Default)]
struct Reading {
    at_ns: u64,
    bytes: u64,
}

impl ProgressCurve {
    /// Between two readings the rate is constant.
    fn bytes_at(&self, at_ns: u64) -> u64 {
        let after = self
            .readings
            .partition_point(|reading| reading.at_ns < at_ns);
        let before = if after == 0 {
            Reading::default()
        } else {
            self.readings[after - 1]
        };
        let Some(later) = self.readings.get(after) else {
            return before.bytes;
        };
        let bytes = u128::from(later.bytes.saturating_sub(before.bytes));
        let between_ns = u128::from((later.at_ns - before.at_ns).max(1));
        let share = u128::from(at_ns - before.at_ns) * bytes / between_ns;
        before.bytes + u64::try_from(share).unwrap_or(0)
    }
}

/// The number of calls that hand over data. A timeline cannot see into a call.
pub(crate) fn hand_overs(case: &Case, regions: &[Region<'_>]) -> u64 {
    let at_once = if case.method().has_axis(Axis::Vector) {
        case.choices().vector
    } else {
        1
    };
    let each = case
        .choices()
        .chunk_size_bytes
        .saturating_mul(u64::from(at_once))
        .max(1);
    if !case.method().writes_data() {
        return 0;
    }
    if case.method().writes_set() {
        return case.file_count().into();
    }
    regions
        .iter()
        .map(|region| region.range.length.div_ceil(each))
        .sum()
}

/// The bytes in intervals of equal length, from all threads together. Short phases, and those of a few calls, have
/// none.
pub(crate) fn timeline(
    threads: &[ProgressCurve],
    elapsed_ns: u64,
    hand_overs: u64,
) -> Option<Timeline> {
    let spacing_ns = threads.iter().map(|thread| thread.spacing_ns).max()?;
    let count = (elapsed_ns / spacing_ns.max(1)).min(hand_overs / HAND_OVERS_EACH);
    if elapsed_ns < SHORTEST_NS || count < FEWEST_INTERVALS {
        return None;
    }
    let mut bytes = Vec::new();
    let mut before = bytes_of_all(threads, 0);
    for border in 1..=count {
        let at_ns = elapsed_ns / count * border + elapsed_ns % count * border / count;
        let until = bytes_of_all(threads, at_ns);
        bytes.push(until.saturating_sub(before));
        before = until;
    }
    Some(Timeline {
        interval_ns: elapsed_ns / count,
        bytes,
    })
}

fn bytes_of_all(threads: &[ProgressCurve], at_ns: u64) -> u64 {
    threads.iter().map(|thread| thread.bytes_at(at_ns)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn curve(readings: impl IntoIterator<Item = (u64, u64)>) -> ProgressCurve {
        ProgressCurve {
            readings: readings
                .into_iter()
                .map(|(at_ns, bytes)| Reading { at_ns, bytes })
                .collect(),
            spacing_ns: 100 * MS,
        }
    }

    #[test]
    fn intervals_have_one_length_and_hold_every_byte_of_all_threads() {
        // 10 bytes per millisecond, and one from 1.5 s on.
        let bytes = |ms: u64| {
            if ms < 1500 {
                ms * 10
            } else {
                15_000 + (ms - 1500)
            }
        };
        let thread = |times: &[u64]| curve(times.iter().map(|&ms| (ms * MS, bytes(ms))));
        let threads = [
            thread(&[103, 199, 305, 420, 760, 1100, 1500, 1777, 2000]),
            thread(&[333, 1500, 2000]),
        ];
        let timeline = timeline(&threads, 2000 * MS, 100_000).unwrap();
        assert_eq!((timeline.interval_ns, timeline.bytes.len()), (100 * MS, 20));
        assert_eq!(timeline.bytes.iter().sum::<u64>(), 2 * bytes(2000));
        assert!(
            timeline.bytes[..15]
                .iter()
                .all(|&bytes| bytes.abs_diff(2000) <= 2),
            "{timeline:?}"
        );
        assert!(
            timeline.bytes[15..]
                .iter()
                .all(|&bytes| bytes.abs_diff(200) <= 2),
            "{timeline:?}"
        );
    }

    #[test]
    fn a_short_phase_or_few_hand_overs_have_no_timeline() {
        let thread = || [curve((1..=20).map(|tenth| (tenth * 100 * MS, tenth)))];
        assert!(timeline(&thread(), 2000 * MS, 1000).is_some());
        assert_eq!(timeline(&thread(), 900 * MS, 1000), None);
        assert_eq!(
            timeline(&thread(), 2000 * MS, 4),
            None,
            "each call would be an interval"
        );
        assert_eq!(
            timeline(&thread(), 2000 * MS, 160).unwrap().bytes.len(),
            8,
            "twenty calls in each"
        );
        assert_eq!(timeline(&[], 2000 * MS, 1000), None);
    }

    #[test]
    fn a_vector_is_one_hand_over_and_allocating_is_none() {
        let of = |name: &str| {
            let case = Case::parse(name).unwrap();
            let source = vec![0; 1 << 20];
            hand_overs(&case, &crate::region::split(&case, 0, &source, None))
        };
        assert_eq!(of("write,size=1MiB,chunk=4KiB"), 256);
        assert_eq!(of("write,size=1MiB,chunk=whole"), 1);
        assert_eq!(of("writev,size=1MiB,chunk=4KiB,vector=64"), 4);
        assert_eq!(of("pwrite,size=1MiB,chunk=1GiB,threads=4"), 4);
        assert_eq!(of("allocate,size=1MiB"), 0);
    }

    #[test]
    fn a_long_phase_is_read_less_often() {
        let mut sampler = ProgressSampler::new(4096);
        let began = Instant::now();
        let mut at = Duration::ZERO;
        for reading in 0..3000u64 {
            at += sampler.interval;
            sampler.add_reading(began + at, reading);
        }
        assert!(sampler.readings.len() < MAX_READINGS && sampler.interval > FIRST_INTERVAL);
        let elapsed_ns = nanoseconds(at) + 1;
        let timeline = timeline(
            &[sampler.curve(began, elapsed_ns, 3000)],
            elapsed_ns,
            1 << 40,
        )
        .unwrap();
        assert!(
            (100..=400).contains(&timeline.bytes.len()),
            "{}",
            timeline.bytes.len()
        );
        assert_eq!(timeline.bytes.iter().sum::<u64>(), 3000);
    }

    #[test]
    fn the_clock_is_left_alone_between_borders() {
        let mut sampler = ProgressSampler::new(4096);
        sampler.last -= FIRST_INTERVAL;
        sampler.advance_to(PIECE_BYTES - 1);
        assert!(sampler.readings.is_empty());
        sampler.advance_to(PIECE_BYTES);
        sampler.advance_to(2 * PIECE_BYTES);
        assert_eq!(sampler.readings.len(), 1, "and readings are apart");
        assert_eq!(ProgressSampler::new(1).step, PIECE_HAND_OVERS);
    }
}
