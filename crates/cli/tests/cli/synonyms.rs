//! Words of fio, IOR, dd and the kernel are accepted, printed back in ours, and never recorded.

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, Need, Trials, directory_on};

use crate::program;

/// Cases in the words of other programs, and in ours.
const CASES: &[(&str, &str)] = &[
    ("write,fsync=1", "write,sync=fsync/1"),
    ("write,fsync=32", "write,sync=fsync/32"),
    ("write,fdatasync=1", "write,sync=fdatasync/1"),
    ("write,direct=0", "write"),
    ("write,fallocate=none", "write"),
    ("write,fallocate=posix", "write,prepare=posix-fallocate"),
    ("write,fallocate=keep", "write,prepare=fallocate-keep-size"),
    ("write,fallocate=truncate", "write,prepare=set-len"),
    ("write,prepare=ftruncate", "write,prepare=set-len"),
    ("write,numjobs=4", "write,threads=4,files=per-thread"),
    ("io_uring,iodepth=8", "io_uring,depth=8"),
    ("write,transferSize=4k", "write,chunk=4KiB"),
    ("write,cache=O_DIRECT", "write,cache=direct"),
    ("write,sync=O_DSYNC", "write,sync=o-dsync"),
    ("mmap,huge=MADV_HUGEPAGE", "mmap,huge=advise"),
    ("mmap,populate=MAP_POPULATE", "mmap,populate=all"),
    ("libaio", "io_uring"),
    ("uring,depth=4", "io_uring,depth=4"),
];

pub(crate) fn add(trials: &mut Trials) {
    for (theirs, ours) in CASES {
        trials.add(format!("{theirs} is {ours}"), &[], move || {
            prints_the_same_code(theirs, ours)
        });
    }
    trials.add(
        "a run in other words is recorded in ours",
        &[Need::Filesystem(Kind::Tmpfs)],
        recorded_in_ours,
    );
}

fn prints_the_same_code(theirs: &str, ours: &str) -> Result<()> {
    let program = program()?;
    let code = |case: &str| program.call(&["code", case, "--lang", "c"]);
    let (theirs, ours) = (code(theirs)?, code(ours)?);
    // A case that C does not have is named in the refusal.
    ensure!(theirs.stdout == ours.stdout && theirs.code == ours.code);
    ensure!(theirs.stderr.ends_with(&ours.stderr), "{theirs:?}");
    Ok(())
}

fn recorded_in_ours() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[
        "run",
        path,
        "--case",
        "psync,bs=4k,fsync=4",
        "--case",
        "uring,iodepth=4",
        "--set",
        "overwrite=1",
        "--size",
        "64KiB",
        "--samples",
        "1",
        "--export",
        "json=-",
    ])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    for note in [
        "psync is pwrite, bs=4k is chunk=4KiB and fsync=4 is sync=fsync/4 here.\n",
        "iodepth=4 is depth=4 here.\n",
        "overwrite=1 is prepare=overwrite here.\n",
    ] {
        ensure!(ended.stderr.matches(note).count() == 1, "{note} {ended:?}");
    }
    let document: serde_json::Value = serde_json::from_str(&ended.stdout)?;
    let names = document["cases"].as_array().context("cases")?;
    let names: Vec<&str> = names
        .iter()
        .filter_map(|case| case["name"].as_str())
        .collect();
    let expected = [
        "pwrite,size=64KiB,chunk=4KiB,prepare=overwrite,sync=fsync/4",
        "io_uring,size=64KiB,depth=4,prepare=overwrite",
    ];
    ensure!(names == expected, "{names:?}");
    Ok(())
}
