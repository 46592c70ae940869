//! Cases with one canonical form make the same calls, by strace, and others do not.

use anyhow::{Context, Result, ensure};
use writebench_model::Case;
use writebench_testkit::{Kind, Need, Trials, directory_on, strace};

use crate::program;
use crate::syscalls::{Calls, KEPT_FILE, traced};

pub(crate) fn add(trials: &mut Trials) {
    for cases in SAME {
        let name = format!(
            "{} makes the calls of {} other names",
            cases[0],
            cases.len() - 1
        );
        trials.add(name, &[Need::Strace, Need::Filesystem(Kind::Ext4)], || {
            make(cases, 1)
        });
    }
    for cases in DIFFERENT {
        let name = format!(
            "{} makes other calls than {}",
            cases[0],
            cases[1..].join(" and ")
        );
        trials.add(name, &[Need::Strace, Need::Filesystem(Kind::Ext4)], || {
            make(cases, cases.len())
        });
    }
    trials.add(
        "a case with the calls of another is said to have them",
        &[],
        says_the_same,
    );
    trials.add(
        "a search without another candidate than plain write says so",
        &[],
        says_only_plain,
    );
}

const SAME: &[&[&str]] = &[
    &[
        "write,size=64KiB",
        "write,size=64KiB,chunk=64KiB",
        "write,size=64KiB,chunk=16MiB",
        "write,size=64KiB,chunk=whole",
    ],
    &[
        "pwrite,size=64KiB,threads=2,chunk=32KiB",
        "pwrite,size=64KiB,threads=2",
        "pwrite,size=64KiB,threads=2,chunk=whole",
    ],
    &[
        "pwrite,size=64KiB,chunk=16KiB,layout=strided,block=32KiB",
        "pwrite,size=64KiB,chunk=16KiB,descriptor=per-thread",
    ],
    &[
        "writev,size=64KiB,chunk=16KiB",
        "writev,size=64KiB,chunk=16KiB,vector=4",
        "writev,size=64KiB,chunk=16KiB,vector=1000",
    ],
    &[
        "write,size=64KiB,chunk=16KiB,sync=fsync",
        "write,size=64KiB,chunk=16KiB,sync=fsync/4",
        "write,size=64KiB,chunk=16KiB,sync=fsync/9",
    ],
    &[
        "mmap,size=64KiB,chunk=16KiB,sync=msync",
        "mmap,size=64KiB,chunk=16KiB,sync=msync/4",
        "mmap,size=64KiB,chunk=16KiB,map=per-thread,sync=msync/4",
    ],
    &[
        "mmap,size=64KiB,populate=all",
        "mmap,size=64KiB,populate=window",
        "mmap,size=64KiB,populate=window,window=4MiB",
    ],
    &[
        "io_uring,size=64KiB,chunk=16KiB",
        "io_uring,size=64KiB,chunk=16KiB,depth=4",
        "io_uring,size=64KiB,chunk=16KiB,depth=64",
    ],
    &[
        "write,size=64KiB,chunk=16KiB",
        "write,size=64KiB,chunk=16KiB,writeback=1MiB",
        "write,size=64KiB,chunk=16KiB,writeback=68KiB,drop=yes",
    ],
    &[
        "write,size=64KiB,chunk=16KiB,writeback=20KiB",
        "write,size=64KiB,chunk=16KiB,writeback=32KiB",
    ],
    &[
        "write,size=64KiB,chunk=16KiB,writeback=64KiB",
        "write,size=64KiB,chunk=16KiB,writeback=64KiB,drop=yes",
    ],
    &[
        "sendfile,size=64KiB",
        "sendfile,size=64KiB,chunk=whole",
        "sendfile,size=64KiB,chunk=64KiB,descriptor=per-thread",
    ],
    &[
        "pipeline,size=64KiB,chunk=16KiB,depth=4",
        "pipeline,size=64KiB,chunk=16KiB,depth=9",
    ],
    &[
        "write-files,size=64KiB,file-size=16KiB",
        "write-files,size=64KiB,file-size=16KiB,chunk=16KiB",
    ],
];

const DIFFERENT: &[&[&str]] = &[
    &[
        "write,size=64KiB",
        "write,size=64KiB,chunk=32KiB",
        "pwrite,size=64KiB",
    ],
    &[
        "writev,size=64KiB,chunk=16KiB",
        "writev,size=64KiB,chunk=16KiB,vector=3",
    ],
    &[
        "write,size=64KiB,chunk=16KiB,sync=fsync",
        "write,size=64KiB,chunk=16KiB,sync=fsync/3",
    ],
    &[
        "pwrite,size=64KiB,threads=2",
        "pwrite,size=64KiB,threads=2,descriptor=per-thread",
    ],
    &[
        "write,size=64KiB,chunk=16KiB,writeback=16KiB",
        "write,size=64KiB,chunk=16KiB,writeback=20KiB",
    ],
];

fn make(cases: &'static [&str], different: usize) -> Result<()> {
    let forms: Vec<Case> = cases
        .iter()
        .map(|name| Ok(Case::parse(name)?.canonical()))
        .collect::<Result<_>>()?;
    let is_new = |at: &usize| !forms[..*at].contains(&forms[*at]);
    let count = (0..forms.len()).filter(is_new).count();
    ensure!(count == different, "{count} canonical forms of {cases:?}");
    let program = program()?;
    let mut words = vec!["run", "--verify", "never", "--samples", "1", "--no-limits"];
    cases.iter().for_each(|case| words.extend(["--case", case]));
    let directory = directory_on(Kind::Ext4);
    words.push(directory.path().to_str().context("UTF-8")?);
    let mut found: Vec<Calls> = Vec::new();
    for mut calls in traced(&program, strace(), &words)? {
        // The sizes of the ring and its registrations are not work on the file.
        calls.retain(|call, _| !call.starts_with("io_uring_"));
        // A repeated sample makes the calls of the first one.
        if !calls.contains_key(KEPT_FILE) && !found.contains(&calls) {
            found.push(calls);
        }
    }
    ensure!(found.len() == different, "{found:#?}");
    Ok(())
}

fn says_the_same() -> Result<()> {
    let words = [
        "run",
        "--dry-run",
        "--case",
        "write,size=64KiB",
        "--case",
        "write,size=64KiB,chunk=1GiB",
    ];
    let output = program()?.call(&words)?;
    let said = "write,size=64KiB,chunk=1GiB makes the same calls as write,size=64KiB";
    ensure!(output.stderr.contains(said), "{}", output.stderr);
    let directory = directory_on(Kind::Ext4);
    let words = [
        "--suite",
        "write",
        "--size",
        "64KiB",
        "--samples",
        "1",
        "--no-limits",
        "--verify",
        "never",
    ];
    let document = program()?.run(directory.path(), &words, 0)?;
    let names: Vec<&str> = document["cases"]
        .as_array()
        .context("cases")?
        .iter()
        .filter_map(|case| case["name"].as_str())
        .collect();
    ensure!(names.len() == 2 * 3 * 5, "{names:#?}");
    Ok(())
}

fn says_only_plain() -> Result<()> {
    let words = [
        "advise",
        "--for",
        "save",
        "--size",
        "100KiB",
        "--lang",
        "node",
        "--without",
        "naming",
        "--without",
        "chunk",
        "--without",
        "sync-files",
        "--without",
        "directory",
    ];
    let directory = directory_on(Kind::Ext4);
    let target = directory.path().to_str().context("UTF-8")?;
    let output = program()?.call(&[&words[..], &[target]].concat())?;
    let said = "only plain write, write-files,size=100KiB,file-size=whole,naming=rename";
    ensure!(
        output.stdout.contains(said),
        "{}{}",
        output.stdout,
        output.stderr
    );
    Ok(())
}
