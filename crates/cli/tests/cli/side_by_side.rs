use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on, entries, wait_for};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let both = [Need::Filesystem(Kind::Tmpfs), Need::Filesystem(Kind::Ext4)];
    trials.add("side by side: targets share the rounds", &both, same_rounds);
    trials.add(
        "side by side: one table compares targets with the first",
        &both,
        one_table,
    );
    trials.add(
        "side by side: each target has its own source",
        &both,
        copies,
    );
    trials.add(
        "side by side: RUN@TARGET is shown and compared",
        &both,
        parts,
    );
    trials.add(
        "side by side: a run is resumed on all targets",
        &both,
        resumed,
    );
    trials.add(
        "side by side: a killed run leaves nothing in any target",
        &both,
        killed,
    );
    trials.add(
        "side by side: a dry run counts the bytes of all targets",
        &both,
        dry_run,
    );
    trials.add(
        "side by side: unsuitable targets are refused",
        &both,
        refusals,
    );
}

struct Two {
    program: Program,
    a: TempDir,
    b: TempDir,
}

impl Two {
    fn new() -> Result<Self> {
        Ok(Self {
            program: program()?,
            a: directory_on(Kind::Ext4),
            b: directory_on(Kind::Tmpfs),
        })
    }

    fn run(&self, more: &[&str], code: i32) -> Result<Value> {
        let b = text(self.b.path())?;
        let document = self
            .program
            .run(self.a.path(), &[&[b], more].concat(), code)?;
        ensure!(
            entries(self.a.path()).is_empty() && entries(self.b.path()).is_empty(),
            "left behind"
        );
        Ok(document)
    }

    fn call(&self, arguments: &[&str], code: i32) -> Result<Ended> {
        let ended = self.program.call(arguments)?;
        ensure!(
            ended.code == Some(code),
            "expected exit code {code}: {ended:#?}"
        );
        Ok(ended)
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

const CASES: [&str; 6] = [
    "--case",
    "write,size=1MiB",
    "--case",
    "pwrite,size=1MiB",
    "--samples",
    "6",
];

fn same_rounds() -> Result<()> {
    let two = Two::new()?;
    let document = two.run(&CASES, 0)?;
    let cases = document["cases"].as_array().context("cases")?;
    ensure!(cases.len() == 4, "{} rows", cases.len());
    let mut rounds: HashMap<(&str, &str), Vec<u64>> = HashMap::new();
    for case in cases {
        ensure!(
            case["samples"][0]["read_back"]["extent"] == "whole",
            "read back on every target: {case}"
        );
        let samples = case["samples"].as_array().context("samples")?;
        // Disturbed samples are repeated in the same round.
        let mut of_case: Vec<u64> = samples
            .iter()
            .filter_map(|sample| sample["round"].as_u64())
            .collect();
        of_case.dedup();
        let key = (
            case["name"].as_str().context("id")?,
            case["target"].as_str().context("target")?,
        );
        rounds.insert(key, of_case);
    }
    for target in [two.a.path(), two.b.path()] {
        for case in ["write,size=1MiB", "pwrite,size=1MiB"] {
            let rounds = rounds.get(&(case, text(target)?)).context("a row")?;
            // On a busy machine, repetitions may leave fewer than six rounds.
            let is_each = rounds.len() >= 3 && rounds.iter().copied().eq((0..).take(rounds.len()));
            ensure!(is_each, "{case} on {}: {rounds:?}", target.display());
        }
    }
    let kind =
        |index: usize| document["targets"][index]["environment"]["filesystem"]["kind"].clone();
    ensure!(
        kind(0) == "ext4" && kind(1) == "tmpfs",
        "{}",
        document["targets"]
    );
    let limits = |index: usize| document["targets"][index]["limits"].clone();
    ensure!(
        limits(0) == limits(1) && !limits(0).as_array().is_none_or(Vec::is_empty),
        "one memory"
    );
    Ok(())
}

fn one_table() -> Result<()> {
    let two = Two::new()?;
    let mut shown = String::new();
    // On a busy machine, too few rounds may be undisturbed for a ratio.
    for _ in 0..5 {
        two.run(&CASES, 0)?;
        shown = two.call(&["show"], 0)?.stdout;
        if shown.contains("geometric mean") {
            break;
        }
    }
    let (a, b) = (text(two.a.path())?, text(two.b.path())?);
    let heading = shown
        .lines()
        .find(|line| line.contains(a) && line.contains(b))
        .context("a heading")?;
    ensure!(
        heading.find(a) < heading.find(b),
        "in the order that was asked for: {heading}"
    );
    ensure!(
        shown.contains(&format!("vs. first: times the value of {a}")),
        "{shown}"
    );
    ensure!(shown.contains("geometric mean"), "{shown}");
    let rows = shown
        .lines()
        .filter(|line| line.starts_with("write,size=1MiB "))
        .count();
    ensure!(rows == 1, "one row for both: {shown}");
    Ok(())
}

fn copies() -> Result<()> {
    let two = Two::new()?;
    let document = two.run(
        &["--case", "copy-file-range,size=1MiB", "--samples", "2"],
        0,
    )?;
    for case in document["cases"].as_array().context("cases")? {
        ensure!(
            case["outcome"] == "ok" && case["samples"][0]["read_back"]["extent"] == "whole",
            "{case}"
        );
    }
    Ok(())
}

fn parts() -> Result<()> {
    let two = Two::new()?;
    two.run(&CASES, 0)?;
    let (a, b) = (
        format!("1@{}", text(two.a.path())?),
        format!("1@{}", text(two.b.path())?),
    );
    let part = two.call(&["show", &b], 0)?.stdout;
    ensure!(
        part.contains("write alone") && !part.contains("vs. first"),
        "all columns of one target: {part}"
    );
    ensure!(!part.contains(text(two.a.path())?), "{part}");
    let compared = two.call(&["compare", &a, &b], 0)?.stdout;
    ensure!(
        compared.contains("from one run") && compared.contains("filesystem"),
        "{compared}"
    );
    let same = two.call(&["compare", &a, &a], 2)?.stderr;
    ensure!(same.contains("are the same run"), "{same}");
    let none = two.call(&["show", "1@nowhere"], 2)?.stderr;
    ensure!(
        none.contains("no results on 'nowhere'") && none.contains(text(two.a.path())?),
        "{none}"
    );
    two.program.run(two.a.path(), &CASES, 0)?;
    let uneven = two.call(&["compare", "1", "2"], 2)?.stderr;
    ensure!(
        uneven.contains("name one after the run, as in …@"),
        "{uneven}"
    );
    let even = two.call(&["compare", &a, "2"], 0)?.stdout;
    ensure!(even.contains("inconclusive: one run per side"), "{even}");
    two.run(&CASES, 0)?;
    let both = two.call(&["compare", "1", "3"], 0)?.stdout;
    ensure!(
        both.contains(&format!("write,size=1MiB on {}", text(two.b.path())?)),
        "{both}"
    );
    Ok(())
}

fn resumed() -> Result<()> {
    let two = Two::new()?;
    let limited = two.run(
        &[&CASES[..], &["--max-bytes", "10MiB", "--no-limits"]].concat(),
        0,
    )?;
    ensure!(limited["run"]["status"] == "limited", "{}", limited["run"]);
    two.call(&["run", "--resume", "--max-bytes", "1GiB"], 0)?;
    let exported = two.call(&["show", "--export", "json=-"], 0)?.stdout;
    let document: Value = serde_json::from_str(&exported)?;
    ensure!(
        document["run"]["status"] == "complete",
        "{}",
        document["run"]
    );
    for (before, after) in limited["cases"]
        .as_array()
        .into_iter()
        .zip(document["cases"].as_array())
        .flat_map(|(a, b)| a.iter().zip(b))
    {
        let (before, after) = (before["samples"].as_array(), after["samples"].as_array());
        let (before, after) = (before.context("samples")?, after.context("samples")?);
        ensure!(
            after.len() >= 6 && after[..before.len()] == before[..],
            "samples of before stay"
        );
    }
    Ok(())
}

fn killed() -> Result<()> {
    let two = Two::new()?;
    let (a, b) = (text(two.a.path())?, text(two.b.path())?);
    let many = [&["run", a, b], &CASES[..4], &["--samples", "400"]].concat();
    for signal in ["TERM", "KILL"] {
        let child = two.program.start(&many)?;
        wait_for("workspaces", || {
            (entries(two.a.path()).len() + entries(two.b.path()).len() == 2).then_some(())
        })?;
        let mut kill = Command::new("kill");
        ensure!(
            kill.args([format!("-{signal}"), child.id().to_string()])
                .status()?
                .success(),
            "{kill:?}"
        );
        let ended = child.wait_with_output()?;
        if signal == "KILL" {
            ensure!(
                entries(two.b.path()).len() == 1,
                "no process was left to remove it"
            );
            two.call(
                &[&["run", a, b], &CASES[..4], &["--samples", "1"]].concat(),
                0,
            )?;
        }
        let left = [entries(two.a.path()), entries(two.b.path())].concat();
        ensure!(left.is_empty(), "after SIG{signal}: {left:?}, {ended:?}");
    }
    Ok(())
}

fn dry_run() -> Result<()> {
    let two = Two::new()?;
    let (a, b) = (text(two.a.path())?, text(two.b.path())?);
    let shown = two
        .call(&[&["run", a, b, "--dry-run"], &CASES[..]].concat(), 0)?
        .stdout;
    ensure!(
        shown.contains(&format!(
            "into {a} and {b}: 24 MiB to be written (4 MiB in a round)"
        )),
        "{shown}"
    );
    ensure!(
        two.call(&["runs"], 2)?.stderr.contains("no runs yet"),
        "nothing was recorded"
    );
    Ok(())
}

fn refusals() -> Result<()> {
    let two = Two::new()?;
    let (a, b) = (text(two.a.path())?, text(two.b.path())?);
    let inside = format!(
        "{a}/../{}",
        two.a
            .path()
            .file_name()
            .and_then(|name| name.to_str())
            .context("name")?
    );
    for (arguments, expected) in [
        (vec!["run", a, a], "is given twice"),
        (vec!["run", a, &inside], "is given twice"),
        (vec!["run", a, "/nowhere"], "/nowhere"),
        (
            vec!["run", a, b, "--destroy", "/dev/loop0"],
            "a device is measured alone",
        ),
        (
            vec!["run", a, b, "--from", "/proc/version", "--to", "/tmp/x"],
            "cannot be used with",
        ),
    ] {
        let ended = two.call(&arguments, 2)?;
        let is_line = ended.stderr.trim_end().lines().count() == 1;
        ensure!(
            is_line && ended.stderr.contains(expected),
            "'{expected}' in {ended:?}"
        );
    }
    Ok(())
}
