use std::io::{BufRead, BufReader};

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, Mounted, Need, Program, Trials, directory_on, entries};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a reader of jsonl that stops reading does not end the run",
        &tmpfs,
        reader_is_gone,
    );
    trials.add(
        "a failing jsonl stream costs no sample",
        &[Need::Root],
        file_is_full,
    );
    trials.add(
        "a jsonl stream that cannot begin is reported before measuring",
        &[Need::Root],
        never_written,
    );
}

const CASE: [&str; 5] = [
    "--case",
    "write,size=64KiB",
    "--samples",
    "24",
    "--no-limits",
];

fn reader_is_gone() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let mut child = program.start(&[&["run", path, "--export", "jsonl=-"], &CASE[..]].concat())?;
    let mut first = String::new();
    BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut first)?;
    let output = child.wait_with_output()?;
    ensure!(first.starts_with('{'), "{first}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(0) && stderr.contains("The reader of the jsonl has stopped"),
        "{output:?}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "something was left behind"
    );
    all_samples(&program)
}

fn file_is_full() -> Result<()> {
    // Space for the run's line and a few samples.
    let (program, target, small) = (
        program()?,
        directory_on(Kind::Tmpfs),
        Mounted::tmpfs(12 << 10)?,
    );
    let export = format!("jsonl={}", small.path().join("samples").display());
    let path = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[&["run", path, "--export", &export], &CASE[..]].concat())?;
    ensure!(ended.code == Some(1), "{ended:?}");
    ensure!(
        ended
            .stderr
            .contains("No space left on device (28). The run continues."),
        "{ended:?}"
    );
    ensure!(
        ended
            .stderr
            .contains("writebench: cannot write jsonl, though the samples"),
        "{ended:?}"
    );
    all_samples(&program)
}

fn never_written() -> Result<()> {
    let (program, target, small) = (program()?, directory_on(Kind::Tmpfs), Mounted::tmpfs(4096)?);
    std::fs::write(small.path().join("all of it"), [0; 4096])?;
    let export = format!("jsonl={}", small.path().join("samples").display());
    let path = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[&["run", path, "--export", &export], &CASE[..]].concat())?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("cannot write jsonl"),
        "{ended:?}"
    );
    ensure!(
        program
            .call(&["show", "--export", "csv=-"])?
            .stdout
            .lines()
            .count()
            == 1,
        "nothing was measured"
    );
    let runs = program.call(&["runs"])?.stdout;
    ensure!(
        runs.contains("failed") && !runs.contains("running"),
        "{runs}"
    );
    Ok(())
}

fn all_samples(program: &Program) -> Result<()> {
    let rows = program.call(&["show", "--export", "csv=-"])?.stdout;
    ensure!(
        rows.lines().count() > 24 && rows.lines().skip(1).all(|row| row.contains("ok")),
        "{rows}"
    );
    Ok(())
}
