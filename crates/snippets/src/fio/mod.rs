//! A case as a job of [fio](https://fio.readthedocs.io) with the same calls.
//!
//! The calls of fio 3.33 were traced with strace.

mod section;

use writebench_model::{
    Access, Axis, Bytes, Cache, Case, Choices, Cursor, Data, DataMemory, Descriptor, Files,
    FioEngine, Given, Prepare, Range, Registered, Source, Sync, SyncCall,
};

use self::section::Part;

/// The prefix of the measured sections. Sections without it make and remove files.
pub const WRITES: &str = "writes";

/// The name of fio's file, or the prefix of its files' names.
const FILE: &str = "writebench-sample";

/// A job for fio.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    /// The text of the job file, without its global section.
    pub sections: String,
    /// What fio does otherwise than writebench, in whole sentences.
    pub differences: Vec<String>,
}

type Why = String;

/// The job of a case.
///
/// # Errors
///
/// The reason why fio cannot run the case.
pub fn job(case: &Case) -> Result<Job, Why> {
    let method = case.method();
    let choices = case.choices();
    let engine = method.card().fio?;
    let calls = options(&engine, case)?;
    method.own_axes().try_for_each(|axis| case.card(axis).fio)?;
    if case.staged_bytes() > 0 {
        return Err("fio copies nothing to aligned memory: memory=page-aligned".to_owned());
    }
    let sync = sync(&engine, case)?;
    let fallocate = section::fallocate(choices.prepare)?;
    let parts = parts(case)?;
    let maps = maps(case);
    let mut sections = section::before(choices, &parts, maps, fallocate)?;
    let has_preparation = !sections.is_empty();
    // A mapping's file is ready from the section before.
    let fallocate = if maps { "none" } else { fallocate };
    let direct = u8::from(choices.cache == Cache::Direct);
    let unlink = u8::from(!is_shared(choices));
    let data = data_options(case.given());
    let order = if case.given().access == Access::Uniform {
        "rw=randwrite\n"
    } else {
        ""
    };
    for (index, Part { file, range }) in parts.iter().enumerate() {
        let Range { offset, length } = range;
        let chunk_bytes = choices.chunk_size_bytes.min(*length);
        // Threads begin together, after the preparation.
        let stonewall = if has_preparation && index == 0 {
            "stonewall=1\n"
        } else {
            ""
        };
        sections += &format!(
            "\n[{WRITES}-{index}]\nfilename={file}\noffset={offset}\nsize={length}\nbs={chunk_bytes}\n{order}\
             fallocate={fallocate}\ndirect={direct}\nunlink={unlink}\n{stonewall}{calls}{sync}\
             {data}"
        );
    }
    if is_shared(choices) {
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

/// The options of the data and of its memory.
fn data_options(given: &Given) -> String {
    let content = match given.data {
        Data::Random => "zero_buffers=0\nscramble_buffers=1\n".to_owned(),
        Data::Compressible(percent) => format!(
            "refill_buffers=1\nbuffer_compress_percentage={percent}\nbuffer_compress_chunk={}\n",
            Data::BLOCK_BYTES
        ),
        Data::Zero => "zero_buffers=1\nscramble_buffers=0\n".to_owned(),
    };
    // Without this or direct I/O, fio uses malloc's memory.
    let memory = if given.memory == DataMemory::PageAligned {
        "iomem_align=4096\n"
    } else {
        ""
    };
    content + memory
}

/// The options of the calls.
fn options(engine: &FioEngine, case: &Case) -> Result<String, Why> {
    let method = case.method();
    let choices = case.choices();
    let mut options = format!("ioengine={}\n", engine.name);
    if let Some(axis) = engine.queue {
        let depth = case.value(axis);
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
    if method.has_axis(Axis::Vector) && engine.queue != Some(Axis::Vector) && choices.vector > 1 {
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
        let has_buffers = [Registered::Buffers, Registered::Both].contains(&choices.registered);
        let has_files = [Registered::Files, Registered::Both].contains(&choices.registered);
        let buffers = u8::from(has_buffers);
        let files = u8::from(has_files);
        options += &format!("fixedbufs={buffers}\nregisterfiles={files}\n");
    }
    Ok(options)
}

/// The options of the sync calls.
fn sync(engine: &FioEngine, case: &Case) -> Result<String, Why> {
    let Sync { call, every } = case.choices().sync;
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
        (SyncCall::Fsync | SyncCall::Msync, None) if is_shared(case.choices()) => {
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

fn is_shared(choices: &Choices) -> bool {
    choices.threads > 1 && choices.files == Files::Shared
}

/// The part of each thread, which has the same range as that of writebench's engine.
fn parts(case: &Case) -> Result<Vec<Part>, Why> {
    let ranges = case.ranges().into_iter().enumerate();
    ranges
        .map(|(index, range)| part(case.choices(), index, range))
        .collect()
}

fn part(choices: &Choices, index: usize, range: Range) -> Result<Part, Why> {
    /// The limit of Linux for one call. fio would not write the remainder of a larger chunk.
    const MOST_BYTES: u64 = 0x7fff_f000;
    let chunk_bytes = choices.chunk_size_bytes.min(range.length);
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
    Ok(match choices.files {
        Files::PerThread if choices.threads > 1 => Part {
            file: format!("{FILE}-{index}"),
            range: Range { offset: 0, ..range },
        },
        _ => Part {
            file: FILE.to_owned(),
            range,
        },
    })
}

fn differences(engine: &FioEngine, case: &Case, parts: &[Part]) -> Vec<String> {
    let engines = engine
        .differences
        .iter()
        .map(|difference| (*difference).to_owned());
    difference_in_memory(engine, case, parts)
        .into_iter()
        .chain(difference_in_data(case.given()))
        .chain(engines)
        .chain(differences_in_calls(engine, case))
        .collect()
}

fn difference_in_memory(engine: &FioEngine, case: &Case, parts: &[Part]) -> Option<String> {
    let choices = case.choices();
    let depth: u64 = engine
        .queue
        .and_then(|axis| case.value(axis).parse().ok())
        .unwrap_or(1);
    let longest = parts.iter().map(|part| part.range.length).max();
    let chunk_bytes = choices.chunk_size_bytes.min(longest.unwrap_or(0));
    let fios = Bytes(chunk_bytes * depth);
    let ours = Bytes(case.given().size_bytes);
    let of_each = if choices.threads > 1 {
        ", each thread"
    } else {
        ""
    };
    match case.given().source {
        Source::File if case.commit_pages().is_some() => Some(format!(
            "fio writes out of {fios} of memory again and again, which CPU caches may hold. writebench has {ours} of pages"
        )),
        Source::File => Some(format!(
            "fio writes out of {fios} of memory again and again{of_each}, which CPU caches may hold. writebench reads each of \
             {ours} once. The same with source=chunk is nearer to fio."
        )),
        Source::Chunk if depth > 1 => Some(format!(
            "fio writes out of {fios} of memory again and again{of_each}, writebench out of one chunk"
        )),
        Source::Chunk => None,
    }
}

fn difference_in_data(given: &Given) -> Option<String> {
    let what = match given.data {
        Data::Random => "fio's data is random once. Then it changes a few bytes in each 512",
        Data::Compressible(_) => "fio makes new data",
        Data::Zero => return None,
    };
    Some(format!(
        "{what} before each call, in its runtime and not in its latencies"
    ))
}

fn differences_in_calls(engine: &FioEngine, case: &Case) -> impl Iterator<Item = String> {
    let choices = case.choices();
    let differences = [
        (
            engine.queue == Some(Axis::Depth) && choices.sync.is_at_end(),
            "fio's fsync at the end uses the queue",
        ),
        (
            is_shared(choices) && choices.descriptor == Descriptor::Shared,
            "each thread of fio opens the file for itself, as descriptor=per-thread does",
        ),
        (
            case.commit_pages().is_some(),
            "fio draws another order of the pages, and counts the latency of each call",
        ),
        (
            choices.sync.call == SyncCall::Fdatasync,
            "the last fdatasync is an fsync, which fio does not time",
        ),
        (
            choices.sync.call == SyncCall::Fsync && choices.sync.every.is_some(),
            "fio does not time the last fsync",
        ),
        (
            case.makes_durable_name(),
            "fio does not sync the directory of the new file",
        ),
        (
            choices.prepare == Prepare::Fallocate,
            "fio continues if fallocate is refused",
        ),
    ];
    differences
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, difference)| difference.to_owned())
}
