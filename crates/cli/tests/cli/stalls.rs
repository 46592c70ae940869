use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;
use writebench_testkit::{
    Caching, Call, ControlGroup, Kind, Need, Program, Trials, What, When, call, directory_on,
    entries, wait_for,
};

use crate::faults::FaultyTarget;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = Need::Filesystem(Kind::Tmpfs);
    trials.add(
        "a stopped worker disturbs a sample, which is repeated",
        &[tmpfs],
        stopped,
    );
    trials.add(
        "a frozen control group disturbs a sample, which is repeated",
        &[tmpfs, Need::Root, Need::Freezer],
        frozen,
    );
    trials.add(
        "a stopped supervisor disturbs a sample, which is repeated",
        &[tmpfs],
        supervisor_stopped_briefly,
    );
    trials.add(
        "a sample is disturbed if its worker and its supervisor are frozen together",
        &[tmpfs, Need::Root, Need::Freezer],
        all_frozen,
    );
    trials.add(
        "a limit on CPU time disturbs samples, also on an outer control group",
        &[tmpfs, Need::Root, Need::CpuLimit],
        limited,
    );
    trials.add(
        "a supervisor stopped beyond a deadline fails no case",
        &[Need::Fuse],
        supervisor_stopped,
    );
    trials.add(
        "a run that a stalled disk keeps beyond its budget says why, and which budget suffices",
        &[Need::Fuse],
        beyond_budget,
    );
}

/// One sample takes four times the budget.
fn beyond_budget() -> Result<()> {
    const STALL: Duration = Duration::from_secs(4);
    let script = [(When::Each(Call::Fsync), What::Delay(STALL))];
    let target = FaultyTarget::new(Caching::None, &script)?;
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let ended = target.program.call(&[
        "run",
        path,
        "--for",
        "durable-stream",
        "--size",
        "64KiB",
        "--budget",
        "1s",
    ])?;
    let why = ended
        .stderr
        .lines()
        .find(|line| line.starts_with("That is longer than its budget of 1s, because"))
        .with_context(|| format!("the reason in {ended:?}"))?;
    ensure!(
        why.contains("a sample of ") && why.contains(" s in phase sync) took "),
        "{why}"
    );
    // The cause of the disturbance must go first.
    if ended.stdout.contains("every sample was disturbed") {
        let remedy = "Stop them, or measure while the machine is idle.";
        ensure!(ended.stdout.contains(remedy), "{ended:?}");
        return Ok(());
    }
    let (_, budget) = ended
        .stdout
        .split_once("Use --budget ")
        .with_context(|| format!("a budget in {ended:?}"))?;
    let number: String = budget.chars().take_while(char::is_ascii_digit).collect();
    let unit = if budget[number.len()..].starts_with('m') {
        60
    } else {
        1
    };
    let budget_s = number.parse::<u64>()? * unit;
    // On a busy machine, the budget pays for samples whose sync is another call, and their time counts as well.
    const MOST_WITHOUT_STALL: u64 = 8;
    ensure!(
        budget_s >= 45 * STALL.as_secs() / (1 + MOST_WITHOUT_STALL),
        "45 samples take longer than {budget_s} s: {ended:?}"
    );
    Ok(())
}

/// A million calls take long on any machine.
const LONG: &str = "write,size=8MiB,chunk=8,source=chunk";

struct Running {
    program: Program,
    child: Child,
    target: TempDir,
}

impl Running {
    fn begin(case: &str, samples: &str) -> Result<Self> {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let path = target.path().to_str().context("UTF-8")?;
        let words = [
            "--quiet",
            "run",
            path,
            "--samples",
            samples,
            "--no-limits",
            "--case",
            case,
        ];
        let child = program
            .command(&words)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self {
            program,
            child,
            target,
        })
    }

    fn worker(&self) -> Result<u32> {
        wait_for("a worker", || writebench_testkit::worker(self.child.id()))
    }

    fn wait_for_write(&self) -> Result<()> {
        let has_data = |file: &Path| {
            file.ends_with("sample")
                && std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > 0)
        };
        let files = || {
            entries(self.target.path())
                .into_iter()
                .flat_map(|workspace| entries(&workspace))
        };
        wait_for("a file with data", || {
            files().any(|file| has_data(&file)).then_some(())
        })
    }

    fn samples(self) -> Result<Vec<Value>> {
        let output = self.child.wait_with_output()?;
        ensure!(output.status.code() == Some(0), "{output:?}");
        samples(&self.program)
    }
}

fn samples(program: &Program) -> Result<Vec<Value>> {
    let document: Value =
        serde_json::from_str(&program.call(&["show", "--export", "json=-"])?.stdout)?;
    Ok(document["cases"][0]["samples"]
        .as_array()
        .context("samples")?
        .clone())
}

fn signal(process: u32, name: &str) -> Result<()> {
    call(Command::new("kill").args([format!("-{name}"), process.to_string()]))
}

/// Another sample replaces the disturbed first one.
fn held_up(samples: &[Value], reason: &str) -> Result<()> {
    let first = samples.first().context("a sample")?;
    let disturbed = first["disturbed_by"]
        .as_str()
        .with_context(|| format!("not disturbed: {first}"))?;
    ensure!(
        first["outcome"] == "ok" && disturbed.contains(reason),
        "{first}"
    );
    ensure!(samples.len() > 1, "it is taken again");
    Ok(())
}

/// On a busy machine a sample may end before the signal, so the test retries.
fn in_time(attempt: impl Fn() -> Result<()>) -> Result<()> {
    attempt().or_else(|_| attempt()).or_else(|_| attempt())
}

fn stopped() -> Result<()> {
    in_time(|| {
        stopped_for(
            Duration::from_millis(1200),
            "the worker was stopped by a signal for about 1.",
        )
    })?;
    // Too short for polling.
    in_time(|| stopped_for(Duration::ZERO, "the worker was stopped by a signal"))
}

fn stopped_for(time: Duration, reason: &str) -> Result<()> {
    let run = Running::begin(LONG, "1")?;
    let worker = run.worker()?;
    run.wait_for_write()?;
    signal(worker, "STOP")?;
    std::thread::sleep(time);
    signal(worker, "CONT")?;
    held_up(&run.samples()?, reason)
}

fn frozen() -> Result<()> {
    for group in ControlGroup::freezers() {
        in_time(|| {
            let run = Running::begin(LONG, "1")?;
            group.add(run.worker()?)?;
            run.wait_for_write()?;
            group.freeze(true)?;
            std::thread::sleep(Duration::from_millis(1200));
            group.freeze(false)?;
            held_up(&run.samples()?, "its control group was frozen for about 1.")
        })?;
    }
    Ok(())
}

const BRIEFLY: Duration = Duration::from_millis(300);

fn supervisor_stopped_briefly() -> Result<()> {
    in_time(|| {
        let run = Running::begin(LONG, "1")?;
        run.wait_for_write()?;
        signal(run.child.id(), "STOP")?;
        std::thread::sleep(BRIEFLY);
        signal(run.child.id(), "CONT")?;
        held_up(&run.samples()?, "writebench itself did not run for 0.")
    })
}

fn all_frozen() -> Result<()> {
    for group in ControlGroup::freezers() {
        in_time(|| {
            let run = Running::begin(LONG, "1")?;
            group.add(run.worker()?)?;
            group.add(run.child.id())?;
            run.wait_for_write()?;
            group.freeze(true)?;
            std::thread::sleep(BRIEFLY);
            group.freeze(false)?;
            held_up(&run.samples()?, "writebench itself did not run for 0.")
        })?;
    }
    Ok(())
}

fn limited() -> Result<()> {
    let group = ControlGroup::with_cpu_limit(10)?;
    let run = Running::begin("write,size=1MiB,chunk=8,source=chunk", "6")?;
    group.add(run.worker()?)?;
    let samples = run.samples()?;
    // The first samples may begin before the limit. Load may also stop the supervisor, which other samples then name.
    let is_throttled = |sample: &&Value| {
        sample["disturbed_by"]
            .as_str()
            .is_some_and(|reason| reason.contains("by its group's CPU limit"))
    };
    let under_limit = samples
        .iter()
        .find(is_throttled)
        .with_context(|| format!("{samples:#?}"))?;
    for sample in [under_limit, samples.last().context("a sample")?] {
        ensure!(sample["disturbed_by"].is_string(), "{sample}");
        ensure!(
            sample["system_state"]["throttled_ns"].as_u64() > Some(0),
            "{sample}"
        );
    }
    Ok(())
}

/// The supervisor is stopped for longer than the timeout, which the sample exceeds also.
fn supervisor_stopped() -> Result<()> {
    let delay = What::Delay(Duration::from_secs(12));
    let target = FaultyTarget::new(Caching::None, &[(When::At(Call::Write, 4096), delay)])?;
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let words = [
        "run",
        path,
        "--case",
        "write,size=12KiB,chunk=4KiB",
        "--samples",
        "1",
        "--timeout",
        "8s",
    ];
    let child = target
        .program
        .start(&[&words[..], &["--no-limits"]].concat())?;
    let is_under_way = || {
        target
            .faulty
            .operations()
            .iter()
            .any(|operation| operation.fault.is_some())
            .then_some(())
    };
    wait_for("the call", is_under_way)?;
    target.faulty.follow(&[]);
    let begin = Instant::now();
    signal(child.id(), "STOP")?;
    std::thread::sleep(Duration::from_millis(9500));
    signal(child.id(), "CONT")?;
    ensure!(
        begin.elapsed() < Duration::from_secs(12),
        "the sample was still under way"
    );
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(0), "{output:?}");
    held_up(
        &samples(&target.program)?,
        "writebench itself did not run for",
    )
}
