//! Oversized documents and databases are refused quickly, in one line.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on};

use crate::program;
use crate::strangers::sqlite;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "names of 70,000 characters in documents are refused in one line",
        &tmpfs,
        long_names,
    );
    trials.add(
        "names of 70,000 characters in databases are refused, and listed",
        &tmpfs,
        long_in_database,
    );
    trials.add(
        "20,000 targets are refused with little memory",
        &tmpfs,
        many_targets,
    );
    trials.add(
        "eight million intervals in a timeline are refused with little memory",
        &tmpfs,
        long_timeline,
    );
    trials.add(
        "a document with a target twice is refused",
        &tmpfs,
        same_target,
    );
    trials.add(
        "a thousand targets are shown, in a terminal as well",
        &tmpfs,
        thousand_targets,
    );
    trials.add("an endless document is refused", &[], endless);
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn one_line(ended: &Ended, code: i32, what: &str) -> Result<()> {
    ensure!(
        ended.code == Some(code) && ended.stdout.is_empty(),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.lines().count() == 1 && ended.stderr.contains(what),
        "{ended:?}"
    );
    Ok(())
}

fn document(program: &Program) -> Result<Value> {
    let target = directory_on(Kind::Tmpfs);
    let case = [
        "--case",
        "write,size=4KiB",
        "--samples",
        "1",
        "--no-limits",
        "--label",
        "short",
    ];
    let mut document = program.run(target.path(), &case, 0)?;
    document["run"]["id"] = "another".into();
    Ok(document)
}

fn with_targets(mut document: Value, count: usize) -> Value {
    let (target, case) = (document["targets"][0].clone(), document["cases"][0].clone());
    let named = |index: usize| {
        let (mut target, mut case) = (target.clone(), case.clone());
        let name = format!("/target/{index}");
        (target["name"], target["path"], case["target"]) = (json!(name), json!(name), json!(name));
        (target, case)
    };
    let (targets, cases): (Vec<Value>, Vec<Value>) = (0..count).map(named).unzip();
    (document["targets"], document["cases"]) = (targets.into(), cases.into());
    document
}

fn long_names() -> Result<()> {
    let program = program()?;
    let (whole, file) = (document(&program)?, program.home().join("document.json"));
    let long = "x".repeat(70_000);
    for pointer in [
        "/run/label",
        "/run/version",
        "/cases/0/label",
        "/cases/0/section",
        "/cases/0/name",
    ] {
        let mut document = whole.clone();
        // Only suites have named sections.
        document["cases"][0]["layout"] = "phases".into();
        *document.pointer_mut(pointer).context("a name")? = long.as_str().into();
        std::fs::write(&file, document.to_string())?;
        let what = "it has 70000 characters in a name, and the limit is 4096";
        one_line(&program.call(&["import", text(&file)?])?, 2, what)?;
        one_line(
            &program.call(&["compare", text(&file)?, text(&file)?])?,
            2,
            what,
        )?;
    }
    let mut cut = whole.clone();
    cut["run"]["label"] = "a\0b".into();
    std::fs::write(&file, cut.to_string())?;
    one_line(
        &program.call(&["import", text(&file)?])?,
        2,
        "characters U+0000 in a name",
    )?;
    let ended = program.call(&["run", "/tmp", "--label", &long])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("at most 200 characters"),
        "{:?}",
        ended.code
    );
    Ok(())
}

fn long_in_database() -> Result<()> {
    let program = program()?;
    document(&program)?;
    sqlite(
        &program.home().join("writebench/writebench.db"),
        "update runs set run = json_set(run, '$.label', printf('%.70000c', 'x'))",
    )?;
    one_line(
        &program.call(&["show"])?,
        1,
        "run 1: it has 70000 characters in a name",
    )?;
    let listed = program.call(&["runs"])?;
    ensure!(
        listed.code == Some(0) && listed.stdout.contains("complete"),
        "{:?}",
        listed.stderr
    );
    Ok(())
}

fn many_targets() -> Result<()> {
    let program = program()?;
    let (whole, file) = (document(&program)?, program.home().join("document.json"));
    std::fs::write(&file, with_targets(whole.clone(), 20_000).to_string())?;
    refused_with_little_memory(&program, &["import"], &file, "more than 1000 targets")?;
    // Targets are counted before they are read.
    std::fs::write(&file, with_targets(whole, 1000).to_string())?;
    ensure!(program.call(&["import", text(&file)?])?.code == Some(0));
    sqlite(
        &program.home().join("writebench/writebench.db"),
        "insert into targets (run, position, name, missing) values (2, 1000, 'one more', 'gone')",
    )?;
    one_line(
        &program.call(&["show", "2"])?,
        1,
        "it has 1001 targets, and the limit is 1000",
    )
}

/// With memory for the text and little more.
fn refused_with_little_memory(
    program: &Program,
    command: &[&str],
    file: &Path,
    why: &str,
) -> Result<()> {
    let length = std::fs::metadata(file)?.len();
    let mut limited = Command::new("prlimit");
    limited
        .arg(format!("--as={}", length + (192 << 20)))
        .arg(program.binary())
        .args(command)
        .arg(file);
    let output = limited
        .env("HOME", program.home())
        .env("XDG_DATA_HOME", program.home())
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(2) && stderr.contains(why),
        "{stderr}"
    );
    Ok(())
}

fn long_timeline() -> Result<()> {
    let program = program()?;
    let (mut whole, file) = (document(&program)?, program.home().join("document.json"));
    whole["cases"][0]["samples"][0]["timeline"] = json!({"interval_ns": 1, "bytes": "HERE"});
    let intervals = format!("[{}0]", "0,".repeat(8_000_000));
    std::fs::write(&file, whole.to_string().replace("\"HERE\"", &intervals))?;
    for command in [&["import"][..], &["report", "-o", "-"]] {
        refused_with_little_memory(
            &program,
            command,
            &file,
            "more than 1000 intervals in a timeline",
        )?;
    }
    let lines = program.call(&["show", "--export", "jsonl=-"])?.stdout;
    for (count, why) in [
        (4_000_000, "more than 1000 intervals in a timeline"),
        (8_000_000, "it has more than 8 MiB"),
    ] {
        let intervals = "0,".repeat(count);
        let timeline = format!("\"timeline\":{{\"interval_ns\":1,\"bytes\":[{intervals}0]}}");
        let long = lines.replacen("\"timeline\":null", &timeline, 1);
        ensure!(long.len() > intervals.len(), "{lines}");
        std::fs::write(&file, long)?;
        refused_with_little_memory(&program, &["import"], &file, why)?;
    }
    Ok(())
}

fn same_target() -> Result<()> {
    let program = program()?;
    let (mut whole, file) = (
        with_targets(document(&program)?, 2),
        program.home().join("document.json"),
    );
    whole["targets"][1] = whole["targets"][0].clone();
    whole["cases"][1] = whole["cases"][0].clone();
    std::fs::write(&file, whole.to_string())?;
    one_line(
        &program.call(&["import", text(&file)?])?,
        2,
        "target '/target/0' appears twice",
    )?;
    one_line(
        &program.call(&["compare", text(&file)?, text(&file)?])?,
        2,
        "target '/target/0' appears twice",
    )
}

fn thousand_targets() -> Result<()> {
    let program = program()?;
    let (whole, file) = (document(&program)?, program.home().join("document.json"));
    std::fs::write(&file, with_targets(whole, 1000).to_string())?;
    ensure!(program.call(&["import", text(&file)?])?.code == Some(0));
    let shown = program.call(&["show", "2"])?;
    ensure!(
        shown.code == Some(0) && shown.stdout.contains("/target/999"),
        "{:?}",
        shown.stderr
    );
    let line = format!(
        "stty rows 24 cols 80; exec {} show 2",
        program.binary().display()
    );
    let mut terminal = Command::new("script");
    terminal
        .args(["-qec", &line, "/dev/null"])
        .env("HOME", program.home())
        .env("XDG_DATA_HOME", program.home());
    let output = terminal.output()?;
    ensure!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("/target/999")
    );
    Ok(())
}

fn endless() -> Result<()> {
    let program = program()?;
    let line = format!("yes | {} import /dev/stdin", program.binary().display());
    let output = Command::new("sh")
        .args(["-c", &line])
        .env("HOME", program.home())
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(2) && stderr.contains("/dev/stdin has more than 512MiB"),
        "{stderr}"
    );
    Ok(())
}
