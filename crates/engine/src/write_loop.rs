//! The loop of phase write: it calls a method for each chunk, with the syncs between chunks, the latency of each
//! record, and the time limit.

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

/// A thread's loop. If it has records, which are chunks with syncs between them or the files of a set, their latencies
/// are measured. Otherwise the loop is untimed: it only makes its calls and never reads the clock.
pub(crate) struct WriteLoop {
    /// A sync follows so many chunks.
    sync_every: Option<u64>,
    limit: Option<Duration>,
    /// The latencies of the records, in nanoseconds.
    latencies: Option<Histogram<u64>>,
    longest: LongestRecord,
    /// Whether a record is a commit of several chunks, whose latency ends with its sync.
    has_commits: bool,
    chunks_since_sync: u64,
    // The last call before a sync may be shorter than the others, so bytes are counted apart from chunks.
    synced_bytes: u64,
    arrivals: Option<Arrivals>,
    /// What the kernel has so far. Methods with their own loop add to this.
    pub handed_over_bytes: u64,
    pub sampler: ProgressSampler,
    pub behind: Option<WriteBehind>,
    pub ahead: Option<Ahead>,
    start: Instant,
    last: Instant,
}

#[derive(Clone, Copy, Default)]
struct LongestRecord {
    latency_ns: u64,
    /// Records are numbered from 1.
    number: u64,
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

    /// When the last of the next `chunks` arrives.
    fn last_of_next(&self, chunks: u64, start: Instant) -> Instant {
        self.at((self.handed_over + chunks).saturating_sub(1), start)
    }
}

/// Why a loop ends early: a failed call, or `None` at the time limit.
pub(crate) type Stop = Option<CallError>;

impl WriteLoop {
    /// `limit` ends the loop unless it is untimed.
    pub(crate) fn new(case: &Case, chunk_bytes: u64, limit: Option<Duration>) -> Self {
        let now = Instant::now();
        let sync = case.choices().sync;
        let has_records = sync.is_on_the_way() || case.method().writes_set();
        Self {
            sync_every: sync.every.map(u64::from),
            limit,
            latencies: has_records.then(empty_histogram),
            longest: LongestRecord::default(),
            has_commits: case.commit_pages().is_some(),
            chunks_since_sync: 0,
            synced_bytes: 0,
            arrivals: case.given().records_per_s.map(|rate| Arrivals {
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

    pub(crate) fn is_untimed(&self) -> bool {
        self.latencies.is_none()
    }

    /// The loop of most methods. `hand_over` makes the call that writes a chunk at its offset in the file, mostly by
    /// [`crate::call::hand_over`], which continues short writes. `sync` receives the unsynced range of the file.
    #[inline(always)]
    pub(crate) fn each_chunk<'a>(
        &mut self,
        region: &Region<'a>,
        hand_over: impl FnMut(&'a [u8], u64) -> Result<()>,
        sync: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        self.each_chunk_by_window(region, u64::MAX, |_| Ok(()), hand_over, sync)
    }

    /// As [`WriteLoop::each_chunk`], with work before each window. With syncs in the loop there is one window.
    #[inline(always)]
    pub(crate) fn each_chunk_by_window<'a>(
        &mut self,
        region: &Region<'a>,
        window_bytes: u64,
        mut before: impl FnMut(&Region<'a>) -> Result<()>,
        mut hand_over: impl FnMut(&'a [u8], u64) -> Result<()>,
        mut sync: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        if self.is_untimed() {
            for (until, window) in region.pieces(window_bytes.min(self.untimed_window_bytes())) {
                before(&window)?;
                self.reserve(until)?;
                let done = window.rank_offset - region.rank_offset;
                for (until, piece) in window.pieces(self.sampler.step()) {
                    piece.try_each_chunk(&mut hand_over)?;
                    self.advance_to(done + until)?;
                }
            }
            self.handed_over_bytes = region.range.length;
            return Ok(());
        }
        before(region)?;
        self.run_timed(region, &mut sync, |write_loop, sync| {
            region.try_each_chunk(|chunk, offset| {
                write_loop.before_call(1, write_loop.handed_over_bytes + chunk.len() as u64)?;
                hand_over(chunk, offset)?;
                write_loop.after_call(region, 1, chunk.len(), sync)
            })
        })
    }

    /// Write-back is due at the first chunk beyond its distance, which is seldom a border of the sampler's pieces. A
    /// reservation ahead also has its own length.
    fn untimed_window_bytes(&self) -> u64 {
        let distance = self
            .behind
            .as_ref()
            .map_or(u64::MAX, |behind| behind.distance);
        let reserved = self
            .ahead
            .as_ref()
            .map_or(u64::MAX, |_| Prepare::AHEAD_BYTES);
        distance.min(reserved)
    }

    /// Runs a loop that calls [`WriteLoop::before_call`] and [`WriteLoop::after_call`] around each of its calls, and
    /// syncs what its last sync has left.
    pub(crate) fn run_timed<S: FnMut(u64, u64) -> Result<()>>(
        &mut self,
        region: &Region<'_>,
        sync: &mut S,
        work: impl FnOnce(&mut Self, &mut S) -> Result<(), Stop>,
    ) -> Result<()> {
        self.start_clock();
        if let Err(Some(error)) = work(self, sync) {
            return Err(error);
        }
        if self.sync_every.is_some() {
            self.sync_rest(region, sync)?;
            self.count_arrived(0, Instant::now());
        }
        Ok(())
    }

    /// Each call of a timed loop begins with this. The call hands over so many chunks, and `end` is where it ends in
    /// its thread's file. No call has a record before it arrives, so a vector waits for its last one.
    pub(crate) fn before_call(&mut self, chunks: u64, end: u64) -> Result<()> {
        if let Some(arrivals) = &self.arrivals {
            let last = arrivals.last_of_next(chunks, self.start);
            std::thread::sleep(last.saturating_duration_since(Instant::now()));
        }
        self.reserve(end)
    }

    /// Measures the latencies of durable records from their arrival.
    fn count_arrived(&mut self, chunks: u64, now: Instant) {
        let Some(mut arrivals) = self.arrivals.take() else {
            return;
        };
        arrivals.handed_over += chunks;
        if self.chunks_since_sync == 0 || self.sync_every.is_none() {
            for record in arrivals.durable..arrivals.handed_over {
                self.record_latency(now.saturating_duration_since(arrivals.at(record, self.start)));
            }
            arrivals.durable = arrivals.handed_over;
        }
        self.arrivals = Some(arrivals);
    }

    /// Each call of a timed loop ends with this: it syncs if a sync is due, measures the latency, and stops the loop at
    /// the time limit.
    pub(crate) fn after_call(
        &mut self,
        region: &Region<'_>,
        chunks: u64,
        bytes: usize,
        sync: &mut impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<(), Stop> {
        self.handed_over_bytes += bytes as u64;
        self.sampler.advance_to(self.handed_over_bytes);
        self.chunks_since_sync += chunks;
        if self
            .sync_every
            .is_some_and(|every| self.chunks_since_sync >= every)
        {
            self.sync_rest(region, sync)?;
        }
        if self.has_commits && self.chunks_since_sync > 0 {
            return Ok(());
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
        if self.chunks_since_sync == 0 {
            return Ok(());
        }
        let unsynced = match region.pages {
            // They are anywhere in the file.
            Some(_) => (region.file_offset, region.file_offset + region.range.length),
            None => (
                region.file_offset + self.synced_bytes,
                region.file_offset + self.handed_over_bytes,
            ),
        };
        sync(unsynced.0, unsynced.1)?;
        self.chunks_since_sync = 0;
        self.synced_bytes = self.handed_over_bytes;
        Ok(())
    }

    /// Latencies, arrivals and the time limit count from now.
    pub(crate) fn start_clock(&mut self) {
        if self.arrivals.is_some() {
            // With the usual slack, sleeps end up to 50 µs late. If the call fails, they still do.
            let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        }
        self.start = Instant::now();
        self.last = self.start;
    }

    /// Counts a file of a set, which took the time since the file before.
    pub(crate) fn wrote_file(&mut self, bytes: u64) {
        let now = Instant::now();
        self.wrote_file_in(now - self.last, bytes);
        self.last = now;
    }

    /// Counts a file of a set with its latency.
    pub(crate) fn wrote_file_in(&mut self, latency: Duration, bytes: u64) {
        self.handed_over_bytes += bytes;
        self.sampler.advance_to(self.handed_over_bytes);
        self.record_latency(latency);
    }

    /// An untimed loop has no limit.
    pub(crate) fn is_past_limit(&self) -> bool {
        !self.is_untimed()
            && self
                .limit
                .is_some_and(|limit| self.start.elapsed() >= limit)
    }

    pub(crate) fn record_latency(&mut self, duration: Duration) {
        if let Some(latencies) = &mut self.latencies {
            let ns = nanoseconds(duration);
            latencies.saturating_record(ns);
            if ns > self.longest.latency_ns {
                self.longest = LongestRecord {
                    latency_ns: ns,
                    number: latencies.len(),
                };
            }
        }
    }

    /// Reserves blocks for a write that ends at `end` in its thread's file, if the case does so.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, end: u64) -> Result<()> {
        self.ahead
            .as_mut()
            .map_or(Ok(()), |ahead| ahead.reserve(end))
    }

    /// The kernel has so many bytes of the region: the timeline may take a reading, and write-back may follow.
    #[inline(always)]
    pub(crate) fn advance_to(&mut self, bytes: u64) -> Result<()> {
        self.sampler.advance_to(bytes);
        match &mut self.behind {
            None => Ok(()),
            Some(behind) => behind.advance_to(bytes),
        }
    }

    /// Adds the latencies of another thread.
    pub(crate) fn merge_latencies(&mut self, other: &Self) {
        if let (Some(all), Some(more)) = (&mut self.latencies, &other.latencies) {
            all.add(more).expect("the bounds are the same");
            if other.longest.latency_ns > self.longest.latency_ns {
                self.longest = other.longest;
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn shortest_latency(&self) -> Duration {
        Duration::from_nanos(self.latencies.as_ref().map_or(0, Histogram::min))
    }

    /// The distribution of the latencies, or `None` without records.
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
            max_record: Some(self.longest.number),
            histogram: base64::engine::general_purpose::STANDARD.encode(bytes),
        })
    }
}

fn empty_histogram() -> Histogram<u64> {
    const LONGEST_NS: u64 = 3_600_000_000_000;
    const DIGITS: u8 = 3;
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are right")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_all_threads_has_its_number() {
        let case = Case::parse("write,sync=fsync/1").unwrap();
        let [mut all, other] = [[1, 5, 3], [2, 2, 9]].map(|durations| {
            let mut write_loop = WriteLoop::new(&case, 4096, None);
            for ms in durations {
                write_loop.record_latency(Duration::from_millis(ms));
            }
            write_loop
        });
        assert_eq!(all.latency().unwrap().max_record, Some(2));
        all.merge_latencies(&other);
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
            WriteLoop::new(&case, 0, None)
                .each_chunk(&region, |_, _| Ok(()), sync)
                .unwrap();
            synced
        };
        assert_eq!(of_size("9500"), [(0, 4000), (4000, 8000), (8000, 9500)]);
        assert_eq!(of_size("7500"), [(0, 4000), (4000, 7500)]);
        assert_eq!(of_size("8000"), [(0, 4000), (4000, 8000)]);
    }
}
