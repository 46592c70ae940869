//! The machine's clock is set back during a run.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{
    Ended, Kind, Need, Program, SetClock, Trials, call, directory_on, entries, wait_for,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::Filesystem(Kind::Tmpfs), Need::SetClock];
    trials.add(
        "setting the clock back changes neither results nor runs",
        &needs,
        set_back,
    );
}

const FUTURE: &str = "2037-06-01 00:00:00";
const PAST: &str = "2001-02-03 00:00:00";
const CASES: [&str; 7] = [
    "--case",
    "write,size=1MiB,chunk=64KiB,sync=fsync/1",
    "--case",
    "pwrite,size=1MiB",
    "--samples",
    "24",
    "--no-limits",
];

fn called(program: &Program, clock: &SetClock, arguments: &[&str]) -> Result<Ended> {
    let mut command = program.command(arguments);
    let output = clock
        .start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?
        .wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ended {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    })
}

fn rows(program: &Program, run: &str) -> Result<Vec<String>> {
    let shown = program.call(&["show", run, "--export", "csv=-"])?.stdout;
    Ok(shown.lines().skip(1).map(str::to_owned).collect())
}

fn set_back() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let (clock, run) = (SetClock::at(FUTURE)?, [&["run", path], &CASES[..]].concat());
    let mut child = clock.start(
        program
            .command(&run)
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )?;
    let some = |more: usize| rows(&program, "1").ok().filter(|rows| rows.len() > more);
    let before = wait_for("samples", || some(1))?.len();
    clock.set(PAST)?;
    wait_for("more samples", || some(before + 1))?;
    child.kill()?;
    child.wait()?;
    // The leftovers have timestamps in the future.
    for left in entries(target.path()) {
        call(Command::new("touch").args(["-d", FUTURE]).arg(left))?;
    }
    let killed = rows(&program, "1")?;
    let resumed = called(&program, &clock, &["run", "--resume"])?;
    ensure!(
        resumed.code == Some(0) && resumed.stderr.contains("left by a killed run"),
        "{resumed:?}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    let whole = rows(&program, "1")?;
    ensure!(
        killed.iter().all(|row| whole.contains(row)),
        "a sample changed: {killed:?} {whole:?}"
    );

    let second = called(&program, &clock, &run)?;
    ensure!(second.code == Some(0), "{second:?}");
    let document = |run: &[&str]| -> Result<Value> {
        let shown = called(
            &program,
            &clock,
            &[&["show"], run, &["--export", "json=-"]].concat(),
        )?;
        Ok(serde_json::from_str(&shown.stdout)?)
    };
    let (first, newest) = (document(&["1"])?, document(&[])?);
    let started = |document: &Value| {
        document["run"]["started"]
            .as_str()
            .map(|started| started[..10].to_owned())
    };
    ensure!(
        started(&first).as_deref() == Some("2037-06-01"),
        "{}",
        first["run"]
    );
    // Checks that the clock was really set.
    ensure!(
        started(&newest).as_deref() == Some("2001-02-03"),
        "{}",
        newest["run"]
    );
    ensure!(
        newest["run"]["number"] == 2,
        "the newest is the last that was begun: {}",
        newest["run"]
    );
    for case in [&first, &newest]
        .iter()
        .flat_map(|document| document["cases"].as_array())
        .flatten()
    {
        let samples = case["samples"].as_array().context("samples")?;
        ensure!(samples.len() >= 10 && case["outcome"] == "ok", "{case}");
        let rounds: Vec<_> = samples
            .iter()
            .filter_map(|sample| sample["round"].as_u64())
            .collect();
        ensure!(
            rounds.is_sorted() && rounds.len() == samples.len(),
            "in order: {rounds:?}"
        );
        for sample in samples {
            // A clock that stops, or jumps by decades, would be visible.
            let total_ns = sample["total_ns"].as_u64().context("a time")?;
            ensure!((1..3_600_000_000_000).contains(&total_ns), "{sample}");
            ensure!(
                sample["latency"].is_null() || sample["latency"]["count"] == 16,
                "{sample}"
            );
        }
    }
    let compared = called(&program, &clock, &["compare", "1", "2"])?;
    ensure!(
        compared.code == Some(0) && compared.stdout.contains("pwrite,size=1MiB"),
        "{compared:?}"
    );
    Ok(())
}
