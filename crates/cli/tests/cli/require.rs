//! `run --require`. The limits are so lax or strict that no verdict depends on this machine.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let ext4 = [Need::Filesystem(Kind::Ext4)];
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "run --require: plain write that keeps a limit ends the run with code 0",
        &ext4,
        met,
    );
    trials.add(
        "run --require: plain write that misses a limit ends with code 5, and the recommended method is judged",
        &ext4,
        missed,
    );
    trials.add(
        "run --require: too few calls or samples are undecided, with code 7",
        &tmpfs,
        undecided,
    );
    trials.add(
        "run --require: each named case is judged on each target",
        &tmpfs,
        cases,
    );
    trials.add(
        "run --require: show and every export repeat the verdict",
        &tmpfs,
        repeated,
    );
    trials.add(
        "run --require: a resumed run reaches its verdict",
        &tmpfs,
        resumed,
    );
    trials.add(
        "run --require: limits of what a case does not have are refused",
        &[],
        refused,
    );
}

/// Arguments for the goal of a log, with a hundred records.
const LOG: [&str; 6] = ["--for", "log", "--record", "512", "--size", "51200"];
/// A log of a hundred records, each durable on disks.
const RECORDS: &str = "write,size=51200,chunk=512,sync=fdatasync/1";

fn call(program: &Program, on: &Path, words: &[&str]) -> Result<(Ended, Value)> {
    let export = program.home().join("export.json");
    let export_argument = format!("--export=json={}", export.display());
    let path = on.to_str().context("UTF-8")?;
    let ended = program.call(&[&["run", path, &export_argument], words].concat())?;
    let document = serde_json::from_str(&std::fs::read_to_string(export)?)?;
    Ok((ended, document))
}

/// Whether so many samples were disturbed that there is no verdict.
fn is_too_busy(document: &Value) -> bool {
    let required = document["required"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    required.iter().any(|one| {
        one["undecided"]["reason"] == "few-samples"
            && one["disturbed_samples"].as_u64().unwrap_or(0) > 0
    })
}

/// A busy disk may need more records than a test has for an upper end of p99, but not of p50.
fn met() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Ext4));
    let required = ["--require", "p50<100s", "--require", "rate>=1/s"];
    let words = [&LOG[..], &required].concat();
    let (ended, document) = call(&program, on.path(), &words)?;
    if is_too_busy(&document) {
        ensure!(ended.code == Some(7), "{ended:#?}");
        return Ok(());
    }
    ensure!(ended.code == Some(0), "{ended:#?}");
    let first: Vec<&str> = ended.stdout.lines().take(2).collect();
    ensure!(
        first[0].starts_with("p50 < 100 s: met. Plain write (write,")
            && first[1].starts_with("rate > 1/s: met."),
        "{first:?}"
    );
    let p50 = &document["required"][0];
    ensure!(
        p50["requirement"] == "p50<100s"
            && p50["metric"] == "p50_ns"
            && p50["limit"] == 100_000_000_000u64
            && p50["verdict"] == "met"
            && p50["is_recommended"] == false
            && p50["undecided"] == Value::Null,
        "{p50}"
    );
    let ends = ["low", "value", "high"].map(|end| p50[end].as_f64().unwrap_or(-1.0));
    ensure!(
        0.0 < ends[0] && ends.is_sorted() && p50["confidence"] == 0.975,
        "{p50}"
    );
    let rows = document["cases"].as_array().context("cases")?;
    ensure!(rows.len() == 1, "no other method is measured: {rows:?}");
    Ok(())
}

fn missed() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Ext4));
    let required = ["--require", "p99<1ns", "--budget", "8s"];
    let words = [&LOG[..], &required].concat();
    let (ended, document) = call(&program, on.path(), &words)?;
    if is_too_busy(&document) {
        // One of several verdicts may be clear although the machine is busy.
        ensure!(matches!(ended.code, Some(5 | 7)), "{ended:#?}");
        return Ok(());
    }
    ensure!(ended.code == Some(5), "{ended:#?}");
    ensure!(
        ended
            .stdout
            .starts_with("p99 < 1 ns: missed. Plain write (write,"),
        "{ended:?}"
    );
    let said = |line: &str| line.starts_with("writebench: --require: p99 < 1 ns: missed: write,");
    ensure!(ended.stderr.lines().any(said), "{ended:?}");
    let rows = document["cases"].as_array().context("cases")?;
    ensure!(rows.len() > 1, "a contest looks for a better method");
    let required = document["required"].as_array().context("verdicts")?;
    let recommended = required.iter().filter(|one| one["is_recommended"] == true);
    for one in recommended {
        ensure!(one["verdict"] != "met", "{one}");
    }
    Ok(())
}

fn undecided() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    // Of 120 samples with eight records each, no percentile of a thousand records is known.
    let few = [
        "--case",
        "write,size=4KiB,chunk=512,sync=fdatasync/1",
        "--require",
        "p99.9<100s",
    ];
    let (ended, document) = call(&program, on.path(), &few)?;
    ensure!(ended.code == Some(7), "{ended:#?}");
    let required = &document["required"][0];
    ensure!(
        required["undecided"]["reason"] == "few-calls"
            && required["undecided"]["needed"] == 1000
            && required["value"] == Value::Null,
        "{required}"
    );
    ensure!(
        ended.stdout.starts_with("p99.9 < 100 s: undecided. ")
            && ended.stdout.contains("--samples"),
        "the remedy: {ended:?}"
    );
    // A single sample never decides.
    let one = [
        "--case",
        RECORDS,
        "--require",
        "p50<1ns",
        "--max-bytes",
        "100000",
    ];
    let (ended, document) = call(&program, on.path(), &one)?;
    ensure!(ended.code == Some(7), "{ended:#?}");
    ensure!(
        document["required"][0]["undecided"]["reason"] == "few-samples",
        "{document:#}"
    );
    Ok(())
}

fn cases() -> Result<()> {
    let (program, a, b) = (
        program()?,
        directory_on(Kind::Tmpfs),
        directory_on(Kind::Tmpfs),
    );
    let b = b.path().to_str().context("UTF-8")?;
    let words = [
        b,
        "--case",
        RECORDS,
        "--case",
        "write,size=64KiB",
        "--require",
        "time<100s",
        "--require",
        "throughput>900TB/s",
    ];
    let (ended, document) = call(&program, a.path(), &words)?;
    if is_too_busy(&document) {
        // One of several verdicts may be clear although the machine is busy.
        ensure!(matches!(ended.code, Some(5 | 7)), "{ended:#?}");
        return Ok(());
    }
    ensure!(ended.code == Some(5), "{ended:#?}");
    let required = document["required"].as_array().context("verdicts")?;
    let count = |verdict: &str| {
        required
            .iter()
            .filter(|one| one["verdict"] == verdict)
            .count()
    };
    ensure!(
        (count("met"), count("missed")) == (4, 4),
        "two cases on two targets: {required:?}"
    );
    ensure!(ended.stdout.contains(&format!(" on {b}: ")), "{ended:?}");
    Ok(())
}

fn repeated() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let words = ["--case", RECORDS, "--require", "p90<1ns"];
    let (ended, document) = call(&program, on.path(), &words)?;
    if is_too_busy(&document) {
        ensure!(ended.code == Some(7), "{ended:#?}");
        return Ok(());
    }
    ensure!(ended.code == Some(5), "{ended:#?}");
    let line = ended.stdout.lines().next().context("a line")?.to_owned();
    for command in ["show", "show --all"] {
        let words: Vec<&str> = command.split(' ').collect();
        let shown = program.call(&words)?;
        ensure!(
            shown.code == Some(0) && shown.stdout.lines().next() == Some(&line),
            "{line}: {shown:?}"
        );
    }
    let export = |format: &str| -> Result<String> {
        let argument = format!("--export={format}=-");
        Ok(program.call(&["show", &argument])?.stdout)
    };
    let markdown = export("markdown")?;
    let third = markdown.lines().nth(2);
    ensure!(
        third.is_some_and(|line| line.starts_with("- p90 \\< 1 ns: missed.")),
        "{markdown}"
    );
    let junit = export("junit")?;
    ensure!(
        junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("p90&#60;1ns: write,"),
        "{junit}"
    );
    let again: Value = serde_json::from_str(&export("json")?)?;
    ensure!(again["required"] == document["required"], "{again:#}");
    ensure!(again["run"]["settings"]["require"][0] == "p90<1ns");
    let page = program.home().join("page.html");
    let page_argument = format!("{}", page.display());
    program.call(&["report", "--output", &page_argument])?;
    let page = std::fs::read_to_string(&page)?;
    ensure!(page.contains("1 ns: missed."), "the page");
    Ok(())
}

fn resumed() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let words = [
        "--case",
        RECORDS,
        "--require",
        "p50<1ns",
        "--max-bytes",
        "160000",
    ];
    let (ended, _) = call(&program, on.path(), &words)?;
    ensure!(ended.code == Some(7), "{ended:#?}");
    let ended = program.call(&["run", "--resume", "--max-bytes", "1GiB"])?;
    ensure!(
        ended.code == Some(5) || ended.stdout.contains("disturbed"),
        "{ended:#?}"
    );
    Ok(())
}

fn refused() -> Result<()> {
    let program = program()?;
    for (words, why) in [
        (
            &["--require", "p99<10ms"][..],
            "the goal stream has no p99, only throughput and time",
        ),
        (
            &["--for", "log", "--require", "p95<10ms"],
            "Use one of p50, p90, p99, p99.9",
        ),
        (
            &["--for", "log", "--require", "p99>10ms"],
            "less p99 is better. Write p99<10ms",
        ),
        (&["--for", "log", "--require", "max<1s"], "Use p99.9"),
        (
            &["--for", "log", "--require", "p99"],
            "p99<10ms, rate>5000/s, throughput>500MB/s or time<2s",
        ),
        (
            &["--case", "write", "--require", "rate>5/s"],
            "write has no rate, only throughput and time",
        ),
        (
            &["--suite", "durable", "--require", "p99<1s"],
            "cannot be used with",
        ),
        (
            &["--from", "Cargo.toml", "--require", "time<1s"],
            "Name one by --for, --case or --command",
        ),
    ] {
        let ended = program.call(&[&["run", "."], words, &["--dry-run"]].concat())?;
        let text = ended.stderr.replace('\n', " ");
        ensure!(
            ended.code == Some(2) && text.contains(why),
            "{words:?}: {ended:?}"
        );
    }
    Ok(())
}
