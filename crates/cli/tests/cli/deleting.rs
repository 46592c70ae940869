use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on, send, wait_for};

use crate::program;
use crate::terminal::Terminal;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "runs delete: without a terminal it needs --yes, and lists the runs",
        &tmpfs,
        deleted,
    );
    trials.add(
        "runs delete: live and missing runs are refused",
        &tmpfs,
        refused,
    );
    let terminal = [Need::Filesystem(Kind::Tmpfs), Need::Program("setsid")];
    trials.add("runs delete: it asks at a terminal", &terminal, asked);
}

fn measured(labels: &[&str]) -> Result<Program> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    for label in labels {
        let arguments = [
            "--case",
            "write,size=4KiB",
            "--samples",
            "1",
            "--no-limits",
            "--label",
            label,
        ];
        program.run(target.path(), &arguments, 0)?;
    }
    Ok(program)
}

fn listed(program: &Program) -> Result<Vec<String>> {
    let list = program.call(&["runs"])?;
    ensure!(list.code == Some(0), "{list:?}");
    let first = |line: &str| {
        line.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    Ok(list.stdout.lines().skip(1).map(first).collect())
}

fn refusal(ended: &Ended, texts: &[&str]) -> Result<()> {
    ensure!(
        ended.code == Some(2) && ended.stderr.lines().count() == 1,
        "{ended:?}"
    );
    for text in texts {
        ensure!(ended.stderr.contains(text), "{text} in {ended:?}");
    }
    Ok(())
}

fn deleted() -> Result<()> {
    let program = measured(&["old", "new", "old"])?;
    let ended = program.call(&["runs", "delete", "old"])?;
    refusal(
        &ended,
        &[
            "2 runs would be deleted",
            "1 (old, ",
            "3 (old, ",
            " sample",
            "--yes",
        ],
    )?;
    ensure!(
        !ended.stderr.contains("2 (new") && listed(&program)? == ["1", "2", "3"],
        "{ended:?}"
    );
    ensure!(program.call(&["runs", "delete", "3", "old", "--yes"])?.code == Some(0));
    ensure!(listed(&program)? == ["2"]);
    ensure!(program.call(&["show", "new"])?.code == Some(0));
    refusal(
        &program.call(&["show", "1"])?,
        &["no run 1", "writebench runs"],
    )?;
    ensure!(
        program.call(&["runs", "delete", "2", "--yes"])?.code == Some(0)
            && listed(&program)?.is_empty()
    );
    Ok(())
}

fn refused() -> Result<()> {
    let (program, target) = (measured(&["done"])?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let case = [
        "--case",
        "write,size=64KiB",
        "--yes",
        "--samples",
        "1000000",
        "--no-limits",
    ];
    let mut child = program.start(&[&["run", path], &case[..]].concat())?;
    wait_for("the run", || {
        listed(&program)
            .is_ok_and(|runs| runs.len() == 2)
            .then_some(())
    })?;
    let ended = program.call(&["runs", "delete", "1", "2", "--yes"]);
    send(child.id(), Signal::INT)?;
    child.wait()?;
    refusal(&ended?, &["run 2 is still in progress"])?;
    refusal(
        &program.call(&["runs", "delete", "1", "7", "--yes"])?,
        &["no run 7", "writebench runs"],
    )?;
    refusal(
        &program.call(&["runs", "delete", "dome", "--yes"])?,
        &["label 'dome'", "writebench runs"],
    )?;
    ensure!(listed(&program)? == ["1", "2"], "all or none");
    Ok(())
}

fn asked() -> Result<()> {
    let program = measured(&["done"])?;
    for (keys, code, left) in [("no\r", 2, 1), ("y\r", 0, 0)] {
        let mut terminal = Terminal::start(&program.command(&["runs", "delete", "done"]), 200)?;
        wait_for("the question", || {
            terminal.shown().contains("Go on? [y/N]").then_some(())
        })?;
        terminal.press(keys)?;
        let (status, shown) = terminal.end()?;
        ensure!(status.code() == Some(code), "{keys:?}: {status:?}: {shown}");
        ensure!(listed(&program)?.len() == left, "{keys:?}");
    }
    Ok(())
}
