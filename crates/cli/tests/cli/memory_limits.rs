//! In a control group with less memory than the machine has, as in a container.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use testkit::{Kind, MemoryGroup, Need, SmallTmpfs, Trials, call, directory_on, entries, wait_for};

use crate::outcomes::case;
use crate::program;

pub fn add(trials: &mut Trials) {
    let needs = [Need::MemoryGroup, Need::Root, Need::Filesystem(Kind::Ext4)];
    trials.add(
        "a source beyond the memory of its control group is refused, and a smaller one is not",
        &needs,
        planned,
    );
    trials.add("a worker that the kernel kills for want of memory costs one case", &needs, killed);
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn planned() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let group = MemoryGroup::limited(64 << 20)?;
    let run = |case: &str| {
        let arguments =
            ["--quiet", "run", text(target.path())?, "--case", case, "--samples", "1", "--no-limits"];
        group.with(&program.command(&arguments)).output().context("run")
    };
    let refused = run("write,size=256MiB")?;
    let stderr = String::from_utf8_lossy(&refused.stderr);
    ensure!(refused.status.code() == Some(3) && stderr.lines().count() == 1, "{refused:?}");
    ensure!(stderr.contains("not enough memory") && stderr.contains("needs 256 MiB"), "{stderr}");
    ensure!(stderr.contains("source=chunk"), "what needs less is named: {stderr}");
    ensure!(entries(target.path()).is_empty(), "nothing was made");
    let fits = run("write,size=256MiB,source=chunk")?;
    ensure!(fits.status.code() == Some(0), "{fits:?}");
    Ok(())
}

/// Something else in the group takes what was free when the run was planned.
fn killed() -> Result<()> {
    const LARGE: &str = "write,size=64MiB";
    const SMALL: &str = "write,size=4KiB";
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let (group, other) = (MemoryGroup::limited(160 << 20)?, SmallTmpfs::mount(128 << 20)?);
    let mut arguments = vec!["--quiet", "run", text(target.path())?, "--samples", "1000", "--no-limits"];
    arguments.extend(["--case", LARGE, "--case", SMALL]);
    let mut run = group.with(&program.command(&arguments));
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let shown = || -> Result<Value> {
        Ok(serde_json::from_str(&program.call(&["show", "--export", "json=-"])?.stdout)?)
    };
    let samples = |id: &str| -> Option<Vec<Value>> {
        Some(case(&shown().ok()?, id).ok()?["samples"].as_array()?.clone())
    };
    wait_for("samples of both", || (samples(LARGE)?.len() > 1 && samples(SMALL)?.len() > 1).then_some(()))?;
    let mut takes = Command::new("dd");
    takes.args(["if=/dev/zero", "bs=1M", "count=108"]).arg(format!("of={}/taken", other.path().display()));
    call(&mut group.with(&takes))?;
    let failed = || samples(LARGE)?.last().filter(|last| last["outcome"] != "ok").cloned();
    let last = wait_for("the worker's end", failed)?;
    let before = samples(SMALL).context("samples")?.len();
    wait_for("the other case to go on", || (samples(SMALL)?.len() > before + 1).then_some(()))?;
    call(Command::new("kill").args(["-INT", &run.id().to_string()]))?;
    let output = run.wait_with_output()?;
    ensure!(output.status.code() == Some(130), "{output:?}");
    ensure!(last["outcome"] == "worker-died", "{last}");
    ensure!(last["reason"].as_str().is_some_and(|reason| reason.contains("SIGKILL (9)")), "{last}");
    let document = shown()?;
    ensure!(case(&document, SMALL)?["outcome"] == "ok", "{document}");
    let of_large = samples(LARGE).context("samples")?;
    ensure!(of_large.iter().filter(|sample| sample["outcome"] != "ok").count() == 1, "one: {of_large:?}");
    ensure!(entries(target.path()).is_empty(), "{:?}", entries(target.path()));
    Ok(())
}
