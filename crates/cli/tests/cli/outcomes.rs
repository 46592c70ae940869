use std::path::Path;
use std::process::Child;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    Caching, Call, Fault, Faulty, Image, Kind, LoopDevice, Need, Program, Trials, What, When,
    directory_on, entries, send, unmount, wait_for,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "an allocation that does not fit has no throughput",
        &[Need::Image("ext4")],
        allocation_too_large,
    );
    trials.add(
        "a file cut behind a mapping costs one case (SIGBUS)",
        &tmpfs,
        sigbus,
    );
    trials.add("a hang costs one case", &tmpfs, hang);
    trials.add("a killed worker costs one sample", &tmpfs, killed);
    trials.add(
        "writes beyond the file size limit cost their case",
        &tmpfs,
        file_size_limit,
    );
    trials.add("the limit on bytes is kept", &tmpfs, max_bytes);
    trials.add(
        "a limit on time cuts slow records, and reports their number",
        &[Need::Filesystem(Kind::Ext4)],
        cut,
    );
    trials.add(
        "a forbidden io_uring is unsupported, with the errno",
        &[Need::Strace],
        forbidden,
    );
    trials.add(
        "an unusual error of io_uring_enter fails its cases, and no worker",
        &[Need::Strace],
        failing_ring,
    );
    trials.add(
        "without mappings only the methods that need one are unsupported",
        &[Need::Fuse],
        unmappable,
    );
    trials.add(
        "a filesystem without O_DIRECT differs from one that pretends",
        &[Need::Image("ext4")],
        no_direct,
    );
    trials.add(
        "a misaligned direct write reports the alignment",
        &[Need::Image("ext4")],
        misaligned,
    );
    trials.add(
        "files without checksums are unsupported outside btrfs",
        &tmpfs,
        unchecked,
    );
    trials.add("the limit on time is kept and reported", &tmpfs, budget);
    trials.add(
        "samples begin only if the budget has time for them",
        &[Need::Fuse],
        overrun,
    );
}

/// With operations under way, whose memory the worker must keep, and without.
fn failing_ring() -> Result<()> {
    const CASES: [&str; 3] = [
        "io_uring,size=1MiB,chunk=64KiB,depth=4",
        "io_uring-copy,size=1MiB,chunk=64KiB,depth=4",
        "io_uring-files,size=1MiB,depth=4",
    ];
    for when in ["1", "3", "2+"] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let inject = format!("inject=io_uring_enter:error=ENXIO:when={when}");
        let export = program.home().join("export.json");
        let output = writebench_testkit::strace()
            .args([
                "-o",
                "/dev/null",
                "-e",
                "trace=io_uring_enter",
                "-e",
                &inject,
            ])
            .arg(program.binary())
            .args([
                "run",
                "--samples",
                "1",
                "--case",
                AFTER,
                "--no-limits",
                "--db",
            ])
            .arg(program.home().join("db"))
            .arg(format!("--export=json={}", export.display()))
            .args(CASES.iter().flat_map(|case| ["--case", case]))
            .arg(target.path())
            .output()?;
        ensure!(output.status.code() == Some(4), "{output:?}");
        let document: Value = serde_json::from_str(&std::fs::read_to_string(export)?)?;
        let reasons: Vec<&str> = CASES
            .iter()
            .filter_map(|name| case(&document, name).ok()?["reason"].as_str())
            .collect();
        // The count is a process's, so one error may hit any of the cases, or a later call of the same one.
        let least = if when.ends_with('+') { CASES.len() } else { 1 };
        let is_expected =
            |reason: &&str| reason.contains("io_uring_enter: No such device or address (6)");
        ensure!(
            reasons.len() >= least && reasons.iter().all(is_expected),
            "{reasons:?}"
        );
        ensure!(case(&document, AFTER)?["outcome"] == "ok", "{document}");
    }
    Ok(())
}

fn unmappable() -> Result<()> {
    let (program, faulty) = (program()?, Faulty::mount("sample", Caching::Unmappable)?);
    let arguments = |cases: &[&'static str]| -> Vec<&'static str> {
        let cases = cases.iter().flat_map(|case| ["--case", case]);
        cases.chain(["--samples", "2", "--no-limits"]).collect()
    };
    let measured = [
        "write,size=1MiB",
        "pwrite,size=1MiB,prepare=overwrite",
        "write,size=1MiB,cache=direct",
        "write,size=1MiB,sync=fsync",
        "write-files,size=64KiB",
        "read-write,size=1MiB",
        "sendfile,size=1MiB",
    ];
    let without = [
        "mmap,size=1MiB",
        "mmap-write,size=1MiB",
        "read-mmap,size=1MiB",
        "read-write,size=1MiB,origin=cold",
    ];
    let document = program.run(
        faulty.path(),
        &arguments(&[&measured[..], &without].concat()),
        0,
    )?;
    for name in measured {
        let case = case(&document, name)?;
        ensure!(case["outcome"] == "ok", "{name}: {case}");
        for sample in case["samples"].as_array().context("samples")? {
            let is_doubted = sample["disturbed_by"].to_string().contains("page cache");
            ensure!(
                !is_doubted && sample["read_back"]["from"].is_null(),
                "{name}: {sample}"
            );
        }
    }
    for name in without {
        let case = case(&document, name)?;
        let reason = case["reason"].as_str().unwrap_or_default();
        let is_why = reason.contains("mmap: ") || reason.contains("mincore needs a mapping");
        ensure!(case["outcome"] == "unsupported" && is_why, "{name}: {case}");
    }
    Ok(())
}

/// Like a sandbox, which refuses the system call.
fn forbidden() -> Result<()> {
    for (errno, number) in [("EPERM", 1), ("ENOSYS", 38)] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let inject = format!("inject=io_uring_setup:error={errno}");
        let export = program.home().join("export.json");
        let output = writebench_testkit::strace()
            .args([
                "-o",
                "/dev/null",
                "-e",
                "trace=io_uring_setup",
                "-e",
                &inject,
            ])
            .arg(program.binary())
            .args([
                "run",
                "--samples",
                "1",
                "--case",
                "io_uring,size=1MiB",
                "--case",
                AFTER,
                "--db",
            ])
            .arg(program.home().join("db"))
            .arg(format!("--export=json={}", export.display()))
            .arg(target.path())
            .output()?;
        ensure!(
            output.status.success(),
            "unsupported is no failure: {output:?}"
        );
        let document: Value = serde_json::from_str(&std::fs::read_to_string(export)?)?;
        let uring = case(&document, "io_uring,size=1MiB")?;
        let reason = uring["reason"].as_str().context("a reason")?;
        ensure!(
            uring["outcome"] == "unsupported" && uring["estimate"].is_null(),
            "{uring}"
        );
        ensure!(
            reason.starts_with("io_uring_setup: ") && reason.ends_with(&format!("({number})")),
            "{reason}"
        );
        ensure!(case(&document, AFTER)?["outcome"] == "ok");
    }
    Ok(())
}

fn no_direct() -> Result<()> {
    let (program, directory) = (program()?, tempfile::tempdir()?);
    let name = "write,size=1MiB,cache=direct";
    writebench_testkit::call(
        std::process::Command::new("mount")
            .args(["-t", "ramfs", "none"])
            .arg(directory.path()),
    )?;
    let document = program.run(directory.path(), &["--case", name, "--samples", "1"], 4);
    unmount(directory.path())?;
    let reason = case(&document?, name)?["reason"].clone();
    ensure!(
        reason == "open with O_DIRECT: Invalid argument (22)",
        "{reason}"
    );
    let target = directory_on(Kind::Tmpfs);
    let document = program.run(target.path(), &["--case", name, "--samples", "1"], 4)?;
    let tmpfs = case(&document, name)?;
    let reason = tmpfs["reason"].as_str().context("a reason")?;
    ensure!(
        tmpfs["outcome"] == "unsupported" && reason.contains("are in the page cache"),
        "{tmpfs}"
    );
    let warning = "O_DIRECT uses the page cache here: no result for 1 direct case.";
    // On a busy machine, that comes first.
    let warnings = document["warnings"].as_array().context("warnings")?;
    ensure!(warnings.iter().any(|said| said == warning), "{warnings:?}");
    Ok(())
}

/// An overlay hides the device and its sector size.
fn unchecked() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let cases = [
        "write,size=1MiB,checksums=no",
        "write,size=1MiB,prepare=overwrite,checksums=no",
    ];
    let arguments = [
        "--samples",
        "1",
        "--case",
        cases[0],
        "--case",
        cases[1],
        "--case",
        "write,size=1MiB",
    ];
    let document = program.run(target.path(), &arguments, 0)?;
    for id in cases {
        let sample = &case(&document, id)?["samples"][0];
        let reason = sample["reason"].to_string();
        ensure!(
            sample["outcome"] == "unsupported" && reason.contains("only btrfs has files"),
            "{sample}"
        );
    }
    ensure!(case(&document, cases[0])?["contract"]["checksums"] == "no");
    ensure!(
        case(&document, "write,size=1MiB")?["samples"][0]["outcome"] == "ok",
        "the next case is well"
    );
    ensure!(entries(target.path()).is_empty(), "a file was left behind");
    Ok(())
}

fn misaligned() -> Result<()> {
    let (program, device) = (program()?, LoopDevice::attach_with_sectors(64 << 20, 4096)?);
    let below = device.format_and_mount(device.path(), "ext4")?;
    let [upper, work, point] = ["upper", "work", "point"].map(|name| below.path().join(name));
    for directory in [&upper, &work, &point] {
        std::fs::create_dir(directory)?;
    }
    let [lower_text, upper_text, work_text] = [&point, &upper, &work].map(|path| path.display());
    let options = format!("lowerdir={lower_text},upperdir={upper_text},workdir={work_text}");
    writebench_testkit::call(
        std::process::Command::new("mount")
            .args(["-t", "overlay", "none", "-o", &options])
            .arg(&point),
    )?;
    let name = "write,size=1MiB,chunk=512,cache=direct";
    let document = program.run(&point, &["--case", name, "--samples", "1", "--yes"], 4);
    unmount(&point)?;
    let reason = case(&document?, name)?["reason"].clone();
    let expected = "write: Invalid argument: direct I/O here needs multiples of 4096 bytes in the file and 512 in memory (22)";
    ensure!(
        reason
            .as_str()
            .is_some_and(|reason| reason.starts_with(expected)),
        "{reason}"
    );
    Ok(())
}

fn cut() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    // 262,144 records.
    for name in [
        "write,chunk=4KiB,sync=fsync/1,source=chunk",
        "io_uring,chunk=4KiB,depth=2,sync=fsync/1,source=chunk",
    ] {
        let arguments = ["--case", name, "--samples", "1", "--budget", "3s"];
        let document = program.run(target.path(), &arguments, 0)?;
        let sample = &case(&document, name)?["samples"][0];
        let bytes = sample["bytes"].as_u64().context("a number")?;
        ensure!(
            sample["outcome"] == "ok" && sample["read_back"]["extent"] == "whole",
            "{sample}"
        );
        ensure!(
            bytes > 0 && bytes < 1 << 30 && sample["latency"]["count"] == bytes / 4096,
            "{sample}"
        );
        let table = program.call(&["show"])?.stdout;
        ensure!(
            table.contains("iB)") && table.contains("cut short by the budget"),
            "{table}"
        );
    }
    Ok(())
}

pub(crate) fn case<'d>(document: &'d Value, id: &str) -> Result<&'d Value> {
    let cases = document["cases"].as_array().context("cases")?;
    cases
        .iter()
        .find(|case| case["name"] == id)
        .with_context(|| format!("{id} in {cases:?}"))
}

/// A mistake of the benchmark that suite `create` is based on.
fn allocation_too_large() -> Result<()> {
    let (program, image) = (program()?, Image::mount("ext4", 64 << 20)?);
    let document = program.run(
        &image.path(),
        &[
            "--suite",
            "create",
            "--size",
            "8MiB,4GiB",
            "--samples",
            "3",
            "--yes",
        ],
        4,
    )?;
    for (call, text) in [
        ("call=fallocate,", "fallocate: No space left on device (28)"),
        ("", "posix_fallocate: No space left on device (28)"),
    ] {
        let too_large = case(
            &document,
            format!("allocate,size=4GiB,{call}").trim_end_matches(','),
        )?;
        ensure!(
            too_large["outcome"] == "failed" && too_large["reason"] == text,
            "{too_large}"
        );
        ensure!(too_large["estimate"].is_null(), "{too_large}");
        ensure!(
            too_large["samples"].as_array().map(Vec::len) == Some(1),
            "once: {too_large}"
        );
        let fits = case(
            &document,
            format!("allocate,size=8MiB,{call}").trim_end_matches(','),
        )?;
        ensure!(
            fits["outcome"] == "ok" && fits["estimate"].is_object(),
            "{fits}"
        );
    }
    // Setting a length allocates nothing.
    ensure!(case(&document, "allocate,size=4GiB,call=ftruncate")?["outcome"] == "ok");
    let table = program.call(&["show"])?.stdout;
    let failed =
        "allocate,size=4GiB,call=fallocate: failed: fallocate: No space left on device (28)";
    ensure!(table.contains(failed), "{table}");
    Ok(())
}

const SLOW: &str = "mmap,size=512MiB";
const AFTER: &str = "write,size=1MiB";

/// Returns while the first case writes.
fn start_slow(program: &Program, target: &Path, slow: &str, more: &[&str]) -> Result<(Child, u32)> {
    let export = format!(
        "--export=json={}",
        program.home().join("export.json").display()
    );
    let target_text = target.to_str().context("UTF-8")?;
    // This seed begins with the slow case.
    let arguments = [
        "run",
        target_text,
        &export,
        "--case",
        slow,
        "--case",
        AFTER,
        "--samples",
        "2",
        "--seed",
        "3",
        "--no-limits",
    ];
    let child = program.start(&[&arguments[..], more].concat())?;
    let worker = wait_for("a worker", || writebench_testkit::worker(child.id()))?;
    wait_for("the slow case's file", || sample_of(target, 512 << 20))?;
    Ok((child, worker))
}

fn sample_of(target: &Path, length: u64) -> Option<std::path::PathBuf> {
    let workspace = entries(target).pop()?;
    let sample = workspace.join("sample");
    (std::fs::metadata(&sample).ok()?.len() == length).then_some(sample)
}

fn end(program: &Program, child: Child, target: &Path, code: i32) -> Result<Value> {
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(code), "{output:?}");
    ensure!(entries(target).is_empty(), "something was left behind");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(
        program.home().join("export.json"),
    )?)?;
    let after = case(&document, AFTER)?;
    let samples = after["samples"].as_array().context("samples")?;
    ensure!(after["outcome"] == "ok" && samples.len() >= 2, "{after}");
    Ok(document)
}

fn slow_ended(document: &Value, slow: &str, outcome: &str, text: &str) -> Result<()> {
    let slow = case(document, slow)?;
    ensure!(
        slow["outcome"] == outcome && slow["estimate"].is_null(),
        "{slow}"
    );
    ensure!(
        slow["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains(text)),
        "{slow}"
    );
    Ok(())
}

fn sigbus() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (child, _) = start_slow(&program, target.path(), SLOW, &[])?;
    let sample = sample_of(target.path(), 512 << 20).context("still there")?;
    std::fs::OpenOptions::new()
        .write(true)
        .open(sample)?
        .set_len(0)?;
    slow_ended(
        &end(&program, child, target.path(), 4)?,
        SLOW,
        "worker-died",
        "SIGBUS (7)",
    )
}

fn hang() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (child, worker) = start_slow(&program, target.path(), SLOW, &["--timeout", "30s"])?;
    send(worker, Signal::STOP)?;
    // The worker may be stopped before its first write.
    slow_ended(
        &end(&program, child, target.path(), 4)?,
        SLOW,
        "timed-out",
        "in phase ",
    )
}

fn killed() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (child, worker) = start_slow(&program, target.path(), SLOW, &[])?;
    send(worker, Signal::KILL)?;
    // The case has its samples.
    let document = end(&program, child, target.path(), 0)?;
    let slow = case(&document, SLOW)?;
    let samples = slow["samples"].as_array().context("samples")?;
    let (first, later) = samples.split_first().context("a sample")?;
    ensure!(
        first["outcome"] == "worker-died" && first["cause"]["signal"] == 9,
        "{first}"
    );
    ensure!(
        later.len() >= 2 && later.iter().all(|sample| sample["outcome"] == "ok"),
        "{later:?}"
    );
    ensure!(
        slow["outcome"] == "ok" && !slow["estimate"].is_null(),
        "{slow}"
    );
    let shown = program.call(&["show"])?.stdout;
    ensure!(
        shown.contains("1 sample lost its worker, its case continued: mmap"),
        "{shown}"
    );
    Ok(())
}

fn file_size_limit() -> Result<()> {
    // SIGXFSZ may be ignored or not.
    for before in ["", "trap '' XFSZ; "] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let limited = |kib: u32| {
            let script = format!(
                "{before}ulimit -f {kib}; exec {} run {} --case write,size=16MiB --case write,size=1MiB --samples 1 --no-limits --db {home}/db --export json={home}/out",
                program.binary().display(),
                target.path().display(),
                home = program.home().display(),
            );
            std::process::Command::new("bash")
                .args(["-c", &script])
                .output()
        };
        let output = limited(4096)?;
        ensure!(output.status.code() == Some(4), "{output:?}");
        let document: Value =
            serde_json::from_str(&std::fs::read_to_string(program.home().join("out"))?)?;
        let large = case(&document, "write,size=16MiB")?;
        ensure!(
            large["outcome"] == "failed" && large["estimate"].is_null(),
            "{large}"
        );
        ensure!(
            large["reason"] == "write: File too large (27) at offset 4194304",
            "{large}"
        );
        ensure!(case(&document, "write,size=1MiB")?["outcome"] == "ok");
        // A limit that the database exceeds also.
        let output = limited(16)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(1) && stderr.lines().count() == 1,
            "{output:?}"
        );
        ensure!(
            stderr.contains("/db: ") && entries(target.path()).is_empty(),
            "{stderr}"
        );
    }
    Ok(())
}

fn max_bytes() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let arguments = [
        "--case",
        "write,size=1MiB,prepare=overwrite",
        "--samples",
        "9",
        "--max-bytes",
        "5MiB",
    ];
    let document = program.run(target.path(), &arguments, 0)?;
    let samples = document["cases"][0]["samples"]
        .as_array()
        .context("samples")?;
    ensure!(
        samples.len() == 2,
        "old and new content count: 2 MiB a sample, {}",
        samples.len()
    );
    ensure!(
        document["run"]["status"] == "limited",
        "{}",
        document["run"]
    );
    Ok(())
}

fn budget() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let arguments = [
        "--suite",
        "write",
        "--size",
        "1MiB",
        "--yes",
        "--samples",
        "1000",
        "--budget",
        "2s",
    ];
    let start = std::time::Instant::now();
    let document = program.run(target.path(), &arguments, 0)?;
    ensure!(
        start.elapsed().as_secs() < 30,
        "nowhere near 60 × 1000 samples"
    );
    ensure!(
        document["run"]["status"] == "limited",
        "{}",
        document["run"]
    );
    let warnings = document["warnings"].as_array().context("warnings")?;
    ensure!(
        warnings.iter().any(|warning| warning
            .as_str()
            .is_some_and(|warning| warning.contains("limit on time"))),
        "{warnings:?}"
    );
    Ok(())
}

/// All samples but the last end within the budget, or 105 % of it in a search.
fn overrun() -> Result<()> {
    const BUDGET_MS: u64 = 6000;
    let budget = format!("{BUDGET_MS}ms");
    let run = ["run", "--case", "write,size=1MiB", "--samples", "1000"];
    let search = [
        "advise",
        "--for",
        "stream",
        "--size",
        "1MiB",
        "--reserve",
        "0%",
    ];
    for (command, most_percent) in [(&run[..], 100), (&search, 105)] {
        let (program, faulty) = (program()?, Faulty::mount("sample", Caching::None)?);
        let delay = What::Delay(std::time::Duration::from_millis(100));
        faulty.follow(&[Fault {
            when: When::Each(Call::Flush),
            what: delay,
        }]);
        let target = faulty.path().to_str().context("UTF-8")?;
        let words = [
            command,
            &[target, "--budget", &budget, "--export=json=-", "--quiet"],
        ]
        .concat();
        let ended = program.call(&words)?;
        let document: Value =
            serde_json::from_str(&ended.stdout).with_context(|| format!("{ended:?}"))?;
        let cases = document["cases"].as_array().context("cases")?;
        let samples = cases
            .iter()
            .flat_map(|case| case["samples"].as_array().into_iter().flatten());
        let mut samples: Vec<&Value> = samples.collect();
        samples.sort_by_key(|sample| sample["order"].as_u64());
        samples.pop().context("a sample")?;
        let times_ns = samples
            .iter()
            .map(|sample| sample["total_ns"].as_u64().unwrap_or(0));
        let taken_ms = times_ns.sum::<u64>() / 1_000_000;
        ensure!(
            taken_ms <= BUDGET_MS * most_percent / 100,
            "{} in {taken_ms} ms",
            samples.len()
        );
        ensure!(
            taken_ms > 0 && document["run"]["status"] != "interrupted",
            "{}",
            document["run"]
        );
    }
    Ok(())
}
