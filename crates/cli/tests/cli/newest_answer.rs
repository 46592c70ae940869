//! `code` without a case is about the newest run, and reads no other.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_model::{
    Case, CaseOrigin, CaseRecord, Layout, Outcome, RunRecord, RunStatus, Sample, Settings, Stage,
};
use writebench_store::Store;
use writebench_testkit::{Kind, Need, Program, Trials, directory_on, example_case, example_run};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    trials.add(
        "code is about the newest search, and never about an older one",
        &[],
        newest_search,
    );
    trials.add(
        "code names the goals of the newest run, and takes one",
        &[],
        one_of_the_goals,
    );
    trials.add("code of a run without goals is refused", &[], no_goals);
    trials.add(
        "code reads one run only",
        &[Need::Program("python3")],
        reads_one,
    );
    let needs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "advise without an answer has an exit code of its own",
        &needs,
        without_answer,
    );
}

fn row(origin: CaseOrigin, name: &str, milliseconds: u64) -> Result<CaseRecord> {
    let sample = |round: u32| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        (sample.phases_ns.write, sample.bytes) =
            ((milliseconds * 1000 + u64::from(round % 3)) * 1000, 1 << 30);
        sample
    };
    let record = example_case("", name, (0..8).map(sample).collect());
    Ok(CaseRecord {
        origin,
        workload: Case::parse(name)?.workload(),
        ..record
    })
}

fn search(target: &str, stage: Stage, [plain, other]: [&str; 2]) -> Result<RunRecord> {
    let origin = |is_baseline| CaseOrigin::of_search(stage, is_baseline);
    let cases = vec![
        row(origin(true), plain, 300)?,
        row(origin(false), other, 100)?,
    ];
    let run = run(&["advise", target, "--for", "a goal"], cases);
    Ok(RunRecord {
        settings: Settings {
            search_bytes: Some(1 << 30),
            ..run.settings.clone()
        },
        ..run
    })
}

fn goals(rows: &[(&str, &str, u64)]) -> Result<RunRecord> {
    let origin = |title| CaseOrigin::of_suite(CaseOrigin::GOALS, title, Layout::Ranked);
    let rows: Result<_> = rows
        .iter()
        .map(|(title, name, time)| row(origin(title), name, *time))
        .collect();
    Ok(run(&["run", "/data"], rows?))
}

fn run(words: &[&str], cases: Vec<CaseRecord>) -> RunRecord {
    let arguments = ["writebench"]
        .iter()
        .chain(words)
        .map(|&word| word.to_owned())
        .collect();
    let example = example_run();
    let id = format!("{words:?}{}", cases.len());
    RunRecord {
        id,
        arguments,
        cases,
        status: RunStatus::Complete,
        ..example
    }
}

const STREAM: [&str; 2] = ["write", "pwrite,prepare=fallocate"];
const CHECKPOINT: [&str; 2] = [
    "write,sync=fsync",
    "pwrite,prepare=fallocate,sync=fdatasync",
];

fn database(program: &Program) -> PathBuf {
    program.home().join("writebench/writebench.db")
}

fn with_runs(runs: &[RunRecord]) -> Result<Program> {
    use std::os::unix::fs::DirBuilderExt;
    let program = program()?;
    let folder = program.home().join("writebench");
    std::fs::DirBuilder::new().mode(0o700).create(folder)?;
    Store::open(&database(&program))?.import_runs(runs)?;
    Ok(program)
}

fn newest_search() -> Result<()> {
    let first = search("/first", Stage::Final, STREAM)?;
    let program = with_runs(std::slice::from_ref(&first))?;
    let ended = program.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(0) && ended.stdout.contains("pwrite(2)"),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.starts_with("From run 1, stream on "),
        "{}",
        ended.stderr
    );
    ensure!(
        ended
            .stderr
            .trim_end()
            .ends_with(": pwrite,prepare=fallocate"),
        "{}",
        ended.stderr
    );
    let program = with_runs(&[first, search("/second", Stage::Screening, CHECKPOINT)?])?;
    let ended = program.call(&["code", "--lang", "python"])?;
    ensure!(
        ended.code == Some(2) && ended.stdout.is_empty(),
        "{ended:?}"
    );
    let why = "run 2, the newest (writebench advise /second --for 'a goal'), has no recommendation. The search ended";
    ensure!(
        ended.stderr.contains(why) && ended.stderr.lines().count() == 1,
        "{}",
        ended.stderr
    );
    Ok(())
}

fn one_of_the_goals() -> Result<()> {
    let rows = [
        ("Stream data", STREAM[0], 300),
        ("Stream data", STREAM[1], 100),
        ("Stream data durably", CHECKPOINT[0], 300),
        ("Stream data durably", CHECKPOINT[1], 100),
    ];
    let program = with_runs(&[search("/first", Stage::Final, STREAM)?, goals(&rows)?])?;
    let ended = program.call(&["code", "--lang", "rust", "--atomic"])?;
    ensure!(
        ended.code == Some(2) && ended.stdout.is_empty(),
        "{ended:?}"
    );
    for line in [
        "writebench code --for stream         --lang rust --atomic  pwrite,prepare=fallocate",
        "writebench code --for durable-stream --lang rust --atomic  pwrite,prepare=fallocate,sync=fdatasync",
        "writebench: run 2 has answers for 2 goals. Name one of them by --for GOAL",
    ] {
        ensure!(
            ended.stderr.lines().any(|said| said == line),
            "{}",
            ended.stderr
        );
    }
    let ended = program.call(&["code", "--lang", "rust", "--for", "checkpoint"])?;
    ensure!(
        ended.code == Some(0) && ended.stdout.contains("fdatasync"),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.starts_with("From run 2, durable-stream on "),
        "{}",
        ended.stderr
    );
    let ended = program.call(&["code", "--lang", "rust", "--for", "wal"])?;
    let why = "has no recommendation for records. It did not measure this goal.";
    ensure!(
        ended.code == Some(2) && ended.stderr.contains(why),
        "{ended:?}"
    );
    // One goal needs no name.
    let program = with_runs(&[goals(&rows[2..])?])?;
    let ended = program.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.starts_with("From run 1, durable-stream on "),
        "{ended:?}"
    );
    Ok(())
}

fn no_goals() -> Result<()> {
    let cases = vec![
        row(CaseOrigin::named(), STREAM[0], 300)?,
        row(CaseOrigin::named(), STREAM[1], 100)?,
    ];
    let named = run(&["run", "--case", STREAM[0]], cases);
    let program = with_runs(&[search("/first", Stage::Final, STREAM)?, named])?;
    let ended = program.call(&["code", "--lang", "c"])?;
    let why = "run 2, the newest (writebench run --case write), has no recommendation. A run of suites or cases compares";
    ensure!(
        ended.code == Some(2) && ended.stderr.contains(why),
        "{ended:?}"
    );
    Ok(())
}

/// The older runs cannot be read any more.
fn reads_one() -> Result<()> {
    let newest = search("/newest", Stage::Final, CHECKPOINT)?;
    let older = (0..40).map(|number| search(&format!("/{number}"), Stage::Final, STREAM));
    let program = with_runs(&older.chain([Ok(newest)]).collect::<Result<Vec<_>>>()?)?;
    let script = "import sqlite3, sys\n\
        c = sqlite3.connect(sys.argv[1])\n\
        c.execute(\"update cases set record = 'broken' where run < 41\")\n\
        c.execute(\"update samples set sample = '{}' where run < 41\")\n\
        c.commit()";
    let broken = Command::new("python3")
        .args(["-c", script])
        .arg(database(&program))
        .status()?;
    ensure!(broken.success(), "python3");
    ensure!(
        program.call(&["show", "40"])?.code == Some(1),
        "an older run can still be read"
    );
    let ended = program.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.starts_with("From run 41, durable-stream on "),
        "{ended:?}"
    );
    let words = [CHECKPOINT[1]
        .replacen("pwrite", "fwrite", 1)
        .replace("fdatasync", "fsync")];
    let ended = program.call(&["code", &words[0], "--lang", "go"])?;
    ensure!(
        ended.code == Some(2) && !ended.stderr.contains("malformed"),
        "{ended:?}"
    );
    Ok(())
}

fn without_answer() -> Result<()> {
    let target = directory_on(Kind::Tmpfs);
    let target = target.path().to_str().context("UTF-8")?;
    let program = program()?;
    let words = [
        "advise", target, "--for", "stream", "--size", "64MiB", "--budget", "1ms",
    ];
    let ended = program.call(&words)?;
    ensure!(
        ended.code == Some(6) && ended.stdout.contains("The search ended too early"),
        "{ended:?}"
    );
    let ended = program.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(2)
            && ended
                .stderr
                .contains("--budget 1ms), has no recommendation"),
        "{ended:?}"
    );
    Ok(())
}
