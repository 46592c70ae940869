//! Agents that hang, are stopped or die at any place: the next one goes on, and none remains.

use std::collections::BTreeSet;
use std::process::Child;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    Caching, Call, Kind, Need, Trials, What, When, children, directory_on, entries, is_agent,
    is_alive, is_worker, send, wait_for,
};

use crate::faults::{AFTER, FaultyTarget};
use crate::{outcomes, program};

pub(crate) fn add(trials: &mut Trials) {
    for (call, name, phase) in [
        (Call::Write, "a write", "write"),
        (Call::Fsync, "an fsync", "sync"),
        (Call::Unlink, "an unlink", "clean"),
    ] {
        trials.add(
            format!("agents: one that hangs in {name} ends at its deadline"),
            &[Need::Fuse],
            move || hangs(call, phase),
        );
    }
    trials.add(
        "agents: one that stays stopped by a signal is killed at its deadline",
        &[Need::Fuse],
        stays_stopped,
    );
    trials.add(
        "agents: the directory of a killed one is removed by the next one",
        &[Need::Filesystem(Kind::Tmpfs)],
        killed,
    );
    trials.add(
        "agents: a run keeps its directory while a dead worker is not yet replaced",
        &[Need::Filesystem(Kind::Tmpfs)],
        keeps_directory,
    );
}

const DURABLE: &str = "write,size=12KiB,chunk=4KiB,sync=fsync";

/// Waits for the end of a run, and returns all agents that were seen until then.
fn agents_until_end(run: &mut Child) -> Result<BTreeSet<u32>> {
    let mut agents = BTreeSet::new();
    wait_for("the end of the run", || {
        agents.extend(
            children(run.id())
                .into_iter()
                .filter(|&child| is_agent(child)),
        );
        run.try_wait().ok().flatten()
    })?;
    ensure!(!agents.is_empty(), "there were no agents");
    Ok(agents)
}

fn none_remains(agents: &BTreeSet<u32>) -> Result<()> {
    wait_for("the end of all agents", || {
        (!agents.iter().any(|&agent| is_alive(agent))).then_some(())
    })
}

fn hangs(call: Call, phase: &str) -> Result<()> {
    let target = FaultyTarget::new(Caching::None, &[(When::Call(call), What::Hang)])?;
    let mut run = started(&target, "1s")?;
    let agents = agents_until_end(&mut run)?;
    let document = shown(&target)?;
    timed_out_in(&document, phase)?;
    // The kernel locks a directory during an unlink, so no later sample can make its file there.
    if call != Call::Unlink {
        goes_on(&document)?;
    }
    ensure!(run.wait()?.code() == Some(4), "{run:?}");
    target.faulty.abort();
    none_remains(&agents)
}

fn stays_stopped() -> Result<()> {
    let late = What::Delay(Duration::from_secs(2));
    let target = FaultyTarget::new(Caching::None, &[(When::Call(Call::Fsync), late)])?;
    let mut run = started(&target, "4s")?;
    wait_for("the late call", || {
        let operations = target.faulty.operations();
        operations
            .iter()
            .any(|operation| operation.fault.is_some())
            .then_some(())
    })?;
    send(worker(&run)?, Signal::STOP)?;
    target.faulty.follow(&[]);
    let agents = agents_until_end(&mut run)?;
    let document = shown(&target)?;
    timed_out_in(&document, "sync")?;
    goes_on(&document)?;
    let left = entries(target.faulty.path());
    ensure!(left.is_empty(), "the next agent removes its file: {left:?}");
    none_remains(&agents)
}

fn started(target: &FaultyTarget, timeout: &str) -> Result<Child> {
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let words = ["--quiet", "run", path, "--case", DURABLE, "--case", AFTER];
    let more = ["--samples", "1", "--no-limits", "--timeout", timeout];
    target.program.start(&[&words[..], &more].concat())
}

fn shown(target: &FaultyTarget) -> Result<Value> {
    let shown = target.program.call(&["show", "--export", "json=-"])?;
    Ok(serde_json::from_str(&shown.stdout)?)
}

/// The first sample of the case with the fault.
fn timed_out_in(document: &Value, phase: &str) -> Result<()> {
    let first = &outcomes::case(document, DURABLE)?["samples"][0];
    let reason = first["reason"].as_str().unwrap_or_default();
    ensure!(
        first["outcome"] == "timed-out" && reason.contains(&format!("in phase {phase}")),
        "{first}"
    );
    Ok(())
}

/// The other case was measured.
fn goes_on(document: &Value) -> Result<()> {
    let after = outcomes::case(document, AFTER)?;
    ensure!(after["outcome"] == "ok", "{after}");
    Ok(())
}

fn worker(run: &Child) -> Result<u32> {
    wait_for("a worker", || writebench_testkit::worker(run.id()))
}

const LONG: &str = "write,size=8MiB,chunk=8,source=chunk";

fn killed() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let more = ["--samples", "2", "--no-limits"];
    let mut run =
        program.start(&[&["--quiet", "run", path, "--case", LONG], &more[..]].concat())?;
    worker(&run)?;
    let of_target = children(run.id())
        .into_iter()
        .find(|&child| is_agent(child) && !is_worker(child));
    send(of_target.context("the target's agent")?, Signal::KILL)?;
    let agents = agents_until_end(&mut run)?;
    ensure!(run.wait()?.code() == Some(0), "{run:?}");
    let left = entries(target.path());
    ensure!(left.is_empty(), "{left:?}");
    none_remains(&agents)
}

/// The supervisor is stopped, so that the moment lasts. A run with another database removes what is not locked.
fn keeps_directory() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let more = ["--samples", "2", "--no-limits"];
    let mut run =
        program.start(&[&["--quiet", "run", path, "--case", LONG], &more[..]].concat())?;
    let worker = worker(&run)?;
    send(run.id(), Signal::STOP)?;
    send(worker, Signal::KILL)?;
    wait_for("its end", || (!is_alive(worker)).then_some(()))?;
    let other = crate::program()?;
    let tiny = [
        "run",
        path,
        "--case",
        "write,size=4KiB",
        "--samples",
        "1",
        "--no-limits",
    ];
    let ended = other.call(&tiny)?;
    ensure!(
        ended.code == Some(0) && ended.stderr.contains("Another writebench measures"),
        "{ended:?}"
    );
    let kept = entries(target.path());
    ensure!(kept.len() == 1, "{kept:?}");
    send(run.id(), Signal::CONT)?;
    agents_until_end(&mut run)?;
    ensure!(run.wait()?.code() == Some(0), "{run:?}");
    let left = entries(target.path());
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}
