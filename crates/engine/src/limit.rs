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
/// A chunk that fits in the caches nearest to the CPU.
const CHUNK_BYTES: usize = 64 << 10;
/// Each copy is repeated up to so many times, and the fastest counts.
const MAX_PASSES: u32 = 8;

/// At most so many files are written to find the limit of a device.
const DEVICE_FILES: usize = 4;
const DEVICE_CHUNK_BYTES: u64 = 1 << 20;
const FIRST_FILE_BYTES: u64 = 16 << 20;

impl Engine<'_> {
    /// Measures the limits of the memory, or of the device of a target. It takes about as long as requested.
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
        let mut best = Limit {
            kind: LimitKind::DeviceWrite,
            threads: 1,
            bytes_per_s: None,
            description: format!("no room for {}", Bytes(DEVICE_CHUNK_BYTES)),
        };
        let mut bytes_written = 0;
        let mut size = FIRST_FILE_BYTES.min(writes.file_bytes);
        let start = Instant::now();
        let shapes = WriteShape::for_target(target);
        for shape in shapes.iter().cycle().take(DEVICE_FILES) {
            let room = writes.most_bytes.saturating_sub(bytes_written);
            size = shape.size_within(size, room);
            let is_late = best.bytes_per_s.is_some() && start.elapsed() >= time;
            if size == 0 || is_late {
                break;
            }
            let case = match shape.case(size) {
                Ok(case) => case,
                Err(why) => {
                    best.description = why;
                    break;
                }
            };
            let request = SampleRequest {
                target: number,
                settle_limit_ns: nanoseconds(time),
                ..SampleRequest::bare(case, &writes.file_stem, writes.data_seed)
            };
            let sample = self.sample(target, &request);
            bytes_written += size * shape.writes_per_byte;
            if let Some(reason) = sample.outcome.reason() {
                if best.bytes_per_s.is_none() {
                    best.description = format!("{}: {reason}", request.case);
                }
                continue;
            }
            let per_s = rate(size, Duration::from_nanos(sample.phases_ns.write));
            if best.bytes_per_s.is_none_or(|best| per_s > best) {
                best.bytes_per_s = Some(per_s);
                best.description = format!("best of phase write of {}", request.case);
            }
            let left = time.saturating_sub(start.elapsed());
            size = next_file_bytes(per_s, left).min(writes.file_bytes);
        }
        MeasuredLimits {
            limits: vec![best],
            bytes_written,
        }
    }
}

/// A third of what the device writes in the time that is left.
fn next_file_bytes(bytes_per_s: u64, left: Duration) -> u64 {
    let left_ms = u64::try_from(left.as_millis()).unwrap_or(0);
    (bytes_per_s / 1000 * left_ms / 3).max(FIRST_FILE_BYTES)
}

/// How io_uring writes a file.
struct WriteShape {
    chunk_bytes: u64,
    depth: u32,
    prepare: &'static str,
    memory: &'static str,
    /// A file to be overwritten is written twice.
    writes_per_byte: u64,
}

impl WriteShape {
    fn for_target(target: Target<'_>) -> [Self; 2] {
        let is_file = matches!(target, Target::Directory(_));
        [
            Self {
                chunk_bytes: DEVICE_CHUNK_BYTES,
                depth: 8,
                prepare: if is_file { "fallocate" } else { "overwrite" },
                memory: "page-aligned",
                writes_per_byte: 1,
            },
            // Blocks with data need no extent conversion, and huge pages are fewer pieces for the device.
            Self {
                chunk_bytes: 8 * DEVICE_CHUNK_BYTES,
                depth: 4,
                prepare: "overwrite",
                memory: "huge-pages",
                writes_per_byte: if is_file { 2 } else { 1 },
            },
        ]
    }

    /// The size of a file in whole chunks, for which there is room.
    fn size_within(&self, wanted_bytes: u64, room_bytes: u64) -> u64 {
        let size = wanted_bytes.min(room_bytes / self.writes_per_byte);
        size / DEVICE_CHUNK_BYTES * DEVICE_CHUNK_BYTES
    }

    fn case(&self, size_bytes: u64) -> Result<Case, String> {
        let Self {
            depth,
            prepare,
            memory,
            ..
        } = self;
        let size = Bytes(size_bytes);
        let chunk = Bytes(self.chunk_bytes.min(size_bytes));
        let name = format!(
            "io_uring,size={size},chunk={chunk},depth={depth},prepare={prepare},cache=direct,memory={memory}"
        );
        Case::parse(&name).map_err(|error| error.to_string())
    }
}

/// A way to copy memory.
struct MemoryCopy {
    kind: LimitKind,
    /// The end of the sentence about it.
    way: &'static str,
    copy: Step<Copier>,
}

const COPIES: [MemoryCopy; 3] = [
    MemoryCopy {
        kind: LimitKind::MemoryCopy,
        way: "",
        copy: |copier| copier.time(copy_pieces),
    },
    MemoryCopy {
        kind: LimitKind::MemoryCopyOneChunk,
        way: ", from 65536 bytes of each",
        copy: |copier| copier.time(copy_one_chunk),
    },
    MemoryCopy {
        kind: LimitKind::MemoryCopyNonTemporal,
        way: ", past the caches",
        copy: |copier| copier.time(copy_past_caches),
    },
];

impl MemoryCopy {
    fn is_missing(&self) -> bool {
        self.kind == LimitKind::MemoryCopyNonTemporal && StreamingCopy::for_this_cpu().is_none()
    }
}

/// All destinations are touched first. The best of several passes counts.
fn memory(threads: u32, bytes: u64, time: Duration) -> Vec<Limit> {
    let threads = threads.max(1);
    let each = to_usize(bytes / u64::from(threads)).max(1);
    let copied_bytes = each as u64 * u64::from(threads);
    let fastest = fastest(threads, each, time);
    let mut limits = Vec::new();
    for (index, copy) in COPIES.iter().enumerate() {
        let mut limit = Limit {
            kind: copy.kind,
            threads,
            bytes_per_s: None,
            description: streaming_copy::MISSING.to_owned(),
        };
        match &fastest {
            _ if copy.is_missing() => {}
            Err(why) => limit.description.clone_from(why),
            Ok(fastest) => {
                let size = Bytes(copied_bytes);
                let way = copy.way;
                limit.bytes_per_s = Some(rate(copied_bytes, fastest[index]));
                limit.description = format!("best copy of {size} by {threads} threads{way}");
            }
        }
        limits.push(limit);
    }
    limits
}

/// The shortest time of each copy, from the first thread's start to the last one's end.
type Fastest = [Duration; COPIES.len()];

/// Each thread copies `each` bytes.
fn fastest(threads: u32, each: usize, time: Duration) -> Result<Fastest, String> {
    let copiers: Option<Vec<Copier>> = (0..threads).map(|_| Copier::new(each)).collect();
    let copiers = Shared::new(copiers.ok_or("insufficient memory")?);
    std::thread::scope(|scope| {
        let threads = Threads::start(scope, &copiers)?;
        fastest_of_passes(&threads, time)
    })
    .map_err(CallError::reason)
}

fn fastest_of_passes(threads: &Threads<'_, Copier>, time: Duration) -> Result<Fastest> {
    let mut fastest = [Duration::MAX; COPIES.len()];
    let start = Instant::now();
    for pass in 0..MAX_PASSES {
        if pass >= 2 && start.elapsed() >= time {
            break;
        }
        for (copy, fastest) in COPIES.iter().zip(&mut fastest) {
            if copy.is_missing() {
                continue;
            }
            threads.together(copy.copy)?;
            let mut began = Instant::now();
            let mut ended = start;
            threads.in_turn(|copier| {
                began = began.min(copier.began);
                ended = ended.max(copier.ended);
                Ok(())
            })?;
            *fastest = (*fastest).min(ended - began);
        }
    }
    Ok(fastest)
}

/// A thread's memory, and when its last copy began and ended.
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
