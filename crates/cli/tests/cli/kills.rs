use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use writebench_model::{Outcome, Phase, RunStatus, Sample};
use writebench_store::Store;
use writebench_testkit::{
    Caching, Call, Kind, Need, Program, TestRng, Trials, What, When, directory_on, entries,
    kill_run, send, wait_for,
};

use crate::faults::FaultyTarget;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a supervisor killed at a hundred random moments is resumed each time",
        &tmpfs,
        || with_seed(|seed| supervisor(&mut TestRng::new(seed))),
    );
    trials.add(
        "a hundred workers killed at random calls cost one sample each",
        &[Need::Fuse],
        || with_seed(workers),
    );
    trials.add(
        "the seed of the kills repeats them under load",
        &[Need::Fuse],
        || with_seed(repeated),
    );
}

const KILLS: u32 = 100;

/// The seed is from the environment, or new, and named by the error.
fn with_seed(test: fn(u64) -> Result<()>) -> Result<()> {
    const SEED: &str = "WRITEBENCH_KILL_SEED";
    let seed = match std::env::var(SEED) {
        Ok(seed) => seed.parse()?,
        Err(_) => TestRng::any_seed(),
    };
    test(seed).with_context(|| format!("again with {SEED}={seed}"))
}

type Samples = HashMap<String, Vec<Sample>>;

fn database(program: &Program) -> PathBuf {
    program.home().join("writebench/writebench.db")
}

fn newest(program: &Program) -> Result<Option<(RunStatus, Samples)>> {
    // The first kill may precede the database.
    if !database(program).exists() {
        return Ok(None);
    }
    let store = Store::open(&database(program))?;
    let Some(number) = store.newest_run()? else {
        return Ok(None);
    };
    let run = store.run(number)?;
    Ok(Some((
        run.status,
        run.cases
            .into_iter()
            .map(|case| (case.case.to_string(), case.samples))
            .collect(),
    )))
}

fn begins_with(after: &Samples, before: &Samples) -> bool {
    before
        .iter()
        .all(|(case, samples)| after.get(case).is_some_and(|now| now.starts_with(samples)))
}

/// Begins or resumes a run of three tiny cases.
fn arguments(target: &Path, resumes: bool) -> Result<Vec<&str>> {
    let cases = [
        "write,size=64KiB",
        "pwrite,size=64KiB,sync=fsync",
        "mmap,size=64KiB",
    ];
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

fn supervisor(moments: &mut TestRng) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut before: Option<(RunStatus, Samples)> = None;
    for kill in 0..KILLS {
        let resumes = before
            .as_ref()
            .is_some_and(|(status, _)| *status != RunStatus::Complete);
        let child = program.start(&arguments(target.path(), resumes)?)?;
        std::thread::sleep(moments.moment(Duration::from_millis(250)));
        kill_run(child)?;
        let after = newest(&program).with_context(|| format!("after kill {kill}"))?;
        if let (true, Some((_, before))) = (resumes, &before) {
            let after = after.as_ref().map(|(_, samples)| samples);
            ensure!(
                after.is_some_and(|after| begins_with(after, before)),
                "kill {kill}: a sample changed"
            );
        }
        before = after;
    }
    let resumes = before.is_some_and(|(status, _)| status != RunStatus::Complete);
    let ended = program.call(&arguments(target.path(), resumes)?)?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let (status, samples) = newest(&program)?.context("a run")?;
    ensure!(status == RunStatus::Complete, "{status:?}");
    let undisturbed = |samples: &Vec<Sample>| {
        samples
            .iter()
            .filter(|sample| sample.disturbed.is_none())
            .count()
    };
    ensure!(
        samples.len() == 3
            && samples
                .values()
                .all(|samples| undisturbed(samples) == 12 || samples.len() == 24),
        "{samples:?}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "left behind: {:?}",
        entries(target.path())
    );
    ensure!(Store::open(&database(&program))?.workspaces()?.is_empty());
    Ok(())
}

/// Faults by file number, so the machine's speed does not move a kill.
fn calls(kills: usize, rng: &mut TestRng) -> Vec<(usize, Call, usize)> {
    let mut file = 0;
    let mut next = || {
        let kinds = [
            (Call::Create, 1),
            (Call::Write, WRITES),
            (Call::Fsync, 1),
            (Call::Flush, 1),
            (Call::Unlink, 1),
        ];
        let (call, most) = rng.pick(&kinds);
        // Some workers take several samples.
        file += 1 + rng.below(3);
        (file, call, 1 + rng.below(most))
    };
    (0..kills).map(|_| next()).collect()
}

const WRITES: usize = 8;

/// The phase in which each case's first worker died.
type Deaths = BTreeMap<String, Option<Phase>>;

fn kill_workers(kills: usize, seed: u64) -> Result<Deaths> {
    let calls = calls(kills, &mut TestRng::new(seed));
    let script: Vec<_> = calls
        .iter()
        .map(|&(file, call, number)| (When::InFile(file, call, number), What::Hang))
        .collect();
    let FaultyTarget { program, faulty } = FaultyTarget::new(Caching::None, &script)?;
    let (path, seed) = (faulty.path().to_str().context("UTF-8")?, seed.to_string());
    let mut arguments = vec![
        "--quiet",
        "run",
        path,
        "--samples",
        "1",
        "--no-limits",
        "--seed",
        &seed,
    ];
    // All scripted files are in the first round, before repetitions.
    let last = calls.last().map_or(0, |(file, ..)| *file);
    let cases: Vec<_> = (1..=last + 2)
        .map(|chunk| {
            format!(
                "write,chunk={chunk}KiB,size={}KiB,sync=fsync",
                WRITES * chunk
            )
        })
        .collect();
    arguments.extend(cases.iter().flat_map(|case| ["--case", case]));
    let run = program.start(&arguments)?;
    for (kill, &(file, call, _)) in calls.iter().enumerate() {
        let held = || {
            faulty
                .operations()
                .into_iter()
                .filter(|operation| operation.fault.is_some())
                .nth(kill)
        };
        let held =
            wait_for("a worker in the call", held).with_context(|| format!("kill {kill}"))?;
        ensure!(
            (held.file, held.call) == (file, call),
            "kill {kill} is in {held:?}, not in {call:?} of file {file}"
        );
        let worker = writebench_testkit::worker(run.id()).context("a worker")?;
        send(worker, Signal::KILL)?;
        faulty.release();
    }
    let output = run.wait_with_output()?;
    // Each case has its samples.
    ensure!(output.status.code() == Some(0), "{output:?}");
    ensure!(
        entries(faulty.path()).is_empty(),
        "left behind: {:?}",
        entries(faulty.path())
    );
    let (_, samples) = newest(&program)?.context("a run")?;
    let death = |(case, samples): (String, Vec<Sample>)| match &samples[..] {
        [
            Sample {
                outcome:
                    Outcome::WorkerDied {
                        phase,
                        signal: Some(9),
                        ..
                    },
                ..
            },
            later @ ..,
        ] if !later.is_empty() && later.iter().all(|sample| sample.outcome.is_ok()) => {
            Ok((case, Some(*phase)))
        }
        all if !all.is_empty() && all.iter().all(|sample| sample.outcome.is_ok()) => {
            Ok((case, None))
        }
        other => bail!("{case}: {other:?}"),
    };
    let deaths = samples.into_iter().map(death).collect::<Result<Deaths>>()?;
    ensure!(
        deaths.len() == cases.len(),
        "{} of {} cases have samples",
        deaths.len(),
        cases.len()
    );
    for &phase in Phase::ALL {
        let expected = calls
            .iter()
            .filter(|(_, call, _)| phase_of(*call) == Some(phase))
            .count();
        let found = deaths
            .values()
            .filter(|death| **death == Some(phase))
            .count();
        ensure!(
            found == expected,
            "{found} workers died in {phase:?}, not {expected}"
        );
    }
    Ok(deaths)
}

fn phase_of(call: Call) -> Option<Phase> {
    match call {
        Call::Create => Some(Phase::Open),
        Call::Write => Some(Phase::Write),
        Call::Fsync => Some(Phase::Sync),
        Call::Flush => Some(Phase::Close),
        Call::Unlink => Some(Phase::Clean),
        _ => None,
    }
}

fn workers(seed: u64) -> Result<()> {
    kill_workers(KILLS as usize, seed).map(|_| ())
}

fn repeated(seed: u64) -> Result<()> {
    const REPEATED_KILLS: usize = 30;
    let alone = kill_workers(REPEATED_KILLS, seed)?;
    let is_done = AtomicBool::new(false);
    let loaded = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let loaded = kill_workers(REPEATED_KILLS, seed);
        is_done.store(true, Ordering::Relaxed);
        loaded
    })?;
    ensure!(alone == loaded, "alone {alone:?}, under load {loaded:?}");
    Ok(())
}
