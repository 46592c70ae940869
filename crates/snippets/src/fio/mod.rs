//! A case as a job of [fio](https://fio.readthedocs.io) with the same calls.
//!
//! The calls of fio 3.33 were traced with strace.

mod section;

use writebench_model::{
    Axes, Axis, Bytes, Cache, Case, Cursor, Data, DataMemory, Descriptor, Files, FioEngine,
    Prepare, Range, Registered, Source, Sync, SyncCall,
};

use self::section::Part;

/// Prefix of the measured sections. Sections without it make and remove files.
pub const WRITES: &str = "writes";

/// fio's file, or the prefix of its files.
const FILE: &str = "writebench-sample";

#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    pub sections: String,
    /// From writebench.
    pub differences: Vec<String>,
}

type Why = String;

/// The job of a case.
///
/// # Errors
/// The reason why fio cannot run the case.
pub fn job(case: &Case) -> Result<Job, Why> {
    let (method, axes) = (case.method(), case.axes());
    let engine = method.card().fio?;
    let calls = options(&engine, case)?;
    method.own_axes().try_for_each(|axis| axes.card(axis).fio)?;
    if case.staged_bytes() > 0 {
        return Err("fio copies nothing to aligned memory: memory=page-aligned".to_owned());
    }
    let sync = sync(&engine, case)?;
    let fallocate = section::fallocate(axes.prepare)?;
    let parts = parts(case)?;
    let maps = maps(case);
    let mut sections = section::before(axes, &parts, maps, fallocate)?;
    // Threads begin together, after the preparation.
    let mut stonewall = if sections.is_empty() {
        ""
    } else {
        "stonewall=1\n"
    };
    // A mapping's file is ready from the section before.
    let fallocate = if maps { "none" } else { fallocate };
    let (direct, unlink) = (
        u8::from(axes.cache == Cache::Direct),
        u8::from(!is_shared(axes)),
    );
    let content = match axes.data {
        Data::Random => "zero_buffers=0\nscramble_buffers=1\n".to_owned(),
        Data::Compressible(percent) => format!(
            "refill_buffers=1\nbuffer_compress_percentage={percent}\nbuffer_compress_chunk={}\n",
            Data::BLOCK_BYTES
        ),
        Data::Zero => "zero_buffers=1\nscramble_buffers=0\n".to_owned(),
    };
    // Without this or direct I/O, fio uses malloc's memory.
    let memory = if axes.memory == DataMemory::PageAligned {
        "iomem_align=4096\n"
    } else {
        ""
    };
    for (
        index,
        Part {
            file,
            range: Range { offset, length },
        },
    ) in parts.iter().enumerate()
    {
        let chunk_bytes = axes.chunk_size_bytes.min(*length);
        sections += &format!(
            "\n[{WRITES}-{index}]\nfilename={file}\noffset={offset}\nsize={length}\nbs={chunk_bytes}\n\
             fallocate={fallocate}\ndirect={direct}\nunlink={unlink}\n{stonewall}{calls}{sync}\
             {content}{memory}"
        );
        stonewall = "";
    }
    if is_shared(axes) {
        // A thread that ends early must not remove the file of threads that still write.
        sections += &format!(
            "\n[remove]\nstonewall=1\nioengine=sync\nfilename={FILE}\nfallocate=none\ndirect=0\nbs=1\nsize=1\nunlink=1\n"
        );
    }
    Ok(Job {
        sections,
        differences: differences(&engine, case, &parts),
    })
}

fn maps(case: &Case) -> bool {
    case.method().card().cursor == Cursor::Mapping
}

fn options(engine: &FioEngine, case: &Case) -> Result<String, Why> {
    let (method, axes) = (case.method(), case.axes());
    let mut options = format!("ioengine={}\n", engine.name);
    if let Some(axis) = engine.queue {
        let depth = axes.get(axis);
        let least = if axis == Axis::Vector {
            depth.as_str()
        } else {
            "1"
        };
        options += &format!(
            "iodepth={depth}\niodepth_batch_submit={depth}\niodepth_batch_complete_min={least}\n\
             iodepth_batch_complete_max={depth}\n"
        );
    }
    if method.has_axis(Axis::Vector) && engine.queue != Some(Axis::Vector) && axes.vector > 1 {
        return Err(format!(
            "fio's {} hands over one element in each call: vector=1",
            engine.name
        ));
    }
    options.extend(
        engine
            .options
            .iter()
            .map(|(name, value)| format!("{name}={value}\n")),
    );
    if method.has_axis(Axis::Registered) {
        let has = |what| u8::from([what, Registered::Both].contains(&axes.registered));
        let (buffers, files) = (has(Registered::Buffers), has(Registered::Files));
        options += &format!("fixedbufs={buffers}\nregisterfiles={files}\n");
    }
    Ok(options)
}

fn sync(engine: &FioEngine, case: &Case) -> Result<String, Why> {
    let Sync { call, every } = case.axes().sync;
    let why = match (call, every) {
        (SyncCall::None, _) => return Ok(String::new()),
        (SyncCall::ODsync, _) => return Ok("sync=dsync\n".to_owned()),
        (SyncCall::OSync, _) => return Ok("sync=sync\n".to_owned()),
        (SyncCall::RwfDsync, _) => "fio 3.33 has no RWF_DSYNC",
        (SyncCall::Fsync | SyncCall::Fdatasync, _) if maps(case) => {
            return Err(format!(
                "fio's mmap engine syncs with msync, and not with {call}"
            ));
        }
        (SyncCall::Msync, Some(_)) => {
            "fio's mmap engine syncs all of the mapping, and not what was written since"
        }
        (SyncCall::Fdatasync, None) => "fio's end_fsync is fsync: it makes no fdatasync at the end",
        (SyncCall::Fsync | SyncCall::Msync, None) if is_shared(case.axes()) => {
            "each thread of fio would sync the shared file"
        }
        (SyncCall::Fsync | SyncCall::Msync, None) => return Ok("end_fsync=1\n".to_owned()),
        (SyncCall::Fsync | SyncCall::Fdatasync, Some(_)) if engine.queue.is_some() => {
            return Err(format!(
                "fio queues {call} by itself, but writebench links it to writes, or lets it wait for them"
            ));
        }
        // fio omits its last sync, except at the end.
        (SyncCall::Fsync | SyncCall::Fdatasync, Some(every)) => {
            return Ok(format!("{call}={every}\nend_fsync=1\n"));
        }
    };
    Err(why.to_owned())
}

fn is_shared(axes: &Axes) -> bool {
    axes.threads > 1 && axes.files == Files::Shared
}

/// The same ranges as the engine's.
fn parts(case: &Case) -> Result<Vec<Part>, Why> {
    let axes = case.axes();
    // Linux's limit of a call. fio would not write the remainder of a chunk.
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
            Files::PerThread if axes.threads > 1 => Part {
                file: format!("{FILE}-{index}"),
                range: Range { offset: 0, ..range },
            },
            _ => Part {
                file: FILE.to_owned(),
                range,
            },
        })
    };
    case.ranges().into_iter().enumerate().map(part).collect()
}

fn differences(engine: &FioEngine, case: &Case, parts: &[Part]) -> Vec<String> {
    let axes = case.axes();
    let depth: u64 = engine
        .queue
        .and_then(|axis| axes.get(axis).parse().ok())
        .unwrap_or(1);
    let chunk_bytes = axes.chunk_size_bytes.min(
        parts
            .iter()
            .map(|part| part.range.length)
            .max()
            .unwrap_or(0),
    );
    let (fios, ours) = (Bytes(chunk_bytes * depth), Bytes(axes.size_bytes));
    let of_each = if axes.threads > 1 {
        ", each thread"
    } else {
        ""
    };
    let source = match axes.source {
        Source::File => Some(format!(
            "fio writes out of {fios} of memory again and again{of_each}, which CPU caches may hold. writebench reads each of \
             {ours} once. The same with source=chunk is nearer to fio."
        )),
        Source::Chunk if depth > 1 => Some(format!(
            "fio writes out of {fios} of memory again and again{of_each}, writebench out of one chunk"
        )),
        Source::Chunk => None,
    };
    let change = match axes.data {
        Data::Random => Some("fio's data is random once. Then it changes a few bytes in each 512"),
        Data::Compressible(_) => Some("fio makes new data"),
        Data::Zero => None,
    };
    let change = change
        .map(|what| format!("{what} before each call, in its runtime and not in its latencies"));
    let others = [
        (
            engine.queue == Some(Axis::Depth) && axes.sync.is_at_end(),
            "fio's fsync at the end uses the queue",
        ),
        (
            is_shared(axes) && axes.descriptor == Descriptor::Shared,
            "each thread of fio opens the file for itself, as descriptor=per-thread does",
        ),
        (
            axes.sync.call == SyncCall::Fdatasync,
            "the last fdatasync is an fsync, which fio does not time",
        ),
        (
            axes.sync.call == SyncCall::Fsync && axes.sync.every.is_some(),
            "fio does not time the last fsync",
        ),
        (
            case.makes_durable_name(),
            "fio does not sync the directory of the new file",
        ),
        (
            axes.prepare == Prepare::Fallocate,
            "fio continues if fallocate is refused",
        ),
    ];
    let others = others
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, difference)| difference);
    let known = engine
        .differences
        .iter()
        .copied()
        .chain(others)
        .map(str::to_owned);
    source.into_iter().chain(change).chain(known).collect()
}
