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
        "code takes the answers of an interrupted or labelled run, and of the given database",
        &[],
        other_runs,
    );
    trials.add(
        "code of a run without an answer fails after one with an answer",
        &[],
        run_without_answer,
    );
    trials.add(
        "code is about an imported run if that is the newest",
        &[],
        imported,
    );
    trials.add(
        "code of several answers to a goal names the cases",
        &[],
        several_targets,
    );
    trials.add(
        "code names the goal of a file larger than memory",
        &[],
        beyond_memory,
    );
    trials.add("code without a run is refused", &[], no_run);
    trials.add(
        "the name of a goal selects its part of a run, or its answer as a case",
        &[Need::Filesystem(Kind::Tmpfs)],
        goal_as_name,
    );
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
    let why = "run 2, the newest (writebench advise /second --for 'a goal'), has no recommendation for durable-stream. \
               The search ended";
    ensure!(
        ended.stderr.contains(why)
            && ended
                .stderr
                .contains("`writebench advise --for durable-stream`")
            && ended.stderr.lines().count() == 1,
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
        "writebench code --for stream --lang rust --atomic",
        "writebench code --for durable-stream --lang rust --atomic",
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
    let why = "has no recommendation for records. It is about stream, durable-stream.";
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

fn stream_and_checkpoint() -> [(&'static str, &'static str, u64); 4] {
    [
        ("Stream data", STREAM[0], 300),
        ("Stream data", STREAM[1], 100),
        ("Stream data durably", CHECKPOINT[0], 300),
        ("Stream data durably", CHECKPOINT[1], 100),
    ]
}

fn other_runs() -> Result<()> {
    let interrupted = RunRecord {
        status: RunStatus::Interrupted,
        label: Some("before".to_owned()),
        ..goals(&stream_and_checkpoint()[..2])?
    };
    let program = with_runs(&[search("/first", Stage::Final, CHECKPOINT)?, interrupted])?;
    let ended = program.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.starts_with("From run 2, stream on "),
        "{ended:?}"
    );
    // The listed commands are about the same database.
    let elsewhere = program.home().join("other file.db");
    Store::open(&elsewhere)?.import_runs(&[goals(&stream_and_checkpoint())?])?;
    let elsewhere = elsewhere.to_str().context("UTF-8")?;
    let ended = program.call(&["code", "--lang", "c", "--db", elsewhere])?;
    let line = format!("writebench --db '{elsewhere}' code --for durable-stream --lang c");
    ensure!(
        ended.code == Some(2) && ended.stderr.lines().any(|said| said == line),
        "{ended:?}"
    );
    let mut command = program.command(&["code", "--for", "checkpoint", "--lang", "c"]);
    let output = command.env("WRITEBENCH_DB", elsewhere).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success() && said.starts_with("From run 1, durable-stream on "),
        "{output:?}"
    );
    Ok(())
}

fn run_without_answer() -> Result<()> {
    let mut unanswered = goals(&stream_and_checkpoint())?;
    for case in &mut unanswered.cases {
        case.samples.truncate(2);
    }
    let mut unstarted = goals(&stream_and_checkpoint())?;
    unstarted.cases.clear();
    unstarted.status = RunStatus::Interrupted;
    let answered = search("/first", Stage::Final, STREAM)?;
    let program = with_runs(&[answered.clone(), unanswered])?;
    for (words, whys) in [
        (
            &["code", "--lang", "c"][..],
            [
                "has no recommendation. stream: To stream",
                "`writebench advise --for GOAL`",
            ],
        ),
        (
            &["code", "--lang", "c", "--for", "checkpoint"],
            [
                "has no recommendation for durable-stream. To stream",
                "`writebench advise --for durable-stream`",
            ],
        ),
    ] {
        let ended = program.call(words)?;
        let why_not = "no answer yet: an answer needs 6 usable samples";
        ensure!(
            ended.code == Some(2)
                && ended.stdout.is_empty()
                && ended.stderr.starts_with("writebench: run 2, the newest (")
                && ended.stderr.contains(why_not)
                && whys.iter().all(|why| ended.stderr.contains(why)),
            "{ended:?}"
        );
    }
    let program = with_runs(&[answered, unstarted])?;
    let ended = program.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("interrupted before its first sample"),
        "{ended:?}"
    );
    Ok(())
}

fn imported() -> Result<()> {
    let program = with_runs(&[goals(&stream_and_checkpoint()[2..])?])?;
    let export = program.home().join("elsewhere.json");
    let export = export.to_str().context("UTF-8")?;
    let to = format!("json={export}");
    program.call(&["show", "--export", &to])?;
    let program = with_runs(&[search("/own", Stage::Final, STREAM)?])?;
    let ended = program.call(&["import", export])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let ended = program.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.starts_with("From run 2, durable-stream on "),
        "{ended:?}"
    );
    Ok(())
}

fn several_targets() -> Result<()> {
    let mut run = goals(&stream_and_checkpoint()[..2])?;
    let slower = run.cases.iter().cloned().map(|mut case| {
        case.target = "/scratch".to_owned();
        // The other case is the fastest there.
        let is_plain = case.case.name() == STREAM[0];
        for sample in &mut case.samples {
            sample.phases_ns.write = if is_plain { 100_000_000 } else { 300_000_000 };
        }
        case
    });
    let slower: Vec<CaseRecord> = slower.collect();
    run.targets[0].name = "/data".to_owned();
    run.targets[0].path = "/data".to_owned();
    for case in &mut run.cases {
        case.target = "/data".to_owned();
    }
    run.targets
        .push(writebench_testkit::example_target("/scratch"));
    run.cases.extend(slower);
    let program = with_runs(&[run])?;
    let ended = program.call(&["code", "--lang", "go"])?;
    ensure!(
        ended.code == Some(2) && ended.stdout.is_empty(),
        "{ended:?}"
    );
    for line in [
        "writebench code pwrite,prepare=fallocate --lang go  # stream on /data",
        "writebench code write --lang go  # stream on /scratch",
        "writebench: run 1 has 2 answers for stream. Name one of the cases",
    ] {
        ensure!(
            ended.stderr.lines().any(|said| said == line),
            "{}",
            ended.stderr
        );
    }
    Ok(())
}

fn beyond_memory() -> Result<()> {
    let names = [
        "write,size=8TiB,source=chunk",
        "pwrite,size=8TiB,source=chunk",
    ];
    let program = with_runs(&[search("/data", Stage::Final, names)?])?;
    let ended = program.call(&["code", "--lang", "c", "--for", "larger-than-memory"])?;
    let from = "From run 1, larger-than-memory on ";
    ensure!(
        ended.code == Some(0) && ended.stderr.starts_with(from),
        "{ended:?}"
    );
    Ok(())
}

fn no_run() -> Result<()> {
    let ended = program()?.call(&["code", "--lang", "c"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.starts_with("writebench: there is no run yet."),
        "{ended:?}"
    );
    let program = with_runs(&[])?;
    let ended = program.call(&["run", "--case", "log"])?;
    let says = "`writebench advise --for records` recommend one first";
    ensure!(
        ended.code == Some(2) && ended.stderr.contains(says),
        "{ended:?}"
    );
    Ok(())
}

fn goal_as_name() -> Result<()> {
    let program = with_runs(&[goals(&stream_and_checkpoint())?])?;
    let shown = program.call(&["show", "--for", "checkpoint"])?;
    ensure!(
        shown.code == Some(0)
            && shown.stdout.contains("durable-stream: ")
            && shown.stdout.contains(CHECKPOINT[1])
            && !shown.stdout.contains("Stream data ·"),
        "{shown:?}"
    );
    let shown = program.call(&["show", "1", "--for", "wal"])?;
    let why = "run 1 has no cases for records. It is about stream, durable-stream.";
    ensure!(
        shown.code == Some(2) && shown.stderr.contains(why),
        "{shown:?}"
    );
    for (words, meant) in [
        (
            &["code", "stream", "--lang", "c"][..],
            "`writebench code --for stream --lang c`",
        ),
        (&["show", "stream"], "writebench show --for stream"),
    ] {
        let ended = program.call(words)?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains(meant),
            "{ended:?}"
        );
    }
    let target = directory_on(Kind::Tmpfs);
    let target = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[
        "run",
        target,
        "--case",
        "download",
        "--case",
        "write",
        "--size",
        "1MiB",
        "--samples",
        "1",
        "--no-limits",
        "--export",
        "csv=-",
    ])?;
    let from = "From run 1, stream on ";
    ensure!(
        ended.code == Some(0)
            && ended.stderr.contains(from)
            && ended.stdout.contains("pwrite,size=1MiB,prepare=fallocate")
            && ended.stdout.contains("write,size=1MiB"),
        "{ended:?}"
    );
    // That run compared.
    let ended = program.call(&["run", target, "--case", "stream"])?;
    let why = "has no recommendation for stream. A run of suites or cases compares";
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
    // The goal is named only if a sample was taken before the end of the budget, which depends on the machine.
    ensure!(
        ended.code == Some(2)
            && ended
                .stderr
                .contains("--for stream --size 64MiB --budget 1ms), has no recommendation")
            && ended.stderr.contains("The search ended too early"),
        "{ended:?}"
    );
    Ok(())
}
