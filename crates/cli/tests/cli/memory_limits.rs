//! In a control group with little memory, like a container.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    ControlGroup, Kind, Mounted, Need, Trials, call, directory_on, entries, send, wait_for,
};

use crate::outcomes::case;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [
        Need::MemoryGroup,
        Need::Root,
        Need::Filesystem(Kind::Ext4),
        Need::Program("fallocate"),
    ];
    trials.add(
        "a source larger than the control group's memory is refused",
        &needs,
        planned,
    );
    let memory = [
        Need::MemoryGroup,
        Need::Root,
        Need::Filesystem(Kind::Ext4),
        Need::Filesystem(Kind::Tmpfs),
    ];
    for kind in [Kind::Ext4, Kind::Tmpfs] {
        trials.add(
            format!(
                "accepted sizes fit into a control group's memory, on {}",
                kind.name()
            ),
            &memory,
            move || fits(kind),
        );
    }
    trials.add(
        "a control group too small for a worker is refused",
        &memory,
        no_room_for_a_worker,
    );
    trials.add(
        "a worker killed for lack of memory costs at most its case",
        &needs,
        killed,
    );
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn planned() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let group = ControlGroup::with_memory(64 << 20)?;
    let run = |case: &str| {
        let arguments = [
            "--quiet",
            "run",
            text(target.path())?,
            "--case",
            case,
            "--samples",
            "1",
            "--no-limits",
        ];
        group
            .with(&program.command(&arguments))
            .output()
            .context("run")
    };
    let refused = run("write,size=256MiB")?;
    let stderr = String::from_utf8_lossy(&refused.stderr);
    ensure!(
        refused.status.code() == Some(3) && stderr.lines().count() == 1,
        "{refused:?}"
    );
    ensure!(
        stderr.contains("not enough memory") && stderr.contains("needs 282 MiB"),
        "{stderr}"
    );
    ensure!(
        stderr.contains("source=chunk"),
        "what needs less is named: {stderr}"
    );
    ensure!(entries(target.path()).is_empty(), "nothing was made");
    let fits = run("write,size=256MiB,source=chunk")?;
    ensure!(fits.status.code() == Some(0), "{fits:?}");
    Ok(())
}

/// The largest accepted size must run: warming takes memory in addition to the source.
fn fits(kind: Kind) -> Result<()> {
    let target = directory_on(kind);
    for (limit_mib, size_mib) in [(512, 256), (512, 420), (128, 80), (48, 10)] {
        let program = program()?;
        // A file in memory counts also.
        let size_mib = if kind == Kind::Tmpfs {
            size_mib / 2
        } else {
            size_mib
        };
        let group = ControlGroup::with_memory(limit_mib << 20)?;
        for (case, threads) in [("write", 1), ("pwrite", 4), ("read-write", 1)] {
            let case =
                format!("{case},size={size_mib}MiB,threads={threads}").replace(",threads=1", "");
            let target = text(target.path())?;
            let arguments = [
                "--quiet",
                "run",
                target,
                "--case",
                &case,
                "--samples",
                "2",
                "--no-limits",
            ];
            let output = group
                .with(&program.command(&arguments))
                .output()
                .context("run")?;
            ensure!(
                output.status.code() == Some(0),
                "{case} in {limit_mib} MiB: {output:?}"
            );
        }
    }
    Ok(())
}

fn no_room_for_a_worker() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let group = ControlGroup::with_memory(16 << 20)?;
    let target_text = text(target.path())?;
    for arguments in [
        &["advise", target_text, "--for", "stream", "--size", "1MiB"][..],
        &["run", target_text, "--case", "write,size=1MiB"],
    ] {
        let refused = group
            .with(&program.command(arguments))
            .output()
            .context("run")?;
        let stderr = String::from_utf8_lossy(&refused.stderr);
        ensure!(
            refused.status.code() == Some(3) && stderr.lines().count() == 1,
            "{arguments:?}: {refused:?}"
        );
        ensure!(
            stderr.contains("not enough memory") && stderr.contains("with more memory"),
            "{stderr}"
        );
    }
    ensure!(entries(target.path()).is_empty(), "nothing was made");
    Ok(())
}

/// Another process takes the memory that the plan had counted.
fn killed() -> Result<()> {
    const LARGE: &str = "write,size=64MiB";
    // The worker keeps its large source, so these cases may be killed also.
    const SMALL: [&str; 4] = [
        "write,size=4KiB",
        "pwrite,size=4KiB",
        "writev,size=4KiB",
        "pwritev,size=4KiB",
    ];
    let all = [&[LARGE][..], &SMALL].concat();
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let (group, other) = (
        ControlGroup::with_memory(160 << 20)?,
        Mounted::tmpfs(128 << 20)?,
    );
    let mut arguments = vec![
        "--quiet",
        "run",
        text(target.path())?,
        "--yes",
        "--samples",
        "1000",
        "--no-limits",
    ];
    arguments.extend(all.iter().flat_map(|case| ["--case", case]));
    let mut run = group.with(&program.command(&arguments));
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let shown = || -> Result<Value> {
        Ok(serde_json::from_str(
            &program.call(&["show", "--export", "json=-"])?.stdout,
        )?)
    };
    let samples = |id: &str| -> Option<Vec<Value>> {
        Some(
            case(&shown().ok()?, id).ok()?["samples"]
                .as_array()?
                .clone(),
        )
    };
    wait_for("samples", || {
        all.iter()
            .all(|id| samples(id).is_some_and(|samples| samples.len() > 1))
            .then_some(())
    })?;
    // At once, so no sample with a large source begins after the first kill.
    let mut takes = Command::new("fallocate");
    takes
        .args(["--length", "108MiB"])
        .arg(other.path().join("taken"));
    call(&mut group.with(&takes))?;
    let failed = || {
        samples(LARGE)?
            .last()
            .filter(|last| last["outcome"] != "ok")
            .cloned()
    };
    let last = wait_for("the worker's end", failed)?;
    let of_small = || {
        SMALL
            .iter()
            .map(|id| Some(samples(id)?.len()))
            .sum::<Option<usize>>()
    };
    let before = of_small().context("samples")?;
    wait_for("the other cases to go on", || {
        (of_small()? > before + 1).then_some(())
    })?;
    send(run.id(), Signal::INT)?;
    let output = run.wait_with_output()?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    ensure!(last["outcome"] == "worker-died", "{last}");
    ensure!(
        last["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("SIGKILL (9)")),
        "{last}"
    );
    let document = shown()?;
    ensure!(
        SMALL
            .iter()
            .any(|id| case(&document, id).is_ok_and(|case| case["outcome"] == "ok")),
        "{document}"
    );
    for id in all {
        let of_case = samples(id).context("samples")?;
        ensure!(
            of_case
                .iter()
                .filter(|sample| sample["outcome"] != "ok")
                .count()
                <= 2,
            "{id}: {of_case:?}"
        );
    }
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}
