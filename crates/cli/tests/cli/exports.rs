use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on, send, wait_for};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = Need::Filesystem(Kind::Tmpfs);
    let python = [tmpfs, Need::Program("python3")];
    trials.add(
        "exports: Python reads CSV and JSON with the database's results",
        &python,
        python_reads,
    );
    let jq = [tmpfs, Need::Program("jq")];
    trials.add(
        "exports: jq makes the tables that docs/reference/json.md shows",
        &jq,
        jq_reads,
    );
    trials.add(
        "exports: jsonl lines are written during the run",
        &[tmpfs],
        lines_come,
    );
    trials.add(
        "exports: an imported run equals its original",
        &[tmpfs],
        imported,
    );
    trials.add(
        "exports: a run imported from its jsonl equals its original, also of goals",
        &[tmpfs],
        imported_lines,
    );
    trials.add(
        "exports: the jsonl of a killed run is imported as interrupted",
        &[tmpfs],
        imported_of_killed,
    );
    trials.add(
        "exports: every format has the decision that the first screen shows",
        &[tmpfs],
        decisions_are_exported,
    );
    trials.add("exports: every refusal is one line", &[tmpfs], refusals);
    trials.add(
        "show: --sort and --top change tables but not exports",
        &[tmpfs],
        arranged,
    );
}

const CASES: [&str; 8] = [
    "--case",
    "write,size=1MiB",
    "--case",
    "pwrite,size=1MiB,cache=direct",
    "--case",
    "write,size=64KiB,chunk=4KiB,sync=fdatasync/1",
    "--samples",
    "3",
];

fn measured() -> Result<Program> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    program.run(target.path(), &CASES, 0)?;
    Ok(program)
}

fn call(program: &Program, arguments: &[&str], code: i32) -> Result<Ended> {
    let ended = program.call(arguments)?;
    ensure!(
        ended.code == Some(code),
        "expected exit code {code}: {ended:#?}"
    );
    Ok(ended)
}

/// Whatever was decided on this machine.
fn decisions_are_exported() -> Result<()> {
    let program = program()?;
    let target = directory_on(Kind::Tmpfs);
    let [json, lines] = ["d.json", "l.jsonl"].map(|name| program.home().join(name));
    let exports = [("json", &json), ("jsonl", &lines)]
        .map(|(format, path)| format!("--export={format}={}", path.display()));
    let [json_export, lines_export] = &exports;
    let arguments = [
        "--size",
        "64KiB",
        "--budget",
        "20s",
        json_export,
        lines_export,
    ];
    program.run(target.path(), &arguments, 0)?;
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json)?)?;
    let decisions = document["run"]["decisions"]
        .as_array()
        .context("decisions")?;
    let findings = document["findings"].as_array().context("findings")?;
    ensure!(!decisions.is_empty(), "{document:#}");
    let answers: Vec<&Value> = decisions
        .iter()
        .map(|decision| &decision["answer"]["case"])
        .collect();
    let shown: Vec<&Value> = findings.iter().map(|finding| &finding["case"]).collect();
    ensure!(answers == shown, "{answers:?} {shown:?}");
    let lines = std::fs::read_to_string(&lines)?;
    let streamed = values_of(&lines, "decision")?;
    ensure!(streamed == *decisions, "{streamed:#?} {decisions:#?}");
    let shown_lines = call(&program, &["show", "--export", "jsonl=-"], 0)?;
    same_lines(&lines, &shown_lines.stdout)?;
    let shown_later = call(&program, &["show", "--export", "json=-"], 0)?;
    let later: Value = serde_json::from_str(&shown_later.stdout)?;
    ensure!(later["run"]["decisions"] == document["run"]["decisions"]);
    ensure!(later["findings"] == document["findings"]);
    Ok(())
}

/// The values of the lines with this key.
fn values_of(lines: &str, key: &str) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for line in lines.lines() {
        let mut line: Value = serde_json::from_str(line)?;
        values.extend(line.get_mut(key).map(Value::take));
    }
    Ok(values)
}

/// Prints the number of good samples and their median time, from every format.
const READER: &str = r#"
import csv, json, sys
home = sys.argv[1]
case = "write,size=1MiB"
samples = [row for row in csv.DictReader(open(home + "/s.csv")) if row["case"] == case and row["outcome"] == "ok"]
calm = [int(row["total_ns"]) for row in samples if not row["disturbed_by"]] or [int(row["total_ns"]) for row in samples]
document = json.load(open(home + "/d.json"))
found = [row for row in document["cases"] if row["name"] == case]
lines = [json.loads(line) for line in open(home + "/l.jsonl")]
streamed = [line["sample"] for line in lines if line.get("sample", {}).get("case") == case]
assert len(samples) == len(streamed) == len(found[0]["samples"]), (samples, streamed)
assert found[0]["estimate"]["samples"] == len(calm), (found, calm)
order = sorted((int(row["order"]), row["case"]) for row in csv.DictReader(open(home + "/s.csv")))
assert [place for place, _ in order] == list(range(len(order))), order
everything = sorted((sample["order"], row["name"]) for row in document["cases"] for sample in row["samples"])
assert order == everything, (order, everything)
unsupported = [row for row in document["cases"] if row["outcome"] == "unsupported"]
assert len(unsupported) == 1 and "page cache" in unsupported[0]["reason"], unsupported
"#;

fn python_reads() -> Result<()> {
    let program = measured()?;
    let home = program.home().to_str().context("UTF-8")?.to_owned();
    let exports = ["csv=s.csv", "json=d.json", "jsonl=l.jsonl"];
    let exports = exports.map(|export| export.replace('=', &format!("={home}/")));
    let mut arguments = vec!["show"];
    for export in &exports {
        arguments.extend(["--export", export]);
    }
    call(&program, &arguments, 0)?;
    let output = Command::new("python3")
        .args(["-c", READER, &home])
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

fn jq_reads() -> Result<()> {
    let program = measured()?;
    let document = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/json.md"
    ))?;
    let blocks = document
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let commands: Vec<&str> = blocks.filter(|block| block.contains("| jq")).collect();
    let said = |command: &str| -> Result<String> {
        let shown = command.replacen("writebench", &program.binary().display().to_string(), 1);
        let mut shell = Command::new("sh");
        let output = shell
            .args(["-c", &shown])
            .env("XDG_DATA_HOME", program.home())
            .output()?;
        ensure!(output.status.success(), "{output:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    let rows = said(commands.first().context("a table")?)?;
    let row = rows
        .lines()
        .find(|row| row.contains("\"write,size=1MiB\",\"ok\","))
        .context("a row")?;
    ensure!(
        rows.lines().count() == 3 && row.split(',').count() == 7,
        "{rows}"
    );
    let metrics = said(commands.get(1).context("metrics")?)?;
    let series: Vec<(&str, &str)> = metrics
        .lines()
        .filter_map(|line| line.rsplit_once("\"} "))
        .collect();
    ensure!(
        series.len() == 2 && series.iter().all(|(_, value)| value.parse::<f64>().is_ok()),
        "{metrics}"
    );
    Ok(())
}

fn lines_come() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target = target.path().to_str().context("UTF-8")?;
    let arguments = [
        "run",
        target,
        "--case",
        "write,size=4MiB",
        "--yes",
        "--samples",
        "100000",
        "--export",
        "jsonl=-",
    ];
    let mut child = program
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let stdout = child.stdout.take().context("stdout")?;
    let mut lines = BufReader::new(stdout).lines();
    let mut next =
        || -> Result<Value> { Ok(serde_json::from_str(&lines.next().context("a line")??)?) };
    let first = next()?;
    ensure!(
        first["run"]["schema"] == 7 && first["run"]["status"] == "running",
        "{first}"
    );
    let mut samples = 0;
    while samples < 3 {
        let line = next()?;
        let Some(sample) = line.get("sample") else {
            ensure!(
                line["row"]["name"] == "write,size=4MiB" || line["limits"]["target"] == target,
                "{line}"
            );
            continue;
        };
        ensure!(
            sample["target"] == target && sample["outcome"] == "ok",
            "{line}"
        );
        samples += 1;
    }
    send(child.id(), Signal::INT)?;
    let mut last = next()?;
    while let Ok(line) = next() {
        last = line;
    }
    child.wait()?;
    ensure!(last["end"]["status"] == "interrupted", "{last}");
    let resume = [
        "run", "--resume", "--budget", "1s", "--yes", "--export", "jsonl=-",
    ];
    let resumed = call(&program, &resume, 0)?;
    let first: Value = serde_json::from_str(resumed.stdout.lines().next().context("a line")?)?;
    ensure!(first["run"]["status"] == "running", "{first}");
    // Earlier samples come first.
    same_lines(
        &resumed.stdout,
        &call(&program, &["show", "--export", "jsonl=-"], 0)?.stdout,
    )
}

/// Rows join during a run, and its limits are measured twice.
fn same_lines(streamed: &str, shown: &str) -> Result<()> {
    for key in ["run", "row", "sample", "decision", "totals", "end"] {
        let mut of_both = [values_of(streamed, key)?, values_of(shown, key)?];
        if key == "row" {
            // A case that joins a contest has its row at that time. Later, its row is in its table.
            for rows in &mut of_both {
                rows.sort_by_key(Value::to_string);
            }
        }
        ensure!(of_both[0] == of_both[1], "{key}: {of_both:#?}");
        ensure!(key == "decision" || !of_both[0].is_empty(), "no {key}");
    }
    let last_limits = [streamed, shown].map(|lines| {
        let mut all = lines.lines().filter(|line| line.starts_with("{\"limits\""));
        all.next_back().map(str::to_owned)
    });
    ensure!(last_limits[0] == last_limits[1], "{last_limits:?}");
    Ok(())
}

fn imported() -> Result<()> {
    let (from, to) = (measured()?, program()?);
    let file = from.home().join("export.json");
    let file = file.to_str().context("UTF-8")?;
    let said = call(&to, &["import", file], 0)?.stdout;
    ensure!(said == format!("{file} is run 1\n"), "{said}");
    let shown = |program: &Program| {
        call(program, &["show", "1", "--export", "json=-"], 0).map(|ended| ended.stdout)
    };
    let (there, here): (Value, Value) = (
        serde_json::from_str(&shown(&from)?)?,
        serde_json::from_str(&shown(&to)?)?,
    );
    ensure!(there == here, "the same run");
    let again = call(&to, &["import", file], 2)?.stderr;
    ensure!(
        again.contains("already") && again.lines().count() == 1,
        "{again}"
    );
    let twice = call(&program()?, &["import", file, file], 2)?.stderr;
    ensure!(twice.contains("already"), "{twice}");
    ensure!(
        call(&to, &["runs"], 0)?.stdout.lines().count() == 2,
        "nothing came twice"
    );
    Ok(())
}

fn imported_lines() -> Result<()> {
    let from = program()?;
    let target = directory_on(Kind::Tmpfs);
    for (case, arguments) in [
        (1, &CASES[..]),
        (2, &["--size", "64KiB", "--budget", "15s"]),
    ] {
        let file = from.home().join(format!("{case}.jsonl"));
        let file = file.to_str().context("UTF-8")?;
        let export = format!("--export=jsonl={file}");
        from.run(target.path(), &[arguments, &[&export]].concat(), 0)?;
        let to = program()?;
        let import = call(&to, &["import", file], 0)?;
        ensure!(
            import.stdout == format!("{file} is run 1\n") && import.stderr.is_empty(),
            "{import:?}"
        );
        let number = case.to_string();
        let [original, lines] = ["json=-", "jsonl=-"].map(|export| {
            call(&from, &["show", &number, "--export", export], 0).map(|ended| ended.stdout)
        });
        let shown = call(&to, &["show", "1", "--export", "json=-"], 0)?.stdout;
        let [mut original, mut shown] =
            [original?, shown].map(|text| serde_json::from_str::<Value>(&text));
        if let [Ok(original), Ok(shown)] = [&mut original, &mut shown] {
            shown["run"]["number"] = original["run"]["number"].clone();
        }
        ensure!(original? == shown?, "the same run");
        let again = from.home().join("again.jsonl");
        std::fs::write(&again, lines?)?;
        let again = again.to_str().context("UTF-8")?;
        let same = call(&to, &["compare", file, again], 2)?.stderr;
        ensure!(same.contains("are the same run"), "{same}");
    }
    Ok(())
}

fn imported_of_killed() -> Result<()> {
    let (from, to, target) = (program()?, program()?, directory_on(Kind::Tmpfs));
    let file = from.home().join("killed.jsonl");
    let export = format!("--export=jsonl={}", file.display());
    let run = [
        "run",
        target.path().to_str().context("UTF-8")?,
        "--case",
        "write,size=64KiB",
        "--yes",
        "--samples",
        "100000",
        "--no-limits",
        &export,
    ];
    let mut child = from.start(&run)?;
    let samples = |text: &str| text.matches("{\"sample\"").count();
    let taken = wait_for("samples", || {
        let text = std::fs::read_to_string(&file).ok()?;
        (samples(&text) > 3).then_some(())
    });
    child.kill()?;
    child.wait()?;
    taken?;
    let mut text = std::fs::read_to_string(&file)?;
    let whole_line = text.trim_end().rfind('\n').context("several lines")?;
    text.truncate(whole_line + 20);
    std::fs::write(&file, &text)?;
    let import = call(&to, &["import", file.to_str().context("UTF-8")?], 0)?;
    let told = format!(
        "imported as interrupted, with {} samples",
        samples(&text) - 1
    );
    let stderr = import.stderr.replace('\n', " ");
    ensure!(
        stderr.contains(&told) && stderr.contains("is cut and left out"),
        "{import:?}"
    );
    let shown: Value =
        serde_json::from_str(&call(&to, &["show", "--export", "json=-"], 0)?.stdout)?;
    let read = shown["cases"][0]["samples"].as_array().context("samples")?;
    ensure!(
        shown["run"]["status"] == "interrupted" && read.len() == samples(&text) - 1,
        "{}",
        shown["run"]
    );
    let broken = text.replacen("\"round\":1", "\"round\":one", 1);
    std::fs::write(&file, broken)?;
    let refused = call(&program()?, &["import", file.to_str().context("UTF-8")?], 2)?.stderr;
    ensure!(
        refused.contains(" at line ")
            && refused.contains(" column ")
            && refused.lines().count() == 1,
        "{refused}"
    );
    Ok(())
}

fn arranged() -> Result<()> {
    let program = measured()?;
    // Names with their GB/s.
    let rows = |arguments: &[&str]| -> Result<Vec<(String, f64)>> {
        let shown = call(&program, &[&["show"], arguments].concat(), 0)?.stdout;
        let is_row = |line: &&str| line.starts_with("write,size=") && !line.contains(':');
        let row = |line: &str| -> Result<(String, f64)> {
            let (name, values) = line.split_once(' ').context("a name")?;
            Ok((
                name.to_owned(),
                values
                    .split_whitespace()
                    .next()
                    .context("a value")?
                    .parse()?,
            ))
        };
        shown.lines().filter(is_row).map(row).collect()
    };
    let names: Vec<_> = rows(&["--sort", "case"])?
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    ensure!(
        names
            == [
                "write,size=1MiB",
                "write,size=64KiB,chunk=4KiB,sync=fdatasync/1"
            ],
        "{names:?}"
    );
    let fastest_first = rows(&["--sort", "throughput"])?;
    ensure!(
        fastest_first.is_sorted_by(|(_, a), (_, b)| a >= b),
        "{fastest_first:?}"
    );
    // A shorter table may round differently.
    let top = rows(&["--top", "1"])?;
    ensure!(
        top.len() == 1 && top[0].0 == fastest_first[0].0,
        "{top:?} of {fastest_first:?}"
    );
    let all = call(&program, &["show", "--export", "csv=-"], 0)?.stdout;
    let top = call(&program, &["show", "--top", "1", "--export", "csv=-"], 0)?.stdout;
    ensure!(all == top, "an export is whole");
    ensure!(
        call(&program, &["show", "--sort", "nonsense"], 2)?
            .stderr
            .contains("precision"),
        "says what there is"
    );
    Ok(())
}

fn refusals() -> Result<()> {
    let program = program()?;
    let broken = program.home().join("broken.json");
    std::fs::write(&broken, "{\"schema\": 7}")?;
    let broken = broken.to_str().context("UTF-8")?;
    for (arguments, expected) in [
        (vec!["import", "/nowhere.json"], "No such file"),
        (vec!["import", broken], "invalid export of writebench"),
        (
            vec!["run", "--export", "yaml=x"],
            "expected one of json, jsonl",
        ),
        (vec!["run", "--export", "jsonl=/nowhere/x"], "/nowhere"),
    ] {
        let ended = call(&program, &arguments, 2)?;
        let is_line = ended.stderr.trim_end().lines().count() == 1;
        ensure!(
            is_line && ended.stderr.contains(expected),
            "'{expected}' in {ended:?}"
        );
    }
    Ok(())
}
