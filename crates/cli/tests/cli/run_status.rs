use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Kind, Need, Program, Trials, directory_on, entries, wait_for};

use crate::program;
use crate::strangers::sqlite;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a killed run has the status interrupted, and a live one running",
        &tmpfs,
        killed,
    );
    trials.add(
        "--resume takes the newest run that no other process measures",
        &tmpfs,
        older,
    );
    trials.add(
        "a run that ended before its first sample is not advertised as one to resume",
        &tmpfs,
        without_sample,
    );
    trials.add(
        "a run without printed results is complete, with an exit code",
        &tmpfs,
        full,
    );
    trials.add(
        "a run with all samples is resumed for its copy",
        &tmpfs,
        copy,
    );
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn statuses(program: &Program, runs: usize) -> Result<Vec<String>> {
    let list = program.call(&["runs"])?;
    ensure!(list.code == Some(0), "{list:?}");
    let mut statuses = Vec::new();
    for number in 1..=runs {
        let line = list
            .stdout
            .lines()
            .find(|line| line.trim_start().starts_with(&format!("{number} ")));
        let listed = line
            .and_then(|line| line.split_whitespace().nth(2))
            .context("in the list")?;
        let shown = program.call(&["show", &number.to_string(), "--export", "json=-"])?;
        let document: Value = serde_json::from_str(&shown.stdout)?;
        ensure!(
            document["run"]["status"] == listed,
            "{listed}: {}",
            document["run"]
        );
        statuses.push(listed.to_owned());
    }
    Ok(statuses)
}

fn start(program: &Program, target: &Path) -> Result<Child> {
    program.start(&[
        "run",
        text(target)?,
        "--case",
        "write,size=64KiB",
        "--yes",
        "--samples",
        "1000000",
        "--no-limits",
    ])
}

fn killed() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut first = start(&program, target.path())?;
    wait_for("the first run", || {
        (entries(target.path()).len() == 1).then_some(())
    })?;
    let mut second = start(&program, target.path())?;
    wait_for("the second run", || {
        (entries(target.path()).len() == 2).then_some(())
    })?;
    ensure!(statuses(&program, 2)? == ["running", "running"]);
    for run in ["--resume=1", "--resume=2"] {
        let ended = program.call(&["run", run])?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains("is still in progress"),
            "{ended:?}"
        );
    }
    first.kill()?;
    first.wait()?;
    ensure!(statuses(&program, 2)? == ["interrupted", "running"]);
    let page = program.home().join("page.html");
    ensure!(program.call(&["report", "1", "-o", text(&page)?])?.code == Some(0));
    ensure!(
        !std::fs::read_to_string(page)?.contains("\"running\""),
        "the page says so, too"
    );
    second.kill()?;
    second.wait()?;
    ensure!(statuses(&program, 2)? == ["interrupted", "interrupted"]);
    let ended = program.call(&["run", "--resume=1", "--budget", "1s", "--yes"])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    ensure!(statuses(&program, 2)? == ["limited", "interrupted"]);
    Ok(())
}

fn older() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut first = start(&program, target.path())?;
    wait_for("the first run", || {
        (entries(target.path()).len() == 1).then_some(())
    })?;
    first.kill()?;
    first.wait()?;
    let mut second = start(&program, target.path())?;
    wait_for("the second run", || {
        (statuses(&program, 2).ok()? == ["interrupted", "running"]).then_some(())
    })?;
    let ended = program.call(&["run", "--resume", "--max-bytes", "1MiB", "--yes"])?;
    second.kill()?;
    second.wait()?;
    ensure!(
        ended.code == Some(0) && ended.stderr.contains("Resuming run 1, at most"),
        "{ended:?}"
    );
    ensure!(statuses(&program, 2)? == ["limited", "interrupted"]);
    Ok(())
}

/// The cases of a run of all goals are recorded when their size is chosen.
fn without_sample() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut child = start(&program, target.path())?;
    wait_for("the run", || {
        (entries(target.path()).len() == 1).then_some(())
    })?;
    child.kill()?;
    child.wait()?;
    let database = program.home().join("writebench/writebench.db");
    sqlite(&database, "delete from samples; delete from cases")?;
    let shown = program.call(&["show"])?;
    let said = "The run was interrupted before its first sample. Start it again.";
    ensure!(
        shown.code == Some(0) && shown.stdout.contains(said),
        "{shown:?}"
    );
    ensure!(
        !shown.stdout.contains("--resume") && !shown.stdout.contains("95% CI"),
        "{shown:?}"
    );
    let ended = program.call(&["run", "--resume"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("Start it again"),
        "{ended:?}"
    );
    Ok(())
}

fn full() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut command = program.command(&[
        "run",
        text(target.path())?,
        "--case",
        "write",
        "--samples",
        "1",
    ]);
    let full = File::options().write(true).open("/dev/full")?;
    let status = command.stdout(full).stderr(Stdio::null()).status()?;
    ensure!(status.code() == Some(1), "{status:?}");
    ensure!(statuses(&program, 1)? == ["complete"]);
    Ok(())
}

fn copy() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (source, copy) = (program.home().join("source"), target.path().join("copy"));
    std::fs::write(&source, [7; 4096])?;
    let to = ["--to", text(&copy)?];
    let begun = [
        "run",
        "--case",
        "read-write",
        "--from",
        text(&source)?,
        "--samples",
        "3",
        "--no-limits",
    ];
    let ended = program.call(&[&begun[..], &to].concat())?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let samples = || {
        program
            .call(&["show", "--export", "csv=-"])
            .map(|shown| shown.stdout)
    };
    let before = samples()?;
    // The state after a kill during the copy.
    std::fs::remove_file(&copy)?;
    sqlite(
        &program.home().join("writebench/writebench.db"),
        "update runs set status = 'running'",
    )?;
    ensure!(statuses(&program, 1)? == ["interrupted"]);
    let from = ["--from", text(&source)?];
    let ended = program.call(&[&["run", "--resume"], &from[..], &to[..]].concat())?;
    ensure!(
        ended.code == Some(0) && std::fs::read(&copy)? == [7; 4096],
        "{ended:?}"
    );
    ensure!(samples()? == before, "no sample was taken");
    ensure!(statuses(&program, 1)? == ["complete"]);
    Ok(())
}
