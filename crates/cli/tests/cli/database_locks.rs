//! Locks and removal of a live run's database cost no samples.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    DatabaseLock, Kind, Need, Program, Trials, directory_on, entries, send, wait_for, worker,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add("a locked database does not delay samples", &tmpfs, locked);
    trials.add(
        "SIGINT ends the wait for a database and shows the results",
        &tmpfs,
        locked_to_the_end,
    );
    trials.add(
        "SIGINT under a locked database ends the run before SQLite's timeout",
        &tmpfs,
        stopped,
    );
    trials.add(
        "fs with a locked database makes no filesystem",
        &[Need::Image("ext4")],
        fs_locked,
    );
    for (how, change) in [
        ("removed", removed as fn(&Path) -> Result<()>),
        ("replaced", replaced),
        ("cut off from its log", logless),
    ] {
        trials.add(
            format!("a database that is {how} during a run is reported with the results"),
            &tmpfs,
            move || gone(change),
        );
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn database(program: &Program) -> PathBuf {
    program.home().join("writebench/writebench.db")
}

fn start(program: &Program, target: &Path, budget: &str) -> Result<Child> {
    let stream = format!("--export=jsonl={}", program.home().join("lines").display());
    let run = [
        "run",
        text(target)?,
        "--case",
        "write,size=64KiB",
        "--yes",
        "--samples",
        "1000000",
        "--no-limits",
    ];
    program.start(&[&run[..], &["--budget", budget, &stream]].concat())
}

fn taken(program: &Program) -> usize {
    let lines = std::fs::read_to_string(program.home().join("lines")).unwrap_or_default();
    lines
        .lines()
        .filter(|line| line.contains("\"sample\""))
        .count()
}

fn wait_for_samples(program: &Program, more_than: usize) -> Result<()> {
    wait_for("samples", || (taken(program) > more_than).then_some(()))
}

fn recorded(program: &Program) -> Result<Vec<Value>> {
    let document: Value =
        serde_json::from_str(&program.call(&["show", "--export", "json=-"])?.stdout)?;
    Ok(document["cases"][0]["samples"]
        .as_array()
        .context("samples")?
        .clone())
}

const WAITING: &str = "Another program has locked the database";

fn locked() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let child = start(&program, target.path(), "16s")?;
    wait_for_samples(&program, 3)?;
    let lock = DatabaseLock::on(&database(&program))?;
    let (since, before) = (Instant::now(), taken(&program));
    // Longer than SQLite's timeout.
    std::thread::sleep(Duration::from_secs(12));
    ensure!(
        since.elapsed() > Duration::from_secs(11) && taken(&program) > before,
        "it goes on"
    );
    drop(lock);
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(0), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        stderr.matches(WAITING).count() == 1,
        "it is said once: {stderr}"
    );
    let samples = recorded(&program)?;
    ensure!(
        samples.len() == taken(&program),
        "{} of {}",
        samples.len(),
        taken(&program)
    );
    let rounds: Vec<u64> = samples
        .iter()
        .filter_map(|sample| sample["round"].as_u64())
        .collect();
    ensure!(
        rounds.is_sorted(),
        "in the order in which they were taken: {rounds:?}"
    );
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn locked_to_the_end() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let child = start(&program, target.path(), "6s")?;
    wait_for_samples(&program, 0)?;
    let lock = DatabaseLock::on(&database(&program))?;
    wait_for_samples(&program, taken(&program))?;
    wait_for("the last worker to end", || {
        worker(child.id()).is_none().then_some(())
    })?;
    std::thread::sleep(Duration::from_millis(200));
    send(child.id(), Signal::INT)?;
    let output = child.wait_with_output()?;
    drop(lock);
    ensure!(output.status.code() == Some(1), "{output:?}");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(stdout.contains("write,size=64KiB"), "{stdout}");
    let last = stderr.lines().last().unwrap_or_default();
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    ensure!(
        last.contains("another program has locked it, and") && last.contains("sample"),
        "{stderr}"
    );
    let before = recorded(&program)?.len();
    ensure!(
        before > 0 && before < taken(&program),
        "{before} of {}",
        taken(&program)
    );
    let ended = program.call(&["run", "--resume", "--budget", "1s", "--yes"])?;
    ensure!(
        ended.code == Some(0) && recorded(&program)?.len() > before,
        "{ended:?}"
    );
    Ok(())
}

fn stopped() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let child = start(&program, target.path(), "60s")?;
    wait_for_samples(&program, 0)?;
    let lock = DatabaseLock::on(&database(&program))?;
    wait_for_samples(&program, taken(&program))?;
    let since = Instant::now();
    send(child.id(), Signal::INT)?;
    let output = child.wait_with_output()?;
    let waited = since.elapsed();
    drop(lock);
    // Half of two SQLite timeouts.
    ensure!(
        output.status.code() == Some(1) && waited < Duration::from_secs(10),
        "{waited:?}: {output:?}"
    );
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn removed(database: &Path) -> Result<()> {
    Ok(std::fs::remove_dir_all(
        database.parent().context("a directory")?,
    )?)
}

fn replaced(database: &Path) -> Result<()> {
    let other = database.with_extension("other");
    std::fs::copy(database, &other)?;
    Ok(std::fs::rename(other, database)?)
}

fn logless(database: &Path) -> Result<()> {
    Ok(std::fs::remove_file(database.with_extension("db-wal"))?)
}

fn gone(change: fn(&Path) -> Result<()>) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let export = program.home().join("run.json");
    let run = [
        "run",
        text(target.path())?,
        "--case",
        "write,size=64KiB",
        "--yes",
        "--samples",
        "1000000",
        "--no-limits",
    ];
    let export_argument = format!("--export=json={}", export.display());
    let child = program.start(&[&run[..], &["--budget", "3s", &export_argument]].concat())?;
    wait_for("samples", || {
        let shown = program.call(&["show", "--export", "csv=-"]).ok()?;
        (shown.stdout.lines().count() > 5).then_some(())
    })?;
    change(&database(&program))?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(stdout.contains("write,size=64KiB"), "{stdout}");
    let last = stderr.lines().last().unwrap_or_default();
    ensure!(
        last.starts_with("writebench: database ")
            && last.contains("was removed or replaced during the run"),
        "{last}"
    );
    ensure!(last.contains("--export json=FILE"), "{last}");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(export)?)?;
    ensure!(
        document["run"]["status"] == "limited",
        "{}",
        document["run"]
    );
    ensure!(
        document["cases"][0]["samples"]
            .as_array()
            .is_some_and(|samples| samples.len() > 5)
    );
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn fs_locked() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    program.run(
        target.path(),
        &["--case", "write,size=4KiB", "--samples", "1", "--no-limits"],
        0,
    )?;
    let lock = DatabaseLock::on(&database(&program))?;
    // Longer than any wait for a lock.
    let words = [
        "fs",
        "--on",
        "tmpfs,ext4",
        "--case",
        "write,size=4KiB",
        "--samples",
        "1",
        "--images",
    ];
    let ended = program.call(&[&words[..], &[text(target.path())?]].concat())?;
    drop(lock);
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("record the run: database is locked"),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.lines().count() == 1,
        "nothing is planned or made before: {}",
        ended.stderr
    );
    Ok(())
}
