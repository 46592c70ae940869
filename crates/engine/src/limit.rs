//! What the hardware can do at most: copies of memory, and direct writes to the target.

use std::time::{Duration, Instant};

use direct_io::AlignedBuffer;
use memmap2::{Advice, MmapMut};
use writebench_model::protocol::{DeviceWrites, LimitOf, LimitRequest, MeasuredLimits, SampleRequest};
use writebench_model::{Bytes, Case, Limit, LimitKind, Phase, Reserve, nanoseconds};

use crate::call::CallError;
use crate::crew::{Crew, Shared};
use crate::file::Target;
use crate::methods::{self, streaming_copy};
use crate::run::Engine;

/// What a plain copy moves in one call, so that the C library does not go past the caches by itself.
const PIECE_BYTES: usize = 1 << 20;
/// A chunk that stays in the caches nearest to the CPU.
const CHUNK_BYTES: usize = 64 << 10;
/// Most passes of each kind; the best counts.
const MOST_PASSES: u32 = 8;

impl Engine {
    /// Measures what the hardware can do at most.
    pub fn limits(
        &mut self,
        target: Target<'_>,
        request: &LimitRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> MeasuredLimits {
        let time = Duration::from_nanos(request.time_ns);
        match &request.of {
            LimitOf::Memory { threads, bytes } => {
                MeasuredLimits { limits: memory(*threads, *bytes, time), bytes_written: 0 }
            }
            LimitOf::Device(writes) => {
                let (limit, bytes_written) = device(self, target, (request.target, writes, time), progress);
                MeasuredLimits { limits: vec![limit], bytes_written }
            }
        }
    }
}

/// Copies of memory by so many threads, each from and to its own part: plain, from one chunk again and again,
/// and with stores past the caches. Every destination is touched before; the best of several passes counts.
fn memory(threads: u32, bytes: u64, time: Duration) -> Vec<Limit> {
    let threads = threads.max(1);
    let each = usize::try_from(bytes / u64::from(threads)).unwrap_or(usize::MAX).max(1);
    let kinds = [LimitKind::MemoryCopy, LimitKind::MemoryCopyOneChunk, LimitKind::MemoryCopyNonTemporal];
    let how = format!("best copy of {} by {threads} threads", Bytes(each as u64 * u64::from(threads)));
    let limit = |(kind, best): (LimitKind, Option<u64>)| {
        let how = match (kind, best) {
            (_, None) if missing(kind).is_some() => missing(kind).unwrap_or_default().to_owned(),
            (_, None) => "there is no memory for it".to_owned(),
            (LimitKind::MemoryCopyOneChunk, _) => format!("{how}, from {CHUNK_BYTES} bytes of each"),
            (LimitKind::MemoryCopyNonTemporal, _) => format!("{how}, past the caches"),
            _ => how.clone(),
        };
        Limit { kind, threads, bytes_per_s: best, how }
    };
    let Some(mut lanes) = (0..threads).map(|_| Copier::new(each)).collect::<Option<Vec<Copier>>>() else {
        return kinds.map(|kind| limit((kind, None))).into();
    };
    let mut best = kinds.map(|kind| (kind, None));
    let start = Instant::now();
    for pass in 0..MOST_PASSES {
        if pass >= 2 && start.elapsed() >= time {
            break;
        }
        for (kind, best) in best.iter_mut().filter(|(kind, _)| missing(*kind).is_none()) {
            match together(&mut lanes, *kind) {
                Ok(elapsed) => *best = (*best).max(Some(rate(each as u64 * u64::from(threads), elapsed))),
                Err(error) => {
                    let how = error.reason();
                    return kinds
                        .map(|kind| Limit { kind, threads, bytes_per_s: None, how: how.clone() })
                        .into();
                }
            }
        }
    }
    best.map(limit).into()
}

fn missing(kind: LimitKind) -> Option<&'static str> {
    streaming_copy::MISSING.filter(|_| kind == LimitKind::MemoryCopyNonTemporal)
}

/// One thread's part.
struct Copier {
    from: AlignedBuffer,
    to: MmapMut,
}

impl Copier {
    fn new(bytes: usize) -> Option<Self> {
        let mut from = AlignedBuffer::new(bytes, 4096).ok()?;
        let mut to = MmapMut::map_anon(bytes).ok()?;
        // As the kernel's own view of the page cache; kernels without huge pages refuse.
        let _ = to.advise(Advice::HugePage);
        from.fill(1);
        to.fill(2);
        Some(Self { from, to })
    }

    fn copy(&mut self, kind: LimitKind) {
        match kind {
            LimitKind::MemoryCopyNonTemporal => streaming_copy::copy(&self.from, &mut self.to),
            LimitKind::MemoryCopyOneChunk => {
                for to in self.to.chunks_mut(CHUNK_BYTES) {
                    to.copy_from_slice(&self.from[..to.len()]);
                    std::hint::black_box(to);
                }
            }
            _ => {
                for (from, to) in self.from.chunks(PIECE_BYTES).zip(self.to.chunks_mut(PIECE_BYTES)) {
                    to.copy_from_slice(from);
                    std::hint::black_box(to);
                }
            }
        }
        std::hint::black_box(&mut self.to);
    }
}

/// One thread's place at a copy, with when it began and ended.
struct CopierSeat<'l> {
    lane: &'l mut Copier,
    kind: LimitKind,
    times: Option<(Instant, Instant)>,
}

impl CopierSeat<'_> {
    fn copy(&mut self) -> Result<(), CallError> {
        let start = Instant::now();
        self.lane.copy(self.kind);
        self.times = Some((start, Instant::now()));
        Ok(())
    }
}

/// All parts side by side: from when the first begins to when the last has ended.
fn together(lanes: &mut [Copier], kind: LimitKind) -> Result<Duration, CallError> {
    let seats = lanes.iter_mut().map(|lane| CopierSeat { lane, kind, times: None });
    let seats = Shared::new(seats.collect());
    std::thread::scope(|scope| {
        let crew = Crew::start(scope, &seats)?;
        crew.together(CopierSeat::copy)?;
        let mut times = Vec::new();
        crew.in_turn(|seat| {
            times.extend(seat.times);
            Ok(())
        })?;
        let first = times.iter().map(|(start, _)| *start).min();
        let last = times.iter().map(|(_, end)| *end).max();
        Ok(first.zip(last).map_or(Duration::MAX, |(first, last)| last - first))
    })
}

fn rate(bytes: u64, elapsed: Duration) -> u64 {
    u64::try_from(u128::from(bytes) * 1_000_000_000 / elapsed.as_nanos().max(1)).unwrap_or(u64::MAX)
}

/// Direct writes of 1 MiB with eight under way, into preallocated files of growing size or onto the device; the best
/// counts, of phase write alone. Also what was written for it.
fn device(
    engine: &mut Engine,
    target: Target<'_>,
    (number, writes, time): (usize, &DeviceWrites, Duration),
    progress: &mut dyn FnMut(Phase),
) -> (Limit, u64) {
    const CHUNK: u64 = 1 << 20;
    const FIRST_BYTES: u64 = 16 << 20;
    const MOST_FILES: u32 = 4;
    let prepare = match target {
        Target::Directory(_) => "fallocate",
        Target::Device(_) => "overwrite",
    };
    let request = SampleRequest {
        case: String::new(),
        target: number,
        sync_all: false,
        round: 0,
        file_stem: writes.file_stem.clone(),
        remove_first: false,
        reserve: Reserve::NONE,
        data_seed: writes.data_seed,
        read_back: None,
        settle_limit_ns: nanoseconds(time),
        warm: false,
        write_limit_ns: None,
        device_number: None,
        cpu_stats: Vec::new(),
    };
    let limit = |bytes_per_s, how| Limit { kind: LimitKind::DeviceWrite, threads: 1, bytes_per_s, how };
    let (mut best, mut how, mut written) = (None, String::new(), 0);
    let mut size = FIRST_BYTES.min(writes.file_bytes);
    let start = Instant::now();
    for _ in 0..MOST_FILES {
        size = size.min(writes.most_bytes.saturating_sub(written)) / CHUNK * CHUNK;
        let is_late = best.is_some() && start.elapsed() >= time;
        if size == 0 || is_late {
            break;
        }
        let name = format!("uring,size={},chunk=1MiB,prepare={prepare},cache=direct,depth=8", Bytes(size));
        let case = match Case::parse(&name, &methods::infos()) {
            Ok(case) => case,
            Err(error) => return (limit(None, error.to_string()), written),
        };
        let sample = engine.sample(target, &case, &request, progress);
        written += size;
        if let Some(reason) = sample.outcome.reason() {
            return (limit(best, format!("{case}: {reason}")), written);
        }
        let per_s = rate(size, Duration::from_nanos(sample.phases_ns.write));
        if best.is_none_or(|best| per_s > best) {
            best = Some(per_s);
            how = format!("best of phase write of {case}");
        }
        // So that the next takes a third of the time that is left.
        let left_ms = u64::try_from(time.saturating_sub(start.elapsed()).as_millis()).unwrap_or(0);
        size = (per_s / 1000 * left_ms / 3).clamp(FIRST_BYTES, writes.file_bytes.max(FIRST_BYTES));
        size = size.min(writes.file_bytes);
    }
    if best.is_none() {
        how = format!("no room for {}", Bytes(CHUNK));
    }
    (limit(best, how), written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_copy_has_a_figure_and_a_chunk_from_the_caches_is_no_slower() {
        let limits = memory(2, 64 << 20, Duration::from_millis(300));
        let of = |kind| limits.iter().find(|limit| limit.kind == kind).and_then(|limit| limit.bytes_per_s);
        let (plain, chunk) = (of(LimitKind::MemoryCopy), of(LimitKind::MemoryCopyOneChunk));
        assert!(plain.is_some_and(|plain| plain > 0), "{limits:?}");
        // Half of it: others are at work here, too.
        assert!(chunk > plain.map(|plain| plain / 2), "{limits:?}");
        assert_eq!(of(LimitKind::MemoryCopyNonTemporal).is_some(), cfg!(target_arch = "x86_64"));
        assert!(limits.iter().all(|limit| limit.threads == 2));
    }

    #[test]
    fn memory_that_is_not_there_is_said() {
        let limits = memory(1, 1 << 60, Duration::ZERO);
        assert!(limits.iter().all(|limit| limit.bytes_per_s.is_none()), "{limits:?}");
        assert!(limits[0].how.contains("no memory"), "{limits:?}");
    }
}
