use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_model::{Cache, Case, Directory, Method, Prepare, Protect, SyncCall};
use writebench_snippets::Language;
use writebench_testkit::{Image, Kind, Need, Trials, directory_on};

use super::built::{Built, files_at, needs};
use super::grid::{appends, in_all_languages, promises, streams};
use super::log_file::{self, HEAD_BYTES, PAGE_BYTES};
use crate::promises::{CREATE, CREATE_TO_MAP, LOOK};
use crate::syscalls::{Calls, promise_of, traced_other};

pub(crate) fn add(trials: &mut Trials) {
    let promises = promises();
    for (language, (case, promise)) in in_all_languages(&promises) {
        let kind = if promise.0.contains("huge=collapse") {
            Kind::Tmpfs
        } else {
            Kind::Ext4
        };
        let on_image = case.method().name() == "ficlone";
        let place = if on_image {
            Need::Image("xfs")
        } else {
            Need::Filesystem(kind)
        };
        let needs = [&needs(language, promise.0)[..], &[Need::Strace, place]].concat();
        let (case, calls) = (case.clone(), promise.1);
        let name = format!(
            "snippets: {}: the code makes the calls of {}",
            language.name(),
            promise.0
        );
        // A producer fills whole buffers.
        if streams(&case) && case.choices().chunk_size_bytes <= case.given().size_bytes {
            let (case, name) = (case.clone(), format!("{name}, for a producer"));
            let call = move || {
                keeps(
                    &case,
                    language,
                    calls,
                    directory_on(kind).path(),
                    &["--stream"],
                )
            };
            trials.add(name, &needs, call);
        }
        if appends(&case, language) && case.choices().chunk_size_bytes <= case.given().size_bytes {
            let (case, name) = (case.clone(), format!("{name}, for a log"));
            let call = move || {
                keeps(
                    &case,
                    language,
                    calls,
                    directory_on(kind).path(),
                    &["--append"],
                )
            };
            trials.add(name, &needs, call);
        }
        trials.add(name, &needs, move || {
            if on_image {
                keeps(
                    &case,
                    language,
                    calls,
                    &Image::mount("xfs", 512 << 20)?.path(),
                    &[],
                )
            } else {
                keeps(&case, language, calls, directory_on(kind).path(), &[])
            }
        });
    }
}

fn keeps(
    case: &Case,
    language: Language,
    promised: &[(&str, usize)],
    on: &Path,
    more: &[&str],
) -> Result<()> {
    let name = case.to_string();
    let Some(built) = Built::for_case(&name, language, more)? else {
        return Ok(());
    };
    // The calls on a set's directory count too.
    let directory = on.join(if case.method().writes_set() {
        "sample-set"
    } else {
        ".writebench-snippet"
    });
    std::fs::create_dir(&directory)?;
    let is_log = more.contains(&"--append");
    let content = vec![
        7;
        if is_log {
            log_content_bytes(case)?
        } else {
            usize::try_from(case.given().size_bytes)?
        }
    ];
    std::fs::write(directory.join("copied"), &content)?;
    let target = directory.join("sample");
    let files = files_at(&target, case, &content);
    if files.len() > 1 {
        std::fs::create_dir(&target)?;
    }
    if case.choices().prepare.needs_old_content() {
        for (path, content) in &files {
            std::fs::write(path, content)?;
        }
    }
    let log = tempfile::NamedTempFile::new()?;
    let command = built.command(&directory, Path::new("copied"), Path::new("sample"));
    let found = traced_other(&command, log.path(), "/sample").context("under strace")?;
    let (found, promised) = (
        of_snippet(&found, case, language),
        promised_of_snippet(case, promised),
    );
    let promised = if is_log {
        of_log(&promised, case, content.len())
    } else {
        promised
    };
    ensure!(
        found == promised,
        "found {found:#?}\npromised {promised:#?}"
    );
    if is_log {
        let file = std::fs::read(&target)?;
        let (records, rest) = log_file::records(&file)?;
        ensure!(
            records.concat() == content && rest.is_empty(),
            "{} records, {rest:?}",
            records.len()
        );
        return Ok(());
    }
    for (path, content) in files {
        ensure!(
            std::fs::read(&path)? == content,
            "another content of {}",
            path.display()
        );
    }
    Ok(())
}

/// So many that the log's calls write the bytes of the case's.
fn log_content_bytes(case: &Case) -> Result<usize> {
    let [size, chunk] =
        [case.given().size_bytes, case.choices().chunk_size_bytes].map(usize::try_from);
    let (size, chunk) = (size?, chunk?);
    Ok(size / chunk * (chunk - HEAD_BYTES) + (size % chunk).saturating_sub(HEAD_BYTES))
}

/// A log has a page of its own before its records, and syncs it.
fn of_log(promised: &Calls, case: &Case, content_bytes: usize) -> Calls {
    let page = PAGE_BYTES as u64;
    let (size, prepare) = (case.given().size_bytes, case.choices().prepare);
    let later = |offset: &str| offset.parse::<u64>().map_or(0, |offset| offset + page);
    let mut calls: Calls = promised
        .iter()
        .map(|(call, count)| {
            let call = match call.split(' ').collect::<Vec<_>>()[..] {
                ["pwrite64", bytes, "0"]
                    if prepare == Prepare::ZeroFill && bytes == size.to_string() =>
                {
                    format!("pwrite64 {content_bytes} 0")
                }
                ["pwrite64", bytes, offset] => format!("pwrite64 {bytes} {}", later(offset)),
                ["pwritev2", count, offset, flag, bytes] => {
                    format!("pwritev2 {count} {} {flag} {bytes}", later(offset))
                }
                ["ftruncate", length] => format!("ftruncate {}", later(length)),
                _ => call.clone(),
            };
            (call, *count)
        })
        .collect();
    let sync = case.choices().sync;
    let write = match case.method() {
        Method::Write => format!("write {page}"),
        _ if sync.call == SyncCall::RwfDsync => format!("pwritev2 1 0 RWF_DSYNC {page}"),
        _ => format!("pwrite64 {page} 0"),
    };
    let synced = sync.every.map(|_| sync.call.name().to_owned());
    for call in synced.into_iter().chain([write]) {
        *calls.entry(call).or_default() += 1;
    }
    calls
}

/// Without calls by which a language opens, maps and closes files.
const OWN: &[&str] = &[
    "open O_",
    "write",
    "pwrite",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "msync",
    "madvise",
    "sync_file_range",
    "fadvise64",
    "splice",
    "sendfile",
    "copy_file_range",
    "ioctl",
    "operations",
    "read source",
    "renameat",
    "linkat",
    "unlinkat",
    "syncfs",
];

fn own(calls: Calls) -> Calls {
    calls
        .into_iter()
        .filter(|(call, count)| *count > 0 && OWN.iter().any(|own| call.starts_with(own)))
        .collect()
}

/// Without reads of the input.
fn of_snippet(found: &Calls, case: &Case, language: Language) -> Calls {
    let mut found = own(found.clone());
    if language == Language::Python {
        found = found
            .into_iter()
            .map(|(call, count)| (without_flags(call), count))
            .collect();
    }
    if !case.method().copies() {
        found.retain(|call, _| !call.starts_with("read source"));
    }
    found.remove(LOOK);
    found
}

/// Python's `os.pwritev` always calls pwritev2(2).
fn without_flags(call: String) -> String {
    match call.split(' ').collect::<Vec<_>>()[..] {
        ["pwritev2", count, offset, "0", result] => format!("pwritev {count} {offset} {result}"),
        _ => call,
    }
}

/// Without the engine's calls before and after the clock.
fn promised_of_snippet(case: &Case, promised: &[(&str, usize)]) -> Calls {
    let mut calls = promise_of(promised);
    let mut less = |call: &str| {
        if let Some(count) = calls.get_mut(call) {
            *count -= 1;
        }
    };
    if case.choices().prepare.needs_old_content() {
        const DROPPED: &str = "fadvise64 0 0 POSIX_FADV_DONTNEED";
        for call in [
            CREATE,
            CREATE_TO_MAP,
            &format!("write {}", case.given().size_bytes),
            DROPPED,
        ] {
            less(call);
        }
        if !case.method().writes_set() {
            less("fsync");
        }
    }
    // The engine finds a journal, which the code makes, or syncs and reads.
    if case.choices().protect == Protect::DoubleWrite {
        for call in [
            CREATE,
            &format!("write {}", case.journal_bytes()),
            "fsync",
            "open O_WRONLY",
        ] {
            less(call);
        }
        *calls.entry("open O_RDWR|O_CREAT".to_owned()).or_default() += 1;
        *calls.entry("fdatasync".to_owned()).or_default() += 1;
    }
    let mut less = |call: &str| {
        if let Some(count) = calls.get_mut(call) {
            *count -= 1;
        }
    };
    // The engine looks which pages remain.
    if case.method().has_axis(writebench_model::Axis::Cache)
        && case.choices().cache == Cache::Dontcache
    {
        less("fdatasync");
    }
    // The caller makes further directories.
    if case.choices().directory != Directory::One {
        less("fsync");
    }
    calls.remove(LOOK);
    let calls = own(calls);
    if case.staged_bytes() > 0 && case.method().has_axis(writebench_model::Axis::Vector) {
        return calls
            .into_iter()
            .map(|(call, count)| (with_all_elements(&call, case), count))
            .collect();
    }
    calls
}

/// The engine's data is anywhere, so a vector is gathered into one aligned element. The test's data is aligned, and the
/// code then writes each chunk from where it is.
fn with_all_elements(call: &str, case: &Case) -> String {
    match call.split(' ').collect::<Vec<_>>()[..] {
        ["pwritev", "1", offset, length] => {
            let elements = length
                .parse::<u64>()
                .map_or(1, |length| length.div_ceil(case.choices().chunk_size_bytes));
            format!("pwritev {elements} {offset} {length}")
        }
        _ => call.to_owned(),
    }
}
