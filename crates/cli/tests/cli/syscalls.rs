//! Calls, their sizes and counts match a case's name, by strace.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Image, Kind, Need, Program, Trials, directory_on, strace, traced_calls};

use crate::cache_promises::PAST_CACHE;
use crate::copy_promises::{CLONES, COPIES};
use crate::program;
use crate::promises::PROMISES;
use crate::set_promises::SETS;

pub(crate) fn add(trials: &mut Trials) {
    for (case, calls) in PROMISES.iter().chain(SETS).chain(PAST_CACHE).chain(COPIES) {
        // Only tmpfs makes huge pages for a written file.
        let kind = if case.contains("huge=collapse") {
            Kind::Tmpfs
        } else {
            Kind::Ext4
        };
        let needs = [Need::Strace, Need::Filesystem(kind)];
        trials.add(format!("{case} makes its calls"), &needs, move || {
            keeps(case, calls, directory_on(kind).path())
        });
    }
    for (case, calls) in CLONES {
        let needs = [Need::Strace, Need::Image("xfs")];
        trials.add(format!("{case} makes its calls"), &needs, move || {
            keeps(case, calls, &Image::mount("xfs", 512 << 20)?.path())
        });
    }
    // Most devices refuse it, so the other calls of the case may be missing.
    trials.add(
        "prepare=write-zeroes asks for written blocks before the first write",
        &[Need::Strace, Need::Filesystem(Kind::Ext4)],
        asks_for_written_blocks,
    );
    for (case, least, most) in FLUSHES {
        let name = format!("{case} flushes the device {least} times at least");
        trials.add(name, &[Need::Image("ext4")], move || {
            flushes(case, *least, *most)
        });
    }
    let name =
        "a case that makes nothing durable flushes the device less often than one that syncs once";
    trials.add(name, &[Need::Image("ext4")], flushes_less_without_sync);
    trials.add("every method has a promise of its calls", &[], || {
        let methods = program()?.call(&["list", "methods"])?.stdout;
        for method in methods.lines().filter(|line| !line.starts_with(' ')) {
            let name = method.split(' ').next().context("a name")?;
            // MPI is tested under mpirun, and a program makes its own calls.
            if ["mpiio", "program", "copy-program"].contains(&name) {
                continue;
            }
            ensure!(
                PROMISES
                    .iter()
                    .chain(PAST_CACHE)
                    .chain(SETS)
                    .chain(COPIES)
                    .chain(CLONES)
                    .any(|(case, _)| case.split(',').next() == Some(name)),
                "{name}"
            );
        }
        Ok(())
    });
}

/// Flushes of the device for 64 records. A journal commit may flush twice, and the filesystem adds a few.
const FLUSHES: &[(&str, u64, u64)] = &[
    ("write,size=256KiB,chunk=4KiB,sync=fsync", 1, 25),
    ("write,size=256KiB,chunk=4KiB,sync=fsync/16", 4, 50),
    ("write,size=256KiB,chunk=4KiB,sync=fsync/1", 64, 170),
    (
        "write,size=256KiB,chunk=4KiB,prepare=overwrite,sync=o-dsync",
        64,
        170,
    ),
    (
        "pwritev,size=256KiB,chunk=4KiB,vector=1,prepare=overwrite,sync=rwf-dsync",
        64,
        170,
    ),
    (
        "writev,size=256KiB,chunk=4KiB,vector=16,sync=o-dsync",
        4,
        50,
    ),
    (
        "io_uring,size=256KiB,chunk=4KiB,depth=1,sync=fsync/1",
        64,
        170,
    ),
    (
        "io_uring,size=256KiB,chunk=4KiB,depth=16,sync=fsync/16",
        4,
        50,
    ),
    ("mmap,size=256KiB,chunk=4KiB,sync=msync/1", 64, 170),
];

pub(crate) struct Flushed {
    program: Program,
    image: Image,
    number: String,
}

impl Flushed {
    pub(crate) fn on(kind: &str) -> Result<Self> {
        // The smallest for btrfs and xfs.
        let (program, image) = (program()?, Image::mount(kind, 512 << 20)?);
        let words = [
            "--case",
            "allocate,size=4KiB",
            "--samples",
            "1",
            "--no-limits",
        ];
        let document = program.run(&image.path(), &words, 0)?;
        let number = document["targets"][0]["environment"]["device"]["number"]
            .as_str()
            .context("a device")?
            .to_owned();
        Ok(Self {
            program,
            image,
            number,
        })
    }

    /// Field 16 of the kernel's Documentation/block/stat.rst.
    fn count(&self) -> Result<u64> {
        let stat = std::fs::read_to_string(format!("/sys/dev/block/{}/stat", self.number))?;
        Ok(stat
            .split_whitespace()
            .nth(15)
            .context("flushes are not counted")?
            .parse()?)
    }

    pub(crate) fn each(&self, case: &str, samples: &str) -> Result<u64> {
        let before = self.count()?;
        let words = ["--case", case, "--samples", samples, "--no-limits"];
        let document = self.program.run(&self.image.path(), &words, 0)?;
        let samples = document["cases"][0]["samples"]
            .as_array()
            .context("samples")?
            .len() as u64;
        Ok((self.count()? - before) / samples)
    }
}

fn flushes(case: &str, least: u64, most: u64) -> Result<()> {
    let each = Flushed::on("ext4")?.each(case, "1")?;
    ensure!(
        (least..=most).contains(&each),
        "{each} flushes for each sample"
    );
    Ok(())
}

/// The minimum: the filesystem adds flushes, and a sync separates samples. A run adds some as well, and disturbed samples
/// are repeated, so each run has many samples.
fn flushes_less_without_sync() -> Result<()> {
    const TRIES: u32 = 3;
    const SAMPLES: &str = "8";
    let flushed = Flushed::on("ext4")?;
    let (mut without, mut with) = (u64::MAX, u64::MAX);
    for _ in 0..TRIES {
        without = without.min(flushed.each("write,size=256KiB,chunk=4KiB", SAMPLES)?);
        with = with.min(flushed.each("write,size=256KiB,chunk=4KiB,sync=fsync", SAMPLES)?);
    }
    ensure!(
        without < with,
        "{without} flushes without a sync, and {with} with one"
    );
    Ok(())
}

fn asks_for_written_blocks() -> Result<()> {
    let target = directory_on(Kind::Ext4);
    let target = target.path().to_str().context("UTF-8")?;
    let case = "write,size=128KiB,prepare=write-zeroes";
    let words = [
        "run",
        "--samples",
        "1",
        "--no-limits",
        "--case",
        case,
        target,
    ];
    let samples = traced(&program()?, strace(), &words)?;
    let found = samples.into_iter().next().context("no sample")?;
    let promised = "fallocate FALLOC_FL_WRITE_ZEROES 0 131072";
    ensure!(found.get(promised) == Some(&1), "{found:#?}");
    Ok(())
}

fn keeps(case: &str, promised: &[(&str, usize)], target: &Path) -> Result<()> {
    let program = program()?;
    let words = [
        "run",
        "--verify",
        "never",
        "--samples",
        "1",
        "--no-limits",
        "--case",
        case,
    ];
    let target = target.to_str().context("UTF-8")?;
    let samples = traced(&program, strace(), &[&words[..], &[target]].concat())?;
    let found = samples.into_iter().next().context("no sample")?;
    let promised = promise_of(promised);
    ensure!(
        found == promised,
        "found {found:#?}\npromised {promised:#?}"
    );
    Ok(())
}

/// With counts.
pub(crate) type Calls = BTreeMap<String, usize>;

pub(crate) fn promise_of(calls: &[(&str, usize)]) -> Calls {
    calls
        .iter()
        .map(|(call, count)| ((*call).to_owned(), *count))
        .collect()
}

/// Calls on the files of each sample. The command becomes strace.
pub(crate) fn traced(program: &Program, mut strace: Command, words: &[&str]) -> Result<Vec<Calls>> {
    let log = program.home().join("strace");
    let output = strace
        .args(options(&log))
        .arg(program.binary())
        .args(words)
        .arg("--db")
        .arg(program.home().join("db"))
        .output()?;
    // A case that turns out to be unsupported made its calls before.
    let is_unsupported = output.status.code() == Some(4)
        && String::from_utf8_lossy(&output.stdout).contains(": unsupported: ");
    ensure!(output.status.success() || is_unsupported, "{output:?}");
    let text = std::fs::read_to_string(log)?;
    let lines = traced_calls(&text);
    let all: Vec<Call> = lines.iter().filter_map(|line| split_call(line)).collect();
    Ok(samples(&all)
        .into_iter()
        .map(calls_of)
        .filter(|calls| !calls.is_empty())
        .collect())
}

/// Stands for the calls by which a sample checks the kept file.
pub(crate) const KEPT_FILE: &str = "kept file";

fn calls_of(sample: &[Call]) -> Calls {
    if !finds_kept_file(sample) {
        return calls_on_sample(sample);
    }
    let closed = sample
        .iter()
        .position(|(name, arguments, _)| name == "close" && arguments[0].contains("/sample"));
    let mut calls = calls_on_sample(&sample[closed.map_or(0, |at| at + 1)..]);
    calls.insert(KEPT_FILE.to_owned(), 1);
    calls
}

/// The promised calls when the sample overwrites a file that an earlier sample has left, instead of making its own. None if
/// the case makes no file to overwrite.
pub(crate) fn with_kept_file(promised: &Calls, size_bytes: u64) -> Option<Calls> {
    let mut calls = promised.clone();
    let write = format!("write {size_bytes}");
    for call in [
        "open O_WRONLY|O_CREAT|O_EXCL",
        &write,
        "fsync",
        "fadvise64 0 0 POSIX_FADV_DONTNEED",
        "close",
    ] {
        let count = calls.get_mut(call)?;
        *count -= 1;
        if *count == 0 {
            calls.remove(call);
        }
    }
    calls.insert(KEPT_FILE.to_owned(), 1);
    Some(calls)
}

/// The promised calls, followed by those of the next sample up to the removal of the kept file. It cannot use the file,
/// because its extents have changed, as on btrfs.
pub(crate) fn before_useless_file(promised: &Calls) -> Calls {
    let mut calls = promised.clone();
    for call in ["open O_RDONLY", "close"] {
        *calls.entry(call.to_owned()).or_default() += 1;
    }
    calls
}

/// The calls of each sample. A disturbed one is repeated, so on a busy machine there may be more than were asked for.
fn samples(all: &[Call]) -> Vec<&[Call]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, call) in all.iter().enumerate() {
        if removes_sample(call) {
            parts.push(&all[start..=at]);
            start = at + 1;
        } else if finds_kept_file(&all[at..]) {
            parts.push(&all[start..at]);
            start = at;
        }
    }
    parts.push(&all[start..]);
    parts
}

/// A sample ends with removing its file, and not that file's journal.
fn removes_sample((name, arguments, _): &Call) -> bool {
    name == "unlinkat"
        && arguments[1].starts_with("\"sample")
        && !arguments[1].ends_with("-journal\"")
}

/// Whether the next sample begins here. It compares the extents of the file that was kept, and drops its pages.
fn finds_kept_file(calls: &[Call]) -> bool {
    let Some((name, arguments, _)) = calls.first() else {
        return false;
    };
    let opens = name == "openat"
        && arguments[1].starts_with("\"sample")
        && arguments[2].contains("O_RDONLY");
    opens && {
        let names_sample =
            |call: &&Call| call.1.iter().any(|argument| argument.contains("/sample"));
        let next = calls[1..].iter().filter(names_sample).take(2);
        next.map(|(name, ..)| name.as_str())
            .eq(["ioctl", "fadvise64"])
    }
}

/// Of another program, on paths with `files` in them.
pub(crate) fn traced_other(command: &Command, log: &Path, files: &str) -> Result<Calls> {
    let output = strace()
        .args(options(log))
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().context("a directory")?)
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(log)?;
    let all: Vec<Call> = traced_calls(&text)
        .iter()
        .filter_map(|line| split_call(line))
        .collect();
    Ok(counted(calls_in_order(&all, &|argument| {
        argument.contains(files)
    })))
}

/// For all relevant calls.
fn options(log: &Path) -> Vec<OsString> {
    let calls = "open,openat,read,write,writev,pwrite64,pwritev,pwritev2,lseek,ftruncate,fallocate,fsync,fdatasync,\
        sync_file_range,msync,mmap,munmap,madvise,fadvise64,splice,sendfile,copy_file_range,ioctl,io_uring_setup,\
        io_uring_register,io_uring_enter,close,unlinkat,rename,renameat,renameat2,linkat,mkdirat,syncfs";
    let calls = calls.replace(' ', "");
    let trace = format!("trace={calls}");
    let words = ["-y", "-s", "0", "-e", &trace, "-o"];
    words
        .iter()
        .map(OsString::from)
        .chain([log.into()])
        .collect()
}

type Call = (String, Vec<String>, String);

/// Calls on a sample's files, by name and relevant numbers. Calls on the source count once the sample's file exists:
/// before, they warm it.
fn calls_on_sample(all: &[Call]) -> Calls {
    let is_sample =
        |argument: &str| argument.contains("/.writebench-") && argument.contains("/sample");
    counted(calls_in_order(all, &is_sample))
}

fn counted(calls: Vec<String>) -> Calls {
    let mut found = Calls::new();
    for call in calls {
        *found.entry(call).or_default() += 1;
    }
    found
}

fn calls_in_order(all: &[Call], is_sample: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut calls = Vec::new();
    let mut maps: Vec<Mapping> = Vec::new();
    let is_mapped = |maps: &[Mapping], address: &str| maps.iter().any(|map| map.has(address));
    for (name, arguments, result) in all {
        let is_source =
            |argument: &str| argument.contains("/.writebench-") && argument.contains("/copied");
        let of_sample = |index: usize| {
            arguments
                .get(index)
                .is_some_and(|argument| is_sample(argument))
        };
        let of_source = |index: usize| {
            arguments
                .get(index)
                .is_some_and(|argument| is_source(argument))
        };
        let numbers = |from: usize| arguments[from.min(arguments.len())..].join(" ");
        let begun = !calls.is_empty();
        match name.as_str() {
            // Of a set.
            "openat" if arguments[2].contains("O_DIRECTORY") => {}
            "close" if is_set_directory(&arguments[0]) => {}
            "openat" if arguments[1].starts_with("\"sample") => {
                let flags = arguments[2]
                    .replace("|O_NOFOLLOW", "")
                    .replace("|O_CLOEXEC", "")
                    .replace("|O_LARGEFILE", "");
                calls.push(format!("open {flags}"));
            }
            // In a set's directory.
            "openat" if of_sample(0) && !arguments[0].starts_with("AT_FDCWD") => {
                let flags = ["|O_NOFOLLOW", "|O_CLOEXEC", "|O_LARGEFILE"]
                    .iter()
                    .fold(arguments[2].clone(), |flags, other| {
                        flags.replace(other, "")
                    });
                calls.push(format!("open {flags}"));
            }
            "rename" if arguments[1].starts_with("\"sample") => calls.push("renameat".to_owned()),
            "renameat" | "renameat2" | "linkat" | "syncfs" | "mkdirat"
                if of_sample(0) || of_sample(2) =>
            {
                calls.push(name.clone());
            }
            // Others remove the set after the clock.
            "unlinkat" if of_sample(0) && arguments[1].ends_with(".tmp\"") => {
                calls.push(name.clone());
            }
            "openat" if begun && result.contains("/copied") => calls.push("open source".to_owned()),
            "mmap" if of_sample(4) || (begun && of_source(4)) => {
                let which = if of_source(4) { "source " } else { "" };
                calls.push(format!("mmap {which}{} {}", arguments[1], arguments[5]));
                maps.extend(Mapping::from_call(result, &arguments[1]));
            }
            "munmap" if maps.iter().any(|map| map.begins_at(&arguments[0])) => {
                // Another buffer may have the same address.
                maps.retain(|map| !map.begins_at(&arguments[0]));
                calls.push(format!("munmap {}", arguments[1]));
            }
            "msync" if is_mapped(&maps, &arguments[0]) => {
                calls.push(format!("{name} {}", arguments[1]));
            }
            "madvise" if is_mapped(&maps, &arguments[0]) => {
                // Advice unknown to this strace.
                let numbers = numbers(1).replace("0x19 /* MADV_??? */", "MADV_COLLAPSE");
                calls.push(format!("madvise {numbers}"));
            }
            "fsync" if begun && is_run_directory(&arguments[0]) => {
                calls.push("fsync directory".to_owned());
            }
            "close" | "fsync" | "fdatasync" if of_sample(0) => calls.push(name.clone()),
            "close" if begun && of_source(0) => calls.push("close source".to_owned()),
            "read" if begun && of_source(0) => calls.push(format!("read source {}", arguments[2])),
            "fadvise64" if of_sample(0) || begun && of_source(0) => {
                calls.push(format!("fadvise64 {}", numbers(1)));
            }
            "write" if of_sample(0) => calls.push(format!("write {}", arguments[2])),
            "pwrite64" if of_sample(0) => calls.push(format!("pwrite64 {}", numbers(2))),
            "writev" | "pwritev" | "pwritev2" if of_sample(0) => {
                // The vector contains commas. Count, offset, flags and result follow.
                let after = arguments
                    .iter()
                    .rposition(|argument| argument.ends_with(']'))
                    .map_or(0, |at| at + 1);
                // A flag unknown to this strace.
                let numbers = numbers(after).replace("0x80 /* RWF_??? */", "RWF_DONTCACHE");
                calls.push(format!("{name} {numbers} {result}"));
            }
            "splice" if begun && of_source(0) => calls.push(format!("splice source {result}")),
            "splice" if of_sample(2) => calls.push(format!("splice into {result}")),
            "sendfile" if of_sample(0) => calls.push(format!("sendfile {result}")),
            "copy_file_range" if of_sample(2) => calls.push(format!("copy_file_range {result}")),
            // After the clock, the file of a copy is searched for holes. A copy that keeps them searches its source.
            "lseek"
                if arguments
                    .last()
                    .is_some_and(|whence| matches!(whence.as_str(), "SEEK_DATA" | "SEEK_HOLE")) => {
            }
            "lseek" if begun && of_source(0) => calls.push(format!("lseek source {}", numbers(1))),
            "ioctl" if of_sample(0) && arguments[1].ends_with("FICLONERANGE") => {
                calls.push("ioctl FICLONERANGE".to_owned());
            }
            "lseek" | "ftruncate" | "fallocate" | "sync_file_range" if of_sample(0) => {
                // A flag unknown to this strace.
                let numbers =
                    numbers(1).replace("0x80 /* FALLOC_FL_??? */", "FALLOC_FL_WRITE_ZEROES");
                calls.push(format!("{name} {numbers}"));
            }
            "io_uring_setup" => calls.push(format!("io_uring_setup {}", arguments[0])),
            "io_uring_register" => calls.push(format!("io_uring_register {}", arguments[1])),
            "io_uring_enter" => {
                let operations = result.parse::<usize>().unwrap_or(0);
                calls.extend(std::iter::repeat_n("operations".to_owned(), operations));
            }
            _ => {}
        }
    }
    calls
}

/// Of the run's own directory, which holds the name of a sample's file.
fn is_run_directory(descriptor: &str) -> bool {
    let name = descriptor
        .trim_end_matches('>')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    name.starts_with(".writebench-")
}

fn is_set_directory(descriptor: &str) -> bool {
    let name = descriptor
        .trim_end_matches('>')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    name.starts_with("sample-") && name.len() == 23 || name.starts_with("d0")
}

struct Mapping(std::ops::Range<u64>);

impl Mapping {
    fn from_call(address: &str, length: &str) -> Option<Self> {
        let (start, length) = (number(address)?, length.parse::<u64>().ok()?);
        Some(Self(start..start + length))
    }

    fn begins_at(&self, address: &str) -> bool {
        number(address) == Some(self.0.start)
    }

    fn has(&self, address: &str) -> bool {
        number(address).is_some_and(|address| self.0.contains(&address))
    }
}

fn number(address: &str) -> Option<u64> {
    u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()
}

/// `name(argument, argument) = result`
fn split_call(line: &str) -> Option<Call> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let result = result.split(' ').next()?.to_owned();
    Some((
        name.to_owned(),
        arguments.split(", ").map(str::to_owned).collect(),
        result,
    ))
}
