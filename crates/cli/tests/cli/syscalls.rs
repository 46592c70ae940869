//! What a case's name says is what the kernel is asked for, no more and no less: calls, sizes and
//! number, as strace sees them.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use testkit::{Kind, Need, Trials, directory_on};

use crate::program;

const CREATE: &str = "open O_WRONLY|O_CREAT|O_EXCL";
const CREATE_TO_MAP: &str = "open O_RDWR|O_CREAT|O_EXCL";

/// A case, and every call on its files with the number of times that it must come.
const PROMISES: &[(&str, &[(&str, usize)])] = &[
    ("write,size=1MiB,chunk=64KiB", &[(CREATE, 1), ("write 65536", 16), ("close", 1)]),
    ("write,size=1000,chunk=300", &[(CREATE, 1), ("write 300", 3), ("write 100", 1), ("close", 1)]),
    ("write,size=100,chunk=1", &[(CREATE, 1), ("write 1", 100), ("close", 1)]),
    ("write,size=0", &[(CREATE, 1), ("close", 1)]),
    ("write,size=1MiB,sync=fsync", &[(CREATE, 1), ("write 1048576", 1), ("fsync", 1), ("close", 1)]),
    ("write,size=1MiB,sync=fdatasync", &[(CREATE, 1), ("write 1048576", 1), ("fdatasync", 1), ("close", 1)]),
    (
        "write,size=1MiB,prepare=set-len",
        &[(CREATE, 1), ("ftruncate 1048576", 1), ("write 1048576", 1), ("close", 1)],
    ),
    (
        "write,size=1MiB,prepare=fallocate",
        &[(CREATE, 1), ("fallocate 0 0 1048576", 1), ("write 1048576", 1), ("close", 1)],
    ),
    (
        "write,size=1MiB,prepare=posix-fallocate",
        &[(CREATE, 1), ("fallocate 0 0 1048576", 1), ("write 1048576", 1), ("close", 1)],
    ),
    // The first four are the old content, made before the clock.
    (
        "write,size=1MiB,chunk=512KiB,prepare=truncate",
        &[
            (CREATE, 1),
            ("write 1048576", 1),
            ("fsync", 1),
            ("open O_WRONLY|O_TRUNC", 1),
            ("write 524288", 2),
            ("close", 2),
        ],
    ),
    (
        "write,size=1MiB,chunk=512KiB,prepare=overwrite",
        &[
            (CREATE, 1),
            ("write 1048576", 1),
            ("fsync", 1),
            ("open O_WRONLY", 1),
            ("write 524288", 2),
            ("close", 2),
        ],
    ),
    (
        "write,size=1MiB,chunk=64KiB,threads=2,descriptor=per-thread",
        &[(CREATE, 1), ("open O_WRONLY", 1), ("lseek 524288 SEEK_SET", 1), ("write 65536", 16), ("close", 2)],
    ),
    (
        "write,size=1MiB,chunk=64KiB,threads=2,files=per-thread,sync=fsync",
        &[(CREATE, 2), ("write 65536", 16), ("fsync", 2), ("close", 2)],
    ),
    (
        "pwrite,size=1MiB,chunk=256KiB",
        &[
            (CREATE, 1),
            ("pwrite64 262144 0", 1),
            ("pwrite64 262144 262144", 1),
            ("pwrite64 262144 524288", 1),
            ("pwrite64 262144 786432", 1),
            ("close", 1),
        ],
    ),
    (
        "pwrite,size=1MiB,chunk=1GiB,threads=4",
        &[
            (CREATE, 1),
            ("pwrite64 262144 0", 1),
            ("pwrite64 262144 262144", 1),
            ("pwrite64 262144 524288", 1),
            ("pwrite64 262144 786432", 1),
            ("close", 1),
        ],
    ),
    // The range of each thread, at the start of its own file and inside its own allocation.
    (
        "pwrite,size=1MiB,chunk=1GiB,threads=2,files=per-thread,prepare=fallocate",
        &[(CREATE, 2), ("fallocate 0 0 524288", 2), ("pwrite64 524288 0", 2), ("close", 2)],
    ),
    ("writev,size=1MiB,chunk=4KiB", &[(CREATE, 1), ("writev 128 524288", 2), ("close", 1)]),
    ("writev,size=100,chunk=7,vector=4", &[(CREATE, 1), ("writev 4 28", 3), ("writev 3 16", 1), ("close", 1)]),
    (
        "pwritev,size=1MiB,chunk=4KiB,vector=64",
        &[
            (CREATE, 1),
            ("pwritev 64 0 262144", 1),
            ("pwritev 64 262144 262144", 1),
            ("pwritev 64 524288 262144", 1),
            ("pwritev 64 786432 262144", 1),
            ("close", 1),
        ],
    ),
    // The C library gathers small pieces into its buffer of a block. Of large ones, but for the first,
    // it puts a block's worth into the buffer and hands on the rest: two calls for one of ours.
    ("fwrite,size=64KiB,chunk=1KiB", &[(CREATE, 1), ("write 4096", 16), ("close", 1)]),
    (
        "fwrite,size=1MiB,chunk=64KiB",
        &[(CREATE, 1), ("write 65536", 1), ("write 4096", 15), ("write 61440", 15), ("close", 1)],
    ),
    (
        "mmap,size=1MiB,sync=msync",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 1048576", 1),
            ("mmap 1048576 0", 1),
            ("msync 1048576", 1),
            ("munmap 1048576", 1),
            ("close", 1),
        ],
    ),
    (
        "mmap,size=1MiB,threads=2",
        &[
            (CREATE_TO_MAP, 1),
            ("ftruncate 1048576", 1),
            ("mmap 1048576 0", 1),
            ("munmap 1048576", 1),
            ("close", 1),
        ],
    ),
    (
        "mmap,size=1MiB,chunk=1GiB,threads=2,descriptor=per-thread,map=per-thread,sync=msync",
        &[
            (CREATE_TO_MAP, 1),
            ("open O_RDWR", 1),
            ("ftruncate 1048576", 1),
            ("mmap 524288 0", 1),
            ("mmap 524288 0x80000", 1),
            ("msync 524288", 2),
            ("munmap 524288", 2),
            ("close", 2),
        ],
    ),
    ("allocate,size=1MiB", &[(CREATE, 1), ("fallocate 0 0 1048576", 1), ("close", 1)]),
    ("allocate,size=1MiB,call=fallocate", &[(CREATE, 1), ("fallocate 0 0 1048576", 1), ("close", 1)]),
    ("allocate,size=1MiB,call=ftruncate", &[(CREATE, 1), ("ftruncate 1048576", 1), ("close", 1)]),
];

pub fn add(trials: &mut Trials) {
    for (case, calls) in PROMISES {
        let needs = [Need::Strace, Need::Filesystem(Kind::Ext4)];
        trials.add(format!("{case} asks the kernel for what it says"), &needs, move || keeps(case, calls));
    }
    trials.add("every method has such a promise", &[], || {
        let methods = program()?.call(&["list", "methods"])?.stdout;
        for method in methods.lines().filter(|line| !line.starts_with(' ')) {
            let name = method.split(' ').next().context("a name")?;
            ensure!(PROMISES.iter().any(|(case, _)| case.split(',').next() == Some(name)), "{name}");
        }
        Ok(())
    });
}

fn keeps(case: &str, promised: &[(&str, usize)]) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let log = program.home().join("strace");
    let calls = "openat,write,writev,pwrite64,pwritev,pwritev2,lseek,ftruncate,fallocate,fsync,fdatasync,sync_file_range,msync,mmap,munmap,close,unlinkat";
    let output = Command::new("strace")
        .args(["-f", "-y", "-s", "0", "-e", &format!("trace={calls}"), "-o"])
        .arg(&log)
        .arg(program.binary())
        .args(["run", "--verify", "never", "--samples", "1", "--case", case, "--db"])
        .arg(program.home().join("db"))
        .arg(target.path())
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(log)?;
    let mut found = BTreeMap::<String, usize>::new();
    for call in calls_on_samples(&text) {
        *found.entry(call).or_default() += 1;
    }
    let promised: BTreeMap<String, usize> =
        promised.iter().map(|(call, count)| ((*call).to_owned(), *count)).collect();
    ensure!(found == promised, "found {found:#?}\npromised {promised:#?}");
    Ok(())
}

/// The calls on our files, each as its name and the numbers that matter. A disturbed sample is taken
/// again, so only the calls up to the first removal count.
fn calls_on_samples(text: &str) -> Vec<String> {
    let mut calls = Vec::new();
    let mut maps: Vec<String> = Vec::new();
    for (name, arguments, result) in joined(text).iter().filter_map(|line| split_call(line)) {
        let of_sample = |argument: &str| argument.contains("/.writebench-") && argument.contains("/sample");
        let numbers = |from: usize| arguments[from.min(arguments.len())..].join(" ");
        match name.as_str() {
            "openat" if arguments[1].starts_with("\"sample") => {
                let flags = arguments[2]
                    .replace("|O_NOFOLLOW", "")
                    .replace("|O_CLOEXEC", "")
                    .replace("|O_LARGEFILE", "");
                calls.push(format!("open {flags}"));
            }
            "unlinkat" if arguments[1].starts_with("\"sample") => break,
            "mmap" if of_sample(&arguments[4]) => {
                calls.push(format!("mmap {} {}", arguments[1], arguments[5]));
                maps.push(result);
            }
            "msync" | "munmap" if maps.contains(&arguments[0]) => {
                calls.push(format!("{name} {}", arguments[1]));
            }
            "close" | "fsync" | "fdatasync" if of_sample(&arguments[0]) => calls.push(name),
            "write" if of_sample(&arguments[0]) => calls.push(format!("write {}", arguments[2])),
            "pwrite64" if of_sample(&arguments[0]) => calls.push(format!("pwrite64 {}", numbers(2))),
            "writev" | "pwritev" if of_sample(&arguments[0]) => {
                // The vector itself holds commas; what follows it is count and offset, then the result.
                let after =
                    arguments.iter().rposition(|argument| argument.ends_with(']')).map_or(0, |at| at + 1);
                calls.push(format!("{name} {} {result}", numbers(after)));
            }
            "lseek" | "ftruncate" | "fallocate" | "pwritev2" | "sync_file_range"
                if of_sample(&arguments[0]) =>
            {
                calls.push(format!("{name} {}", numbers(1)));
            }
            _ => {}
        }
    }
    calls
}

/// Puts together what strace tore apart because another thread came between.
fn joined(text: &str) -> Vec<String> {
    let mut unfinished = BTreeMap::<&str, String>::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let (thread, call) = line.split_once(' ').unwrap_or(("", line));
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, start.to_owned());
        } else if let Some((_, end)) = call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"))
        {
            lines.push(unfinished.remove(thread).unwrap_or_default() + end);
        } else {
            lines.push(call.to_owned());
        }
    }
    lines
}

/// `name(argument, argument) = result`
fn split_call(line: &str) -> Option<(String, Vec<String>, String)> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let result = result.split(' ').next()?.to_owned();
    Some((name.to_owned(), arguments.split(", ").map(str::to_owned).collect(), result))
}
