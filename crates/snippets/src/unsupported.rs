use writebench_model::{
    Axis, Cache, Case, Choices, Descriptor, Drop, FileLayout, InCode, Method, Naming, Prepare,
    SyncCall,
};

use crate::EmitOptions;
use crate::language::Language;
use crate::languages::{Template, UnsupportedValue};
use crate::one_file;

/// Why a language has no code for a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unsupported {
    /// A clause for each unsupported value.
    pub why: String,
    /// The nearest case that has code.
    pub nearest: Option<Box<Case>>,
}

/// The reason why one value has no code, and the case without the value.
type Obstacle = (String, Option<Box<Case>>);

pub(crate) fn supported(
    case: &Case,
    language: Language,
    options: EmitOptions,
) -> Result<Template, Unsupported> {
    let mut why = Vec::new();
    let mut nearest = Some(Box::new(case.clone()));
    while let Some(case) = &nearest {
        match template_or_obstacle(case, language, options) {
            Ok(template) if why.is_empty() => return Ok(template),
            Ok(_) => break,
            Err((reason, next)) => {
                why.push(reason);
                nearest = next.filter(|next| next != case);
            }
        }
    }
    Err(Unsupported {
        why: why.join("; "),
        nearest,
    })
}

fn template_or_obstacle(
    case: &Case,
    language: Language,
    options: EmitOptions,
) -> Result<Template, Obstacle> {
    let backend = language.backend();
    let has_sets = (backend.template)(Method::WriteFiles).is_ok();
    if let Some(value) = one_file::unsupported(case, options, has_sets) {
        return Err(without_value(case, value));
    }
    let method = one_file::printed(case, options).0.method();
    let template =
        (backend.template)(method).map_err(|none| without_method(case, none.why, none.nearest))?;
    let template = if options.is_append {
        takes_records(case, language)?
    } else if case.commit_pages().is_some() {
        takes_pages(case, language, options)?
    } else {
        template
    };
    if options.is_stream {
        takes_chunks(case, language)?;
    } else if case.choices().prepare == Prepare::FallocateAhead && !options.is_append {
        let why = "the function has all data and knows its length. Use --stream for a producer";
        return Err(without_value(case, (Axis::Prepare, why, "fallocate")));
    }
    for axis in case.chosen_axes() {
        // The writers of a stream take blocks in turns.
        let is_in_turns = options.is_stream && matches!(axis, Axis::Layout | Axis::Block);
        if !is_in_turns && let InCode::Unsupported(why) = case.card(axis).code {
            let usual = axis.default_value();
            return Err(without_value(case, (axis, why, &usual)));
        }
    }
    if let Some(value) = unsupported_anywhere(case).or_else(|| (backend.unsupported)(case)) {
        return Err(without_value(case, value));
    }
    let makes_new = options.is_atomic && case.choices().naming == Naming::Direct;
    if makes_new && case.choices().prepare.needs_old_content() {
        let new = case.method().card().prepares[0].name();
        return Err(without_value(
            case,
            (Axis::Prepare, "--atomic makes a new file", new),
        ));
    }
    Ok(template)
}

/// The value that no language supports with this method. [`InCode::Unsupported`] has those that no method supports.
fn unsupported_anywhere(case: &Case) -> Option<UnsupportedValue> {
    /// The largest chunk of a ring, whose operations have a 32-bit length and a signed result.
    const MOST_OF_RING_BYTES: u64 = 1 << 30;
    let bytes = case.choices().chunk_size_bytes;
    let is_too_large = case.method().has_axis(Axis::Registered)
        && bytes != Choices::WHOLE
        && bytes > MOST_OF_RING_BYTES;
    if case.choices().naming == Naming::ExchangeBackground {
        return Some((
            Axis::Naming,
            "the function unlinks the old file before it returns",
            "exchange",
        ));
    }
    is_too_large.then_some((
        Axis::Chunk,
        "an operation of io_uring moves 2 GiB at most",
        "1GiB",
    ))
}

/// Whether the case can write the chunks of a producer.
fn takes_chunks(case: &Case, language: Language) -> Result<(), Obstacle> {
    let one_by_one = "a producer's chunks are written one by one";
    let (why, nearest) = match case.method() {
        Method::Write | Method::Pwrite | Method::WriteFiles | Method::Uring => {
            return match value_unfit_for_chunks(case, language) {
                Some(value) => Err(without_value(case, value)),
                None => Ok(()),
            };
        }
        Method::Writev => (one_by_one, Some(Method::Write)),
        Method::Pwritev => (one_by_one, Some(Method::Pwrite)),
        Method::Fwrite => (
            "fwrite(3) itself takes a producer's pieces",
            Some(Method::Write),
        ),
        Method::Mmap => (
            "a mapping is as long as the file, and a producer's data has no end yet",
            Some(Method::Pwrite),
        ),
        Method::ReadWrite
        | Method::MmapWrite
        | Method::ReadMmap
        | Method::MmapMmap
        | Method::Pipeline
        | Method::UringCopy
        | Method::Splice
        | Method::Sendfile
        | Method::CopyFileRange
        | Method::Ficlone => ("a file is copied, and no producer asked", None),
        Method::UringFiles
        | Method::Mpiio
        | Method::Allocate
        | Method::Null
        | Method::Program
        | Method::CopyProgram => {
            return Ok(());
        }
    };
    Err(without_method(case, why, nearest))
}

fn value_unfit_for_chunks(case: &Case, language: Language) -> Option<UnsupportedValue> {
    let has_threads = !matches!(language, Language::Java | Language::Node);
    Some(match *case.choices() {
        Choices {
            chunk_size_bytes: Choices::WHOLE,
            ..
        } => (Axis::Chunk, "a producer has chunks of data", "1MiB"),
        Choices { threads: 2.., .. } if case.method() != Method::Pwrite => (
            Axis::Threads,
            "only the writers of pwrite take a producer's chunks in turn",
            "1",
        ),
        Choices { threads: 2.., .. } if !has_threads => (
            Axis::Threads,
            "the producer's thread writes in this language",
            "1",
        ),
        Choices {
            layout: FileLayout::Strided,
            block_bytes,
            chunk_size_bytes,
            ..
        } if block_bytes != chunk_size_bytes => (
            Axis::Layout,
            "the writers take chunks in turns, not larger blocks",
            "segmented",
        ),
        Choices {
            prepare: Prepare::FallocateAhead,
            ..
        } if !has_threads => (
            Axis::Prepare,
            "the language reserves no blocks at an offset",
            "create",
        ),
        Choices { threads, .. } if threads > 1 || case.method() == Method::Uring => {
            return value_unfit_for_chunks_in_flight(case.choices());
        }
        _ => return None,
    })
}

/// The value that does not fit a file whose chunks several writers or a ring have in flight.
fn value_unfit_for_chunks_in_flight(choices: &Choices) -> Option<UnsupportedValue> {
    Some(match *choices {
        Choices {
            descriptor: Descriptor::PerThread,
            ..
        } => (Axis::Descriptor, "the writers share the file", "shared"),
        Choices { sync, .. } if sync.every.is_some() => (
            Axis::Sync,
            "chunks in flight are synced together at the end",
            sync.call.name(),
        ),
        Choices {
            drop: Drop::Yes, ..
        } => (
            Axis::Drop,
            "it is part of write-behind, which needs one writer",
            "no",
        ),
        Choices {
            writeback_bytes: Some(_),
            ..
        } => (
            Axis::Writeback,
            "several writers reach no distance in order",
            "none",
        ),
        _ => return None,
    })
}

/// The length of a record's head in the templates `append`: its length and its checksum.
const LOG_HEAD_BYTES: u64 = 8;

/// The template of a log, which has records and one end.
fn takes_records(case: &Case, language: Language) -> Result<Template, Obstacle> {
    let (why, nearest) = match case.method() {
        Method::Write | Method::Pwrite => {
            if let Some(value) = value_unfit_for_log(case.choices()) {
                return Err(without_value(case, value));
            }
            return match language.backend().append {
                Some(template) => Ok(template),
                None if language == Language::Cpp => Err((
                    "a log has code in C, Rust and Go only. From C++, link that in C".to_owned(),
                    None,
                )),
                None => Err(("a log has code in C, Rust and Go only".to_owned(), None)),
            };
        }
        Method::Fwrite => ("fwrite(3) keeps records in its buffer", Some(Method::Write)),
        Method::WriteFiles => ("a log is one file", Some(Method::Write)),
        method if method.copies() => ("a file is copied, and no record appended", None),
        _ => ("a log writes its records one by one", Some(Method::Pwrite)),
    };
    Err(without_method(case, why, nearest))
}

fn value_unfit_for_log(choices: &Choices) -> Option<UnsupportedValue> {
    Some(match *choices {
        Choices { threads: 2.., .. } => (Axis::Threads, "all threads append at the log's end", "1"),
        Choices {
            chunk_size_bytes: Choices::WHOLE,
            ..
        } => (Axis::Chunk, "a log has records", "4KiB"),
        Choices {
            chunk_size_bytes: ..=LOG_HEAD_BYTES,
            ..
        } => (
            Axis::Chunk,
            "a record has a head of 8 bytes in its call",
            "4KiB",
        ),
        Choices {
            prepare: Prepare::Truncate,
            ..
        } => (Axis::Prepare, "a log is a new file", "create"),
        Choices {
            prepare: Prepare::Overwrite,
            ..
        } => (Axis::Prepare, "a log is a new file", "zero-fill"),
        Choices {
            cache: Cache::Direct,
            ..
        } => (
            Axis::Cache,
            "O_DIRECT writes whole blocks, and a record has any length",
            "buffered",
        ),
        Choices {
            cache: Cache::Dontcache,
            ..
        } => (
            Axis::Cache,
            "the next record is often on the same page",
            "buffered",
        ),
        Choices { sync, .. } if !sync.is_on_the_way() => {
            let nearest = if sync.call == SyncCall::Fsync {
                "fsync/1"
            } else {
                "fdatasync/1"
            };
            (
                Axis::Sync,
                "a log syncs its records before its end",
                nearest,
            )
        }
        _ => return None,
    })
}

/// The template of pages at random places, whose function is called for each commit.
fn takes_pages(
    case: &Case,
    language: Language,
    options: EmitOptions,
) -> Result<Template, Obstacle> {
    let Some(template) = language.backend().pages else {
        return Err((
            "pages at random places have code in C only".to_owned(),
            None,
        ));
    };
    if options.is_stream {
        return Err((
            "pages at random places come in commits, and not from a producer".to_owned(),
            None,
        ));
    }
    if case.method() != Method::Pwrite {
        let why = "the code of pages at random places calls pwrite";
        return Err(without_method(case, why, Some(Method::Pwrite)));
    }
    Ok(template)
}

fn without_method(case: &Case, why: &str, nearest: Option<Method>) -> Obstacle {
    let reason = format!("{}: {why}", case.method());
    let nearest = nearest.and_then(|method| with_method(case, method));
    (reason, nearest.map(Box::new))
}

fn without_value(case: &Case, (axis, why, nearest): (Axis, &str, &str)) -> Obstacle {
    let reason = format!("{axis}={}: {why}", case.value(axis));
    let nearest = case
        .with(axis, nearest)
        .ok()
        .or_else(|| with_own_descriptors(case, axis, nearest));
    (reason, nearest.map(Box::new))
}

/// The case with another value, for which threads at the file's position need their own descriptors.
fn with_own_descriptors(case: &Case, axis: Axis, value: &str) -> Option<Case> {
    let mut values = chosen_values(case);
    values.retain(|(other, _)| *other != axis);
    values.push((axis, value.to_owned()));
    values.push((Axis::Descriptor, "per-thread".to_owned()));
    new_case(case.method(), &values)
}

fn chosen_values(case: &Case) -> Vec<(Axis, String)> {
    case.chosen_axes()
        .map(|axis| (axis, case.value(axis)))
        .collect()
}

fn new_case(method: Method, values: &[(Axis, String)]) -> Option<Case> {
    Case::new(method, values).ok()
}

/// The case with another method, which keeps as many values as fit.
fn with_method(case: &Case, method: Method) -> Option<Case> {
    let mut values = chosen_values(case);
    values.retain(|(axis, _)| method.has_axis(*axis));
    // A descriptor's sync promises as much as msync.
    if !method.card().syncs.contains(&SyncCall::Msync) {
        for (_, value) in &mut values {
            *value = value.replace(SyncCall::Msync.name(), SyncCall::Fdatasync.name());
        }
    }
    if let Some(case) = new_case(method, &values) {
        return Some(case);
    }
    // A value that does not fit those before it is dropped. The most important ones are first.
    let mut kept = Vec::new();
    for value in values {
        kept.push(value);
        if new_case(method, &kept).is_none() {
            kept.pop();
        }
    }
    new_case(method, &kept)
}
