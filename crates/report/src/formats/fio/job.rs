//! The job of fio that makes a case's calls: sections with their options, or the reason why there is none.
//!
//! This is about fio 3.33, whose calls were traced with strace.

use writebench_model::{
    Axes, Axis, Bytes, Cache, Case, Cursor, Data, DataMemory, Descriptor, Files, FioEngine, Prepare, Range,
    Registered, Source, Sync, SyncCall,
};

use super::section::{self, Part, Section};

/// The prefix of the sections that are measured; the others make files, and remove them.
pub(super) const WRITES: &str = "writes";

/// The file that fio writes, or the prefix of its files' names.
const FILE: &str = "writebench-sample";

/// The options of the job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) sections: Vec<Section>,
    /// The differences from writebench.
    pub(super) differences: Vec<String>,
}

type Why = String;
type Options = Vec<(&'static str, String)>;

/// The job of a case, or the reason why fio cannot run it.
pub(super) fn job(case: &Case) -> Result<Job, Why> {
    let (method, axes) = (case.method(), case.axes());
    let engine = method.card().fio?;
    let of_engine = options(&engine, case)?;
    method.own_axes().try_for_each(|axis| axes.in_fio(axis))?;
    if case.staged_bytes() > 0 {
        return Err("fio copies nothing to aligned memory: memory=page-aligned".to_owned());
    }
    let sync = sync(&engine, case)?;
    let fallocate = section::fallocate(axes.prepare)?;
    let parts = parts(case)?;
    let maps = maps(case);
    let mut sections = section::sections(axes, &parts, maps, fallocate)?;
    for (index, part) in parts.iter().enumerate() {
        let mut options = vec![
            ("filename", part.file.clone()),
            ("offset", part.range.offset.to_string()),
            ("size", part.range.length.to_string()),
            ("bs", axes.chunk_size_bytes.min(part.range.length).to_string()),
            // A mapping finds the file as the section before left it.
            ("fallocate", if maps { "none" } else { fallocate }.to_owned()),
            ("direct", u8::from(axes.cache == Cache::Direct).to_string()),
            ("unlink", u8::from(!is_shared(axes)).to_string()),
        ];
        // Threads begin together, and after what comes before all of them.
        if index == 0 && !sections.is_empty() {
            options.push(("stonewall", "1".to_owned()));
        }
        options.extend(of_engine.iter().chain(&sync).cloned());
        options.extend(content(axes.data));
        // Without this or direct I/O, fio's memory is where malloc has it.
        if axes.memory == DataMemory::PageAligned {
            options.push(("iomem_align", "4096".to_owned()));
        }
        sections.push(Section { name: format!("{WRITES}-{index}"), options });
    }
    if is_shared(axes) {
        sections.push(section::removal(FILE));
    }
    Ok(Job { sections, differences: differences(&engine, case, &parts) })
}

fn maps(case: &Case) -> bool {
    case.method().card().cursor == Cursor::Mapping
}

/// The options that make the engine use the method's calls.
fn options(engine: &FioEngine, case: &Case) -> Result<Options, Why> {
    let (method, axes) = (case.method(), case.axes());
    let mut options = vec![("ioengine", engine.name.to_owned())];
    if let Some(axis) = engine.queue {
        let depth = axes.get(axis);
        let least = if axis == Axis::Vector { depth.clone() } else { "1".to_owned() };
        options.extend([
            ("iodepth", depth.clone()),
            ("iodepth_batch_submit", depth.clone()),
            ("iodepth_batch_complete_min", least),
            ("iodepth_batch_complete_max", depth),
        ]);
    }
    if method.has_axis(Axis::Vector) && engine.queue != Some(Axis::Vector) && axes.vector > 1 {
        return Err(format!("fio's {} hands over one element in each call: vector=1", engine.name));
    }
    options.extend(engine.options.iter().map(|(name, value)| (*name, (*value).to_owned())));
    if method.has_axis(Axis::Registered) {
        let is_one_of = |kinds: [Registered; 2]| u8::from(kinds.contains(&axes.registered)).to_string();
        options.push(("fixedbufs", is_one_of([Registered::Buffers, Registered::Both])));
        options.push(("registerfiles", is_one_of([Registered::Files, Registered::Both])));
    }
    Ok(options)
}

/// The options that make the data durable.
fn sync(engine: &FioEngine, case: &Case) -> Result<Options, Why> {
    let Sync { call, every } = case.axes().sync;
    let at_end = ("end_fsync", "1".to_owned());
    match (call, every) {
        (SyncCall::None, _) => Ok(Vec::new()),
        (SyncCall::ODsync, _) => Ok(vec![("sync", "dsync".to_owned())]),
        (SyncCall::OSync, _) => Ok(vec![("sync", "sync".to_owned())]),
        (SyncCall::RwfDsync, _) => Err("fio 3.33 has no RWF_DSYNC".to_owned()),
        (SyncCall::Fsync | SyncCall::Fdatasync, _) if maps(case) => {
            Err(format!("fio's mmap engine syncs with msync, and not with {call}"))
        }
        (SyncCall::Msync, Some(_)) => {
            Err("fio's mmap engine syncs all of the mapping, and not what was written since".to_owned())
        }
        (SyncCall::Fdatasync, None) => {
            Err("fio's end_fsync is fsync: it makes no fdatasync at the end".to_owned())
        }
        (SyncCall::Fsync | SyncCall::Msync, None) if is_shared(case.axes()) => {
            Err("each thread of fio would sync the file that all of them write".to_owned())
        }
        (SyncCall::Fsync | SyncCall::Msync, None) => Ok(vec![at_end]),
        (SyncCall::Fsync | SyncCall::Fdatasync, Some(_)) if engine.queue.is_some() => Err(format!(
            "fio queues a {call} of its own, where writebench links it to writes or lets it wait for them"
        )),
        // fio syncs after the last write only at the end.
        (SyncCall::Fsync, Some(every)) => Ok(vec![("fsync", every.to_string()), at_end]),
        (SyncCall::Fdatasync, Some(every)) => Ok(vec![("fdatasync", every.to_string()), at_end]),
    }
}

fn content(data: Data) -> [(&'static str, String); 2] {
    let (zeros, changes) = if data == Data::Zero { ("1", "0") } else { ("0", "1") };
    [("zero_buffers", zeros.to_owned()), ("scramble_buffers", changes.to_owned())]
}

/// Whether several threads write one file.
fn is_shared(axes: &Axes) -> bool {
    axes.threads > 1 && axes.files == Files::Shared
}

/// The ranges of the threads, which equal the engine's.
fn parts(case: &Case) -> Result<Vec<Part>, Why> {
    let axes = case.axes();
    // Linux moves at most this many bytes in one call; fio drops the remainder of a chunk.
    const MOST_BYTES: u64 = 0x7fff_f000;
    let part = |(index, range): (usize, Range)| {
        let chunk_bytes = axes.chunk_size_bytes.min(range.length);
        if range.length == 0 {
            return Err("fio writes at least a byte with each thread".to_owned());
        }
        if chunk_bytes > MOST_BYTES {
            return Err("a call hands over 2 GiB at most".to_owned());
        }
        if !range.length.is_multiple_of(chunk_bytes) {
            return Err(format!(
                "fio leaves out the rest: {} bytes in chunks of {}",
                range.length,
                Bytes(chunk_bytes)
            ));
        }
        Ok(match axes.files {
            Files::PerThread if axes.threads > 1 => {
                Part { file: format!("{FILE}-{index}"), range: Range { offset: 0, ..range } }
            }
            _ => Part { file: FILE.to_owned(), range },
        })
    };
    case.ranges().into_iter().enumerate().map(part).collect()
}

/// The differences that cannot be avoided.
fn differences(engine: &FioEngine, case: &Case, parts: &[Part]) -> Vec<String> {
    let axes = case.axes();
    let mut all = Vec::new();
    let depth: u64 = engine.queue.and_then(|axis| axes.get(axis).parse().ok()).unwrap_or(1);
    let chunk_bytes = axes.chunk_size_bytes.min(parts.iter().map(|part| part.range.length).max().unwrap_or(0));
    let (fios, ours) = (Bytes(chunk_bytes * depth), Bytes(axes.size_bytes));
    let of_each = if axes.threads > 1 { ", each thread" } else { "" };
    match (axes.source, axes.data) {
        (Source::File, _) => all.push(format!(
            "fio writes out of {fios} of memory again and again{of_each}, which CPU caches may hold; writebench reads each of \
             {ours} once. The same with source=chunk is nearer to fio."
        )),
        (Source::Chunk, _) if depth > 1 => all.push(format!(
            "fio writes out of {fios} of memory again and again{of_each}, writebench out of one chunk"
        )),
        _ => {}
    }
    if axes.data == Data::Random {
        all.push(
            "fio's data is random once; then it changes a few bytes in each 512 before each call, in its runtime and not in \
             its latencies"
                .to_owned(),
        );
    }
    all.extend(engine.differences.iter().map(|&difference| difference.to_owned()));
    let others = [
        (
            engine.queue == Some(Axis::Depth) && axes.sync.is_at_end(),
            "fio's fsync at the end goes through the queue",
        ),
        (
            is_shared(axes) && axes.descriptor == Descriptor::Shared,
            "each thread of fio opens the file for itself, as descriptor=per-thread does",
        ),
        (axes.sync.call == SyncCall::Fdatasync, "the last fdatasync is an fsync, which fio does not time"),
        (axes.sync.call == SyncCall::Fsync && axes.sync.every.is_some(), "fio does not time the last fsync"),
        (axes.prepare == Prepare::Fallocate, "fio goes on where fallocate is refused"),
    ];
    all.extend(others.iter().filter(|(is_so, _)| *is_so).map(|(_, difference)| (*difference).to_owned()));
    all
}
