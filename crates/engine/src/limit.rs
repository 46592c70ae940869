//! The hardware's limits: memory copies, and direct writes to the target.

use std::time::{Duration, Instant};

use direct_io::AlignedBuffer;
use memmap2::MmapMut;
use writebench_model::protocol::{
    DeviceWrites, LimitRequest, LimitedHardware, MeasuredLimits, SampleRequest,
};
use writebench_model::{Bytes, Case, Limit, LimitKind, nanoseconds};

use crate::call::{CallError, Result};
use crate::file::Target;
use crate::methods::streaming_copy::{self, StreamingCopy};
use crate::region::to_usize;
use crate::run::Engine;
use crate::threads::{Shared, Step, Threads};
use crate::warm_memory::fresh_memory;

/// Larger plain copies of the C library bypass the CPU's caches.
const PIECE_BYTES: usize = 1 << 20;
/// Fits in the caches nearest to the CPU.
const CHUNK_BYTES: usize = 64 << 10;
/// The best counts.
const MOST_PASSES: u32 = 8;

impl Engine<'_> {
    pub fn limits(&mut self, target: Target<'_>, request: &LimitRequest) -> MeasuredLimits {
        let time = Duration::from_nanos(request.time_ns);
        match &request.hardware {
            LimitedHardware::Memory { threads, bytes } => MeasuredLimits {
                limits: memory(*threads, *bytes, time),
                bytes_written: 0,
            },
            LimitedHardware::Device(writes) => {
                self.device_limit(target, request.target, writes, time)
            }
        }
    }

    /// io_uring writes two shapes in turn, into files of growing size or onto the device. The best throughput
    /// of phase write counts.
    fn device_limit(
        &mut self,
        target: Target<'_>,
        number: usize,
        writes: &DeviceWrites,
        time: Duration,
    ) -> MeasuredLimits {
        const CHUNK: u64 = 1 << 20;
        const FIRST_BYTES: u64 = 16 << 20;
        const MOST_FILES: usize = 4;
        let prepare = match target {
            Target::Directory(_) => "fallocate",
            Target::Device(_) => "overwrite",
        };
        // Blocks with data need no extent conversion, and huge pages are fewer pieces for the device.
        let shapes = [
            (CHUNK, 8, prepare, "page-aligned"),
            (8 * CHUNK, 4, "overwrite", "huge-pages"),
        ];
        let (mut bytes_per_s, mut how, mut bytes_written) =
            (None, format!("no room for {}", Bytes(CHUNK)), 0);
        let mut size = FIRST_BYTES.min(writes.file_bytes);
        let start = Instant::now();
        for (chunk, depth, prepare, memory) in shapes.into_iter().cycle().take(MOST_FILES) {
            // A file to be overwritten is written twice.
            let times = if matches!(target, Target::Directory(_)) && prepare == "overwrite" {
                2
            } else {
                1
            };
            size =
                size.min(writes.most_bytes.saturating_sub(bytes_written) / times) / CHUNK * CHUNK;
            let is_late = bytes_per_s.is_some() && start.elapsed() >= time;
            if size == 0 || is_late {
                break;
            }
            let (size_text, chunk) = (Bytes(size), Bytes(chunk.min(size)));
            let name = format!(
                "uring,size={size_text},chunk={chunk},depth={depth},prepare={prepare},cache=direct,memory={memory}"
            );
            let Ok(case) = Case::parse(&name).inspect_err(|error| how = error.to_string()) else {
                break;
            };
            let bare = SampleRequest::bare(case, &writes.file_stem, writes.data_seed);
            let request = SampleRequest {
                target: number,
                settle_limit_ns: nanoseconds(time),
                ..bare
            };
            let sample = self.sample(target, &request);
            let case = &request.case;
            bytes_written += size * times;
            if let Some(reason) = sample.outcome.reason() {
                if bytes_per_s.is_none() {
                    how = format!("{case}: {reason}");
                }
                continue;
            }
            let per_s = rate(size, Duration::from_nanos(sample.phases_ns.write));
            if bytes_per_s.is_none_or(|best| per_s > best) {
                bytes_per_s = Some(per_s);
                how = format!("best of phase write of {case}");
            }
            let left_ms =
                u64::try_from(time.saturating_sub(start.elapsed()).as_millis()).unwrap_or(0);
            size =
                (per_s / 1000 * left_ms / 3).clamp(FIRST_BYTES, writes.file_bytes.max(FIRST_BYTES));
            size = size.min(writes.file_bytes);
        }
        let limit = Limit {
            kind: LimitKind::DeviceWrite,
            threads: 1,
            bytes_per_s,
            description: how,
        };
        MeasuredLimits {
            limits: vec![limit],
            bytes_written,
        }
    }
}

/// With a part of the sentence.
const COPIES: [(LimitKind, &str, Step<Copier>); 3] = [
    (LimitKind::MemoryCopy, "", |copier| copier.time(copy_pieces)),
    (
        LimitKind::MemoryCopyOneChunk,
        ", from 65536 bytes of each",
        |copier| copier.time(copy_one_chunk),
    ),
    (
        LimitKind::MemoryCopyNonTemporal,
        ", past the caches",
        |copier| copier.time(copy_past_caches),
    ),
];

/// All destinations are touched first. The best of several passes counts.
fn memory(threads: u32, bytes: u64, time: Duration) -> Vec<Limit> {
    let threads = threads.max(1);
    let each = to_usize(bytes / u64::from(threads)).max(1);
    let copied_bytes = each as u64 * u64::from(threads);
    let fastest = fastest(threads, each, time);
    let limit = |(index, (kind, way, _))| {
        let how = format!(
            "best copy of {} by {threads} threads{way}",
            Bytes(copied_bytes)
        );
        let (bytes_per_s, how) = match &fastest {
            _ if is_missing(kind) => (None, streaming_copy::MISSING.to_owned()),
            Err(why) => (None, why.clone()),
            Ok(fastest) => (Some(rate(copied_bytes, fastest[index])), how),
        };
        Limit {
            kind,
            threads,
            bytes_per_s,
            description: how,
        }
    };
    COPIES.into_iter().enumerate().map(limit).collect()
}

fn is_missing(kind: LimitKind) -> bool {
    kind == LimitKind::MemoryCopyNonTemporal && StreamingCopy::for_this_cpu().is_none()
}

/// From the first thread's start to the last one's end.
fn fastest(threads: u32, each: usize, time: Duration) -> Result<[Duration; COPIES.len()], String> {
    let copiers: Option<Vec<Copier>> = (0..threads).map(|_| Copier::new(each)).collect();
    let copiers = Shared::new(copiers.ok_or("insufficient memory")?);
    let passes = |threads: Threads<'_, Copier>| {
        let mut fastest = [Duration::MAX; COPIES.len()];
        let start = Instant::now();
        for pass in 0..MOST_PASSES {
            if pass >= 2 && start.elapsed() >= time {
                break;
            }
            for ((kind, _, copy), fastest) in COPIES.into_iter().zip(&mut fastest) {
                if is_missing(kind) {
                    continue;
                }
                threads.together(copy)?;
                let (mut began, mut ended) = (Instant::now(), start);
                threads.in_turn(|copier| {
                    began = began.min(copier.began);
                    ended = ended.max(copier.ended);
                    Ok(())
                })?;
                *fastest = (*fastest).min(ended - began);
            }
        }
        Ok(fastest)
    };
    std::thread::scope(|scope| Threads::start(scope, &copiers).and_then(passes))
        .map_err(CallError::reason)
}

struct Copier {
    from: AlignedBuffer,
    to: MmapMut,
    began: Instant,
    ended: Instant,
}

impl Copier {
    fn new(bytes: usize) -> Option<Self> {
        let mut from = AlignedBuffer::new(bytes, 4096).ok()?;
        // The kernel also maps the page cache by huge pages.
        let mut to = fresh_memory(bytes, true)?;
        from.fill(1);
        to.fill(2);
        let now = Instant::now();
        Some(Self {
            from,
            to,
            began: now,
            ended: now,
        })
    }

    fn time(&mut self, copy: fn(&[u8], &mut [u8])) -> Result<()> {
        self.began = Instant::now();
        copy(&self.from, &mut self.to);
        std::hint::black_box(&mut self.to);
        self.ended = Instant::now();
        Ok(())
    }
}

fn copy_pieces(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks(PIECE_BYTES).zip(to.chunks_mut(PIECE_BYTES)) {
        to.copy_from_slice(from);
        std::hint::black_box(to);
    }
}

fn copy_one_chunk(from: &[u8], to: &mut [u8]) {
    for to in to.chunks_mut(CHUNK_BYTES) {
        to.copy_from_slice(&from[..to.len()]);
        std::hint::black_box(to);
    }
}

fn copy_past_caches(from: &[u8], to: &mut [u8]) {
    if let Some(copy) = StreamingCopy::for_this_cpu() {
        copy.run(from, to);
    }
}

fn rate(bytes: u64, elapsed: Duration) -> u64 {
    u64::try_from(u128::from(bytes) * 1_000_000_000 / elapsed.as_nanos().max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_copy_has_a_result() {
        let limits = memory(2, 64 << 20, Duration::from_millis(300));
        let of = |kind| {
            limits
                .iter()
                .find(|limit| limit.kind == kind)
                .and_then(|limit| limit.bytes_per_s)
        };
        for kind in [LimitKind::MemoryCopy, LimitKind::MemoryCopyOneChunk] {
            assert!(of(kind).is_some_and(|rate| rate > 0), "{limits:?}");
        }
        assert_eq!(
            of(LimitKind::MemoryCopyNonTemporal).is_some(),
            StreamingCopy::for_this_cpu().is_some()
        );
        assert!(limits.iter().all(|limit| limit.threads == 2));
    }

    #[test]
    fn missing_memory_is_reported() {
        let limits = memory(1, 1 << 60, Duration::ZERO);
        assert!(
            limits.iter().all(|limit| limit.bytes_per_s.is_none()),
            "{limits:?}"
        );
        assert!(
            limits[0].description.contains("insufficient memory"),
            "{limits:?}"
        );
    }
}
