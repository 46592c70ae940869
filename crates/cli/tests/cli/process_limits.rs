//! In a control group with few processes and threads.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{ControlGroup, Ended, Kind, Need, Program, Trials, directory_on, entries};

use crate::program;
use crate::terminal::Terminal;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [
        Need::ProcessGroup,
        Need::Root,
        Need::Filesystem(Kind::Tmpfs),
    ];
    trials.add(
        "a run with few threads ends with an error or an outcome",
        &needs,
        runs,
    );
    trials.add(
        "a run with few threads in a terminal ends with an error or an outcome",
        &needs,
        in_a_terminal,
    );
    trials.add(
        "a small stack is raised, or refused in one line",
        &[],
        small_stacks,
    );
    trials.add(
        "a low limit on open files or file sizes is named by each error",
        &[],
        few_files,
    );
    trials.add(
        "compare fails if no thread can be started",
        &needs,
        compared,
    );
}

/// From the program and one agent to a case with four threads.
const COUNTS: std::ops::RangeInclusive<u64> = 2..=20;

const CASES: [&str; 9] = [
    "--case",
    "write,size=64KiB",
    "--case",
    "pwrite,size=64KiB,threads=4",
    "--case",
    "pwrite,size=64KiB,cache=direct",
    "--samples",
    "1",
    "--budget=20s",
];

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn within(count: u64, program: &Program, arguments: &[&str]) -> Result<Ended> {
    let group = ControlGroup::with_processes(count)?;
    let output = group
        .with(&program.command(arguments))
        .output()
        .context("run")?;
    Ok(Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// `limit` is that of bash's ulimit.
fn with_limit(program: &Program, limit: &str, words: &str) -> Result<Ended> {
    let script = format!(
        "ulimit {limit} && exec {} {words}",
        program.binary().display()
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .env("XDG_DATA_HOME", program.home())
        .env_remove("WRITEBENCH_DB")
        .output()?;
    Ok(Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

fn few_files() -> Result<()> {
    let (program, target) = (program()?, tempfile::tempdir()?);
    let words = format!(
        "run {} --case write,size=64KiB --case pwrite,size=64KiB,threads=4,descriptor=per-thread --samples 1 --no-limits",
        target.path().display()
    );
    let mut has_failed = false;
    for files in 8..32 {
        let ended = with_limit(&program, &format!("-n {files}"), &words)?;
        ensure!(
            matches!(ended.code, Some(0 | 1 | 4)),
            "{files} files: {ended:?}"
        );
        for line in ended.stderr.lines().chain(ended.stdout.lines()) {
            let is_cause = line.contains("Too many open files");
            ensure!(
                !is_cause || line.contains("ulimit -n"),
                "{files} files: {line}"
            );
            has_failed |= is_cause;
        }
    }
    ensure!(
        has_failed,
        "no limit was too low, and this test shows nothing"
    );
    let elsewhere = program.home().join("other.db");
    let ended = with_limit(
        &program,
        "-f 10",
        &format!("--db {} {words}", elsewhere.display()),
    )?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("ulimit -f"),
        "{ended:?}"
    );
    Ok(())
}

fn small_stacks() -> Result<()> {
    let (program, target) = (program()?, tempfile::tempdir()?);
    let with = |limit: &str, words: &str| with_limit(&program, limit, words);
    let run = format!(
        "run {} --case write,size=64KiB --samples 1 --no-limits",
        text(target.path())?
    );
    for kib in [64, 96, 256] {
        let ended = with(&format!("-Ss {kib}"), &run)?;
        ensure!(ended.code == Some(0), "{kib}: {ended:?}");
        let ended = with(&format!("-s {kib}"), "list suites")?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains("`ulimit -s 512`"),
            "{kib}: {ended:?}"
        );
    }
    Ok(())
}

fn runs() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut codes = Vec::new();
    for count in COUNTS {
        let ended = within(
            count,
            &program,
            &[&["run", text(target.path())?], &CASES[..]].concat(),
        )?;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        ensure!(!said.contains("panicked"), "{count}: {ended:?}");
        match ended.code {
            Some(1) => {
                let errors: Vec<&str> = ended
                    .stderr
                    .lines()
                    .filter(|line| line.starts_with("writebench: "))
                    .collect();
                ensure!(
                    errors.len() == 1 && errors[0].contains("pids.max"),
                    "{count}: {ended:?}"
                );
            }
            Some(4) => ensure!(said.contains("pthread_create"), "{count}: {ended:?}"),
            Some(0) => {}
            _ => anyhow::bail!("{count}: {ended:?}"),
        }
        ensure!(
            entries(target.path()).is_empty(),
            "{count}: {:?}",
            entries(target.path())
        );
        let listed = program.call(&["runs"])?;
        // The lowest limits allow no agent, and so no run.
        ensure!(
            listed.code == Some(0) || listed.stderr.contains("no runs yet"),
            "{listed:?}"
        );
        codes.push(ended.code);
    }
    for code in [0, 1, 4] {
        ensure!(
            codes.contains(&Some(code)),
            "each end has been met: {codes:?}"
        );
    }
    Ok(())
}

fn in_a_terminal() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    for count in COUNTS {
        let group = ControlGroup::with_processes(count)?;
        let run = program.command(&[&["run", text(target.path())?], &CASES[..]].concat());
        let (status, shown) = Terminal::start(&group.with(&run), 100)?.end()?;
        ensure!(
            matches!(status.code(), Some(0 | 1 | 4)),
            "{count}: {status}: {shown}"
        );
        ensure!(!shown.contains("panicked"), "{count}: {shown}");
        ensure!(
            entries(target.path()).is_empty(),
            "{count}: {:?}",
            entries(target.path())
        );
    }
    Ok(())
}

fn compared() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    for _ in 0..2 {
        program.run(
            target.path(),
            &["--case", "write,size=4KiB", "--samples", "1", "--no-limits"],
            0,
        )?;
    }
    let ended = within(1, &program, &["compare", "1", "2"])?;
    ensure!(
        ended.code == Some(1) && ended.stderr.lines().count() == 1,
        "{ended:?}"
    );
    ensure!(
        ended.stderr.contains("start a thread") && ended.stderr.contains("pids.max"),
        "{ended:?}"
    );
    Ok(())
}
