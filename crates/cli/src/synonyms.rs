//! The words of fio, IOR, dd and the kernel for a case. Words with exactly the same meaning are accepted with their values,
//! printed back in ours, and never stored. For other words there is an explanation, because a guess would measure
//! something else.

use writebench_model::{Axis, Bytes, Case, Files, Method};

/// Values on axes of ours.
type Values = Vec<(Axis, String)>;

/// A name in our words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Understood {
    pub name: String,
    /// What the other words are here.
    pub note: Option<String>,
}

/// The words of the kernel's headers and of C, without their case and with hyphens.
const CALLS: &[(&str, Axis, &str)] = &[
    ("o-direct", Axis::Cache, "direct"),
    ("rwf-dontcache", Axis::Cache, "dontcache"),
    ("o-dsync", Axis::Sync, "o-dsync"),
    ("o-sync", Axis::Sync, "o-sync"),
    ("rwf-dsync", Axis::Sync, "rwf-dsync"),
    ("o-trunc", Axis::Prepare, "truncate"),
    ("ftruncate", Axis::Prepare, "set-len"),
    ("posix-fallocate", Axis::Prepare, "posix-fallocate"),
    ("falloc-fl-keep-size", Axis::Prepare, "fallocate-keep-size"),
    (
        "falloc-fl-zero-range",
        Axis::Prepare,
        "fallocate-zero-range",
    ),
    ("falloc-fl-write-zeroes", Axis::Prepare, "write-zeroes"),
    ("o-tmpfile", Axis::Naming, "tmpfile"),
    ("rename-exchange", Axis::Naming, "exchange"),
    ("madv-hugepage", Axis::Huge, "advise"),
    ("madv-collapse", Axis::Huge, "collapse"),
    ("madv-populate-write", Axis::Populate, "all"),
    ("map-populate", Axis::Populate, "all"),
];

/// What is said of a word that is accepted although its call is another one.
const REMARKS: &[(&str, &str)] = &[
    (
        "libaio",
        "writebench uses no Linux AIO, and without iodepth the depth is 32",
    ),
    ("numjobs", "The size is that of all files together"),
    ("jobs", "The size is that of all files together"),
    (
        "map-populate",
        "The pages are populated by MADV_POPULATE_WRITE, so stores cause no page faults",
    ),
];

/// The engines of fio that make a method's calls, with the values that they stand for.
const ENGINES: &[(&str, &str)] = &[
    ("sync", "write"),
    ("psync", "pwrite"),
    // fio passes vectors of one element.
    ("pvsync", "pwritev,vector=1"),
    ("mmap", "mmap"),
    ("io-uring", "io_uring"),
    ("libaio", "io_uring"),
];

/// Reads the name of a case in which some words may be those of other programs. A name without such words is unchanged,
/// also if it is wrong.
///
/// # Errors
/// A word has no equal here. The text says what would come near to it.
pub(crate) fn case(text: &str) -> Result<Understood, String> {
    let parts = parts(text);
    let mut said = Said::default();
    let mut translated = Vec::new();
    let first = parts.first().map_or("", String::as_str);
    let first = match engine(first)? {
        Some(ours) => {
            said.add(first, ours);
            let is_vectored = |part: &String| part.starts_with("vector=");
            match ours.split_once(',') {
                Some((method, _)) if parts.iter().any(is_vectored) => method,
                _ => ours,
            }
        }
        None => first,
    };
    let Some(method) = Method::from_name(first.split(',').next().unwrap_or_default()) else {
        // The explanation of a word helps more than that it is no method.
        values(first)?;
        return Ok(unchanged(text));
    };
    translated.push(first.to_owned());
    for part in parts.iter().skip(1) {
        let is_block = is_block_of_ior(part, &parts);
        let values = if is_block {
            Some(values_of_ior(&parts)?)
        } else {
            of_method(part, method, &parts)?
        };
        match values {
            // The block says what both mean.
            Some(_) if is_segments(part) => {}
            Some(values) => {
                let ours = in_words(&values);
                let segments = parts.iter().filter(|part| is_block && is_segments(part));
                let theirs: String =
                    segments.fold(part.clone(), |all, segments| format!("{all},{segments}"));
                said.add(&theirs, &ours);
                translated.extend(Some(ours).filter(|ours| !ours.is_empty()));
            }
            None => translated.push(part.clone()),
        }
    }
    let Some(note) = said.note() else {
        return Ok(unchanged(text));
    };
    Ok(Understood {
        name: translated.join(","),
        note: Some(note),
    })
}

fn unchanged(text: &str) -> Understood {
    Understood {
        name: text.to_owned(),
        note: None,
    }
}

/// The parts of a case's name. dd has several flags in one value: `oflag=direct,dsync`.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',') {
        let previous = parts.last().and_then(|part| part.split_once('='));
        match previous {
            Some((key @ ("oflag" | "conv"), _)) if !part.contains('=') => {
                let flag = format!("{key}={part}");
                parts.push(flag);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

/// The method that an engine of fio is, with or without `ioengine=`.
fn engine(part: &str) -> Result<Option<&'static str>, String> {
    let (is_named, name) = match part.split_once('=') {
        Some(("ioengine", name)) => (true, name),
        _ => (false, part),
    };
    if !is_named && (Method::from_name(name).is_some() || name == "sync") {
        return Ok(None);
    }
    let word = normal(name);
    let found = ENGINES.iter().find(|(theirs, _)| *theirs == word);
    match found {
        Some((_, ours)) => Ok(Some(ours)),
        None if is_named => Err(format!(
            "{part}: no method makes the calls of this engine. `writebench list methods` lists all"
        )),
        None => Ok(None),
    }
}

/// The values that a word means for this method, among the other parts of a case. None for words of ours.
fn of_method(part: &str, method: Method, parts: &[String]) -> Result<Option<Values>, String> {
    let (key, value) = key_and_value(part);
    let has = |axis: Axis| {
        let named = |part: &String| part.split('=').next() == Some(axis.name());
        parts.iter().any(named)
    };
    match (key.as_str(), value) {
        ("iodepth" | "queue-depth", Some("1")) if !method.has_axis(Axis::Depth) => {
            Ok(Some(Values::new()))
        }
        ("iodepth" | "queue-depth", Some(depth)) if !method.has_axis(Axis::Depth) => Err(format!(
            "{part}: {method} has one write in flight, as in fio. For {depth}: io_uring,depth={depth}"
        )),
        ("numjobs" | "jobs", Some(jobs)) => {
            let values = values_of_jobs(part, jobs)?;
            if values.len() < 2 || method.has_axis(Axis::Files) {
                let is_new = |(axis, _): &(Axis, String)| *axis == Axis::Threads || !has(*axis);
                return Ok(Some(values.into_iter().filter(is_new).collect()));
            }
            Err(format!(
                "{part}: each job of fio has a file of its own, which {method} does not support. Threads that share the \
                 work: threads={jobs}"
            ))
        }
        ("segmentcount", Some(_)) if parts.iter().any(|part| is_block_of_ior(part, parts)) => {
            Ok(Some(Values::new()))
        }
        _ => values(part),
    }
}

/// The values that a word means for any method. None for words of ours.
///
/// # Errors
/// The word has no equal here.
pub(crate) fn values(part: &str) -> Result<Option<Values>, String> {
    let (key, value) = key_and_value(part);
    let Some(value) = value else {
        return of_bare_word(part, &key);
    };
    let of_switch = |axis: Axis, yes: &str, no: &str| match value {
        "1" => one(axis, yes),
        "0" => one(axis, no),
        _ => Err(format!("{part}: expected 0 or 1, as in fio")),
    };
    let every = |call: &str| match value.parse::<u32>() {
        Ok(0) => one(Axis::Sync, "none"),
        Ok(every) => one(Axis::Sync, &format!("{call}/{every}")),
        Err(_) => Err(format!("{part}: expected a number of writes, as in fio")),
    };
    match key.as_str() {
        "bs" | "blocksize" | "block-size" | "transfersize" => of_block(part, value),
        "iodepth" | "queue-depth" => {
            let depth = canonical(part, Axis::Depth, value)?;
            Ok(Some(vec![(Axis::Depth, depth)]))
        }
        "numjobs" | "jobs" => values_of_jobs(part, value).map(Some),
        "direct" => of_switch(Axis::Cache, "direct", "buffered"),
        "fsync" => every("fsync"),
        "fdatasync" => every("fdatasync"),
        "end-fsync" => of_switch(Axis::Sync, "fsync", "none"),
        "overwrite" => of_switch(Axis::Prepare, "overwrite", "create"),
        "fallocate" => match value {
            "none" | "0" => one(Axis::Prepare, "create"),
            "native" => one(Axis::Prepare, "fallocate"),
            "posix" | "1" => one(Axis::Prepare, "posix-fallocate"),
            "keep" => one(Axis::Prepare, "fallocate-keep-size"),
            "truncate" => one(Axis::Prepare, "set-len"),
            _ => Err(format!(
                "{part}: expected none, native, posix, keep or truncate, as in fio"
            )),
        },
        "rw" | "readwrite" => match value {
            "write" => Ok(Some(Values::new())),
            "randwrite" => one(Axis::Access, "uniform"),
            _ => Err(format!(
                "{part}: files are only written, which is rw=write or rw=randwrite. Use fio for the others"
            )),
        },
        "ioengine" => Err(format!(
            "{part}: the method is the first word of a case, for example psync,bs=4k"
        )),
        "oflag" => match value {
            "direct" => one(Axis::Cache, "direct"),
            "dsync" => one(Axis::Sync, "o-dsync"),
            "sync" => one(Axis::Sync, "o-sync"),
            _ => Err(format!("{part}: expected direct, dsync or sync, as in dd")),
        },
        "conv" => match value {
            "fsync" | "fdatasync" => one(Axis::Sync, value),
            "notrunc" => one(Axis::Prepare, "overwrite"),
            _ => Err(format!(
                "{part}: expected fsync, fdatasync or notrunc, as in dd"
            )),
        },
        "segmentcount" => Err(format!(
            "{part}: it is a number of blocks. Add blockSize=SIZE, as in IOR"
        )),
        _ => Ok(of_our_axis(&key, value)),
    }
}

/// A word without a value.
fn of_bare_word(part: &str, key: &str) -> Result<Option<Values>, String> {
    match key {
        "fsync" | "fdatasync" => Err(format!(
            "'{part}' does not say when. Once at the end is sync={key}, and after each write sync={key}/1"
        )),
        "fallocate" => Err(format!(
            "'{part}' does not say how. The call before the write is prepare=fallocate"
        )),
        "direct" | "overwrite" => Err(format!("'{part}' has no value. Add =1 or =0, as in fio")),
        // Names of calls, which also have other uses.
        "ftruncate" | "posix-fallocate" => Ok(None),
        _ => Ok(of_call(key).map(|(axis, value)| vec![(axis, value.to_owned())])),
    }
}

fn of_call(word: &str) -> Option<(Axis, &'static str)> {
    let (_, axis, value) = CALLS.iter().find(|(theirs, ..)| *theirs == word)?;
    Some((*axis, value))
}

/// The name of a call or a flag, and the values of fio's `sync`, as the value of an axis of ours.
fn of_our_axis(key: &str, value: &str) -> Option<Values> {
    let axis = Axis::from_name(key).filter(|axis| axis.canonical(value).is_err())?;
    let ours = match (axis, normal(value).as_str()) {
        (Axis::Sync, "0") => "none",
        (Axis::Sync, "1" | "sync") => "o-sync",
        (Axis::Sync, "dsync") => "o-dsync",
        (_, word) => of_call(word).filter(|(of, _)| *of == axis)?.1,
    };
    Some(vec![(axis, ours.to_owned())])
}

/// fio, IOR and dd agree only on units of one letter.
fn of_block(part: &str, value: &str) -> Result<Option<Values>, String> {
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let unit = unit.to_lowercase();
    if unit.ends_with('b') && !unit.ends_with("ib") {
        return Err(format!(
            "{part}: the unit means different sizes to fio, to dd and here. Write 4k or 4KiB for 4096 bytes, or \
             chunk={value} for ours"
        ));
    }
    canonical(part, Axis::Chunk, value).map(|chunk| Some(vec![(Axis::Chunk, chunk)]))
}

/// Each job of fio is a writer with a file of its own.
fn values_of_jobs(part: &str, jobs: &str) -> Result<Values, String> {
    let threads = canonical(part, Axis::Threads, jobs)?;
    let mut values = vec![(Axis::Threads, threads)];
    if values[0].1 != "1" {
        values.push((Axis::Files, Files::PerThread.to_string()));
    }
    Ok(values)
}

/// Whether this is IOR's blockSize, and not fio's blocksize.
fn is_block_of_ior(part: &str, parts: &[String]) -> bool {
    let of_ior =
        |part: &String| ["segmentcount", "transfersize"].contains(&&*key_and_value(part).0);
    let key = part.split('=').next().unwrap_or_default();
    key == "blockSize" || key == "blocksize" && parts.iter().any(of_ior)
}

fn is_segments(part: &str) -> bool {
    key_and_value(part).0 == "segmentcount"
}

/// IOR writes, in each of the segments, a block of each task. Blocks of one segment are parts of the file.
fn values_of_ior(parts: &[String]) -> Result<Values, String> {
    let value = |wanted: &dyn Fn(&str) -> bool| {
        let pairs = parts.iter().filter_map(|part| part.split_once('='));
        let mut values = pairs.filter(|(key, _)| wanted(key));
        values.next().map(|(_, value)| value)
    };
    let block = value(&|key| key.eq_ignore_ascii_case("blocksize")).unwrap_or_default();
    let segments = value(&|key| key.eq_ignore_ascii_case("segmentcount")).unwrap_or("1");
    let part = format!("blockSize={block}");
    let bytes: Bytes = block.parse().map_err(|why| format!("{part}: {why}"))?;
    let number = |text: &str, name: &str| match text.parse::<u64>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!(
            "{name}={text}: expected a whole number of at least 1"
        )),
    };
    let segments = number(segments, "segmentCount")?;
    let ranks = value(&|key| key == "ranks").ok_or_else(|| {
        format!("{part}: the size of the file depends on the number of tasks. Add ranks=N, or give size=SIZE instead")
    })?;
    let ranks = number(ranks, "ranks")?;
    for other in ["size", "threads", "layout", "block"] {
        if value(&|key| key == other).is_some() {
            return Err(format!("{part}: leave out {other}, which it determines"));
        }
    }
    let has_own_files = value(&|key| key == "files").is_some_and(|files| files != "shared");
    let size = bytes.0.saturating_mul(segments).saturating_mul(ranks);
    let mut values = vec![(Axis::Size, Bytes(size).to_string())];
    if segments > 1 && ranks > 1 && !has_own_files {
        values.push((Axis::Layout, "strided".to_owned()));
        values.push((Axis::Block, bytes.to_string()));
    }
    Ok(values)
}

fn one(axis: Axis, value: &str) -> Result<Option<Values>, String> {
    Ok(Some(vec![(axis, axis.canonical(value)?)]))
}

/// A number, whose error names the word that the user gave.
fn canonical(part: &str, axis: Axis, value: &str) -> Result<String, String> {
    let ours = format!("{axis}={value}: ");
    let of_theirs = |why: String| format!("{part}: {}", why.strip_prefix(&ours).unwrap_or(&why));
    axis.canonical(value).map_err(of_theirs)
}

/// `O_DIRECT` and `o-direct` are one word.
fn normal(word: &str) -> String {
    word.to_lowercase().replace('_', "-")
}

fn key_and_value(part: &str) -> (String, Option<&str>) {
    let (key, value) = part
        .split_once('=')
        .map_or((part, None), |(key, value)| (key, Some(value)));
    (normal(key), value.filter(|value| !value.is_empty()))
}

fn in_words(values: &Values) -> String {
    let values = values.iter().map(|(axis, value)| format!("{axis}={value}"));
    values.collect::<Vec<_>>().join(",")
}

/// What words are here.
#[derive(Default)]
struct Said {
    words: Vec<String>,
    remarks: Vec<&'static str>,
}

impl Said {
    fn add(&mut self, theirs: &str, ours: &str) {
        let (key, value) = key_and_value(theirs);
        let is_of = |word: &str| word == key || value.is_some_and(|value| word == normal(value));
        let remarks = REMARKS.iter().filter(|(word, _)| is_of(word));
        self.remarks.extend(remarks.map(|(_, remark)| *remark));
        self.words.push(if ours.is_empty() {
            format!("{theirs} adds nothing")
        } else {
            format!("{theirs} is {ours}")
        });
    }

    /// `bs=4k is chunk=4KiB here.`
    fn note(&self) -> Option<String> {
        let (last, words) = self.words.split_last()?;
        let words = match words {
            [] => last.clone(),
            words => format!("{} and {last}", words.join(", ")),
        };
        let remarks: String = self
            .remarks
            .iter()
            .map(|remark| format!(" {remark}."))
            .collect();
        Some(format!("{words} here.{remarks}"))
    }
}

/// The note about a word outside of a case.
pub(crate) fn note(theirs: &str, ours: &str) -> Option<String> {
    let mut said = Said::default();
    said.add(theirs, ours);
    said.note()
}

/// The case that a name without a method probably means. It is only a suggestion.
pub(crate) fn with_method(text: &str) -> Option<String> {
    let methods = ["write", "io_uring"];
    let cases = methods.map(|method| case(&format!("{method},{text}")));
    let mut names = cases
        .into_iter()
        .flatten()
        .map(|understood| understood.name);
    names.find(|name| Case::parse(name).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The case in our words, which this version knows.
    fn ours(theirs: &str) -> String {
        let understood = case(theirs).unwrap();
        assert!(understood.note.is_some(), "{theirs} is said in our words");
        assert!(Case::parse(&understood.name).is_ok(), "{}", understood.name);
        understood.name
    }

    fn refusal(theirs: &str) -> String {
        let why = case(theirs).unwrap_err();
        assert!(
            why.contains(theirs.split(',').next_back().unwrap()),
            "{why}"
        );
        why
    }

    /// A test for each word: what it means, and values without an equal with a part of their explanation.
    macro_rules! words {
        ($($name:ident: [$(($theirs:literal, $ours:literal)),+ $(,)?] $(, not [$(($bad:literal, $why:literal)),+ $(,)?])?;)+) => {$(
            #[test]
            fn $name() {
                $(assert_eq!(ours($theirs), $ours);)+
                $($(assert!(refusal($bad).contains($why), "{}", refusal($bad));)+)?
            }
        )+};
    }

    words! {
        bs_of_fio_and_dd_is_the_chunk: [
            ("write,bs=4k", "write,chunk=4KiB"),
            ("pwrite,blocksize=1m", "pwrite,chunk=1MiB"),
            ("write,bs=64KiB", "write,chunk=64KiB"),
            ("write,bs=4096", "write,chunk=4KiB"),
        ], not [
            ("write,bs=4kB", "chunk=4kB for ours"),
            ("write,bs=8b", "different sizes"),
            ("write,bs=nonsense", "not a size"),
        ];
        iodepth_is_the_depth_of_a_queue: [
            ("io_uring,iodepth=8", "io_uring,depth=8"),
            ("write,iodepth=1", "write"),
        ], not [
            ("write,iodepth=8", "io_uring,depth=8"),
        ];
        a_job_is_a_thread_with_a_file: [
            ("write,numjobs=4", "write,threads=4,files=per-thread"),
            ("pwrite,numjobs=4,files=shared", "pwrite,threads=4,files=shared"),
            ("write,jobs=1", "write,threads=1"),
        ], not [
            ("read-write,numjobs=4", "threads=4"),
            ("write,numjobs=none", "expected"),
        ];
        direct_is_a_switch: [
            ("write,direct=1", "write,cache=direct"),
            ("write,direct=0", "write,cache=buffered"),
        ], not [
            ("write,direct=maybe", "0 or 1"),
            ("write,direct", "=1 or =0"),
        ];
        fsync_is_a_number_of_writes: [
            ("write,fsync=1", "write,sync=fsync/1"),
            ("write,fsync=32", "write,sync=fsync/32"),
            ("write,fsync=0", "write,sync=none"),
        ], not [
            ("write,fsync=yes", "number of writes"),
            ("write,fsync", "sync=fsync/1"),
            ("fsync", "sync=fsync/1"),
        ];
        fdatasync_is_a_number_of_writes: [
            ("write,fdatasync=1", "write,sync=fdatasync/1"),
            ("pwrite,fdatasync=8", "pwrite,sync=fdatasync/8"),
        ];
        end_fsync_is_a_sync_at_the_end: [
            ("write,end_fsync=1", "write,sync=fsync"),
            ("write,end_fsync=0", "write,sync=none"),
        ];
        fallocate_has_the_values_of_fio: [
            ("write,fallocate=none", "write,prepare=create"),
            ("write,fallocate=0", "write,prepare=create"),
            ("write,fallocate=native", "write,prepare=fallocate"),
            ("write,fallocate=posix", "write,prepare=posix-fallocate"),
            ("write,fallocate=1", "write,prepare=posix-fallocate"),
            ("write,fallocate=keep", "write,prepare=fallocate-keep-size"),
            ("write,fallocate=truncate", "write,prepare=set-len"),
        ], not [
            ("write,fallocate=some", "none, native, posix, keep or truncate"),
            ("write,fallocate", "prepare=fallocate"),
        ];
        overwrite_is_an_existing_file: [
            ("write,overwrite=1", "write,prepare=overwrite"),
            ("write,overwrite=0", "write,prepare=create"),
        ];
        sync_has_the_values_of_fio_as_well: [
            ("write,sync=dsync", "write,sync=o-dsync"),
            ("write,sync=sync", "write,sync=o-sync"),
            ("write,sync=1", "write,sync=o-sync"),
            ("write,sync=0", "write,sync=none"),
        ];
        rw_is_write: [
            ("write,rw=write,bs=4k", "write,chunk=4KiB"),
            (
                "psync,rw=randwrite,bs=8k,overwrite=1,fdatasync=16",
                "pwrite,access=uniform,chunk=8KiB,prepare=overwrite,sync=fdatasync/16"
            ),
        ], not [
            ("write,rw=randrw", "fio for the others"),
        ];
        psync_is_pwrite: [("psync,bs=4k", "pwrite,chunk=4KiB"), ("ioengine=psync", "pwrite")];
        pvsync_is_pwritev_of_one_element: [
            ("pvsync", "pwritev,vector=1"),
            ("pvsync,vector=8", "pwritev,vector=8"),
        ];
        libaio_is_io_uring: [
            ("libaio,iodepth=4", "io_uring,depth=4"),
            ("ioengine=libaio,direct=1", "io_uring,cache=direct"),
        ];
        io_uring_is_an_engine: [("ioengine=io_uring,iodepth=4", "io_uring,depth=4")], not [
            ("ioengine=rados", "list methods"),
            ("write,ioengine=psync", "first word"),
        ];
        flags_have_the_names_of_the_kernel: [
            ("pwrite,O_DIRECT", "pwrite,cache=direct"),
            ("pwrite,cache=O_DIRECT", "pwrite,cache=direct"),
            ("write,o_dsync", "write,sync=o-dsync"),
            ("write,sync=O_DSYNC", "write,sync=o-dsync"),
            ("write,O_SYNC", "write,sync=o-sync"),
            ("pwrite,sync=RWF_DSYNC", "pwrite,sync=rwf-dsync"),
            ("pwrite,RWF_DONTCACHE", "pwrite,cache=dontcache"),
            ("mmap,huge=MADV_HUGEPAGE", "mmap,huge=advise"),
            ("mmap,MADV_HUGEPAGE", "mmap,huge=advise"),
            ("mmap,populate=MAP_POPULATE", "mmap,populate=all"),
            ("write,prepare=ftruncate", "write,prepare=set-len"),
            ("write,prepare=posix_fallocate", "write,prepare=posix-fallocate"),
        ];
        transfer_size_of_ior_is_the_chunk: [("pwrite,transferSize=4k", "pwrite,chunk=4KiB")];
        blocks_of_ior_are_of_each_task: [
            ("pwrite,ranks=4,blockSize=64m", "pwrite,ranks=4,size=256MiB"),
            (
                "pwrite,ranks=4,transferSize=1m,blockSize=2m,segmentCount=8",
                "pwrite,ranks=4,chunk=1MiB,size=64MiB,layout=strided,block=2MiB"
            ),
            (
                "pwrite,ranks=2,files=per-rank,blockSize=2m,segmentCount=8",
                "pwrite,ranks=2,files=per-rank,size=32MiB"
            ),
        ], not [
            ("pwrite,blockSize=64m", "ranks=N"),
            ("pwrite,segmentCount=4", "blockSize"),
            ("pwrite,size=1GiB,ranks=2,blockSize=64m", "leave out size"),
        ];
        oflag_of_dd_has_several_values: [
            ("write,bs=1M,oflag=direct", "write,chunk=1MiB,cache=direct"),
            ("write,oflag=dsync", "write,sync=o-dsync"),
            ("write,oflag=sync", "write,sync=o-sync"),
            ("write,oflag=direct,dsync", "write,cache=direct,sync=o-dsync"),
        ], not [("write,oflag=append", "direct, dsync or sync")];
        conv_of_dd_syncs_or_keeps_the_file: [
            ("write,conv=fsync", "write,sync=fsync"),
            ("write,conv=fdatasync,notrunc", "write,sync=fdatasync,prepare=overwrite"),
        ], not [("write,conv=sparse", "fsync, fdatasync or notrunc")];
    }

    #[test]
    fn words_of_ours_are_unchanged() {
        for text in [
            "write",
            "write,sync=fsync",
            "write,sync=none",
            "uring,depth=4",
            "allocate,call=ftruncate",
            "wirte",
            "write,chnk=4k",
            "write,chunk=nonsense",
            "write,cache=fast",
            "",
        ] {
            assert_eq!(case(text), Ok(unchanged(text)));
        }
    }

    #[test]
    fn a_note_says_each_word_in_ours() {
        let note = |theirs: &str| case(theirs).unwrap().note.unwrap();
        assert_eq!(note("write,bs=4k"), "bs=4k is chunk=4KiB here.");
        assert_eq!(
            note("psync,direct=1,rw=write"),
            "psync is pwrite, direct=1 is cache=direct and rw=write adds nothing here."
        );
        assert_eq!(
            note("libaio,iodepth=4"),
            "libaio is io_uring and iodepth=4 is depth=4 here. writebench uses no Linux AIO, and without iodepth the depth \
             is 32."
        );
        assert_eq!(
            note("write,numjobs=2"),
            "numjobs=2 is threads=2,files=per-thread here. The size is that of all files together."
        );
        assert_eq!(
            note("pwrite,ranks=2,blockSize=1m,segmentCount=2"),
            "blockSize=1m,segmentCount=2 is size=4MiB,layout=strided,block=1MiB here."
        );
    }
}
