//! SIGKILL at two hundred random moments loses no sample but the one under way, and leaves nothing behind.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use writebench_model::{RunStatus, Sample};
use writebench_store::Store;
use writebench_testkit::{Chance, Kind, Need, Program, Trials, directory_on, entries, kill_run, wait_for};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add("a supervisor killed at a hundred random moments is resumed each time", &tmpfs, || {
        with_moments(supervisor)
    });
    trials.add("a hundred workers killed at random moments cost one case each at most", &tmpfs, || {
        with_moments(workers)
    });
}

const KILLS: u32 = 100;

/// With the seed in the environment, or another one each time, which stands in the error.
fn with_moments(test: fn(&mut Chance) -> Result<()>) -> Result<()> {
    const SEED: &str = "WRITEBENCH_KILL_SEED";
    let seed = match std::env::var(SEED) {
        Ok(seed) => seed.parse()?,
        Err(_) => Chance::any_seed(),
    };
    test(&mut Chance::new(seed)).with_context(|| format!("again with {SEED}={seed}"))
}

/// The samples of each case, in order.
type Samples = HashMap<String, Vec<Sample>>;

fn database(program: &Program) -> PathBuf {
    program.home().join("writebench/writebench.db")
}

fn newest(program: &Program) -> Result<Option<(RunStatus, Samples)>> {
    // A kill may come before there is a database.
    if !database(program).exists() {
        return Ok(None);
    }
    let store = Store::open(&database(program), &writebench_engine::method_infos())?;
    let Some(number) = store.newest_run()? else { return Ok(None) };
    let run = store.run(number)?;
    Ok(Some((run.status, run.cases.into_iter().map(|case| (case.case.to_string(), case.samples)).collect())))
}

fn begins_with(after: &Samples, before: &Samples) -> bool {
    before.iter().all(|(case, samples)| after.get(case).is_some_and(|now| now.starts_with(samples)))
}

/// A run of three tiny cases, or what is left of it.
fn arguments(target: &Path, resumes: bool) -> Result<Vec<&str>> {
    let cases = ["write,size=64KiB", "pwrite,size=64KiB,sync=fsync", "mmap,size=64KiB"];
    let mut arguments = vec!["--quiet", "run"];
    if resumes {
        arguments.push("--resume");
        return Ok(arguments);
    }
    arguments.push(target.to_str().context("UTF-8")?);
    arguments.extend(cases.iter().flat_map(|case| ["--case", case]));
    arguments.extend(["--samples", "12", "--no-limits"]);
    Ok(arguments)
}

fn supervisor(moments: &mut Chance) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut before: Option<(RunStatus, Samples)> = None;
    for kill in 0..KILLS {
        let resumes = before.as_ref().is_some_and(|(status, _)| *status != RunStatus::Complete);
        let child = program.start(&arguments(target.path(), resumes)?)?;
        std::thread::sleep(moments.moment(Duration::from_millis(250)));
        kill_run(child)?;
        let after = newest(&program).with_context(|| format!("after kill {kill}"))?;
        if let (true, Some((_, before))) = (resumes, &before) {
            let after = after.as_ref().map(|(_, samples)| samples);
            ensure!(after.is_some_and(|after| begins_with(after, before)), "kill {kill}: a sample changed");
        }
        before = after;
    }
    let resumes = before.is_some_and(|(status, _)| status != RunStatus::Complete);
    let ended = program.call(&arguments(target.path(), resumes)?)?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let (status, samples) = newest(&program)?.context("a run")?;
    ensure!(status == RunStatus::Complete, "{status:?}");
    let calm = |of: &Vec<Sample>| of.iter().filter(|sample| sample.disturbed.is_none()).count();
    ensure!(samples.len() == 3 && samples.values().all(|of| calm(of) == 12 || of.len() == 24), "{samples:?}");
    ensure!(entries(target.path()).is_empty(), "left behind: {:?}", entries(target.path()));
    ensure!(Store::open(&database(&program), &writebench_engine::method_infos())?.workspaces()?.is_empty());
    Ok(())
}

fn workers(moments: &mut Chance) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let cases: Vec<String> = (1..=300).map(|chunk| format!("write,chunk={chunk}KiB,size=512KiB")).collect();
    let path = target.path().to_str().context("UTF-8")?;
    let mut arguments = vec!["--quiet", "run", path, "--samples", "40", "--no-limits"];
    arguments.extend(cases.iter().flat_map(|case| ["--case", case]));
    let mut child = program.start(&arguments)?;
    let mut kills = 0;
    let good = || -> Option<usize> {
        let (_, samples) = newest(&program).ok()??;
        Some(samples.values().flatten().filter(|sample| sample.outcome.is_ok()).count())
    };
    while kills < KILLS {
        // However slow the machine is, some workers live long enough.
        if kills % 20 == 0 {
            let before = good().unwrap_or(0);
            wait_for("another sample", || good().filter(|&now| now > before))?;
        }
        std::thread::sleep(moments.moment(Duration::from_millis(60)));
        ensure!(child.try_wait()?.is_none(), "the run ended after {kills} kills");
        // Between two workers there is none.
        let Some(worker) = writebench_testkit::worker(child.id()) else { continue };
        kills += u32::from(signal(worker, "KILL")?);
    }
    signal(child.id(), "INT")?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    let (_, samples) = newest(&program)?.context("a run")?;
    let died = samples.values().flatten().filter(|sample| !sample.outcome.is_ok()).count();
    let lasts = samples.values().filter_map(|of| of.last()).filter(|last| !last.outcome.is_ok()).count();
    ensure!(
        died > 0 && died <= KILLS as usize && died == lasts,
        "{died} died, {lasts} at the end of their case"
    );
    ensure!(samples.values().flatten().any(|sample| sample.outcome.is_ok()), "the others went on");
    ensure!(entries(target.path()).is_empty(), "left behind: {:?}", entries(target.path()));
    Ok(())
}

/// Whether the process was still there.
fn signal(process: u32, name: &str) -> Result<bool> {
    let mut kill = std::process::Command::new("kill");
    Ok(kill.args([&format!("-{name}"), &process.to_string()]).output()?.status.success())
}
