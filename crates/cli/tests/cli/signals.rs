use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{
    Caching, Call, Kind, Need, Program, Trials, What, When, directory_on, entries, kill_run,
    wait_for,
};

use crate::faults::FaultyTarget;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    for signal in ["INT", "TERM", "HUP"] {
        trials.add(
            format!("SIG{signal} cleans up, keeps the samples and shows them"),
            &tmpfs,
            move || ended_by(signal),
        );
    }
    let fuse = [Need::Fuse];
    trials.add(
        "SIGINT waits for a slow call to end, and cleans up",
        &fuse,
        slow_call,
    );
    trials.add(
        "SIGINT ends a run whose sample hangs in the kernel",
        &fuse,
        || hung(1),
    );
    trials.add(
        "SIGINT ends a run that hangs in the kernel while limits are measured",
        &fuse,
        hung_limit,
    );
    trials.add(
        "a later SIGINT ends a run at once, and the next run cleans up",
        &fuse,
        || hung(2),
    );
    trials.add(
        "the next run after kill -9 removes the leftovers only",
        &tmpfs,
        leftovers,
    );
    trials.add(
        "a run with another database removes leftovers of a killed run",
        &tmpfs,
        other_database,
    );
    trials.add(
        "a run without descriptors leaves only files that the next run removes",
        &tmpfs,
        descriptors,
    );
    trials.add(
        "a run with another database removes half-made directories",
        &tmpfs,
        half_made,
    );
    trials.add("a killed run is resumed with its samples", &tmpfs, resumed);
    trials.add("nohup protects a run", &tmpfs, nohup);
    trials.add("a live run is not resumed", &tmpfs, under_way);
    trials.add(
        "simultaneous runs keep each other's files",
        &tmpfs,
        two_at_once,
    );
}

const CASES: [&str; 6] = [
    "--case",
    "write,size=2MiB",
    "--case",
    "pwrite,size=2MiB",
    "--samples",
    "40",
];

fn start(program: &Program, target: &Path) -> Result<Child> {
    let target = target.to_str().context("UTF-8")?;
    program.start(&[&["run", target], &CASES[..]].concat())
}

fn csv_rows(program: &Program) -> Result<Vec<String>> {
    let ended = program.call(&["show", "--export", "csv=-"])?;
    Ok(ended.stdout.lines().skip(1).map(str::to_owned).collect())
}

fn wait_for_samples(program: &Program, at_least: usize) -> Result<()> {
    wait_for("samples", || {
        csv_rows(program).ok().filter(|rows| rows.len() >= at_least)
    })
    .map(|_| ())
}

fn kill(process: u32, signal: &str) -> Result<()> {
    let status = std::process::Command::new("kill")
        .args([&format!("-{signal}"), &process.to_string()])
        .status()?;
    ensure!(status.success(), "kill -{signal} {process}");
    Ok(())
}

fn ended_by(signal: &str) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let child = start(&program, target.path())?;
    wait_for_samples(&program, 4)?;
    kill(child.id(), signal)?;
    // npm sends another one.
    kill(child.id(), signal)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    ensure!(
        entries(target.path()).is_empty(),
        "something was left behind"
    );
    let stdout = String::from_utf8_lossy(&output.stdout);
    ensure!(
        stdout.contains("write,size=2MiB") && stdout.contains("interrupted"),
        "{stdout}"
    );
    let rows = csv_rows(&program)?;
    ensure!((4..80).contains(&rows.len()), "{} samples", rows.len());
    Ok(())
}

const SLOW: &str = "write,size=12KiB,chunk=4KiB";

/// Returns during the scripted call.
fn in_the_call(what: What) -> Result<(FaultyTarget, Child)> {
    let target = FaultyTarget::new(Caching::None, &[(When::At(Call::Write, 4096), what)])?;
    under_way_in(target, &["--case", SLOW, "--samples", "4", "--no-limits"])
}

fn under_way_in(target: FaultyTarget, arguments: &[&str]) -> Result<(FaultyTarget, Child)> {
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let child = target
        .program
        .start(&[&["run", path], arguments].concat())?;
    let is_under_way = || {
        target
            .faulty
            .operations()
            .iter()
            .any(|operation| operation.fault.is_some())
            .then_some(())
    };
    wait_for("the call", is_under_way)?;
    Ok((target, child))
}

fn slow_call() -> Result<()> {
    let (target, child) = in_the_call(What::Delay(Duration::from_secs(1)))?;
    kill(child.id(), "INT")?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    ensure!(
        entries(target.faulty.path()).is_empty(),
        "something was left behind: {output:?}"
    );
    Ok(())
}

fn hung(signals: usize) -> Result<()> {
    hung_in(in_the_call(What::Hang)?, signals)
}

fn hung_limit() -> Result<()> {
    let target = FaultyTarget::about(
        "limit",
        Caching::None,
        &[(When::Call(Call::Write), What::Hang)],
    )?;
    let durable = format!("{SLOW},sync=fsync");
    hung_in(
        under_way_in(target, &["--case", &durable, "--samples", "4"])?,
        1,
    )
}

fn hung_in((target, mut child): (FaultyTarget, Child), signals: usize) -> Result<()> {
    let worker = writebench_testkit::worker(child.id()).context("a worker")?;
    kill(child.id(), "INT")?;
    // The worker survives SIGKILL.
    wait_for("its end", || is_killed(worker).then_some(()))?;
    for _ in 1..signals {
        std::thread::sleep(Duration::from_millis(600));
        kill(child.id(), "INT")?;
    }
    let ended = wait_for("the end of the run", || child.try_wait().ok().flatten());
    if ended.is_err() {
        target.faulty.abort();
    }
    ended?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        String::from_utf8_lossy(&output.stdout).contains("interrupted") == (signals == 1),
        "{output:?}"
    );
    ensure!(
        stderr.contains("a worker hangs there") == (signals == 1),
        "{output:?}"
    );
    ensure!(
        entries(target.faulty.path()).len() == 1,
        "no process touches the directory of a waiting worker"
    );
    ensure!(
        target.program.call(&["show"])?.code == Some(0),
        "the database opens"
    );
    target.faulty.release();
    target.faulty.follow(&[]);
    wait_for("the worker's end", || {
        (!Path::new(&format!("/proc/{worker}")).exists()).then_some(())
    })?;
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let next =
        target
            .program
            .call(&["run", path, "--case", SLOW, "--samples", "1", "--no-limits"])?;
    ensure!(
        next.code == Some(0) && next.stderr.contains("left by a killed run"),
        "{next:?}"
    );
    ensure!(
        entries(target.faulty.path()).is_empty(),
        "{:?}",
        entries(target.faulty.path())
    );
    Ok(())
}

/// A pending SIGKILL, or no process: `ShdPnd` of proc_pid_status(5).
fn is_killed(process: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else {
        return true;
    };
    let pending = status
        .lines()
        .filter(|line| line.starts_with("SigPnd:") || line.starts_with("ShdPnd:"));
    let mut masks =
        pending.filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok());
    masks.any(|mask| mask >> 8 & 1 == 1)
}

fn leftovers() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    // Another user's directory, with a name like writebench's.
    let theirs = target
        .path()
        .join(".writebench-0123456789abcdef0123456789abcdef");
    std::fs::create_dir(&theirs)?;
    std::fs::write(theirs.join("sample"), "precious")?;
    let child = start(&program, target.path())?;
    wait_for_samples(&program, 2)?;
    kill_run(child)?;
    ensure!(
        entries(target.path()).len() == 2,
        "ours was left, or this test shows nothing"
    );
    let path = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&["run", path, "--case", "write,size=1MiB", "--samples", "1"])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.contains("left by a killed run"),
        "{ended:?}"
    );
    ensure!(
        entries(target.path()) == [theirs.clone()],
        "ours is gone and theirs is not"
    );
    ensure!(std::fs::read_to_string(theirs.join("sample"))? == "precious");
    Ok(())
}

fn other_database() -> Result<()> {
    let (killed, other, target) = (program()?, program()?, directory_on(Kind::Tmpfs));
    let child = start(&killed, target.path())?;
    wait_for_samples(&killed, 2)?;
    kill_run(child)?;
    ensure!(
        entries(target.path()).len() == 1,
        "nothing was left, or this test shows nothing"
    );
    let path = target.path().to_str().context("UTF-8")?;
    let ended = other.call(&["run", path, "--case", "write,size=1MiB", "--samples", "1"])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.contains("left by a killed run"),
        "{ended:?}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

fn descriptors() -> Result<()> {
    let (program, other, target) = (program()?, program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let case = [
        "run",
        path,
        "--case",
        "write,size=64KiB",
        "--samples",
        "1",
        "--no-limits",
    ];
    for most in 4..24 {
        let mut limited = std::process::Command::new("prlimit");
        limited
            .arg(format!("--nofile={most}"))
            .arg(program.binary())
            .args(case);
        let output = limited
            .env_remove("WRITEBENCH_DB")
            .env("XDG_DATA_HOME", program.home())
            .output()?;
        let code = output.status.code().context("a code")?;
        ensure!([0, 1, 4].contains(&code), "{most} descriptors: {output:?}");
    }
    // The other database lacks these directories.
    let ended = other.call(&case)?;
    ensure!(ended.code == Some(0), "{ended:?}");
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

/// All states of a directory after a kill. No database has them.
fn half_made() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let directory = |digit: &str| -> Result<PathBuf> {
        let path = target
            .path()
            .join(format!(".writebench-{}", digit.repeat(32)));
        std::fs::create_dir(&path)?;
        Ok(path)
    };
    directory("a")?;
    std::fs::write(directory("b")?.join("owner"), "")?;
    std::fs::write(directory("c")?.join("owner"), "c".repeat(9))?;
    let whole = directory("d")?;
    std::fs::write(whole.join("owner"), "d".repeat(32))?;
    std::fs::write(whole.join("sample"), "sample")?;
    // None of the following may be removed: they may be another user's, incomplete, or of a live run.
    let (without_owner, being_made, at_work) = (directory("1")?, directory("2")?, directory("3")?);
    std::fs::write(without_owner.join("sample"), "precious")?;
    std::fs::write(at_work.join("owner"), "3".repeat(32))?;
    let locks = [File::open(&being_made)?, File::open(at_work.join("owner"))?];
    locks.iter().try_for_each(File::lock)?;
    let short = target.path().join(".writebench-x");
    std::fs::create_dir(&short)?;
    let path = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[
        "run",
        path,
        "--case",
        "write,size=4KiB",
        "--samples",
        "1",
        "--no-limits",
    ])?;
    let removed = ended.stderr.matches("left by a killed run").count();
    ensure!(ended.code == Some(0) && removed == 4, "{ended:?}");
    let mut left = entries(target.path());
    left.sort();
    ensure!(
        left == [without_owner, being_made, at_work, short],
        "{left:?}"
    );
    Ok(())
}

fn resumed() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut child = start(&program, target.path())?;
    wait_for_samples(&program, 5)?;
    child.kill()?;
    child.wait()?;
    let before = csv_rows(&program)?;
    let ended = program.call(&["run", "--resume", "--export", "json=-"])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout)?;
    ensure!(
        document["run"]["status"] == "complete" && document["run"]["number"] == 1,
        "{}",
        document["run"]
    );
    for case in document["cases"].as_array().context("cases")? {
        let samples = case["samples"].as_array().context("samples")?;
        let good = samples
            .iter()
            .filter(|sample| sample["disturbed_by"].is_null())
            .count();
        ensure!(
            good == 40 || samples.len() == 80,
            "{good} of {}",
            samples.len()
        );
    }
    let after = csv_rows(&program)?;
    ensure!(
        before.iter().all(|row| after.contains(row)),
        "a sample changed"
    );
    let again = program.call(&["run", "--resume"])?;
    ensure!(
        again.code == Some(2) && again.stderr.contains("no unfinished run"),
        "{again:?}"
    );
    Ok(())
}

fn nohup() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut command = std::process::Command::new("nohup");
    command
        .arg(program.binary())
        .arg("run")
        .arg(target.path())
        .args(CASES)
        .env_remove("WRITEBENCH_DB")
        .env("XDG_DATA_HOME", program.home());
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()?;
    wait_for_samples(&program, 2)?;
    kill(child.id(), "HUP")?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(0), "{output:?}");
    Ok(())
}

fn under_way() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let child = start(&program, target.path())?;
    wait_for_samples(&program, 1)?;
    let second = program.call(&["run", "--resume"])?;
    ensure!(
        second.code == Some(2) && second.stderr.contains("run 1 is still in progress"),
        "{second:?}"
    );
    ensure!(child.wait_with_output()?.status.code() == Some(0));
    Ok(())
}

fn two_at_once() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let first = start(&program, target.path())?;
    wait_for_samples(&program, 1)?;
    // It does not end before the others.
    kill(first.id(), "STOP")?;
    let path = target.path().to_str().context("UTF-8")?;
    let arguments = ["run", path, "--case", "write,size=1MiB", "--samples", "1"];
    let said = format!("Another writebench measures in {path} at the same time");
    let other_database = program.home().join("other.db");
    let database = other_database.to_str().context("UTF-8")?;
    for second in [
        program.call(&arguments)?,
        program.call(&[&["--db", database], &arguments[..]].concat())?,
    ] {
        ensure!(
            second.code == Some(0) && !second.stderr.contains("Removed"),
            "{second:?}"
        );
        ensure!(second.stderr.contains(&said), "{second:?}");
    }
    kill(first.id(), "CONT")?;
    let first = first.wait_with_output()?;
    ensure!(first.status.code() == Some(0), "{first:?}");
    ensure!(entries(target.path()).is_empty());
    let alone = program.call(&arguments)?;
    ensure!(
        alone.code == Some(0) && !alone.stderr.contains("Another writebench"),
        "{alone:?}"
    );
    Ok(())
}
