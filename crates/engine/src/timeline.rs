//! Throughput over time inside phase write, seen from outside the loop.
//!
//! A loop stores how far it is after each hand-over, in a counter of its own that nobody else writes: one store
//! beside a system call. A thread that sleeps nearly always reads the counters; a clock in the loop would cost
//! tens of nanoseconds for each call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use model::{Case, Timeline};
use rustix::io::Errno;

use crate::call::CallError;
use crate::job::Part;

/// How often the counters are read at first. Longer phases are read less often.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);
/// Most readings that are kept: beyond, every second one goes.
const MOST_READINGS: usize = 400;
/// A shorter phase has no timeline.
const SHORTEST_NS: u64 = 1_000_000_000;
/// Fewer intervals say nothing of a course.
const FEWEST_INTERVALS: u64 = 5;
/// So many hand-overs should fall into an interval, so that where they fall does not look like a change.
const HAND_OVERS_EACH: u64 = 20;

/// How far a lane is.
#[derive(Clone, Default)]
pub struct Meter {
    counter: Arc<Counter>,
}

// A line of the cache to itself, and its neighbour's, which is fetched along.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

impl Meter {
    /// So many bytes have been handed over, from the beginning.
    #[inline(always)]
    pub fn reached(&self, bytes: u64) {
        // Only a figure to look at: it orders nothing.
        self.counter.0.store(bytes, Ordering::Relaxed);
    }

    /// How many bytes have been handed over.
    pub fn bytes(&self) -> u64 {
        self.counter.0.load(Ordering::Relaxed)
    }
}

/// The meters of all lanes and what was read off them.
pub struct Readings {
    meters: Vec<Meter>,
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    is_watched: bool,
    has_ended: bool,
    began: Option<Instant>,
    interval: Duration,
    // Time since the beginning, and bytes until then.
    readings: Vec<(u64, u64)>,
}

/// Keeps the thread that reads; ends it when dropped.
pub struct Reader<'r>(&'r Readings);

impl Readings {
    /// Of these meters.
    pub fn new(meters: Vec<Meter>) -> Self {
        let state = State { interval: FIRST_INTERVAL, ..State::default() };
        Self { meters, state: Mutex::new(state), woken: Condvar::new() }
    }

    /// Starts the thread that reads, and waits until it sleeps.
    pub fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
    ) -> Result<Reader<'env>, CallError> {
        Builder::new().spawn_scoped(scope, || self.read()).map_err(|error| {
            CallError::new("pthread_create", Errno::from_io_error(&error).unwrap_or(Errno::AGAIN))
        })?;
        let is_away = |state: &mut State| !state.is_watched;
        drop(self.woken.wait_while(self.lock(), is_away).unwrap_or_else(PoisonError::into_inner));
        Ok(Reader(self))
    }

    /// Phase write begins.
    pub fn begin(&self) {
        self.lock().began = Some(Instant::now());
    }

    /// Phase write has ended, after that time.
    pub fn end(&self, elapsed_ns: u64) {
        let mut state = self.lock();
        state.has_ended = true;
        state.readings.retain(|&(at, _)| at < elapsed_ns);
        state.readings.push((elapsed_ns, self.bytes()));
    }

    fn bytes(&self) -> u64 {
        self.meters.iter().map(Meter::bytes).sum()
    }

    fn read(&self) {
        let mut state = self.lock();
        state.is_watched = true;
        self.woken.notify_all();
        while !state.has_ended {
            let into = state.began.map_or(Duration::ZERO, |began| began.elapsed());
            let left = state.interval - Duration::from_nanos(nanoseconds(into) % nanoseconds(state.interval));
            let (woken, timeout) = self.woken.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if let Some(began) = state.began.filter(|_| timeout.timed_out() && !state.has_ended) {
                state.take(nanoseconds(began.elapsed()), self.bytes());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read, in intervals of one length; none of a phase that was short, or had few hand-overs.
    pub fn timeline(&self, hand_overs: u64) -> Option<Timeline> {
        let state = self.lock();
        timeline(&state.readings, nanoseconds(state.interval), hand_overs)
    }
}

impl State {
    fn take(&mut self, at_ns: u64, bytes: u64) {
        self.readings.push((at_ns, bytes));
        if self.readings.len() >= MOST_READINGS {
            let mut is_second = true;
            self.readings.retain(|_| {
                is_second = !is_second;
                is_second
            });
            self.interval *= 2;
        }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.woken.notify_all();
    }
}

/// How many calls hand over the data of all parts: a timeline cannot see into one.
pub fn hand_overs(case: &Case, parts: &[Part<'_>]) -> u64 {
    let each = case.axes().chunk_size_bytes.saturating_mul(u64::from(case.axes().vector.max(1))).max(1);
    if !case.method().writes_data() {
        return 0;
    }
    parts.iter().map(|part| part.range.length.div_ceil(each)).sum()
}

fn timeline(readings: &[(u64, u64)], spacing_ns: u64, hand_overs: u64) -> Option<Timeline> {
    let (elapsed_ns, _) = *readings.last()?;
    let count = (elapsed_ns / spacing_ns.max(1)).min(hand_overs / HAND_OVERS_EACH);
    if elapsed_ns < SHORTEST_NS || count < FEWEST_INTERVALS {
        return None;
    }
    let until =
        |border: u64| bytes_at(readings, elapsed_ns / count * border + elapsed_ns % count * border / count);
    let borders: Vec<u64> = (0..=count).map(until).collect();
    let bytes = borders.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    Some(Timeline { interval_ns: elapsed_ns / count, bytes })
}

/// On the line between the readings before and after.
fn bytes_at(readings: &[(u64, u64)], at_ns: u64) -> u64 {
    let after = readings.partition_point(|&(at, _)| at < at_ns);
    let before = if after == 0 { (0, 0) } else { readings[after - 1] };
    let Some(&(later_ns, later)) = readings.get(after) else { return before.1 };
    let share = u128::from(at_ns - before.0) * u128::from(later.saturating_sub(before.1));
    before.1 + u64::try_from(share / u128::from((later_ns - before.0).max(1))).unwrap_or(0)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn intervals_have_one_length_and_hold_every_byte() {
        // Read at odd times: 10 bytes a millisecond, and one from 1.5 s on.
        let bytes = |ms: u64| if ms < 1500 { ms * 10 } else { 15_000 + (ms - 1500) };
        let readings: Vec<(u64, u64)> =
            [103, 199, 305, 420, 760, 1100, 1500, 1777, 2000].map(|ms| (ms * MS, bytes(ms))).to_vec();
        let timeline = timeline(&readings, 100 * MS, 100_000).unwrap();
        assert_eq!((timeline.interval_ns, timeline.bytes.len()), (100 * MS, 20));
        assert_eq!(timeline.bytes.iter().sum::<u64>(), bytes(2000));
        assert!(timeline.bytes[..15].iter().all(|&it| it.abs_diff(1000) <= 1), "{timeline:?}");
        assert!(timeline.bytes[15..].iter().all(|&it| it.abs_diff(100) <= 1), "{timeline:?}");
    }

    #[test]
    fn a_short_phase_and_one_of_few_hand_overs_have_none() {
        let readings: Vec<(u64, u64)> = (1..=20).map(|tenth| (tenth * 100 * MS, tenth)).collect();
        assert!(timeline(&readings, 100 * MS, 1000).is_some());
        assert_eq!(timeline(&readings[..9], 100 * MS, 1000), None, "0.9 s");
        assert_eq!(timeline(&readings, 100 * MS, 4), None, "each call would be an interval");
        let few = timeline(&readings, 100 * MS, 160).unwrap();
        assert_eq!(few.bytes.len(), 8, "twenty calls in each");
        assert_eq!(timeline(&[], 100 * MS, 1000), None);
    }

    #[test]
    fn a_long_phase_is_read_less_often() {
        let mut state = State { interval: FIRST_INTERVAL, ..State::default() };
        let mut at_ns = 0;
        for reading in 0..3000u64 {
            at_ns += nanoseconds(state.interval);
            state.take(at_ns, reading);
        }
        assert!(state.readings.len() < MOST_READINGS, "{}", state.readings.len());
        assert!(state.interval > FIRST_INTERVAL);
        let timeline = timeline(&state.readings, nanoseconds(state.interval), 1 << 40).unwrap();
        assert!((100..=400).contains(&timeline.bytes.len()), "{}", timeline.bytes.len());
    }

    #[test]
    fn what_lanes_reach_is_read_while_they_go_on() {
        let meters = vec![Meter::default(), Meter::default()];
        let readings = Readings::new(meters.clone());
        std::thread::scope(|scope| {
            let reader = readings.start(scope).unwrap();
            readings.begin();
            let start = Instant::now();
            let mut steps = 0;
            while start.elapsed() < Duration::from_millis(1100) {
                steps += 1;
                meters.iter().for_each(|meter| meter.reached(steps));
                std::thread::sleep(Duration::from_millis(1));
            }
            readings.end(nanoseconds(start.elapsed()));
            drop(reader);
            let timeline = readings.timeline(1 << 20).unwrap();
            assert_eq!(timeline.bytes.iter().sum::<u64>(), 2 * steps, "both lanes");
            assert!(timeline.bytes.iter().filter(|&&bytes| bytes > 0).count() >= 5, "{timeline:?}");
        });
    }
}
