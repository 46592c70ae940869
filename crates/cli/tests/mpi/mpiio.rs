//! MPI-IO under a real `mpirun`.

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, Need, Trials, directory_on, entries};

use crate::program;
use crate::ranks::{RankGroup, all, case, run, samples};

pub(crate) fn add(trials: &mut Trials) {
    let mpi = [
        Need::Program("mpirun"),
        Need::Filesystem(Kind::Tmpfs),
        Need::Filesystem(Kind::Ext4),
    ];
    trials.add(
        "MPI-IO writes every byte, each rank alone or all together",
        &mpi,
        every_byte,
    );
    let strace = [mpi[0], mpi[1], Need::Strace];
    trials.add("MPI-IO makes the calls of its case", &strace, calls);
    trials.add("MPI-IO does not wait for a failed rank", &strace, one_fails);
    trials.add("outside MPI, MPI-IO is not supported", &[mpi[1]], outside);
}

fn every_byte() -> Result<()> {
    // Ranks have different numbers of chunks.
    let cases = [
        "mpiio,size=1000003,chunk=4KiB,ranks=3",
        "mpiio,size=1000003,chunk=4KiB,ranks=3,collective=yes",
        "mpiio,size=1000003,ranks=3,collective=yes,prepare=overwrite",
        "mpiio,size=1000003,chunk=4KiB,ranks=3,files=per-rank,prepare=fallocate",
        "mpiio,size=1000003,chunk=4KiB,ranks=3,layout=strided,block=8KiB",
        "mpiio,size=1000003,chunk=4KiB,ranks=3,layout=strided,block=8KiB,collective=yes,sync=fsync",
        "mpiio,size=1000003,chunk=64KiB,ranks=2,collective=yes,source=chunk",
        "mpiio,size=1000003,ranks=1,collective=yes,sync=fsync",
    ];
    for kind in [Kind::Tmpfs, Kind::Ext4] {
        let (program, target) = (program()?, directory_on(kind));
        let mut words = vec!["--samples", "2", "--verify", "every"];
        words.extend(cases.iter().flat_map(|name| ["--case", name]));
        let groups = [
            all(2),
            RankGroup {
                ranks: 1,
                node: "n2",
                around: &[],
            },
        ];
        let (document, output) = run(&program, &groups, target.path(), &words)?;
        ensure!(output.status.success(), "{output:?}");
        for name in cases {
            // One rank is the default, and not in the name.
            for sample in samples(case(&document, &name.replace(",ranks=1", ""))?)? {
                ensure!(sample["bytes"] == 1_000_003, "{name}: {sample}");
                ensure!(
                    sample["read_back"]["bytes"] == 1_000_003,
                    "{name}: {sample}"
                );
            }
        }
        ensure!(
            entries(target.path()).is_empty(),
            "{:?}",
            entries(target.path())
        );
    }
    Ok(())
}

fn calls() -> Result<()> {
    const NAME: &str = "mpiio,size=1MiB,chunk=64KiB,ranks=2";
    const OF_THIS_RANK: usize = 8;
    for more in ["", ",files=per-rank", ",layout=strided,block=64KiB"] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let log = program.home().join("calls");
        let log_text = log.to_str().context("UTF-8")?;
        let traced = [
            "strace",
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-s",
            "0",
            "-o",
            log_text,
            "-e",
            "trace=pwrite64,fsync",
        ];
        let groups = [
            all(1),
            RankGroup {
                ranks: 1,
                node: "n1",
                around: &traced,
            },
        ];
        let name = format!("{NAME}{more},sync=fsync");
        let words = ["--samples", "1", "--no-limits", "--case", &name];
        let (document, output) = run(&program, &groups, target.path(), &words)?;
        ensure!(output.status.success(), "{output:?}");
        ensure!(document["cases"][0]["outcome"] == "ok", "{document}");
        let log = std::fs::read_to_string(&log)?;
        let count = |call: &str| log.lines().filter(|line| line.contains(call)).count();
        let taken = samples(&document["cases"][0])?.len();
        ensure!(count("65536, ") == OF_THIS_RANK * taken, "{name}: {log}");
        ensure!(count("pwrite64(") == OF_THIS_RANK * taken, "{name}: {log}");
        // The first rank syncs the directory of a shared file, and each rank that of its own file.
        let syncs = if more.contains("per-rank") { 2 } else { 1 };
        ensure!(count("fsync(") == syncs * taken, "{name}: {log}");
    }
    Ok(())
}

fn one_fails() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let failing = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=pwrite64",
        "-e",
    ];
    let failing = [&failing[..], &["inject=pwrite64:error=ENOSPC:when=3"]].concat();
    let groups = [
        all(2),
        RankGroup {
            ranks: 1,
            node: "n2",
            around: &failing,
        },
    ];
    let cases = [
        "mpiio,size=1MiB,chunk=64KiB,ranks=3,sync=fsync",
        "mpiio,size=1MiB,chunk=64KiB,ranks=3,collective=yes",
        "pwrite,size=1MiB,ranks=3",
    ];
    let mut words = vec!["--samples", "1", "--no-limits", "--seed", "1"];
    words.extend(cases.iter().flat_map(|name| ["--case", name]));
    let (document, output) = run(&program, &groups, target.path(), &words)?;
    ensure!(output.status.code() == Some(4), "{output:?}");
    let failed: Vec<&str> = cases[..2]
        .iter()
        .filter_map(|name| case(&document, name).ok()?["reason"].as_str())
        .collect();
    ensure!(
        failed.len() == 1 && failed[0].starts_with("rank 2 on n2: MPI_File_write_at"),
        "{document}"
    );
    ensure!(
        case(&document, cases[2])?["outcome"] == "ok",
        "the other cases go on"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

fn outside() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target = target.path().to_str().context("UTF-8")?;
    let called = program.call(&["run", target, "--no-limits", "--case", "mpiio,size=1MiB"])?;
    let why = "unsupported: MPI_File_open: MPI-IO works among ranks: start a writebench with the feature mpi";
    ensure!(called.stdout.contains(why), "{}", called.stdout);
    Ok(())
}
