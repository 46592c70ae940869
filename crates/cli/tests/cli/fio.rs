//! fio runs the jobs of `--export fio=DIR`, makes the same calls, and writes the same bytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Kind, Need, Program, Trials, directory_on, entries, strace};

use crate::program;
use crate::syscalls::{Calls, traced, traced_other};

pub(crate) fn add(trials: &mut Trials) {
    for kind in Kind::ALL {
        let needs = [Need::Program("fio"), Need::Filesystem(kind)];
        let name = format!(
            "fio: every job is accepted and writes the bytes of its case, on {}",
            kind.name()
        );
        trials.add(name, &needs, move || write_the_same(kind));
    }
    let needs = [
        Need::Program("fio"),
        Need::Strace,
        Need::Filesystem(Kind::Ext4),
    ];
    for &case in CASES.iter().chain(PAST_THE_CACHE) {
        trials.add(
            format!("fio: the job of {case} makes the same calls"),
            &needs,
            move || makes_the_same_calls(case),
        );
    }
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "fio: cases without a job are counted and listed",
        &tmpfs,
        left_out,
    );
    let needs = [Need::Program("fio"), Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "fio: writebench writes about as fast",
        &needs,
        about_as_fast,
    );
}

const CASES: &[&str] = &[
    "write,size=1MiB,chunk=64KiB",
    "write,size=1000,chunk=250,data=zero",
    "write,size=64KiB,chunk=16KiB,data=compressible:50",
    "write,size=1MiB,chunk=256KiB,threads=2,descriptor=per-thread",
    "write,size=1MiB,chunk=64KiB,threads=2,files=per-thread",
    "pwrite,size=1MiB,chunk=64KiB,source=chunk",
    "pwrite,size=1MiB,chunk=256KiB,threads=3",
    "pwrite,size=1MiB,chunk=256KiB,threads=2,prepare=overwrite",
    "writev,size=1MiB,chunk=4KiB,vector=48",
    "pwritev,size=1MiB,chunk=64KiB,vector=1",
    "mmap,size=1MiB,sync=msync",
    "mmap,size=1MiB,chunk=4KiB,threads=2,files=per-thread",
    "mmap,size=1MiB,prepare=fallocate",
    "io_uring,size=1MiB,chunk=64KiB,depth=4",
    "io_uring,size=1MiB,chunk=64KiB,depth=4,registered=both,prepare=overwrite",
    "write,size=1MiB,chunk=256KiB,prepare=set-len",
    "write,size=1MiB,chunk=256KiB,prepare=fallocate",
    "write,size=1MiB,chunk=256KiB,prepare=posix-fallocate",
    "write,size=1MiB,chunk=256KiB,prepare=fallocate-keep-size",
    "write,size=1MiB,chunk=256KiB,prepare=overwrite",
    "write,size=64KiB,chunk=16KiB,sync=fsync",
    "write,size=64KiB,chunk=8KiB,sync=fsync/3",
    "write,size=64KiB,chunk=16KiB,sync=fsync/1",
    "pwrite,size=64KiB,chunk=16KiB,sync=o-dsync",
    "pwrite,size=64KiB,chunk=16KiB,sync=o-sync",
];

const PAST_THE_CACHE: &[&str] = &[
    "pwrite,size=1MiB,chunk=256KiB,prepare=overwrite,cache=direct,memory=page-aligned",
    "io_uring,size=1MiB,chunk=64KiB,depth=4,registered=buffers,cache=direct,memory=page-aligned",
];

/// Returns the exported jobs of one round.
fn exported(program: &Program, cases: &[&str], target: &Path) -> Result<Vec<PathBuf>> {
    let jobs = program.home().join("jobs");
    let export = format!("fio={}", jobs.display());
    let cases_given = cases.iter().flat_map(|case| ["--case", case]);
    let words = ["--samples", "1", "--no-limits", "--export", &export]
        .into_iter()
        .chain(cases_given);
    program.run(target, &words.collect::<Vec<_>>(), 0)?;
    let readme = std::fs::read_to_string(jobs.join("README"))?;
    let job = |case: &&str| {
        let name = readme
            .lines()
            .find_map(|line| line.strip_suffix(&format!(": {case}")));
        Ok(jobs.join(name.with_context(|| format!("no job for {case}: {readme}"))?))
    };
    cases.iter().map(job).collect()
}

fn fio(job: &Path, target: &Path) -> Command {
    let mut command = Command::new("fio");
    command
        .arg("--output-format=json")
        .arg(job)
        .current_dir(target);
    command
}

fn writes(mut fio: Command) -> Result<Vec<Value>> {
    let output = fio.output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Skips notes.
    let document: Value = serde_json::from_str(&said[said.find('{').context("no JSON")?..])?;
    let jobs = document["jobs"].as_array().context("jobs")?;
    ensure!(jobs.iter().all(|job| job["error"] == 0), "{said}");
    let is_write = |job: &&Value| {
        job["jobname"]
            .as_str()
            .is_some_and(|name| name.starts_with("writes-"))
    };
    Ok(jobs.iter().filter(is_write).cloned().collect())
}

fn write_the_same(kind: Kind) -> Result<()> {
    let (program, target) = (program()?, directory_on(kind));
    let past_the_cache = if kind == Kind::Tmpfs {
        &[][..]
    } else {
        PAST_THE_CACHE
    };
    let cases = [CASES, past_the_cache].concat();
    for (case, job) in cases.iter().zip(exported(&program, &cases, target.path())?) {
        writes_the_same(case, &job, target.path())
            .with_context(|| format!("{case}: {}", job.display()))?;
    }
    Ok(())
}

fn writes_the_same(case: &str, job: &Path, target: &Path) -> Result<()> {
    let text = std::fs::read_to_string(job)?;
    ensure!(text.contains("unlink=1"), "{text}");
    let keeping = job.with_extension("keeping");
    std::fs::write(&keeping, text.replace("unlink=1", "unlink=0"))?;
    let (size_bytes, writes) = (size_bytes(case)?, writes(fio(&keeping, target))?);
    let written: u64 = writes
        .iter()
        .filter_map(|job| job["write"]["io_bytes"].as_u64())
        .sum();
    ensure!(written == size_bytes, "{written} bytes of {size_bytes}");
    let files = entries(target);
    let count = if case.contains("files=per-thread") {
        2
    } else {
        1
    };
    ensure!(files.len() == count, "{files:?}");
    let contents = files
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    ensure!(
        contents.len() as u64 == size_bytes,
        "{} bytes in {files:?}",
        contents.len()
    );
    // Random data has no run of 512 zeros.
    let empty = contents
        .chunks(512)
        .filter(|chunk| chunk.iter().all(|byte| *byte == 0))
        .count();
    let expected = match case {
        case if case.contains("data=zero") => contents.len().div_ceil(512),
        case if case.contains("data=compressible:50") => contents.len() / 512 / 2,
        _ => 0,
    };
    ensure!(empty == expected, "{empty} stretches of zeros");
    Ok(files.iter().try_for_each(std::fs::remove_file)?)
}

fn size_bytes(case: &str) -> Result<u64> {
    let (_, size) = case.split_once("size=").context("a size")?;
    let size = size.split(',').next().context("a size")?;
    Ok(size
        .parse::<writebench_model::Bytes>()
        .map_err(anyhow::Error::msg)?
        .0)
}

fn makes_the_same_calls(case: &str) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let job = exported(&program, &[case], target.path())?.swap_remove(0);
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
    let target_name = target.path().to_str().context("UTF-8")?;
    let samples = traced(&program, strace(), &[&words[..], &[target_name]].concat())?;
    let mut ours = that_write(samples.into_iter().next().context("no sample")?);
    // The engine checks afterwards whether the page cache was bypassed.
    ours.retain(|call, _| !(case.contains("cache=direct") && call.starts_with("mmap ")));
    // The engine also flushes zeros, to detect holes.
    ours.retain(|call, _| !(case.contains("data=zero") && call == "fdatasync"));
    let log = program.home().join("strace-of-fio");
    let mut theirs = that_write(traced_other(
        &fio(&job, target.path()),
        &log,
        "/writebench-sample",
    )?);
    if case.contains("threads=") && !case.contains("files=") {
        // Section `remove` must write something.
        ensure!(theirs.remove("write 1") == Some(1), "{theirs:?}");
    }
    let opened = std::fs::read_to_string(&log)?;
    for (axis, flag) in [
        ("sync=o-dsync", "|O_DSYNC"),
        ("sync=o-sync", "|O_SYNC"),
        ("cache=direct", "|O_DIRECT"),
    ] {
        let has_flag = opened
            .lines()
            .any(|line| line.contains("writebench-sample\", ") && line.contains(flag));
        ensure!(has_flag == case.contains(axis), "{flag} in {opened}");
    }
    ensure!(
        ours == theirs,
        "writebench {ours:#?}\nfio {theirs:#?}\n{}",
        std::fs::read_to_string(&job)?
    );
    ensure!(
        entries(target.path()).is_empty(),
        "left behind: {:?}",
        entries(target.path())
    );
    Ok(())
}

/// Without calls for opening, closing and seeking, and without the sync of the directory, which fio lacks.
fn that_write(mut calls: Calls) -> Calls {
    let is_about_the_file = |call: &str| {
        [
            "open ",
            "close",
            "lseek ",
            "munmap ",
            "fadvise64 ",
            "io_uring_",
            "fsync directory",
        ]
        .iter()
        .any(|name| call.starts_with(name))
    };
    calls.retain(|call, _| !is_about_the_file(call));
    calls
}

fn left_out() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let jobs = program.home().join("jobs");
    let (path, export) = (
        target.path().to_str().context("UTF-8")?,
        format!("fio={}", jobs.display()),
    );
    let cases = [
        "--case",
        "write,size=1MiB",
        "--case",
        "fwrite,size=1MiB",
        "--case",
        "write,size=1MiB,prepare=truncate",
    ];
    let words = [
        &[
            "run",
            path,
            "--samples",
            "1",
            "--no-limits",
            "--export",
            &export,
        ],
        &cases[..],
    ]
    .concat();
    let ended = program.call(&words)?;
    ensure!(
        ended.code == Some(0) && ended.stderr.contains("No fio job for 2 of 3 cases: "),
        "{ended:?}"
    );
    let readme = std::fs::read_to_string(jobs.join("README"))?;
    for line in [
        "write,size=1MiB.fio: write,size=1MiB",
        "fwrite,size=1MiB: fio has no engine",
        "prepare=truncate: fio makes a new",
    ] {
        ensure!(readme.contains(line), "{line} in {readme}");
    }
    ensure!(entries(&jobs).len() == 2, "{:?}", entries(&jobs));
    std::fs::remove_dir_all(&jobs)?;
    let shown = program.call(&["show", "--export", &export])?;
    ensure!(
        shown.code == Some(0) && std::fs::read_to_string(jobs.join("README"))? == readme,
        "{shown:?}"
    );
    Ok(())
}

/// Finds gross differences only, because other tests run at the same time. `cargo studies parity --fio` measures exactly.
#[expect(
    clippy::print_stdout,
    reason = "the ratio is what a reader of the test's output wants"
)]
fn about_as_fast() -> Result<()> {
    const CASE: &str = "pwrite,size=64MiB,chunk=64KiB,source=chunk";
    const TURNS: usize = 7;
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let job = exported(&program, &[CASE], target.path())?.swap_remove(0);
    let mut ratio = 0.0;
    // Retries after a disturbance.
    for _ in 0..2 {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let words = [
                "--case",
                CASE,
                "--samples",
                "1",
                "--no-limits",
                "--verify",
                "never",
            ];
            let document = program.run(target.path(), &words, 0)?;
            let samples = document["cases"][0]["samples"]
                .as_array()
                .context("samples")?;
            ours.push(
                samples
                    .last()
                    .and_then(|sample| sample["phases_ns"]["write"].as_f64())
                    .context("a time")?,
            );
            let latencies =
                writes(fio(&job, target.path()))?.swap_remove(0)["write"]["lat_ns"].clone();
            let inside = |name: &str| latencies[name].as_f64().context("no latencies");
            theirs.push(inside("mean")? * inside("N")?);
        }
        ratio = median(theirs) / median(ours);
        println!("{CASE}: writebench / fio {ratio:.3}");
        if ratio > 0.7 {
            return Ok(());
        }
    }
    anyhow::bail!("writebench has {ratio:.3} of fio's throughput")
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
