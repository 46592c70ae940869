//! What a power loss leaves of files that printed code has written, on three filesystems. Programs with a mistake must be
//! caught, or these tests could not fail.

mod scene;

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use writebench_model::Case;
use writebench_powerloss::{Event, Recording};
use writebench_snippets::{EmitOptions, Language, code};
use writebench_testkit::{Need, Purpose, Trials, compiled};

use self::scene::{Content, Outcome, Scene, bytes};

const KINDS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// New files and copies. The name says what is promised after success.
const DURABLE: [&str; 6] = [
    "write,sync=fsync",
    "uring,chunk=1MiB,depth=2,cache=direct,sync=fdatasync",
    "pwrite,cache=dontcache,sync=fdatasync",
    "mmap,prepare=fallocate,sync=msync",
    "write,sync=o-dsync",
    "copy-file-range,sync=fsync",
];

/// Existing files, overwritten in place.
const OVERWRITTEN: [&str; 2] = [
    "pwrite,prepare=overwrite,cache=direct,sync=fdatasync",
    "write,prepare=overwrite,sync=fsync",
];

const LOGS: [&str; 3] = [
    "pwrite,chunk=512,prepare=zero-fill,sync=fdatasync/1",
    "write,chunk=512,sync=fdatasync/1",
    "write,chunk=512,sync=o-sync",
];

/// Sets of files that replace others.
const REPLACED: [&str; 4] = [
    "write-files,file-size=whole,naming=rename,prepare=overwrite,sync-files=each",
    "write-files,file-size=whole,naming=rename,prepare=overwrite,sync-files=syncfs",
    "write-files,file-size=whole,naming=exchange,prepare=overwrite,sync-files=batch",
    "write-files,file-size=whole,naming=tmpfile,prepare=overwrite,sync-files=writeback",
];

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for kind in KINDS {
        let needs = [Need::Fuse, Need::Image(kind), Need::Program("cc")];
        for case in DURABLE {
            trials.add(
                format!("{case} is durable after success on {kind}"),
                &needs,
                move || holds(durable(kind, case)?),
            );
        }
        for case in OVERWRITTEN {
            trials.add(
                format!("{case} is durable after success on {kind}"),
                &needs,
                move || holds(durable(kind, case)?),
            );
        }
        for case in REPLACED {
            trials.add(
                format!("{case} leaves the old or the new file on {kind}"),
                &needs,
                move || holds(replaced(kind, &main_program(case, Language::C, plain())?)?),
            );
        }
        trials.add(
            format!("--atomic leaves the old or the new file on {kind}"),
            &needs,
            move || {
                let source = main_program("write,sync=fsync", Language::C, atomic())?;
                holds(replaced(kind, &source)?)
            },
        );
        for case in LOGS {
            trials.add(
                format!("a record of {case} is in the log on {kind} once it is durable"),
                &needs,
                move || holds(logged(kind, &log_program(case)?)?),
            );
        }
        trials.add(
            format!("--stream --atomic leaves the old or the new file on {kind}"),
            &needs,
            move || {
                let options = EmitOptions {
                    is_stream: true,
                    ..atomic()
                };
                let source = main_program("write,sync=fdatasync", Language::C, options)?;
                holds(replaced(kind, &source)?)
            },
        );
        trials.add(
            format!("all files of a set are durable after success on {kind}"),
            &needs,
            move || holds(set_of_files(kind)?),
        );
        let others = ["qemu-storage-daemon", "setpriv"].map(Need::Program);
        trials.add(
            format!("the recorder of qemu agrees about --atomic on {kind}"),
            &[&needs[..], &others].concat(),
            move || recorders_agree(kind),
        );
        for mutant in &MUTANTS {
            if mutant.kinds.contains(&kind) {
                let title = format!("{} is caught on {kind}", mutant.name);
                trials.add(title, &needs, move || caught(kind, mutant));
            }
        }
    }
    for language in [
        Language::Cpp,
        Language::Go,
        Language::Rust,
        Language::Python,
        Language::Node,
        Language::Java,
    ] {
        let compiler = match language {
            Language::Cpp => "c++",
            Language::Go => "go",
            Language::Rust => "rustc",
            Language::Python => "python3",
            Language::Node => "node",
            Language::Java => "javac",
            Language::C => "cc",
        };
        trials.add(
            format!(
                "--atomic of {} leaves the old or the new file",
                language.name()
            ),
            &[Need::Fuse, Need::Image("xfs"), Need::Program(compiler)],
            move || {
                let source = main_program("write,sync=fsync", language, atomic())?;
                holds(replaced_by("xfs", &source, language, None, |scene| {
                    scene.play()
                })?)
            },
        );
    }
    trials.run(2)
}

fn plain() -> EmitOptions {
    EmitOptions {
        is_program: true,
        ..EmitOptions::default()
    }
}

fn atomic() -> EmitOptions {
    EmitOptions {
        is_atomic: true,
        ..plain()
    }
}

fn main_program(case: &str, language: Language, options: EmitOptions) -> Result<String> {
    let case = Case::parse(case)?;
    code(&case, language, options).map_err(|error| anyhow::anyhow!("{error:?}"))
}

/// At no moment is the promise broken, and each moment was really tried.
fn holds(outcome: Outcome) -> Result<()> {
    ensure!(
        outcome.checked >= 10,
        "only {} power losses",
        outcome.checked
    );
    ensure!(
        outcome.broken.is_empty(),
        "{} of {} power losses: {}",
        outcome.broken.len(),
        outcome.checked,
        outcome.broken[0]
    );
    Ok(())
}

const LENGTH: usize = 300_000;

/// A file is as the program has left it, once the program has ended with success.
fn durable(kind: &str, case: &str) -> Result<Outcome> {
    let source = main_program(case, Language::C, plain())?;
    durable_by(kind, &source, case.contains("overwrite"))
}

fn durable_by(kind: &str, source: &str, overwrites: bool) -> Result<Outcome> {
    let built = tempfile::tempdir()?;
    let words = compiled(source, Language::C, built.path(), Purpose::Measurement)?;
    let new = bytes(2, LENGTH);
    let scene = Scene {
        kind,
        mount_options: None,
        words,
        says_durable: false,
        arguments: &|root: &Path| vec![root.join("data"), root.join("file")],
        set_up: &|root: &Path| {
            // Some methods copy only within a filesystem.
            std::fs::write(root.join("data"), &new)?;
            if overwrites {
                std::fs::write(root.join("file"), bytes(1, LENGTH))?;
            }
            Ok(())
        },
        check: &|root: &Path, durable| match durable {
            0 => Ok(()),
            _ => Content::of(&root.join("file")).must_be(&[&new]),
        },
    };
    scene.play()
}

fn replaced(kind: &str, source: &str) -> Result<Outcome> {
    replaced_by(kind, source, Language::C, None, |scene| scene.play())
}

/// A file has the old or the new content at any time, and the new one after success.
fn replaced_by<T>(
    kind: &str,
    source: &str,
    language: Language,
    mount_options: Option<&str>,
    play: fn(&Scene<'_>) -> Result<T>,
) -> Result<T> {
    let built = tempfile::tempdir()?;
    let words = compiled(source, language, built.path(), Purpose::Measurement)?;
    let (old, new) = (bytes(1, LENGTH + 1000), bytes(2, LENGTH));
    let data = built.path().join("data");
    std::fs::write(&data, &new)?;
    let scene = Scene {
        kind,
        mount_options,
        words,
        says_durable: false,
        arguments: &|root: &Path| vec![data.clone(), root.join("file")],
        set_up: &|root: &Path| Ok(std::fs::write(root.join("file"), &old)?),
        check: &|root: &Path, durable| {
            let found = Content::of(&root.join("file"));
            match durable {
                0 => found.must_be(&[&old, &new]),
                _ => found.must_be(&[&new]),
            }
        },
    };
    play(&scene)
}

/// Records are in the log from the moment on at which the program is told that they are durable.
fn logged(kind: &str, source: &str) -> Result<Outcome> {
    let built = tempfile::tempdir()?;
    let words = compiled(source, Language::C, built.path(), Purpose::Measurement)?;
    let program = words[0].clone();
    let scene = Scene {
        kind,
        mount_options: None,
        words,
        says_durable: true,
        arguments: &|root: &Path| vec![root.join("log"), "0".into()],
        set_up: &|_| Ok(()),
        check: &|root: &Path, durable| {
            // Before the log was opened it may not be there.
            if durable == 0 && !root.join("log").exists() {
                return Ok(());
            }
            let output = Command::new(&program)
                .arg(root.join("log"))
                .arg(durable.max(1).to_string())
                .output()
                .map_err(|error| error.to_string())?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                Ok(())
            } else {
                Err(said)
            }
        },
    };
    scene.play()
}

/// The printed log, and a program that appends records, or that counts those of an existing log.
fn log_program(case: &str) -> Result<String> {
    let options = EmitOptions {
        is_append: true,
        ..EmitOptions::default()
    };
    let case = Case::parse(case)?;
    let log = code(&case, Language::C, options).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    // Zeros are prepared for so many bytes.
    let main = match log.contains("size_t expected)") {
        true => LOG_MAIN.replace("&found)", "&found, 4096)"),
        false => LOG_MAIN.to_owned(),
    };
    Ok(log + &main)
}

/// With a number that is not zero, the program expects so many durable moments: the open, and one for each record.
const LOG_MAIN: &str = r#"
#include <stdio.h>

enum { RECORDS = 12, LONGEST = 1599 };

static size_t record(int number, char *bytes)
{
    size_t size = 100 + (size_t)(number * 379) % 1500;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)((size_t)number + i * 7);
    return size;
}

static int next_record(void *context, const void *found, size_t size)
{
    int *number = context;
    char bytes[LONGEST];
    if (size != record(*number, bytes) || memcmp(found, bytes, size) != 0) {
        fprintf(stderr, "record %d differs", *number);
        return EIO;
    }
    *number += 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct log log;
    int found = 0;
    if (argc != 3)
        return 2;
    if (log_open(&log, argv[1], next_record, &found) != 0) {
        fprintf(stderr, "log_open: %s", strerror(errno));
        return 1;
    }
    const int expected = atoi(argv[2]);
    if (expected > 0) {
        if (found < expected - 1)
            fprintf(stderr, "%d of %d records", found, expected - 1);
        return found < expected - 1;
    }
    printf("durable\n");
    fflush(stdout);
    char bytes[LONGEST];
    for (int number = 0; number < RECORDS; number++) {
        if (log_append(&log, bytes, record(number, bytes)) != 0)
            return 1;
        printf("durable\n");
        fflush(stdout);
    }
    return log_close(&log) != 0;
}
"#;

fn set_of_files(kind: &str) -> Result<Outcome> {
    const FILE: usize = 16 << 10;
    let case = "write-files,file-size=16KiB,sync-files=syncfs";
    let source = main_program(case, Language::C, plain())?;
    let built = tempfile::tempdir()?;
    let words = compiled(&source, Language::C, built.path(), Purpose::Measurement)?;
    let data = built.path().join("data");
    let all = bytes(3, 12 * FILE);
    std::fs::write(&data, &all)?;
    let scene = Scene {
        kind,
        mount_options: None,
        words,
        says_durable: false,
        arguments: &|root: &Path| vec![data.clone(), root.join("set")],
        set_up: &|root: &Path| Ok(std::fs::create_dir(root.join("set"))?),
        check: &|root: &Path, durable| {
            for (number, expected) in all.chunks(FILE).enumerate() {
                let path = root.join(format!("set/writebench{number:07}"));
                if durable > 0 {
                    Content::of(&path).must_be(&[expected])?;
                }
            }
            Ok(())
        },
    };
    scene.play()
}

/// A mistake in printed code, and the filesystems on which it loses data.
struct Mutant {
    name: &'static str,
    case: &'static str,
    is_atomic: bool,
    /// Pairs of what is in the code, and what takes its place.
    changes: &'static [(&'static str, &'static str)],
    kinds: &'static [&'static str],
}

const SET: &str = REPLACED[1];
const WITHOUT_FSYNC: (&str, &str) = ("return fsync(fd);", "return 0;");
const WITHOUT_DIRECTORY: (&str, &str) = (
    "int result = fsync(fd) == 0 ? 0 : -2, error",
    "int result = 0, error",
);

const ATOMIC_WITHOUT_FSYNC: Mutant = Mutant {
    name: "an atomic file without its fsync",
    case: "write,sync=fsync",
    is_atomic: true,
    changes: &[WITHOUT_FSYNC],
    kinds: &KINDS,
};

static MUTANTS: [Mutant; 6] = [
    Mutant {
        name: "a new file without its fsync",
        case: "write,sync=fsync",
        is_atomic: false,
        changes: &[WITHOUT_FSYNC, WITHOUT_DIRECTORY],
        kinds: &KINDS,
    },
    ATOMIC_WITHOUT_FSYNC,
    Mutant {
        name: "an atomic file without the fsync of its directory",
        case: "write,sync=fsync",
        is_atomic: true,
        changes: &[WITHOUT_DIRECTORY],
        kinds: &KINDS,
    },
    // ext4 and xfs have written the blocks by then, and the fsync of the directory commits the rest.
    Mutant {
        name: "sync_file_range in place of fsync",
        case: "write,sync=fsync",
        is_atomic: true,
        changes: &[("return fsync(fd);", "return sync_file_range(fd, 0, 0, 7);")],
        kinds: &["btrfs"],
    },
    // The journals of ext4 and btrfs write a renamed file's data first.
    Mutant {
        name: "a rename before syncfs",
        case: SET,
        is_atomic: false,
        changes: &[
            ("if (result == 0 && syncfs(dir) != 0)", "if (0)"),
            (
                "if (result == 0 && fsync(dir) != 0)",
                "if (result == 0 && syncfs(dir) != 0)",
            ),
        ],
        kinds: &["xfs"],
    },
    Mutant {
        name: "a set without the fsync of its directory",
        case: SET,
        is_atomic: false,
        changes: &[("if (result == 0 && fsync(dir) != 0)", "if (0)")],
        kinds: &KINDS,
    },
];

impl Mutant {
    fn source(&self) -> Result<String> {
        let options = EmitOptions {
            is_atomic: self.is_atomic,
            ..plain()
        };
        let mut source = main_program(self.case, Language::C, options)?;
        for (old, new) in self.changes {
            ensure!(source.contains(old), "the printed code has no {old}");
            source = source.replace(old, new);
        }
        Ok(source)
    }
}

/// Otherwise ext4 begins to write the data at a rename, and it may be there in time.
fn no_early_writes(kind: &str) -> Option<&'static str> {
    (kind == "ext4").then_some("noauto_da_alloc")
}

/// btrfs begins to write the data at a rename, and it can be there in time.
const TRIES: usize = 5;

fn caught(kind: &str, mutant: &Mutant) -> Result<()> {
    let source = mutant.source()?;
    for _ in 0..TRIES {
        if !play(kind, mutant, &source)?.broken.is_empty() {
            return Ok(());
        }
    }
    anyhow::bail!("nothing was found in {TRIES} recordings");
}

fn play(kind: &str, mutant: &Mutant, source: &str) -> Result<Outcome> {
    if mutant.case.contains("overwrite") || mutant.is_atomic {
        replaced_by(kind, source, Language::C, no_early_writes(kind), |scene| {
            scene.play()
        })
    } else {
        durable_by(kind, source, false)
    }
}

/// The recordings of another program lead to the same verdicts as ours, and have the same order.
fn recorders_agree(kind: &str) -> Result<()> {
    let source = main_program("write,sync=fsync", Language::C, atomic())?;
    let (outcome, recordings) = replaced_by(kind, &source, Language::C, None, |scene| {
        scene.play_on_qemu()
    })?;
    holds(outcome)?;
    for recording in &recordings {
        let promised = flushed_before_promise(recording)?;
        let new = bytes(2, LENGTH);
        let mut blocks = new.chunks_exact(BLOCK);
        ensure!(
            blocks.all(|block| promised.contains(block)),
            "data was not flushed before the promise"
        );
    }
    for _ in 0..TRIES {
        let source = ATOMIC_WITHOUT_FSYNC.source()?;
        let options = no_early_writes(kind);
        let (outcome, _) = replaced_by(kind, &source, Language::C, options, |scene| {
            scene.play_on_qemu()
        })?;
        if !outcome.broken.is_empty() {
            return Ok(());
        }
    }
    anyhow::bail!("nothing was found in {TRIES} recordings");
}

/// The smallest block of the filesystems.
const BLOCK: usize = 1024;

/// The blocks that have arrived before the last flush that precedes the promise.
fn flushed_before_promise(recording: &Recording) -> Result<HashSet<&[u8]>> {
    let events = &recording.events;
    let place = |wanted| events.iter().position(|event| *event == wanted);
    let begin = place(Event::Begin).context("no beginning")?;
    let durable = place(Event::Durable).context("no promise")?;
    let own = events
        .get(begin..durable)
        .context("a promise before the beginning")?;
    let flush = own.iter().rposition(|event| *event == Event::Flush);
    let flushed = &own[..flush.context("no flush before the promise")?];
    let data = flushed.iter().filter_map(|event| match event {
        Event::Write { data, .. } => Some(data.chunks_exact(BLOCK)),
        _ => None,
    });
    Ok(data.flatten().collect())
}
