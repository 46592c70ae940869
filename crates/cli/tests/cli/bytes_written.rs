//! Disks wear, so the bytes of a run are announced, counted, and limited by --max-bytes.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Image, Kind, Mounted, Need, Trials, directory_on, entries, wait_for};

use crate::program;
use crate::terminal::Terminal;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add("a run announces and reports its bytes", &tmpfs, said);
    trials.add(
        "--max-bytes counts sources and old content, and is not exceeded",
        &tmpfs,
        not_passed,
    );
    trials.add(
        "old content that a sample uses again counts once, also after --resume",
        &[Need::Filesystem(Kind::Ext4)],
        used_again,
    );
    trials.add(
        "--max-bytes counts the check of direct I/O",
        &[Need::Strace, Need::Filesystem(Kind::Ext4)],
        direct,
    );
    trials.add(
        "a --max-bytes too low for a sample is refused with the minimum",
        &tmpfs,
        too_few,
    );
    trials.add(
        "a suite without a size takes the largest within its budget",
        &tmpfs,
        sized,
    );
    let asked = [Need::Root, Need::Image("ext4"), Need::Program("setsid")];
    trials.add(
        "a --max-bytes too low for an answer is refused with one that suffices",
        &[Need::Filesystem(Kind::Tmpfs)],
        too_few_for_an_answer,
    );
    trials.add(
        "a large run asks first, and needs --yes or --max-bytes without a terminal",
        &asked,
        asks,
    );
}

fn direct() -> Result<()> {
    for (most_bytes, samples) in [(14 << 20, 1), (15 << 20, 2)] {
        let (program, target) = (program()?, directory_on(Kind::Ext4));
        let trace = program.home().join("trace");
        let mut strace = writebench_testkit::strace();
        strace
            .args(["-y", "-e", "trace=write,pwrite64", "-o"])
            .arg(&trace)
            .arg(program.binary());
        strace.arg("run").arg(target.path()).args([
            "--case",
            "pwrite,size=1MiB,cache=direct",
            "--no-limits",
        ]);
        strace.args(["--samples", "2", "--max-bytes", &most_bytes.to_string()]);
        strace
            .env_remove("WRITEBENCH_DB")
            .env("XDG_DATA_HOME", program.home());
        let output = strace.output()?;
        ensure!(output.status.success(), "{output:?}");
        let taken = program
            .call(&["show", "--export", "csv=-"])?
            .stdout
            .lines()
            .skip(1)
            .count();
        // Disturbed samples are repeated.
        ensure!(taken >= samples, "{taken} samples in {most_bytes}");
        let written = written_below(target.path(), &std::fs::read_to_string(&trace)?);
        ensure!(
            written > 0 && written <= most_bytes,
            "{written} bytes, where {most_bytes} were allowed"
        );
        // 12 MiB are the check of O_DIRECT.
        ensure!(written >= (12 + samples as u64) << 20, "{written}");
    }
    Ok(())
}

/// Sums results in a directory: `12 pwrite64(5</target/file>, "…", 4096, 0) = 4096`.
fn written_below(target: &Path, trace: &str) -> u64 {
    let target = format!("<{}/", target.display());
    let calls = writebench_testkit::traced_calls(trace);
    let writes = calls.iter().filter(|line| line.contains(&target));
    writes
        .filter_map(|line| line.rsplit_once("= ")?.1.trim().parse::<u64>().ok())
        .sum()
}

fn said() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let arguments = [
        "run",
        target.path().to_str().context("UTF-8")?,
        "--case",
        "read-write,size=4MiB",
    ];
    let arguments = [&arguments[..], &["--samples", "2", "--no-limits"]].concat();
    let before = program.call(&[&arguments[..], &["--dry-run"]].concat())?;
    ensure!(before.stdout.contains("8 MiB to be written"), "{before:?}");
    ensure!(
        before
            .stdout
            .contains("Up to 4 MiB more for the sources of copies"),
        "{before:?}"
    );
    let ended = program.call(&arguments)?;
    let expected = "1 case × 2 samples: about 12 MiB to write, under 1 s on a fast disk";
    ensure!(ended.stderr.contains(expected), "{ended:?}");
    let written = ended
        .stderr
        .split_once(" and wrote ")
        .and_then(|(_, rest)| rest.split_once(" MiB."));
    let mebibytes = written.and_then(|(number, _)| number.parse::<u64>().ok());
    ensure!(
        mebibytes.is_some_and(|mebibytes| mebibytes >= 12 && mebibytes.is_multiple_of(4)),
        "{ended:?}"
    );
    let same = format!(" · {} MiB written", mebibytes.unwrap_or_default());
    let again = program.call(&["show"])?.stdout;
    ensure!(
        ended.stdout.contains(&same) && again.contains(&same),
        "{same} in {ended:?}, {again}"
    );
    Ok(())
}

fn not_passed() -> Result<()> {
    for (case, most, samples) in [
        ("read-write,size=4MiB", "13MiB", 2),
        ("read-write,size=4MiB", "11MiB", 1),
        ("write,size=4MiB,prepare=overwrite", "17MiB", 2),
    ] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let arguments = [
            "--case",
            case,
            "--samples",
            "9",
            "--no-limits",
            "--max-bytes",
            most,
        ];
        let document = program.run(target.path(), &arguments, 0)?;
        let taken = document["cases"][0]["samples"]
            .as_array()
            .map_or(0, Vec::len);
        ensure!(
            taken == samples && document["run"]["status"] == "limited",
            "{case} in {most}: {taken}"
        );
    }
    Ok(())
}

/// The first sample makes old content of 4 MiB, and later ones overwrite what is there.
fn used_again() -> Result<()> {
    const SIZE: u64 = 4 << 20;
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let case = "write,size=4MiB,prepare=overwrite";
    let arguments = ["--case", case, "--samples", "9", "--no-limits"];
    let limited = [&arguments[..], &["--max-bytes", "18MiB"]].concat();
    let counted = |document: &serde_json::Value, parts: u64| -> Result<()> {
        let samples = document["cases"][0]["samples"].as_array();
        let samples = samples.context("samples")?.len() as u64;
        let written = document["run"]["written_bytes"].as_u64().context("bytes")?;
        let expected = (samples + parts) * SIZE;
        ensure!(
            (expected..expected + 1024).contains(&written),
            "{written} of {samples} samples, not {expected}"
        );
        Ok(())
    };
    let first = program.run(target.path(), &limited, 0)?;
    ensure!(first["run"]["status"] == "limited", "{}", first["run"]);
    counted(&first, 1)?;
    let ended = program.call(&[
        "run",
        "--resume",
        "--max-bytes",
        "1GiB",
        "--export=json=-",
        "--quiet",
    ])?;
    counted(&serde_json::from_str(&ended.stdout)?, 2)
}

fn too_few() -> Result<()> {
    for (words, most, least) in [
        (&["--case", "read-write,size=4MiB"][..], "7MiB", "9MiB"),
        (&["--case", "write,size=4MiB"][..], "1M", "5MiB"),
        (
            &["--case", "write,size=4MiB", "--dry-run"][..],
            "1M",
            "5MiB",
        ),
    ] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let path = target.path().to_str().context("UTF-8")?;
        let ended =
            program.call(&[&["run", path, "--no-limits", "--max-bytes", most], words].concat())?;
        ensure!(
            ended.code == Some(2) && ended.stderr.lines().count() == 1,
            "{ended:?}"
        );
        ensure!(
            ended.stderr.contains(&format!("at least {least}")),
            "{least} in {ended:?}"
        );
    }
    Ok(())
}

/// 10 MiB are less than a sample, and 200 MiB pay for twelve.
fn too_few_for_an_answer() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let run = |more: &[&str]| program.call(&[&["run", path, "--for", "stream"], more].concat());
    for most in ["10MiB", "200MiB"] {
        let ended = run(&["--max-bytes", most])?;
        let expected = format!(
            "--max-bytes {most} pays for no answer: six rounds of three methods for stream write 288 MiB. Use --max-bytes \
             721MiB, which pays for 45 samples, or a smaller --size"
        );
        ensure!(
            ended.code == Some(2) && ended.stderr.contains(&expected),
            "{expected} in {ended:?}"
        );
    }
    let ended = run(&["--max-bytes", "721MiB", "--budget", "4s"])?;
    ensure!(ended.stdout.contains("\n  new file  "), "{ended:?}");
    let smaller = run(&["--max-bytes", "10MiB", "--size", "64KiB", "--budget", "4s"])?;
    ensure!(smaller.stdout.contains("\n  new file  "), "{smaller:?}");
    Ok(())
}

fn sized() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let suite = [
        "--suite",
        "durable",
        "--samples",
        "2",
        "--no-limits",
        "--budget",
        "6s",
        "--verify",
        "never",
    ];
    let document = program.run(target.path(), &suite, 0)?;
    let cases = document["cases"].as_array().context("cases")?;
    let bytes = |case: &serde_json::Value| case["contract"]["bytes"].as_u64();
    ensure!(
        cases.iter().all(|case| bytes(case) == bytes(&cases[0])),
        "several sizes"
    );
    let path = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[&["run", path], &suite[..]].concat())?;
    ensure!(
        ended.stderr.contains("Files of ") && ended.stderr.contains("2 rounds fit"),
        "{ended:?}"
    );
    ensure!(
        !ended.stdout.contains("cut short by the budget"),
        "{ended:?}"
    );
    let given = program.call(&[&["run", path, "--size", "64KiB"], &suite[..]].concat())?;
    ensure!(
        given.code == Some(0) && !given.stderr.contains("Files of "),
        "{given:?}"
    );
    Ok(())
}

/// A quarter of this filesystem is little.
fn asks() -> Result<()> {
    let (program, image) = (program()?, Image::mount("ext4", 512 << 20)?);
    let target = image.path().join("target");
    std::fs::create_dir(&target)?;
    let path = target.to_str().context("UTF-8")?;
    let many = [
        "run",
        path,
        "--case",
        "write,size=32MiB",
        "--samples",
        "5",
        "--no-limits",
    ];
    let ended = program.call(&many)?;
    ensure!(
        ended.code == Some(2) && ended.stderr.lines().count() == 1,
        "{ended:?}"
    );
    for text in [
        "about 160 MiB",
        "a quarter of the free 4",
        "--yes",
        "--max-bytes",
    ] {
        ensure!(ended.stderr.contains(text), "{text} in {ended:?}");
    }
    ensure!(
        entries(program.home()).is_empty() && entries(&target).is_empty(),
        "something was made"
    );
    for more in [&["--yes"][..], &["--max-bytes", "40MiB"]] {
        let ended = program.call(&[&many[..], more].concat())?;
        ensure!(ended.code == Some(0), "{ended:?}");
    }
    let memory = Mounted::tmpfs(512 << 20)?;
    let in_memory = [
        &["run", memory.path().to_str().context("UTF-8")?],
        &many[2..],
    ]
    .concat();
    ensure!(program.call(&in_memory)?.code == Some(0));
    // Nothing wears out in memory, so only the time of its goals is limited.
    for (target, is_limited) in [(path, true), (in_memory[1], false)] {
        let dry = program.call(&["run", target, "--dry-run"])?;
        ensure!(
            dry.code == Some(0)
                && dry.stdout.contains("stops after 45s")
                && dry.stdout.contains("stops before") == is_limited
                && dry.stderr.contains("Left out the durable goals") != is_limited,
            "{dry:?}"
        );
    }
    // A run of goals with a size is not asked about them either.
    let sized = ["run", in_memory[1], "--size", "64MiB", "--budget", "2s"];
    let sized = program.call(&sized)?;
    ensure!(matches!(sized.code, Some(0 | 6)), "{sized:?}");
    // An explicit size, or --suite, needs consent. A run of all goals chooses a size that does not.
    let sized = program.call(&["run", path, "--set", "size=128MiB", "--no-limits"])?;
    ensure!(
        sized.code == Some(2) && sized.stderr.contains("add --yes"),
        "{sized:?}"
    );
    let all_goals = program.call(&[
        "run",
        path,
        "--samples",
        "6",
        "--budget",
        "10s",
        "--no-limits",
    ])?;
    // A busy machine has no answer after ten seconds.
    ensure!(matches!(all_goals.code, Some(0 | 6)), "{all_goals:?}");
    ensure!(
        all_goals.stderr.contains("stops before 1 GiB are written"),
        "{all_goals:?}"
    );
    for (keys, code) in [("y\r", 0), ("n\r", 2)] {
        let mut terminal = Terminal::start(&program.command(&many), 200)?;
        wait_for("the question", || {
            terminal.shown().contains("Go on? [y/N]").then_some(())
        })?;
        terminal.press(keys)?;
        let (status, shown) = terminal.end()?;
        ensure!(status.code() == Some(code), "{keys:?}: {status:?}: {shown}");
    }
    Ok(())
}
