//! `run --fail-if-slower`. The programs report fixed times, so no verdict depends on this machine.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "run --fail-if-slower: a slower program ends the run with code 5",
        &tmpfs,
        slower,
    );
    trials.add(
        "run --fail-if-slower: an equal or faster program passes",
        &tmpfs,
        passes,
    );
    trials.add(
        "run --fail-if-slower: a program without a verdict passes after 20 times the samples",
        &tmpfs,
        undecided,
    );
    trials.add(
        "run --fail-if-slower: too few rounds for any verdict are an error",
        &tmpfs,
        too_few,
    );
    trials.add(
        "run --fail-if-slower: cases are judged on each target",
        &tmpfs,
        cases,
    );
    trials.add(
        "run --fail-if-slower: a resumed run reaches its verdict",
        &tmpfs,
        resumed,
    );
    trials.add(
        "run --fail-if-slower: unequal work and unknown names are refused",
        &[],
        refused,
    );
}

/// A named program that reports this time.
fn taking(name: &str, time_ns: &str) -> String {
    format!(
        "{name}=sh -c 'cp \"$1\" \"$2\"; eval \"echo write {time_ns} >&$WRITEBENCH_PHASES_FD\"' - {{source}} {{file}}"
    )
}

const FEW: [&str; 5] = ["--no-limits", "--bytes", "4KiB", "--fail-if-slower", "5%"];

/// The document. None on a machine that is too busy for the undisturbed rounds of a verdict.
fn gate(program: &Program, on: &Path, words: &[&str], code: i32) -> Result<Option<Value>> {
    let export = program.home().join("export.json");
    let export_argument = format!("--export=json={}", export.display());
    let path = on.to_str().context("UTF-8")?;
    let ended = program.call(&[&["run", path, &export_argument], &FEW[..], words].concat())?;
    if is_too_busy(&ended) {
        return Ok(None);
    }
    ensure!(ended.code == Some(code), "{ended:#?}");
    Ok(Some(serde_json::from_str(&std::fs::read_to_string(
        export,
    )?)?))
}

fn is_too_busy(ended: &Ended) -> bool {
    ended.code == Some(2)
        && ended
            .stderr
            .contains("undisturbed rounds that a verdict needs")
        && ended.stderr.contains("samples were disturbed")
}

fn verdict(document: &Value) -> Result<(&str, &str, &str)> {
    let text = |name: &str| document["gated"][0][name].as_str().context("a verdict");
    Ok((text("name")?, text("baseline")?, text("verdict")?))
}

fn slower() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let (base, head) = (taking("base", "100000"), taking("head", "110000"));
    let Some(document) = gate(
        &program,
        on.path(),
        &["--command", &base, "--command", &head],
        5,
    )?
    else {
        return Ok(());
    };
    ensure!(
        verdict(&document)? == ("`head`", "`base`", "slower"),
        "{}",
        document["gated"]
    );
    ensure!(
        document["cases"][1]["label"] == "head",
        "{}",
        document["cases"][1]
    );
    let ratio = document["gated"][0]["speed_ratio"]["high"]
        .as_f64()
        .context("a ratio")?;
    ensure!((0.9..0.95).contains(&ratio), "{ratio}");
    let shown = program.call(&["show"])?.stdout;
    ensure!(
        shown.contains("`head` has 0.909 times the speed of `base` (0.909 – 0.910"),
        "{shown}"
    );
    let path = on.path().to_str().context("UTF-8")?;
    let ended = program.call(
        &[
            &["run", path],
            &FEW[..],
            &["--command", &base, "--command", &head],
        ]
        .concat(),
    )?;
    let said = "writebench: slower by more than 5 %: `head` (0.909 – 0.910)";
    ensure!(
        is_too_busy(&ended)
            || ended.code == Some(5) && ended.stderr.lines().any(|line| line == said),
        "{ended:?}"
    );
    Ok(())
}

fn passes() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let same = [taking("base", "100000"), taking("head", "104000")];
    let Some(document) = gate(
        &program,
        on.path(),
        &["--command", &same[0], "--command", &same[1]],
        0,
    )?
    else {
        return Ok(());
    };
    ensure!(
        verdict(&document)? == ("`head`", "`base`", "passed"),
        "{}",
        document["gated"]
    );
    let (old, new) = (taking("old", "200000"), taking("new", "100000"));
    let swapped = ["--command", &new, "--command", &old, "--baseline", "old"];
    let Some(document) = gate(&program, on.path(), &swapped, 0)? else {
        return Ok(());
    };
    ensure!(
        verdict(&document)? == ("`new`", "`old`", "passed"),
        "{}",
        document["gated"]
    );
    Ok(())
}

fn undecided() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let mark = program.home().join("mark");
    let turns = format!(
        "$(if rm {0} 2>/dev/null; then echo 50000; else touch {0}; echo 200000; fi)",
        mark.display()
    );
    let (base, head) = (taking("base", "100000"), taking("head", &turns));
    let words = ["--samples", "1", "--command", &base, "--command", &head];
    let Some(document) = gate(&program, on.path(), &words, 0)? else {
        return Ok(());
    };
    ensure!(
        verdict(&document)?.2 == "undecided",
        "{}",
        document["gated"]
    );
    for case in document["cases"].as_array().context("cases")? {
        ensure!(
            case["samples"]
                .as_array()
                .is_some_and(|samples| samples.len() <= 20),
            "{case}"
        );
    }
    Ok(())
}

fn too_few() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let (base, head) = (taking("base", "100000"), taking("head", "900000"));
    let path = on.path().to_str().context("UTF-8")?;
    let limited = [
        "--max-bytes",
        "40KiB",
        "--command",
        &base,
        "--command",
        &head,
    ];
    let ended = program.call(&[&["run", path], &FEW[..], &limited].concat())?;
    if is_too_busy(&ended) {
        return Ok(());
    }
    ensure!(
        ended.code == Some(2)
            && ended
                .stderr
                .contains("undisturbed rounds that a verdict needs"),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.contains("--max-bytes 40KiB was reached after"),
        "the limit that ended it: {ended:?}"
    );
    ensure!(
        !ended.stderr.contains("--budget"),
        "which was not the cause: {ended:?}"
    );
    Ok(())
}

fn cases() -> Result<()> {
    let (program, a, b) = (
        program()?,
        directory_on(Kind::Tmpfs),
        directory_on(Kind::Tmpfs),
    );
    let [a, b] = [a.path(), b.path()].map(|path| path.to_str().context("UTF-8"));
    let words = [
        "--no-limits",
        "--size",
        "64KiB",
        "--case",
        "write,chunk=512",
        "--case",
        "write",
        "--case",
        "pwrite",
    ];
    let gate = [
        "--fail-if-slower",
        "50%",
        "--baseline",
        "write",
        "--export",
        "json=-",
    ];
    let ended = program.call(&[&["run", a?, b?], &words[..], &gate].concat())?;
    if is_too_busy(&ended) {
        return Ok(());
    }
    let document: Value = serde_json::from_str(&ended.stdout)?;
    ensure!(
        document["cases"][0]["name"] == "write,size=64KiB",
        "the baseline is first"
    );
    let gated = document["gated"].as_array().context("verdicts")?;
    let is_of = |gated: &Value, name: &str| {
        gated["name"]
            .as_str()
            .is_some_and(|text| text.starts_with(name))
    };
    for name in ["write,size=64KiB,chunk=512 on ", "pwrite,size=64KiB on "] {
        ensure!(
            gated.iter().filter(|gated| is_of(gated, name)).count() == 2,
            "{gated:?}"
        );
    }
    let is_slower = gated.iter().any(|gated| gated["verdict"] == "slower");
    ensure!(
        ended.code == Some(if is_slower { 5 } else { 0 }),
        "{gated:?}: {ended:?}"
    );
    Ok(())
}

fn resumed() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let (base, head) = (taking("base", "100000"), taking("head", "110000"));
    let path = on.path().to_str().context("UTF-8")?;
    let programs = ["--command", &base, "--command", &head];
    program.call(&[&["run", path, "--max-bytes", "40KiB"], &FEW[..], &programs].concat())?;
    let ended =
        program.call(&[&["run", "--resume", "--max-bytes", "1GiB"], &programs[..]].concat())?;
    ensure!(ended.code == Some(5) || is_too_busy(&ended), "{ended:?}");
    Ok(())
}

fn refused() -> Result<()> {
    let program = program()?;
    let named = |name: &str| format!("{name}=cp {{source}} {{file}}");
    let (base, head) = (named("base"), named("head"));
    let gate = ["--fail-if-slower", "5%"];
    for (words, why) in [
        (
            &["--command", &base][..],
            "needs a baseline and another case",
        ),
        (
            &["--command", &base, "--command", &base],
            "two of --command have the name base",
        ),
        (
            &["--command", &base, "--command", &head, "--baseline", "old"],
            "no case or program of this name",
        ),
        (
            &["--case", "write", "--case", "write,sync=fsync"],
            "is other work than the baseline write, so they are not compared. With write, the data is less durable when \
             the last call returns. Name cases of one workload",
        ),
        (
            &["--case", "write", "--case", "write,data=zero"],
            "With write,data=zero, the file has other content.",
        ),
        (
            &["--case", "read-write", "--command", &base],
            "so they are not compared. If the program copies {source}, add --copies. Name cases of one workload",
        ),
        (
            &["--case", "write", "--case", "pwrite", "--precision", "5%"],
            "--precision",
        ),
    ] {
        let ended = program.call(&[&["run"], &gate[..], words].concat())?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains(why),
            "{words:?}: {}",
            ended.stderr
        );
    }
    let ended = program.call(&["run", "--case", "write", "--baseline", "write"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("--fail-if-slower"),
        "{}",
        ended.stderr
    );
    Ok(())
}
