//! Delays, hangs, threads, and leftover files and data.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{Caching, Call, Errno, Need, Trials, What, When, entries, send, wait_for};

use crate::faults::{AFTER, FaultyTarget, WRITE};
use crate::outcomes::case;

pub(crate) fn add(trials: &mut Trials) {
    let fuse = [Need::Fuse];
    trials.add("faults: a delay is measured without a fault", &fuse, delay);
    trials.add(
        "faults: a hang in the kernel costs one case and blocks nothing",
        &fuse,
        hang,
    );
    trials.add(
        "faults: the file of a hung sample is removed after its call",
        &fuse,
        hung_file,
    );
    trials.add(
        "faults: a file that cannot be removed is reported, and removed by the next run",
        &fuse,
        stays,
    );
    trials.add(
        "faults: no thread writes after its sample",
        &fuse,
        threads_end,
    );
    trials.add(
        "faults: data lost at write-back is reported with the error",
        &fuse,
        lost_at_write_back,
    );
}

fn delay() -> Result<()> {
    let name = "write,size=12KiB,chunk=4KiB,sync=fsync";
    let time = Duration::from_millis(300);
    let target = FaultyTarget::new(
        Caching::None,
        &[(When::Call(Call::Fsync), What::Delay(time))],
    )?;
    let document = target.run(&[name], &["--samples", "1"], 0)?;
    let sample = &case(&document, name)?["samples"][0];
    let sync_ns = sample["phases_ns"]["sync"].as_u64().context("a number")?;
    ensure!(
        sample["outcome"] == "ok" && u128::from(sync_ns) >= time.as_nanos(),
        "{sample}"
    );
    Ok(())
}

/// A request without an answer, which blocks even SIGKILL.
fn hang() -> Result<()> {
    // Two threads, of which one is left after the kill.
    let name = "pwrite,size=32KiB,chunk=4KiB,threads=2";
    let target = FaultyTarget::new(Caching::None, &[(When::At(Call::Write, 4096), What::Hang)])?;
    let document = target.run(&[name], &["--samples", "2", "--timeout", "2s"], 4)?;
    let found = case(&document, name)?;
    let reason = found["reason"].as_str().context("a reason")?;
    ensure!(
        found["outcome"] == "timed-out" && reason.contains("in phase write"),
        "{found}"
    );
    ensure!(found["estimate"].is_null(), "{found}");
    let after = case(&document, AFTER)?["samples"]
        .as_array()
        .context("samples")?
        .len();
    ensure!(after >= 2, "one of them after the hang");
    ensure!(
        entries(target.faulty.path()).len() == 1,
        "no process touches the directory of a waiting worker"
    );
    target.faulty.follow(&[]);
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let mut next = target.program.start(&[
        "run",
        path,
        "--case",
        AFTER,
        "--samples",
        "1",
        "--no-limits",
    ])?;
    let ended = wait_for("the end of the next run", || next.try_wait().ok().flatten());
    ensure!(
        entries(target.faulty.path()).len() == 1,
        "nor does the next run"
    );
    target.faulty.abort();
    ensure!(ended?.code() == Some(0), "{next:?}");
    let said = String::from_utf8(next.wait_with_output()?.stderr)?;
    let process = said
        .split_once("is not removed: process ")
        .and_then(|(_, rest)| rest.split_once(" has it open"));
    let process = format!(
        "/proc/{}",
        process
            .with_context(|| format!("it waits in the kernel: {said}"))?
            .0
    );
    wait_for("its end", || (!Path::new(&process).exists()).then_some(()))
}

/// While the call hangs, its file must not be touched. The next sample removes it.
fn hung_file() -> Result<()> {
    let target = FaultyTarget::new(
        Caching::None,
        &[(When::InFile(0, Call::Write, 2), What::Hang)],
    )?;
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let lines = target.program.home().join("lines");
    let export = format!("--export=jsonl={}", lines.display());
    let more = [
        "--samples",
        "1000000",
        "--timeout",
        "2s",
        "--no-limits",
        "--yes",
        &export,
    ];
    let words = [&["run", path, "--case", WRITE, "--case", AFTER][..], &more].concat();
    let mut child = target.program.start(&words)?;
    let is_given_up =
        || std::fs::read_to_string(&lines).is_ok_and(|lines| lines.contains("timed-out"));
    wait_for("the end of the supervisor's deadline", || {
        is_given_up().then_some(())
    })?;
    let is_removed = || {
        target
            .faulty
            .operations()
            .iter()
            .any(|operation| operation.file == 0 && operation.call == Call::Unlink)
    };
    ensure!(!is_removed(), "its file is still in use");
    target.faulty.release();
    wait_for("the removal of its file", || is_removed().then_some(()))?;
    ensure!(child.try_wait()?.is_none(), "the run goes on");
    send(child.id(), Signal::INT)?;
    ensure!(child.wait()?.code() == Some(130), "{child:?}");
    ensure!(
        entries(target.faulty.path()).is_empty(),
        "{:?}",
        entries(target.faulty.path())
    );
    Ok(())
}

fn stays() -> Result<()> {
    let target = FaultyTarget::new(
        Caching::None,
        &[(When::Each(Call::Unlink), What::Fail(Errno::IO))],
    )?;
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let run = [
        "run",
        path,
        "--case",
        WRITE,
        "--samples",
        "2",
        "--no-limits",
    ];
    let ended = target.program.call(&[&["--quiet"], &run[..]].concat())?;
    ensure!(
        ended.code == Some(1) && ended.stderr.lines().count() == 1,
        "{ended:?}"
    );
    ensure!(
        ended.stderr.contains("unlink") && ended.stderr.contains("Input/output error (5)"),
        "{ended:?}"
    );
    let shown: Value =
        serde_json::from_str(&target.program.call(&["show", "--export", "json=-"])?.stdout)?;
    let found = case(&shown, WRITE)?;
    let cause = &found["samples"][0]["cause"];
    ensure!(
        cause["phase"] == "clean" && cause["call"] == "unlink" && cause["path"] == "sample",
        "{found}"
    );
    ensure!(
        entries(target.faulty.path()).len() == 1,
        "or this test shows nothing"
    );
    target.faulty.follow(&[]);
    let next = target.program.call(&run)?;
    ensure!(
        next.code == Some(0) && next.stderr.contains("left by a killed run"),
        "{next:?}"
    );
    ensure!(
        entries(target.faulty.path()).is_empty(),
        "{:?}",
        entries(target.faulty.path())
    );
    Ok(())
}

fn threads_end() -> Result<()> {
    let late = (
        When::At(Call::Write, 61440),
        What::Delay(Duration::from_millis(300)),
    );
    let target = FaultyTarget::new(
        Caching::None,
        &[(When::At(Call::Write, 0), What::Fail(Errno::IO)), late],
    )?;
    let name = "pwrite,size=64KiB,chunk=4KiB,threads=4";
    let document = target.run(&[name], &["--samples", "1"], 4)?;
    let cause = &case(&document, name)?["samples"][0]["cause"];
    ensure!(
        cause["phase"] == "write" && cause["call"] == "pwrite" && cause["offset"] == 0,
        "{document:#}"
    );
    let operations = target.faulty.operations();
    let last_write = operations
        .iter()
        .rposition(|operation| operation.file == 0 && operation.call == Call::Write);
    let close = operations
        .iter()
        .position(|operation| operation.file == 0 && operation.call == Call::Flush);
    ensure!(last_write < close && close.is_some(), "{operations:?}");
    ensure!(case(&document, name)?["estimate"].is_null(), "{document:#}");
    ensure!(
        entries(target.faulty.path()).is_empty(),
        "{:?}",
        entries(target.faulty.path())
    );
    Ok(())
}

/// A program that ignores errors of close(2) reports none.
fn lost_at_write_back() -> Result<()> {
    let fault = (When::Each(Call::Write), What::Fail(Errno::IO));
    let FaultyTarget { program, faulty } = FaultyTarget::new(Caching::WriteBack, &[fault])?;
    let careless = "sh -c 'exec 3>\"$2\"; cat \"$1\" >&3 2>/dev/null; exit 0' - {source} {file}";
    let few = [
        "--no-limits",
        "--samples",
        "1",
        "--verify",
        "never",
        "--bytes",
        "64KiB",
    ];
    let document = program.run(
        faulty.path(),
        &[&few[..], &["--command", careless]].concat(),
        0,
    )?;
    for sample in document["cases"][0]["samples"]
        .as_array()
        .context("samples")?
    {
        let found = &sample["write_back_failure"];
        ensure!(
            (&found["errno"], &found["phase"]) == (&5.into(), &"clean".into()),
            "{sample:#}"
        );
        ensure!(sample["outcome"] == "ok", "{sample:#}");
        ensure!(
            sample["disturbed_by"]
                .as_str()
                .is_some_and(|why| why.contains("(5)")),
            "{sample:#}"
        );
    }
    let shown = program.call(&["show"])?.stdout;
    ensure!(
        shown.contains("lost at write-back") && shown.contains("Input/output error (5)"),
        "{shown}"
    );
    Ok(())
}
