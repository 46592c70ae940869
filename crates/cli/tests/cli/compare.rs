use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "compare: numbers and labels name two runs",
        &tmpfs,
        by_number_and_label,
    );
    trials.add(
        "compare: the unit is a run if each side has several",
        &tmpfs,
        several_runs,
    );
    trials.add(
        "compare: show takes the newest run of a label",
        &tmpfs,
        show_by_label,
    );
    trials.add(
        "compare: exported files need no database",
        &tmpfs,
        exported_files,
    );
    trials.add(
        "compare: changed environments are listed",
        &tmpfs,
        changed_environment,
    );
    trials.add(
        "compare: --fail-if-slower fails for slower cases only",
        &tmpfs,
        fail_if_slower,
    );
    trials.add(
        "compare: cases with one name and different work are refused",
        &tmpfs,
        unequal_workloads,
    );
    trials.add("compare: the table fits into 80 columns", &tmpfs, fits);
    trials.add("compare: every refusal is one line", &tmpfs, refusals);
    for (label, text) in [
        ("7", "a number"),
        ("", "at least one"),
        ("a,b", "commas"),
        ("a/b", "file"),
    ] {
        trials.add(
            format!("compare: the label '{label}' is refused"),
            &tmpfs,
            move || label_refused(label, text),
        );
    }
}

const CASE: &str = "write,size=1MiB";

fn measured(program: &Program, more: &[&str]) -> Result<Value> {
    let target = directory_on(Kind::Tmpfs);
    program.run(
        target.path(),
        &[&["--case", CASE, "--samples", "6"], more].concat(),
        0,
    )
}

fn call(program: &Program, arguments: &[&str], code: i32) -> Result<Ended> {
    let ended = program.call(arguments)?;
    ensure!(
        ended.code == Some(code),
        "expected exit code {code}: {ended:#?}"
    );
    Ok(ended)
}

fn refused(program: &Program, arguments: &[&str], code: i32, text: &str) -> Result<()> {
    let ended = call(program, arguments, code)?;
    let stderr = &ended.stderr;
    ensure!(
        stderr.trim_end().lines().count() == 1 && stderr.starts_with("writebench: "),
        "{stderr}"
    );
    ensure!(
        stderr.contains(text) && ended.stdout.is_empty(),
        "'{text}' in {ended:?}"
    );
    Ok(())
}

fn by_number_and_label() -> Result<()> {
    let program = program()?;
    let exported = measured(&program, &["--label", "before"])?;
    ensure!(exported["run"]["label"] == "before", "{}", exported["run"]);
    measured(&program, &["--label", "after"])?;
    let listed = call(&program, &["runs"], 0)?.stdout;
    ensure!(
        listed.contains("before") && listed.contains("after") && listed.contains("label"),
        "{listed}"
    );
    for (a, b) in [("1", "2"), ("before", "after"), ("before", "2")] {
        let shown = call(&program, &["compare", a, b], 0)?.stdout;
        ensure!(
            shown.contains("run 1 of 2") && shown.contains("run 2 of 2"),
            "{shown}"
        );
        ensure!(
            shown.contains(CASE) && shown.contains("inconclusive: one run per side"),
            "{shown}"
        );
        let summary = shown.lines().next().context("a summary")?;
        ensure!(
            summary == "B vs. A: inconclusive: one run per side",
            "{summary}"
        );
    }
    // The inverse comparison has the inverse ratio.
    let ratio = |a: &str, b: &str| -> Result<f64> {
        let text = call(&program, &["compare", a, b, "--export", "json=-"], 0)?.stdout;
        let document: Value = serde_json::from_str(&text)?;
        document["cases"][0]["speed_ratio"]["value"]
            .as_f64()
            .context("a ratio")
    };
    let product = ratio("1", "2")? * ratio("2", "1")?;
    ensure!((product - 1.0).abs() < 1e-9, "{product}");
    Ok(())
}

fn several_runs() -> Result<()> {
    let program = program()?;
    for _ in 0..4 {
        measured(&program, &["--label", "a"])?;
        measured(&program, &["--label", "b"])?;
    }
    let shown = call(&program, &["compare", "a", "b"], 0)?.stdout;
    ensure!(
        shown.contains("a: run 1, run 3, run 5, run 7 (4 runs)")
            && shown.contains("The unit is the run")
            && shown.contains("4 / 4"),
        "{shown}"
    );
    let few = call(&program, &["compare", "1,3", "2"], 0)?.stdout;
    ensure!(
        few.contains("too few runs") && few.contains("at least 4 runs"),
        "{few}"
    );
    let gate = call(
        &program,
        &["compare", "1,3", "2", "--fail-if-slower", "5%"],
        2,
    )?
    .stderr;
    ensure!(
        gate.contains("no case has enough") && gate.lines().count() == 1,
        "{gate}"
    );
    refused(&program, &["compare", "a", "1"], 2, "the same run")
}

fn show_by_label() -> Result<()> {
    let program = program()?;
    measured(&program, &["--label", "mine"])?;
    measured(&program, &["--label", "mine"])?;
    measured(&program, &[])?;
    ensure!(
        call(&program, &["show", "mine"], 0)?
            .stdout
            .contains("run 2")
    );
    ensure!(call(&program, &["show", "1"], 0)?.stdout.contains("run 1"));
    refused(
        &program,
        &["show", "yours"],
        2,
        "no run has the label 'yours'",
    )?;
    refused(&program, &["show", "last"], 2, "The newest run is 3")?;
    refused(&program, &["show", "a.json"], 2, "is a file")
}

fn file(program: &Program, name: &str, document: &Value) -> Result<PathBuf> {
    let path = program.home().join(name);
    std::fs::write(&path, document.to_string())?;
    Ok(path)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

/// The exports of four runs with scaled times, as one argument.
fn four(program: &Program, name: &str, document: &Value, factor: f64) -> Result<String> {
    let one = |number: usize| -> Result<String> {
        let mut run = altered(document, factor)?;
        run["run"]["id"] = format!("{name}{number}").into();
        Ok(text(&file(program, &format!("{name}{number}.json"), &run)?)?.to_owned())
    };
    Ok((0..4).map(one).collect::<Result<Vec<_>>>()?.join(","))
}

fn altered(document: &Value, factor: f64) -> Result<Value> {
    let mut altered = document.clone();
    altered["run"]["id"] = "another".into();
    for case in altered["cases"].as_array_mut().context("cases")? {
        for sample in case["samples"].as_array_mut().context("samples")? {
            sample["disturbed_by"] = Value::Null;
            for phase in ["prepare", "open", "write", "sync", "close"] {
                let time = sample["phases_ns"][phase].as_f64().context("a time")? * factor;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "nanoseconds"
                )]
                let time = time as u64;
                sample["phases_ns"][phase] = time.into();
            }
        }
    }
    Ok(altered)
}

fn exported_files() -> Result<()> {
    let maker = program()?;
    let document = measured(&maker, &[])?;
    let (a, b) = (
        four(&maker, "a", &document, 1.0)?,
        four(&maker, "b", &document, 10.0)?,
    );
    // Another home, without a database.
    let program = program()?;
    let export = program.home().join("comparison.json");
    let shown = call(
        &program,
        &[
            "compare",
            &a,
            &b,
            "--export",
            &format!("json={}", export.display()),
        ],
        0,
    )?;
    ensure!(
        shown.stdout.contains("1 slower") && shown.stdout.contains("a0.json"),
        "{shown:?}"
    );
    let read: Value = serde_json::from_str(&std::fs::read_to_string(&export)?)?;
    ensure!(
        read["cases"][0]["verdict"] == "slower" && read["summary"]["slower"] == 1,
        "{read}"
    );
    let ratio = read["cases"][0]["speed_ratio"]["value"]
        .as_f64()
        .context("a ratio")?;
    ensure!(ratio < 0.2, "{ratio}");
    ensure!(
        writebench_testkit::entries(program.home()) == [export],
        "no database"
    );
    Ok(())
}

fn changed_environment() -> Result<()> {
    let program = program()?;
    let document = measured(&program, &[])?;
    let mut other = altered(&document, 1.0)?;
    other["targets"][0]["environment"]["system"]["kernel"] = "Linux 9.99".into();
    other["targets"][0]["environment"]["filesystem"]["mount_options"] = "rw,nosuch".into();
    other["run"]["version"] = "9.9.9".into();
    let other = file(&program, "other.json", &other)?;
    let shown = call(&program, &["compare", "1", text(&other)?], 0)?.stdout;
    for text in [
        "Other changes, possible reasons",
        "kernel",
        "Linux 9.99",
        "mount options",
        "→ rw,nosuch",
        "→ 9.9.9",
    ] {
        ensure!(shown.contains(text), "'{text}' in {shown}");
    }
    let same = file(&program, "same.json", &altered(&document, 1.0)?)?;
    let shown = call(&program, &["compare", "1", text(&same)?], 0)?.stdout;
    ensure!(
        !shown.contains("Other changes, possible reasons"),
        "{shown}"
    );
    Ok(())
}

fn fail_if_slower() -> Result<()> {
    let program = program()?;
    let document = measured(&program, &[])?;
    let base = four(&program, "base", &document, 1.0)?;
    let compare = |factor: f64, limit: &str, code: i32| -> Result<Ended> {
        let other = four(&program, "other", &document, factor)?;
        call(
            &program,
            &["compare", &base, &other, "--fail-if-slower", limit],
            code,
        )
    };
    let single = file(&program, "single.json", &altered(&document, 10.0)?)?;
    refused(
        &program,
        &["compare", "1", text(&single)?, "--fail-if-slower", "5%"],
        2,
        "Take four runs of each side",
    )?;
    let failed = compare(10.0, "5%", 5)?;
    ensure!(
        failed
            .stderr
            .starts_with("writebench: slower by more than 5 %: write,size=1MiB (0."),
        "{failed:?}"
    );
    ensure!(failed.stderr.lines().count() == 1, "{failed:?}");
    ensure!(
        failed.stdout.contains("1 slower"),
        "the comparison is still shown: {failed:?}"
    );
    compare(0.1, "5%", 0)?;
    compare(1.0, "5%", 0)?;
    let other = four(&program, "other", &document, 10.0)?;
    let exported = |format: &str, limit: &[&str], code: i32| -> Result<String> {
        let words = ["compare", &base, &other, "--export", format];
        Ok(call(&program, &[&words[..], limit].concat(), code)?.stdout)
    };
    let comment = exported("markdown=-", &["--fail-if-slower", "5%"], 5)?;
    ensure!(
        comment.contains("Slower by more than 5 %: **`write,size=1MiB`**."),
        "{comment}"
    );
    ensure!(
        comment.contains("| case | A GB/s | B GB/s | B / A |")
            && comment.contains("| slower | 4 / 4 |"),
        "{comment}"
    );
    let tests = exported("junit=-", &["--fail-if-slower", "5%"], 5)?;
    ensure!(
        tests.contains("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""),
        "{tests}"
    );
    ensure!(
        tests.contains("<failure message=\"slower by more than 5 %: 0."),
        "{tests}"
    );
    ensure!(
        exported("junit=-", &[], 0)?.contains("failures=\"0\""),
        "only the option makes tests fail"
    );
    compare(1.0, "0%", 0)?;
    compare(10.0, "95%", 0)?;
    Ok(())
}

fn unequal_workloads() -> Result<()> {
    let program = program()?;
    let mut other = altered(&measured(&program, &[])?, 1.0)?;
    other["cases"][0]["contract"]["durability"] = "durable".into();
    let other = file(&program, "other.json", &other)?;
    let what = "is different work in run 1 and";
    refused(&program, &["compare", "1", text(&other)?], 2, what)?;
    refused(
        &program,
        &["compare", "1", text(&other)?],
        2,
        "durability: cached → durable",
    )
}

fn fits() -> Result<()> {
    let program = program()?;
    let target = directory_on(Kind::Tmpfs);
    for _ in 0..2 {
        program.run(
            target.path(),
            &["--suite", "create", "--size", "64KiB", "--samples", "4"],
            0,
        )?;
    }
    let script = format!(
        "stty rows 24 cols 80; exec {} compare 1 2 --db {}",
        program.binary().display(),
        program.home().join("writebench/writebench.db").display()
    );
    let output = std::process::Command::new("script")
        .args(["-qec", &script, "/dev/null"])
        .output()?;
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(shown.contains("inconclusive"), "{shown}");
    for line in shown.lines() {
        let plain: String =
            line.split('\u{1b}')
                .enumerate()
                .fold(String::new(), |text, (index, part)| {
                    text + if index == 0 {
                        part
                    } else {
                        part.split_once('m').map_or("", |(_, after)| after)
                    }
                });
        ensure!(plain.trim_end().chars().count() <= 80, "{plain}");
    }
    Ok(())
}

fn refusals() -> Result<()> {
    let empty = program()?;
    refused(&empty, &["compare", "1", "2"], 2, "no runs yet")?;
    let program = program()?;
    let document = measured(&program, &[])?;
    refused(&program, &["compare", "1"], 2, "<B>")?;
    refused(&program, &["compare", "1", "9"], 2, "no run 9")?;
    refused(
        &program,
        &["compare", "1", "nobody"],
        2,
        "no run has the label 'nobody'",
    )?;
    refused(&program, &["compare", "1", "1"], 2, "the same run")?;
    refused(&program, &["compare", "1", ""], 2, "single commas")?;
    refused(&program, &["compare", "1,,2", "3"], 2, "single commas")?;
    refused(
        &program,
        &["compare", "1", "/no/such.json"],
        2,
        "No such file or directory (2)",
    )?;
    refused(
        &program,
        &["compare", "1", "1", "--export", "csv=-"],
        2,
        "json, markdown, junit only",
    )?;
    for limit in ["5", "-1%", "100%", "much"] {
        let limit = format!("--fail-if-slower={limit}");
        refused(&program, &["compare", "1", "1", &limit], 2, "such as 5%")?;
    }
    let letter = program.home().join("letter.json");
    std::fs::write(&letter, "Dear Sir,\nthis is a letter.\n")?;
    refused(
        &program,
        &["compare", "1", text(&letter)?],
        2,
        "not a JSON export of writebench",
    )?;
    let mut newer = document.clone();
    newer["schema"] = 8.into();
    refused(
        &program,
        &[
            "compare",
            "1",
            text(&file(&program, "newer.json", &newer)?)?,
        ],
        2,
        "schema 8",
    )?;
    let mut other = altered(&document, 1.0)?;
    other["cases"][0]["name"] = "mmap".into();
    refused(
        &program,
        &[
            "compare",
            "1",
            text(&file(&program, "other.json", &other)?)?,
        ],
        2,
        "no common case",
    )
}

fn label_refused(label: &str, text: &str) -> Result<()> {
    let target = directory_on(Kind::Tmpfs);
    let path = target.path().to_str().context("UTF-8")?;
    refused(
        &program()?,
        &["run", path, "--case", CASE, "--label", label],
        2,
        text,
    )
}
