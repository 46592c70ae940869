//! Syncs in the loop, the latency of each record, and the time limit.

use std::time::{Duration, Instant};

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use writebench_model::{Case, Latency, Prepare, nanoseconds};

use crate::ahead::Ahead;
use crate::call::{CallError, Result};
use crate::region::Region;
use crate::timeline::ProgressSampler;
use crate::write_behind::WriteBehind;

/// Without syncs in the loop it is off and never reads the clock, so the loop only makes its calls.
pub(crate) struct Records {
    every: Option<u64>,
    limit: Option<Duration>,
    // In nanoseconds.
    latencies: Option<Histogram<u64>>,
    /// In nanoseconds, with the number of the record.
    longest: (u64, u64),
    since_sync: u64,
    // The last call before a sync may be shorter than the others.
    synced_bytes: u64,
    arrivals: Option<Arrivals>,
    /// Methods with their own loop add to this.
    pub handed_over_bytes: u64,
    pub sampler: ProgressSampler,
    pub behind: Option<WriteBehind>,
    pub ahead: Option<Ahead>,
    start: Instant,
    last: Instant,
}

/// Records arrive at equal distances, however long their writes take, so a stall delays all behind it.
#[derive(Default)]
struct Arrivals {
    records_per_s: u64,
    handed_over: u64,
    durable: u64,
}

impl Arrivals {
    fn at(&self, record: u64, start: Instant) -> Instant {
        start + Duration::from_nanos(record.saturating_mul(1_000_000_000) / self.records_per_s)
    }

    /// The last one of a call's chunks, the next after those handed over.
    fn last_of_next(&self, chunks: u64, start: Instant) -> Instant {
        self.at((self.handed_over + chunks).saturating_sub(1), start)
    }
}

/// A failed call, or none at the time limit.
pub(crate) type Stop = Option<CallError>;

impl Records {
    /// `limit` ends the loop if records are on.
    pub(crate) fn new(case: &Case, chunk_bytes: u64, limit: Option<Duration>) -> Self {
        const LONGEST_NS: u64 = 3_600_000_000_000;
        const DIGITS: u8 = 3;
        let (now, sync) = (Instant::now(), case.axes().sync);
        let has_latencies = sync.is_on_the_way() || case.method().writes_set();
        Self {
            every: sync.every.map(u64::from),
            limit,
            latencies: has_latencies.then(|| {
                Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are right")
            }),
            longest: (0, 0),
            since_sync: 0,
            synced_bytes: 0,
            arrivals: case.axes().records_per_s.map(|rate| Arrivals {
                records_per_s: rate.into(),
                ..Arrivals::default()
            }),
            handed_over_bytes: 0,
            sampler: ProgressSampler::new(chunk_bytes),
            behind: None,
            ahead: None,
            start: now,
            last: now,
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.latencies.is_none()
    }

    /// `sync` receives the unsynced range of the file.
    #[inline(always)]
    pub(crate) fn each<'a>(
        &mut self,
        region: &Region<'a>,
        hand_over: impl FnMut(&'a [u8], u64) -> Result<()>,
        sync: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        self.each_by_window(region, u64::MAX, |_| Ok(()), hand_over, sync)
    }

    /// [`Records::each`], with work before each window. With syncs in the loop there is one window.
    #[inline(always)]
    pub(crate) fn each_by_window<'a>(
        &mut self,
        region: &Region<'a>,
        window_bytes: u64,
        mut before: impl FnMut(&Region<'a>) -> Result<()>,
        mut hand_over: impl FnMut(&'a [u8], u64) -> Result<()>,
        mut sync: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        if self.is_off() {
            // Write-back is due at the first chunk beyond its distance, which is seldom a border of the
            // sampler's pieces.
            let distance = self
                .behind
                .as_ref()
                .map_or(u64::MAX, |behind| behind.distance);
            let reserved = self
                .ahead
                .as_ref()
                .map_or(u64::MAX, |_| Prepare::AHEAD_BYTES);
            for (until, window) in region.pieces(window_bytes.min(distance).min(reserved)) {
                before(&window)?;
                self.reserve(until)?;
                let done = window.rank_offset - region.rank_offset;
                for (until, piece) in window.pieces(self.sampler.step()) {
                    piece.try_each_chunk(&mut hand_over)?;
                    self.reached(done + until)?;
                }
            }
            self.handed_over_bytes = region.range.length;
            return Ok(());
        }
        before(region)?;
        self.run(region, &mut sync, |records, sync| {
            region.try_each_chunk(|chunk, offset| {
                records.before_call(1, records.handed_over_bytes + chunk.len() as u64)?;
                hand_over(chunk, offset)?;
                records.record(region, 1, chunk.len(), sync)
            })
        })
    }

    pub(crate) fn run<S: FnMut(u64, u64) -> Result<()>>(
        &mut self,
        region: &Region<'_>,
        sync: &mut S,
        work: impl FnOnce(&mut Self, &mut S) -> Result<(), Stop>,
    ) -> Result<()> {
        self.begin();
        if let Err(Some(error)) = work(self, sync) {
            return Err(error);
        }
        if self.every.is_some() {
            self.sync_rest(region, sync)?;
            self.count_arrived(0, Instant::now());
        }
        Ok(())
    }

    /// Each call of a loop with records begins with this. It hands over so many chunks, and ends there in its
    /// thread's file. No call has a record before it arrives, so a vector waits for its last one.
    pub(crate) fn before_call(&mut self, chunks: u64, end: u64) -> Result<()> {
        if let Some(arrivals) = &self.arrivals {
            let last = arrivals.last_of_next(chunks, self.start);
            std::thread::sleep(last.saturating_duration_since(Instant::now()));
        }
        self.reserve(end)
    }

    /// Counts durable records from their arrival.
    fn count_arrived(&mut self, chunks: u64, now: Instant) {
        let Some(mut arrivals) = self.arrivals.take() else {
            return;
        };
        arrivals.handed_over += chunks;
        if self.since_sync == 0 || self.every.is_none() {
            for record in arrivals.durable..arrivals.handed_over {
                self.record_latency(now.saturating_duration_since(arrivals.at(record, self.start)));
            }
            arrivals.durable = arrivals.handed_over;
        }
        self.arrivals = Some(arrivals);
    }

    pub(crate) fn record(
        &mut self,
        region: &Region<'_>,
        chunks: u64,
        bytes: usize,
        sync: &mut impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<(), Stop> {
        self.handed_over_bytes += bytes as u64;
        self.sampler.reached(self.handed_over_bytes);
        self.since_sync += chunks;
        if self.every.is_some_and(|every| self.since_sync >= every) {
            self.sync_rest(region, sync)?;
        }
        let now = Instant::now();
        if self.arrivals.is_some() {
            self.count_arrived(chunks, now);
        } else {
            self.record_latency(now - self.last);
            self.last = now;
        }
        match self.limit {
            Some(limit) if now - self.start >= limit => Err(None),
            _ => Ok(()),
        }
    }

    fn sync_rest(
        &mut self,
        region: &Region<'_>,
        sync: &mut impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        if self.since_sync == 0 {
            return Ok(());
        }
        sync(
            region.file_offset + self.synced_bytes,
            region.file_offset + self.handed_over_bytes,
        )?;
        self.since_sync = 0;
        self.synced_bytes = self.handed_over_bytes;
        Ok(())
    }

    pub(crate) fn begin(&mut self) {
        if self.arrivals.is_some() {
            // Otherwise sleeps end up to 50 µs late. Where it fails, they do.
            let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        }
        self.start = Instant::now();
        self.last = self.start;
    }

    pub(crate) fn wrote_file(&mut self, bytes: u64) {
        let now = Instant::now();
        self.wrote_file_in(now - self.last, bytes);
        self.last = now;
    }

    pub(crate) fn wrote_file_in(&mut self, latency: Duration, bytes: u64) {
        self.handed_over_bytes += bytes;
        self.sampler.reached(self.handed_over_bytes);
        self.record_latency(latency);
    }

    pub(crate) fn is_past_limit(&self) -> bool {
        !self.is_off()
            && self
                .limit
                .is_some_and(|limit| self.start.elapsed() >= limit)
    }

    pub(crate) fn record_latency(&mut self, duration: Duration) {
        if let Some(latencies) = &mut self.latencies {
            let ns = nanoseconds(duration);
            latencies.saturating_record(ns);
            if ns > self.longest.0 {
                self.longest = (ns, latencies.len());
            }
        }
    }

    /// Before a write that ends there in its thread's file.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, end: u64) -> Result<()> {
        self.ahead
            .as_mut()
            .map_or(Ok(()), |ahead| ahead.reserve(end))
    }

    #[inline(always)]
    pub(crate) fn reached(&mut self, bytes: u64) -> Result<()> {
        self.sampler.reached(bytes);
        match &mut self.behind {
            None => Ok(()),
            Some(behind) => behind.reached(bytes),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if let (Some(all), Some(more)) = (&mut self.latencies, &other.latencies) {
            all.add(more).expect("the bounds are the same");
            if other.longest.0 > self.longest.0 {
                self.longest = other.longest;
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn shortest_latency(&self) -> Duration {
        Duration::from_nanos(self.latencies.as_ref().map_or(0, Histogram::min))
    }

    pub(crate) fn latency(&self) -> Option<Latency> {
        let latencies = self
            .latencies
            .as_ref()
            .filter(|latencies| !latencies.is_empty())?;
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(latencies, &mut bytes)
            .expect("it is written to memory");
        Some(Latency {
            count: latencies.len(),
            p50_ns: latencies.value_at_quantile(0.5),
            p90_ns: latencies.value_at_quantile(0.9),
            p99_ns: latencies.value_at_quantile(0.99),
            p99_9_ns: latencies.value_at_quantile(0.999),
            max_ns: latencies.max(),
            max_record: Some(self.longest.1),
            histogram: base64::engine::general_purpose::STANDARD.encode(bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_all_threads_has_its_number() {
        let case = Case::parse("write,sync=fsync/1").unwrap();
        let [mut all, other] = [[1, 5, 3], [2, 2, 9]].map(|durations| {
            let mut records = Records::new(&case, 4096, None);
            durations
                .iter()
                .for_each(|&ms| records.record_latency(Duration::from_millis(ms)));
            records
        });
        assert_eq!(all.latency().unwrap().max_record, Some(2));
        all.merge(&other);
        assert_eq!(all.latency().unwrap().max_record, Some(3));
    }

    #[test]
    fn records_arrive_at_equal_distances() {
        let arrivals = Arrivals {
            records_per_s: 1000,
            ..Arrivals::default()
        };
        let start = Instant::now();
        assert_eq!(arrivals.at(0, start), start);
        assert_eq!(
            arrivals.at(1500, start) - start,
            Duration::from_millis(1500)
        );
        let next = |chunks| arrivals.last_of_next(chunks, start) - start;
        assert_eq!(
            [next(1), next(4)],
            [Duration::ZERO, Duration::from_millis(3)]
        );
    }

    #[test]
    fn a_sync_covers_what_the_last_one_did_not_also_behind_a_short_chunk() {
        let of_size = |size: &str| {
            let case = Case::parse(&format!("mmap,size={size},chunk=1000,sync=msync/4")).unwrap();
            let source = vec![7; 20_000];
            let region = crate::region::split(&case, 0, &source, None)[0];
            let mut synced = Vec::new();
            let sync = |from, to| {
                synced.push((from, to));
                Ok(())
            };
            Records::new(&case, 0, None)
                .each(&region, |_, _| Ok(()), sync)
                .unwrap();
            synced
        };
        assert_eq!(of_size("9500"), [(0, 4000), (4000, 8000), (8000, 9500)]);
        assert_eq!(of_size("7500"), [(0, 4000), (4000, 7500)]);
        assert_eq!(of_size("8000"), [(0, 4000), (4000, 8000)]);
    }
}
