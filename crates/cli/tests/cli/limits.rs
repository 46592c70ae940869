use std::collections::HashSet;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    Kind, LoopDevice, Need, Program, Throttle, Trials, directory_on, send, wait_for,
};

use crate::program;

const DEVICE_BYTES_PER_S: u64 = 10 << 20;

pub(crate) fn add(trials: &mut Trials) {
    let throttled = [
        Need::LoopDevice,
        Need::Throttle,
        Need::Image("ext4"),
        Need::Filesystem(Kind::Tmpfs),
    ];
    trials.add(
        "a burst is reported with the point where the speed fell",
        &throttled,
        || on_a_slow_device("burst", Some(DEVICE_BYTES_PER_S / 8)),
    );
    trials.add(
        "a write at the speed of its device is steady",
        &throttled,
        steady_on_a_slow_device,
    );
    trials.add(
        "a goal on a disk too slow for 64 MiB has files of 16 MiB, and a line says so",
        &throttled,
        small_files_on_a_slow_device,
    );
    trials.add(
        "short writes and single calls have no timeline",
        &[],
        no_stability,
    );
    trials.add(
        "percentages refer to limits of the same run",
        &[Need::Filesystem(Kind::Tmpfs)],
        shares,
    );
    trials.add(
        "a target in memory reports why it has no device limit",
        &[Need::Filesystem(Kind::Tmpfs)],
        || {
            let (program, target) = (program()?, directory_on(Kind::Tmpfs));
            let case = "write,size=4MiB,sync=fsync";
            let document = program.run(target.path(), &["--case", case, "--samples", "1"], 0)?;
            let limit = only(&document, "device-write")?;
            ensure!(
                limit["bytes_per_s"].is_null() && limit["description"] != "",
                "{limit}"
            );
            ensure!(document["cases"][0]["estimate"]["limit"].is_null());
            Ok(())
        },
    );
    trials.add("--no-limits skips the limits", &[], || {
        let (program, target) = (program()?, tempfile::tempdir()?);
        let arguments = ["--case", "write,size=1MiB", "--samples", "1", "--no-limits"];
        let document = program.run(target.path(), &arguments, 0)?;
        ensure!(
            document["targets"][0]["limits"] == Value::Array(Vec::new()),
            "{}",
            document["targets"][0]["limits"]
        );
        Ok(())
    });
    trials.add(
        "the device's limit does not use bytes of samples",
        &[],
        || {
            let (program, target) = (program()?, tempfile::tempdir()?);
            // Disturbed samples are repeated.
            let arguments = [
                "--case",
                "write,size=1MiB,sync=fsync",
                "--samples",
                "2",
                "--max-bytes",
                "16MiB",
                "--verify",
                "never",
            ];
            let document = program.run(target.path(), &arguments, 0)?;
            let limit = only(&document, "device-write")?;
            ensure!(
                limit["description"]
                    .as_str()
                    .is_some_and(|how| how.contains("--max-bytes")),
                "{limit}"
            );
            ensure!(
                document["run"]["status"] == "complete",
                "{}",
                document["run"]
            );
            Ok(())
        },
    );
    trials.add(
        "a resumed run of goals is decided by its contests",
        &[Need::Filesystem(Kind::Tmpfs)],
        resumed_goals,
    );
    trials.add(
        "a run of goals that is killed when resumed is decided by all of its samples",
        &[Need::Filesystem(Kind::Tmpfs)],
        killed_goals,
    );
    trials.add("a resumed run keeps its limits", &[], || {
        let (program, target) = (program()?, tempfile::tempdir()?);
        let arguments = [
            "--case",
            "write,size=1MiB",
            "--samples",
            "2",
            "--max-bytes",
            "2MiB",
        ];
        let before = program.run(target.path(), &arguments, 0)?;
        ensure!(before["run"]["status"] == "limited", "{}", before["run"]);
        let export = program.home().join("resumed.json");
        let export_argument = format!("--export=json={}", export.display());
        let ended = program.call(&["run", "--resume", "--max-bytes", "1GiB", &export_argument])?;
        ensure!(ended.code == Some(0), "{ended:?}");
        let after: Value = serde_json::from_str(&std::fs::read_to_string(export)?)?;
        ensure!(
            after["run"]["status"] == "complete"
                && after["targets"][0]["limits"] == before["targets"][0]["limits"],
            "{after}"
        );
        Ok(())
    });
}

fn resumed_goals() -> Result<()> {
    let program = program()?;
    let target = directory_on(Kind::Tmpfs);
    let before = interrupted_goals(&program, target.path())?;
    let lines = program.home().join("lines");
    let streamed = format!("--export=jsonl={}", lines.display());
    let resume = ["run", "--resume", "--budget", "10s", &streamed];
    let ended = program.call(&resume)?;
    // A busy machine has no answer after ten seconds.
    ensure!(matches!(ended.code, Some(0 | 6)), "{ended:?}");
    let after = shown(&program)?;
    ensure!(count_samples(&after) > count_samples(&before), "{ended:?}");
    ensure!(decided_goals(&after)? == goals_with_samples(&after));
    let first = |document: &Value| document["run"]["decisions"][0]["candidates"].as_u64();
    ensure!(
        first(&before) > Some(20) && first(&after) >= first(&before),
        "the candidates of the whole run: {:?} and then {:?}",
        first(&before),
        first(&after)
    );
    // Only a schedule of contests writes these lines.
    let lines = std::fs::read_to_string(lines)?;
    let decisions = lines
        .lines()
        .filter(|line| line.starts_with("{\"decision\":"));
    ensure!(
        decisions.count() == goals_with_samples(&after).len(),
        "{lines}"
    );
    Ok(())
}

fn killed_goals() -> Result<()> {
    let program = program()?;
    let target = directory_on(Kind::Tmpfs);
    let before = interrupted_goals(&program, target.path())?;
    let goals_before = goals_with_samples(&before).len();
    let mut child = program.start(&["run", "--resume", "--budget", "5m"])?;
    let another_goal = || {
        let goals = goals_with_samples(&shown(&program).ok()?).len();
        (goals > goals_before).then_some(())
    };
    // A busy machine takes minutes for the first goal.
    let waited = (0..8).any(|_| wait_for("samples of another goal", another_goal).is_ok());
    child.kill()?;
    child.wait()?;
    ensure!(waited, "no samples of another goal");
    let after = shown(&program)?;
    ensure!(
        decided_goals(&after)? == goals_with_samples(&after),
        "{:#}",
        after["run"]
    );
    Ok(())
}

/// A run of goals that a signal has ended after some samples. Its decisions are recorded.
fn interrupted_goals(program: &Program, target: &Path) -> Result<Value> {
    let target = target.to_str().context("UTF-8")?;
    let run = ["run", target, "--size", "64KiB", "--budget", "5m"];
    let mut child = program.start(&run)?;
    let waited = wait_for("samples", || {
        (count_samples(&shown(program).ok()?) > 3).then_some(())
    });
    send(child.id(), Signal::INT)?;
    child.wait()?;
    waited?;
    let document = shown(program)?;
    ensure!(
        document["run"]["status"] == "interrupted",
        "{}",
        document["run"]
    );
    Ok(document)
}

fn shown(program: &Program) -> Result<Value> {
    let ended = program.call(&["show", "--export=json=-"])?;
    Ok(serde_json::from_str(&ended.stdout)?)
}

fn count_samples(document: &Value) -> usize {
    let cases = document["cases"].as_array().map_or(&[][..], Vec::as_slice);
    cases
        .iter()
        .map(|case| case["samples"].as_array().map_or(0, Vec::len))
        .sum()
}

/// The workloads of all decisions.
fn decided_goals(document: &Value) -> Result<HashSet<String>> {
    let decisions = document["run"]["decisions"]
        .as_array()
        .context("decisions")?;
    let workloads = decisions
        .iter()
        .map(|decision| decision["contract"].to_string());
    Ok(workloads.collect())
}

/// The workloads of all cases with a sample.
fn goals_with_samples(document: &Value) -> HashSet<String> {
    let cases = document["cases"].as_array().map_or(&[][..], Vec::as_slice);
    cases
        .iter()
        .filter(|case| {
            case["samples"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        })
        .map(|case| case["contract"].to_string())
        .collect()
}

/// Load stalls samples for minutes, so the last of several attempts decides.
fn steady_on_a_slow_device() -> Result<()> {
    const MORE_ATTEMPTS: u32 = 3;
    for _ in 0..MORE_ATTEMPTS {
        if on_a_slow_device("steady", None).is_ok() {
            return Ok(());
        }
    }
    on_a_slow_device("steady", None)
}

/// With 64 MiB, a sample would take six seconds.
fn small_files_on_a_slow_device() -> Result<()> {
    let program = program()?;
    // Nothing is durable over an image in memory.
    let device = LoopDevice::attach_for_measurements(1 << 30)?;
    let mounted = device.format_and_mount(device.path(), "ext4")?;
    let throttle = Throttle::hold(device.path(), DEVICE_BYTES_PER_S)?;
    let path = mounted.path().to_str().context("UTF-8")?;
    let goal = [
        "--for",
        "durable-stream",
        "--budget",
        "9s",
        "--max-bytes",
        "8GiB",
    ];
    let arguments = [&["run", path], &goal[..], &["--yes", "--export", "json=-"]].concat();
    let ended = program.start(&arguments)?.wait_with_output()?;
    drop(throttle);
    let said = String::from_utf8(ended.stderr)?;
    ensure!(
        said.contains(
            "Using files of 16 MiB: by the first samples, 9 s is too short for files of 64 MiB."
        ),
        "{said}"
    );
    let document: Value = serde_json::from_slice(&ended.stdout)?;
    let cases = document["cases"].as_array().context("cases")?;
    let is_small = |case: &Value| {
        case["name"]
            .as_str()
            .is_some_and(|name| name.contains("size=16MiB"))
    };
    ensure!(
        !cases.is_empty() && cases.iter().all(is_small),
        "{document}"
    );
    Ok(())
}

/// Direct writes to a throttled device, whose rate may change halfway. One of three steady samples must be steady,
/// because load stalls the others.
fn on_a_slow_device(stability: &str, later_bytes_per_s: Option<u64>) -> Result<()> {
    const CASE: &str = "pwrite,size=60MiB,chunk=64KiB,cache=direct";
    let (program, memory) = (program()?, directory_on(Kind::Tmpfs));
    // On the disk, other tests would stall it.
    let image = memory.path().join("image");
    File::create(&image)?.set_len(512 << 20)?;
    let device = LoopDevice::over(&image, &[])?;
    let mounted = device.format_and_mount(device.path(), "ext4")?;
    let throttle = Throttle::hold(device.path(), DEVICE_BYTES_PER_S)?;
    let (before, path) = (
        throttle.written_bytes(),
        mounted.path().to_str().context("UTF-8")?,
    );
    let samples = if later_bytes_per_s.is_some() {
        "1"
    } else {
        "3"
    };
    let run = program.start(&[
        "run",
        path,
        "--case",
        CASE,
        "--samples",
        samples,
        "--no-limits",
        "--yes",
    ])?;
    if let Some(later_bytes_per_s) = later_bytes_per_s {
        wait_for("most of the file", || {
            (throttle.written_bytes() > before + (50 << 20)).then_some(())
        })?;
        throttle.set(later_bytes_per_s)?;
    }
    let ended = run.wait_with_output()?;
    ensure!(ended.status.success(), "{ended:?}");
    let document: Value =
        serde_json::from_str(&program.call(&["show", "--export", "json=-"])?.stdout)?;
    let sample = &document["cases"][0]["samples"][0];
    let sum: u64 = sample["timeline"]["bytes"]
        .as_array()
        .context("a timeline")?
        .iter()
        .filter_map(Value::as_u64)
        .sum();
    ensure!(sample["bytes"] == sum, "every byte is in it: {sample}");
    // The CSV has the timeline of each sample.
    let csv = program.call(&["show", "--export", "csv=-"])?.stdout;
    let mut lines = csv.lines().map(|line| {
        line.rsplit(',')
            .take(4)
            .map(str::to_owned)
            .collect::<Vec<String>>()
    });
    let headings = lines.next().context("headings")?;
    let rows: Vec<Vec<String>> = lines.collect();
    let cells = rows
        .iter()
        .find(|cells| cells[3] == stability)
        .with_context(|| format!("{rows:?}: {sample}"))?;
    ensure!(
        headings
            == [
                "sustained_bytes_per_s",
                "burst_duration_ns",
                "burst_bytes_per_s",
                "stability"
            ],
        "{headings:?}"
    );
    let number = |index: usize| cells[index].parse::<f64>();
    if later_bytes_per_s.is_some() {
        ensure!(
            number(0)? < number(2)? / 2.0 && number(1)? > 1e9,
            "{cells:?}: {sample}"
        );
    } else {
        ensure!(cells[..3].iter().all(String::is_empty), "{cells:?}");
    }
    Ok(())
}

fn no_stability() -> Result<()> {
    let (program, target) = (program()?, tempfile::tempdir()?);
    let arguments = [
        "--case",
        "write,size=8MiB,chunk=whole",
        "--case",
        "write,size=8MiB",
        "--samples",
        "1",
    ];
    let document = program.run(target.path(), &arguments, 0)?;
    for case in document["cases"].as_array().context("cases")? {
        ensure!(
            case["samples"][0]["timeline"].is_null() && case["estimate"]["over_time"].is_null(),
            "{case}"
        );
    }
    ensure!(!program.call(&["show"])?.stdout.contains("steady"));
    Ok(())
}

fn only<'d>(document: &'d Value, kind: &str) -> Result<&'d Value> {
    let limits = document["targets"][0]["limits"]
        .as_array()
        .context("limits")?;
    limits
        .iter()
        .find(|limit| limit["kind"] == kind)
        .with_context(|| format!("{kind} in {limits:?}"))
}

fn shares() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let arguments = [
        "--case",
        "write,size=32MiB",
        "--case",
        "pwrite,size=32MiB,threads=2",
        "--samples",
        "2",
    ];
    let document = program.run(target.path(), &arguments, 0)?;
    for (index, threads) in [(0, 1), (1, 2)] {
        let limits = document["targets"][0]["limits"]
            .as_array()
            .context("limits")?;
        let limit = limits
            .iter()
            .find(|limit| limit["kind"] == "memory-copy" && limit["threads"] == threads);
        let limit = limit.context("of each number of threads")?["bytes_per_s"]
            .as_f64()
            .context("a figure")?;
        let estimate = &document["cases"][index]["estimate"];
        let throughput = estimate["throughput_bytes_per_s"]["value"]
            .as_f64()
            .context("a figure")?;
        let Some(share) = estimate["limit"]["share"].as_f64() else {
            ensure!(throughput > limit, "{estimate}");
            continue;
        };
        ensure!(
            (share - throughput / limit).abs() < 1e-9,
            "{share} of {throughput} and {limit}"
        );
        ensure!(
            share > 0.0 && estimate["limit"]["threads"] == threads,
            "{estimate}"
        );
    }
    let text = program.call(&["show"])?.stdout;
    ensure!(text.contains(" a plain copy of memory, "), "{text}");
    Ok(())
}
