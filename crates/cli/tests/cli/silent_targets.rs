//! Targets that stop answering, at any moment.

use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{
    Bindfs, Caching, Call, Need, Program, Trials, What, When, children, entries, kill_run, wait_for,
};

use crate::faults::FaultyTarget;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let bindfs = [Need::Bindfs];
    trials.add(
        "silent: a target without a first answer is reported in one line",
        &bindfs,
        from_the_start,
    );
    trials.add(
        "silent: SIGINT ends the wait for a first answer",
        &bindfs,
        first_answer,
    );
    trials.add(
        "silent: a target that stops during a run costs its samples, and is cleaned up later",
        &bindfs,
        || in_mid_run(None),
    );
    for signal in ["INT", "TERM"] {
        let name =
            format!("silent: SIG{signal} ends a run whose target has stopped, with its samples");
        trials.add(name, &bindfs, move || in_mid_run(Some(signal)));
    }
    trials.add(
        "silent: the supervisor makes no call on its target",
        &[Need::Strace],
        no_call,
    );
    trials.add(
        "silent: a target that stops during the removal costs the removal",
        &[Need::Fuse],
        removal,
    );
    trials.add(
        "silent: an error that a signal caused leaves an interrupted run",
        &[Need::Fuse],
        making,
    );
    trials.add(
        "silent: a signal while a slow target makes the run's directory leaves nothing",
        &[Need::Fuse],
        slow_making,
    );
    trials.add(
        "silent: leftovers on a silent target do not delay a run elsewhere",
        &bindfs,
        elsewhere,
    );
    trials.add(
        "a filesystem that keeps removed open files loses no result",
        &bindfs,
        kept_files,
    );
}

const CASE: [&str; 3] = ["--case", "write,size=64KiB", "--no-limits"];

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn from_the_start() -> Result<()> {
    let (program, target) = (program()?, Bindfs::mount()?);
    target.stop()?;
    let path = text(target.path())?;
    let ended = program.call(&[&["run", path, "--timeout", "1s"], &CASE[..]].concat())?;
    ensure!(
        ended.code == Some(1) && ended.stderr.lines().count() == 1,
        "{ended:?}"
    );
    let said = format!("{path} does not answer: inspection took more than 1s");
    ensure!(
        ended.stderr.contains(&said) && ended.stderr.contains("FUSE server"),
        "{ended:?}"
    );
    Ok(())
}

fn first_answer() -> Result<()> {
    let (program, target) = (program()?, Bindfs::mount()?);
    target.stop()?;
    let path = text(target.path())?;
    for arguments in [
        vec!["run", path],
        vec!["probe", path],
        vec!["advise", path, "--for", "stream"],
    ] {
        let mut child = program.start(&arguments)?;
        wait_for("its agent", || children(child.id()).first().copied())?;
        send(&child, "INT")?;
        wait_for("the end of the program", || child.try_wait().ok().flatten())?;
    }
    Ok(())
}

fn in_mid_run(signal: Option<&str>) -> Result<()> {
    let (program, target) = (program()?, Bindfs::mount()?);
    let path = text(target.path())?;
    let more = [
        "--yes",
        "--samples",
        "1000",
        "--timeout",
        if signal.is_some() { "600s" } else { "2s" },
    ];
    // Without a signal, the hardware's limits are measured again.
    let case = if signal.is_some() {
        &CASE[..]
    } else {
        &CASE[..2]
    };
    let child = program.start(&[&["run", path], case, &more].concat())?;
    wait_for("samples", || (samples(&program) > 3).then_some(()))?;
    target.stop()?;
    if let Some(signal) = signal {
        send(&child, signal)?;
    }
    let output = ended(child)?;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(
        output.status.code() == Some(if signal.is_some() { 130 } else { 4 }),
        "{output:?}"
    );
    ensure!(
        stdout.contains("write,size=64KiB"),
        "there is no table: {output:?}"
    );
    ensure!(stderr.contains("is not removed: "), "{output:?}");
    ensure!(
        entries(target.below()).len() == 1,
        "{:?}",
        entries(target.below())
    );
    target.go_on()?;
    let next = || {
        let ended = program
            .call(&[&["run", path, "--samples", "1"], &CASE[..]].concat())
            .ok()?;
        (ended.code == Some(0) && entries(target.below()).is_empty()).then_some(ended)
    };
    let next = wait_for("the next run to tidy up", next)?;
    ensure!(next.code == Some(0), "{next:?}");
    Ok(())
}

fn removal() -> Result<()> {
    let target = FaultyTarget::about(
        "owner",
        Caching::None,
        &[(When::Call(Call::Unlink), What::Hang)],
    )?;
    let path = text(target.faulty.path())?;
    let arguments = ["run", path, "--samples", "2", "--timeout", "1s"];
    let child = target
        .program
        .start(&[&arguments[..], &CASE[..]].concat())?;
    let output = ended(child)?;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(
        output.status.code() == Some(0) && stdout.contains("write,size=64KiB"),
        "{output:?}"
    );
    ensure!(
        stderr.contains("is not removed: ")
            && stderr.contains("removing the run's directory took more than"),
        "{output:?}"
    );
    let runs = target.program.call(&["runs"])?.stdout;
    ensure!(runs.contains("complete"), "{runs}");
    Ok(())
}

/// The run's directory is made before the first sample.
fn making() -> Result<()> {
    let target = FaultyTarget::about(
        "owner",
        Caching::None,
        &[(When::Call(Call::Create), What::Hang)],
    )?;
    let path = text(target.faulty.path())?;
    let child = target
        .program
        .start(&[&["run", path], &CASE[..]].concat())?;
    let hangs = || {
        target
            .faulty
            .operations()
            .iter()
            .any(|operation| operation.fault.is_some())
            .then_some(())
    };
    wait_for("the hanging call", hangs)?;
    send(&child, "INT")?;
    let output = ended(child)?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    let runs = target.program.call(&["runs"])?.stdout;
    ensure!(
        runs.contains("interrupted") && !runs.contains("failed"),
        "{runs}"
    );
    Ok(())
}

fn slow_making() -> Result<()> {
    let late = What::Delay(Duration::from_millis(500));
    let target = FaultyTarget::about("owner", Caching::None, &[(When::Call(Call::Create), late)])?;
    let path = text(target.faulty.path())?;
    let child = target
        .program
        .start(&[&["run", path], &CASE[..]].concat())?;
    let is_late = || {
        target
            .faulty
            .operations()
            .iter()
            .any(|operation| operation.fault.is_some())
            .then_some(())
    };
    wait_for("the late call", is_late)?;
    send(&child, "TERM")?;
    let output = ended(child)?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    ensure!(
        entries(target.faulty.path()).is_empty(),
        "{:?}, {output:?}",
        entries(target.faulty.path())
    );
    Ok(())
}

fn elsewhere() -> Result<()> {
    let (program, target) = (program()?, Bindfs::mount()?);
    let path = text(target.path())?;
    let child =
        program.start(&[&["run", path, "--yes", "--samples", "1000"], &CASE[..]].concat())?;
    wait_for("samples", || (samples(&program) > 3).then_some(()))?;
    kill_run(child)?;
    ensure!(
        entries(target.below()).len() == 1,
        "nothing was left, and this test shows nothing"
    );
    target.stop()?;
    let other = tempfile::tempdir()?;
    let run =
        program.start(&[&["run", text(other.path())?, "--samples", "1"], &CASE[..]].concat())?;
    let output = ended(run)?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(0) && said.contains("does not answer"),
        "{output:?}"
    );
    Ok(())
}

/// libfuse renames a removed open file, and learns late of its last close.
fn kept_files() -> Result<()> {
    let (program, target) = (program()?, Bindfs::mount()?);
    let path = text(target.path())?;
    let export = program.home().join("run.json");
    let export = format!("json={}", text(&export)?);
    let ended = program.call(&[
        "run",
        path,
        "--case",
        "sendfile,size=1MiB",
        "--samples",
        "2",
        "--export",
        &export,
    ])?;
    ensure!(
        ended.code == Some(0) && ended.stdout.contains("sendfile,size=1MiB"),
        "{ended:?}"
    );
    ensure!(
        program.call(&["runs"])?.stdout.contains("complete"),
        "the run's status"
    );
    wait_for("the directory to be empty", || {
        entries(target.below()).is_empty().then_some(())
    })
}

/// The first thread makes all calls, except reads from agents.
fn no_call() -> Result<()> {
    let (program, target) = (program()?, tempfile::tempdir()?);
    let (from, to) = (program.home().join("X"), target.path().join("Y"));
    std::fs::write(&from, vec![7; 100_000])?;
    let path = text(target.path())?;
    let measured = [
        "run",
        path,
        "--case",
        "write,size=64KiB,sync=fsync",
        "--samples",
        "2",
    ];
    let copied = [
        "run",
        "--from",
        text(&from)?,
        "--to",
        text(&to)?,
        "--case",
        "sendfile",
        "--samples",
        "2",
    ];
    for arguments in [&measured[..], &copied[..], &["probe", path]] {
        let trace = program.home().join("trace");
        let mut strace = Command::new("strace");
        strace
            .args(["-y", "-o"])
            .arg(&trace)
            .arg(program.binary())
            .args(arguments);
        strace
            .env_remove("WRITEBENCH_DB")
            .env("XDG_DATA_HOME", program.home());
        let output = strace.output()?;
        ensure!(output.status.success(), "{output:?}");
        let trace = std::fs::read_to_string(&trace)?;
        ensure!(trace.lines().count() > 100, "it was not traced: {trace}");
        let names_it =
            |line: &&str| line.contains(path) || line.contains(&format!("\"{}\"", from.display()));
        // Its command line, output and pipes.
        let says = |line: &&str| line.starts_with("execve(") || line.starts_with("write(");
        let calls: Vec<&str> = trace
            .lines()
            .filter(names_it)
            .filter(|line| !says(line))
            .collect();
        ensure!(calls.is_empty(), "{calls:#?}");
    }
    Ok(())
}

fn samples(program: &Program) -> usize {
    program
        .call(&["show", "--export", "csv=-"])
        .map_or(0, |ended| ended.stdout.lines().count())
}

fn send(child: &Child, signal: &str) -> Result<()> {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .status()?;
    ensure!(status.success(), "kill -{signal}");
    Ok(())
}

fn ended(mut child: Child) -> Result<Output> {
    wait_for("the end of the run", || child.try_wait().ok().flatten())?;
    Ok(child.wait_with_output()?)
}
