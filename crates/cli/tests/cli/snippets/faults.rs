//! Which faults are continued or reported, and which files are left.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_model::Case;
use writebench_snippets::Language;
use writebench_testkit::{Caching, Call, Errno, Fault, Faulty, Need, Trials, What, When};

use super::built::{Built, files_at, needs};
use super::grid::{appends, case, in_all_languages, streams};
use super::log_file;

#[derive(Clone, Copy)]
enum End {
    /// With the complete content.
    Whole,
    /// With that error, and without a new file.
    Error(&'static str),
    /// Like `Error`, before any data is written.
    ErrorFirst(&'static str),
    /// Like `Error`, after one failing call.
    ErrorOnce(&'static str, Call),
}

const NO_SPACE: &str = "No space left on device";
const IO: &str = "Input/output error";

type Faults = &'static [(When, What, End)];

/// In the first file.
const OF_SETS: Faults = &[
    (
        When::InFile(0, Call::Write, 2),
        What::Fail(Errno::INTR),
        End::Whole,
    ),
    (When::InFile(0, Call::Write, 1), What::Short, End::Whole),
    (
        When::InFile(0, Call::Write, 2),
        What::Nothing,
        End::Error(""),
    ),
    (
        When::InFile(0, Call::Write, 2),
        What::Fail(Errno::NOSPC),
        End::Error(NO_SPACE),
    ),
    (
        When::Call(Call::Create),
        What::Fail(Errno::NOSPC),
        End::ErrorFirst(NO_SPACE),
    ),
    (
        When::Call(Call::Fsync),
        What::Fail(Errno::IO),
        End::ErrorOnce(IO, Call::Fsync),
    ),
    (
        When::Call(Call::Flush),
        What::Fail(Errno::IO),
        End::Error(IO),
    ),
];

const FAULTS: &[(&str, Faults)] = &[
    (
        "write,chunk=4KiB",
        &[
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::INTR),
                End::Whole,
            ),
            (When::InFile(0, Call::Write, 1), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
            (
                When::Call(Call::Flush),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "write,chunk=4KiB,sync=fsync",
        &[(
            When::Call(Call::Fsync),
            What::Fail(Errno::IO),
            End::ErrorOnce(IO, Call::Fsync),
        )],
    ),
    (
        "write-files,file-size=whole,chunk=4KiB,naming=rename,sync-files=each,prepare=overwrite",
        &[
            (When::InFile(0, Call::Write, 2), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
            (
                When::Call(Call::Fsync),
                What::Fail(Errno::IO),
                End::ErrorOnce(IO, Call::Fsync),
            ),
            (
                When::Call(Call::Flush),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "write-files,file-size=8KiB,chunk=4KiB,sync-files=each",
        OF_SETS,
    ),
    (
        "write-files,file-size=8KiB,chunk=4KiB,naming=rename,sync-files=each",
        OF_SETS,
    ),
    (
        "write-files,file-size=8KiB,chunk=4KiB,threads=2,sync-files=batch",
        OF_SETS,
    ),
    (
        "write-files,file-size=8KiB,chunk=4KiB,threads=2,naming=rename,sync-files=batch",
        OF_SETS,
    ),
    (
        "write,chunk=4KiB,sync=fdatasync/2",
        &[(
            When::Call(Call::Fsync),
            What::Fail(Errno::IO),
            End::ErrorOnce(IO, Call::Fsync),
        )],
    ),
    (
        "write,chunk=4KiB,sync=fsync/1",
        &[
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::INTR),
                End::Whole,
            ),
            (When::InFile(0, Call::Write, 1), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
            (
                When::InFile(0, Call::Fsync, 3),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
            (
                When::Call(Call::Flush),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "pwrite,chunk=4KiB,sync=rwf-dsync",
        &[
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::INTR),
                End::Whole,
            ),
            (When::InFile(0, Call::Write, 1), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "pwrite,chunk=4KiB,prepare=zero-fill,sync=fdatasync/1",
        &[
            (
                When::InFile(0, Call::Write, 1),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
            (
                When::InFile(0, Call::Fsync, 1),
                What::Fail(Errno::IO),
                End::ErrorOnce(IO, Call::Fsync),
            ),
            (
                When::InFile(0, Call::Fsync, 3),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "pwrite,chunk=4KiB,prepare=fallocate-ahead,sync=fdatasync/1",
        &[
            (
                When::Call(Call::Fallocate),
                What::Fail(Errno::NOSPC),
                End::ErrorFirst(NO_SPACE),
            ),
            (
                When::Call(Call::Fallocate),
                What::Fail(Errno::OPNOTSUPP),
                End::Whole,
            ),
            (
                When::Call(Call::Truncate),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "write,chunk=4KiB,prepare=fallocate",
        &[
            (
                When::Call(Call::Fallocate),
                What::Fail(Errno::OPNOTSUPP),
                End::Whole,
            ),
            (
                When::Call(Call::Fallocate),
                What::Fail(Errno::NOSPC),
                End::ErrorFirst(NO_SPACE),
            ),
        ],
    ),
    (
        "pwrite,chunk=4KiB,threads=2",
        &[
            (
                When::At(Call::Write, 20000),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
            (When::At(Call::Write, 20000), What::Short, End::Whole),
        ],
    ),
    (
        "writev,chunk=1000,vector=8",
        &[
            (When::InFile(0, Call::Write, 1), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
        ],
    ),
    (
        "fwrite,chunk=1000",
        &[
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::INTR),
                End::Whole,
            ),
            (When::InFile(0, Call::Write, 2), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
            (
                When::Call(Call::Flush),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "pwritev,chunk=1000,vector=8",
        &[
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::INTR),
                End::Whole,
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "io_uring,chunk=4KiB,depth=2",
        &[
            (When::InFile(0, Call::Write, 2), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
        ],
    ),
    (
        "io_uring,chunk=4KiB,depth=2,sync=fsync/1",
        &[(
            When::Call(Call::Fsync),
            What::Fail(Errno::IO),
            End::Error(IO),
        )],
    ),
    (
        "mmap",
        &[(
            When::Call(Call::Write),
            What::Fail(Errno::IO),
            End::Error(IO),
        )],
    ),
    (
        "mmap-mmap",
        &[(
            When::Call(Call::Write),
            What::Fail(Errno::IO),
            End::Error(IO),
        )],
    ),
    (
        "read-mmap,chunk=4KiB,threads=2,descriptor=per-thread,map=per-thread",
        &[(
            When::At(Call::Write, 20000),
            What::Fail(Errno::IO),
            End::Error(IO),
        )],
    ),
    (
        "mmap,prepare=fallocate,sync=msync",
        &[(
            When::Call(Call::Fsync),
            What::Fail(Errno::IO),
            End::Error(IO),
        )],
    ),
    (
        "mmap,prepare=fallocate",
        &[
            (
                When::Call(Call::Fallocate),
                What::Fail(Errno::NOSPC),
                End::ErrorFirst(NO_SPACE),
            ),
            (
                When::Call(Call::Write),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "read-write,chunk=4KiB",
        &[
            (When::InFile(0, Call::Write, 2), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::INTR),
                End::Whole,
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
        ],
    ),
    (
        "pwrite,chunk=4KiB,threads=2",
        &[
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::INTR),
                End::Whole,
            ),
            (When::InFile(0, Call::Write, 1), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
        ],
    ),
    (
        "pwrite,chunk=4KiB,prepare=fallocate-ahead",
        &[
            (
                When::Call(Call::Fallocate),
                What::Fail(Errno::NOSPC),
                End::ErrorFirst(NO_SPACE),
            ),
            (
                When::Call(Call::Fallocate),
                What::Fail(Errno::OPNOTSUPP),
                End::Whole,
            ),
            (
                When::Call(Call::Truncate),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
    (
        "mmap-write,chunk=4KiB",
        &[
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::NOSPC),
                End::Error(NO_SPACE),
            ),
            (
                When::InFile(0, Call::Write, 2),
                What::Nothing,
                End::Error(""),
            ),
        ],
    ),
    (
        "sendfile,chunk=4KiB",
        &[(
            When::InFile(0, Call::Write, 2),
            What::Fail(Errno::NOSPC),
            End::Error(NO_SPACE),
        )],
    ),
    (
        "splice,chunk=4KiB",
        &[(When::InFile(0, Call::Write, 2), What::Short, End::Whole)],
    ),
    (
        "pipeline,chunk=4KiB,depth=2",
        &[(
            When::InFile(0, Call::Write, 2),
            What::Fail(Errno::NOSPC),
            End::Error(NO_SPACE),
        )],
    ),
    (
        "io_uring-copy,chunk=4KiB,depth=2",
        &[
            (When::InFile(0, Call::Write, 2), What::Short, End::Whole),
            (
                When::InFile(0, Call::Write, 2),
                What::Fail(Errno::IO),
                End::Error(IO),
            ),
        ],
    ),
];

pub(crate) fn add(trials: &mut Trials) {
    for (language, &(name, faults)) in in_all_languages(FAULTS) {
        let needs = [&needs(language, name)[..], &[Need::Fuse]].concat();
        let title = format!(
            "snippets: {}: {name} handles failed and short calls",
            language.name()
        );
        if case(name).is_ok_and(|case| streams(&case)) {
            let title = format!("{title}, from a producer");
            trials.add(title, &needs, move || {
                meet(name, language, faults, &["--stream"])
            });
        }
        if case(name).is_ok_and(|case| appends(&case, language)) {
            let title = format!("{title}, in a log");
            trials.add(title, &needs, move || {
                meet(name, language, faults, &["--append"])
            });
        }
        trials.add(title, &needs, move || meet(name, language, faults, &[]));
    }
}

fn meet(name: &str, language: Language, faults: &[(When, What, End)], more: &[&str]) -> Result<()> {
    let case = case(name)?;
    let Some(built) = Built::for_case(name, language, more)? else {
        return Ok(());
    };
    for &(when, what, end) in faults {
        let is_log = more.contains(&"--append");
        meets(&case, &built, Fault { when, what }, end, is_log)
            .with_context(|| format!("{when:?}: {what:?}"))?;
    }
    Ok(())
}

fn meets(case: &Case, built: &Built, fault: Fault, end: End, is_log: bool) -> Result<()> {
    const SIZE: usize = 40_000;
    // Mappings and splice(2) use the page cache.
    let uncached = case.method().card().cursor != writebench_model::Cursor::Mapping
        && case.method().name() != "splice";
    let is_set = files_at(Path::new(""), case, &[]).is_empty();
    let watched = if is_set {
        "writebench0000000"
    } else {
        "sample"
    };
    let faulty = Faulty::mount(
        watched,
        if uncached {
            Caching::None
        } else {
            Caching::WriteThrough
        },
    )?;
    faulty.follow(&[fault]);
    let content: Vec<u8> = (0..SIZE)
        .map(|at| (at * 31 + at / 4096).to_le_bytes()[0])
        .collect();
    let source = tempfile::NamedTempFile::new()?;
    std::fs::write(source.path(), &content)?;
    let target = if is_set {
        faulty.path().to_owned()
    } else {
        faulty.path().join(watched)
    };
    let files = files_at(&target, case, &content);
    let output = built.output(faulty.path(), source.path(), &target)?;
    let operations = faulty.operations();
    let happened = operations
        .iter()
        .filter(|operation| operation.fault.is_some())
        .count();
    ensure!(happened > 0, "the fault never happened: {operations:?}");
    let failed = |words: &str| {
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(
            !output.status.success() && says(&errors, words),
            "{output:?}\n{operations:?}"
        );
        ensure!(!is_set || errors.contains(watched), "{errors}");
        for left in std::fs::read_dir(faulty.path())? {
            let left = left?.path();
            if is_log {
                // A log stays, with its records.
                let file = std::fs::read(&left)?;
                let records = log_file::records(&file)?.0.concat();
                ensure!(content.starts_with(&records), "the log has other records");
                continue;
            }
            let whole = files.iter().find(|(path, _)| is_set && *path == left);
            ensure!(
                whole.is_some_and(
                    |(_, content)| std::fs::read(&left).is_ok_and(|read| read == *content)
                ),
                "an incomplete file is left: {}",
                left.display()
            );
        }
        Ok(())
    };
    let count = |call: Call| {
        operations
            .iter()
            .filter(|operation| operation.call == call)
            .count()
    };
    match end {
        End::Whole => {
            ensure!(output.status.success(), "{output:?}\n{operations:?}");
            for (path, content) in &files {
                let file = std::fs::read(path)?;
                let read = if is_log {
                    log_file::records(&file)?.0.concat()
                } else {
                    file
                };
                ensure!(read == *content, "another content of {}", path.display());
            }
            Ok(())
        }
        End::Error(words) => failed(words),
        End::ErrorFirst(words) => {
            // A log has made its first page when it is opened.
            ensure!(count(Call::Write) == usize::from(is_log), "{operations:?}");
            failed(words)
        }
        End::ErrorOnce(words, call) => {
            ensure!(count(call) == 1, "{operations:?}");
            failed(words)
        }
    }
}

/// By the C library's message, or by the language's name for it.
fn says(errors: &str, words: &str) -> bool {
    let name = if words == NO_SPACE { "ENOSPC" } else { "EIO" };
    let lower = errors.to_lowercase();
    lower.contains(&words.to_lowercase()) || errors.contains(name)
}
