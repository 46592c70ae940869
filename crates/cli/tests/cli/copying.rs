use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Image, Kind, Need, Program, Trials, directory_on, entries, wait_for};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    for kind in Kind::ALL {
        let needs = [Need::Filesystem(kind)];
        let on = kind.name();
        trials.add(
            format!("<X >Y leaves an exact copy and the table on stderr, on {on}"),
            &needs,
            move || redirected(kind),
        );
        trials.add(
            format!("--from X --to Y leaves an exact copy, on {on}"),
            &needs,
            move || from_to(kind),
        );
    }
    let ext4 = [Need::Filesystem(Kind::Ext4)];
    trials.add(
        "an output with content, or in append mode, is not overwritten by a copy",
        &ext4,
        logs,
    );
    trials.add(
        "one redirection alone does not start a copy",
        &ext4,
        one_redirection,
    );
    trials.add(
        "a redirected copy is planned with the size of its file",
        &ext4,
        planned,
    );
    trials.add(
        "a redirected input without a file for the copy is named",
        &ext4,
        piped,
    );
    trials.add("unsuitable sources are refused in one line", &ext4, refused);
    trials.add(
        "a copy does not replace a database or its side files",
        &ext4,
        of_database,
    );
    trials.add(
        "a shrinking source fails its cases, and spares the copy",
        &ext4,
        shorter,
    );
    trials.add(
        "a cold source is read from the disk, a warm one is not",
        &[Need::Image("ext4")],
        cold,
    );
    trials.add("the copy is made after all samples", &ext4, nothing_before);
    trials.add(
        "a planted link does not redirect a copy",
        &[Need::Root],
        planted,
    );
    trials.add(
        "a run killed during its copy leaves no partial copy, and is resumed",
        &ext4,
        killed,
    );
    trials.add(
        "a source that cannot be evicted is unsupported, not warm",
        &[Need::Filesystem(Kind::Tmpfs)],
        || {
            let (program, target) = (program()?, directory_on(Kind::Tmpfs));
            let arguments = ["--case", "sendfile,size=1MiB,origin=cold", "--samples", "1"];
            let document = program.run(target.path(), &arguments, 4)?;
            let case = &document["cases"][0];
            ensure!(
                case["outcome"] == "unsupported" && case["estimate"].is_null(),
                "{case}"
            );
            ensure!(
                case["reason"]
                    .as_str()
                    .is_some_and(|reason| reason.contains("POSIX_FADV_DONTNEED")),
                "{case}"
            );
            Ok(())
        },
    );
}

const LENGTH: usize = 3_000_001;

/// A size that is a multiple of nothing.
fn source(directory: &Path) -> Result<PathBuf> {
    let path = directory.join("X");
    let period: Vec<u8> = (0..=250).collect();
    let bytes = period.repeat(LENGTH.div_ceil(period.len()));
    std::fs::write(&path, &bytes[..LENGTH])?;
    Ok(path)
}

/// The run then knows the length of its source.
fn wait_for_workspace(directory: &Path) -> Result<()> {
    let is_hidden = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.as_encoded_bytes()[0] == b'.')
    };
    wait_for("the run's directory", || {
        entries(directory).iter().any(is_hidden).then_some(())
    })
}

fn is_copy(directory: &Path) -> Result<()> {
    let (from, copy) = (
        std::fs::read(directory.join("X"))?,
        std::fs::read(directory.join("Y"))?,
    );
    ensure!(
        from.len() == LENGTH && from == copy,
        "{} of {LENGTH} bytes, or other ones",
        copy.len()
    );
    ensure!(entries(directory).len() == 2, "{:?}", entries(directory));
    Ok(())
}

fn redirect(program: &Program, from: Option<&Path>, to: File) -> Result<Output> {
    let mut command: Command = program.command(&[
        "run",
        "--suite",
        "copy",
        "--samples",
        "1",
        "--verify",
        "every",
    ]);
    if let Some(from) = from {
        command.stdin(File::open(from)?);
    }
    Ok(command
        .stdout(to)
        .stderr(std::process::Stdio::piped())
        .output()?)
}

fn planned() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = source(directory.path())?;
    let mut command = program.command(&["run", "--suite", "copy", "--dry-run"]);
    let output = command
        .stdin(File::open(from)?)
        .stdout(File::create(directory.path().join("Y"))?)
        .output()?;
    let plan = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success() && plan.contains(&format!("splice,size={LENGTH}")),
        "{plan}"
    );
    ensure!(
        plan.contains("Nothing was written") && !plan.contains("256 MiB"),
        "{plan}"
    );
    ensure!(
        std::fs::read(directory.path().join("Y"))?.is_empty(),
        "the plan is no copy"
    );
    Ok(())
}

fn piped() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = source(directory.path())?;
    let words = [
        "run",
        directory.path().to_str().context("UTF-8")?,
        "--suite",
        "copy",
        "--dry-run",
    ];
    let output = program.command(&words).stdin(File::open(&from)?).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let wanted = format!(
        "Standard input is {}, but standard output is no file",
        from.display()
    );
    ensure!(output.status.success() && said.contains(&wanted), "{said}");
    Ok(())
}

fn redirected(kind: Kind) -> Result<()> {
    let (program, directory) = (program()?, directory_on(kind));
    let from = source(directory.path())?;
    let output = redirect(
        &program,
        Some(&from),
        File::create(directory.path().join("Y"))?,
    )?;
    let table = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{table}");
    is_copy(directory.path())?;
    for label in [
        "read+write 1k",
        "read+write 256bs",
        "mmap+write + advices + falloc",
        "pipe+splice",
        "sendfile",
    ] {
        ensure!(
            table.lines().any(|line| line.starts_with(label)),
            "{label}: {table}"
        );
    }
    ensure!(!table.contains("? +"), "one round has no ratio: {table}");
    let document = program.call(&["show", "--export", "json=-"])?.stdout;
    let document: serde_json::Value = serde_json::from_str(&document)?;
    let cases = document["cases"].as_array().context("cases")?;
    ensure!(
        cases
            .iter()
            .all(|case| case["outcome"] == "ok" && case["samples"][0]["bytes"] == LENGTH),
        "{cases:?}"
    );
    ensure!(
        cases
            .iter()
            .all(|case| case["samples"][0]["read_back"]["extent"] == "whole"),
        "{cases:?}"
    );
    Ok(())
}

fn from_to(kind: Kind) -> Result<()> {
    let (program, directory) = (program()?, directory_on(kind));
    let (from, to) = (source(directory.path())?, directory.path().join("Y"));
    std::fs::write(&to, vec![7; LENGTH + 5])?;
    let (from, to) = (
        from.to_str().context("UTF-8")?,
        to.to_str().context("UTF-8")?,
    );
    let ended = program.call(&["run", "--from", from, "--to", to, "--samples", "1"])?;
    ensure!(
        ended.code == Some(0) && ended.stdout.contains("sendfile + advices"),
        "{ended:?}"
    );
    is_copy(directory.path())
}

fn logs() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = source(directory.path())?;
    let log = directory.path().join("log");
    std::fs::write(&log, "precious")?;
    for output in [
        OpenOptions::new().append(true).open(&log)?,
        OpenOptions::new().write(true).open(&log)?,
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(directory.path().join("empty"))?,
    ] {
        let output = redirect(&program, Some(&from), output)?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(2) && text.contains("--from and --to"),
            "{text}"
        );
    }
    ensure!(std::fs::read_to_string(log)? == "precious");
    let mut command = program.command(&[
        "run",
        directory.path().to_str().context("UTF-8")?,
        "--suite",
        "copy",
    ]);
    let output = command
        .stdin(File::open(&from)?)
        .stdout(File::create(directory.path().join("Y"))?)
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(2) && text.contains("Leave out TARGET"),
        "{text}"
    );
    Ok(())
}

fn one_redirection() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let file = File::create(directory.path().join("table"))?;
    let mut command = program.command(&[
        "run",
        "--suite",
        "copy",
        "--size",
        "64KiB",
        "--samples",
        "1",
        "--quiet",
    ]);
    let output = command
        .current_dir(directory.path())
        .stdout(file)
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    let table = std::fs::read_to_string(directory.path().join("table"))?;
    ensure!(table.contains("pipe+splice + advices + trunc"), "{table}");
    Ok(())
}

fn refused() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = source(directory.path())?;
    std::fs::write(directory.path().join("empty"), "")?;
    let target = directory.path().to_str().context("UTF-8")?;
    let from = from.to_str().context("UTF-8")?;
    let (same, empty) = (from, format!("{target}/empty"));
    let fifo = format!("{target}/fifo");
    writebench_testkit::call(Command::new("mkfifo").arg(&fifo))?;
    for (arguments, why) in [
        (vec!["--from", "/no/such/file"], "No such file"),
        (vec!["--from", target], "not a regular file"),
        (
            vec!["--from", &empty],
            "the file is empty. Name one with content",
        ),
        (
            vec!["--from", "/proc/cpuinfo"],
            "its content does not end at its size, as in /proc and /sys",
        ),
        // The kernel tells the length of a page, and has fewer bytes.
        (
            vec!["--from", "/sys/kernel/uevent_seqnum"],
            "its content does not end at its size, as in /proc and /sys",
        ),
        (vec!["--from", from, "--to", same], "the same file"),
        (vec!["--from", from, "--to", "/no/such/Y"], "No such file"),
        (
            vec!["--from", from, "--size", "3000002"],
            "--size 3000002 is more than",
        ),
        (
            vec!["--from", from, "--to", "Y", "--size", "1MiB"],
            "Leave out --size",
        ),
        (
            vec!["--from", from, "--suite", "write"],
            "no selected case copies",
        ),
        (vec!["--to", "Y"], "--from"),
        (vec!["--from", &fifo], "not a regular file"),
        (vec!["--from", from, "--to", &fifo], "not a regular file"),
    ] {
        let mut command = program.command(&[&["run"], arguments.as_slice()].concat());
        let output = command.current_dir(directory.path()).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(2) && text.contains(why),
            "{arguments:?}: {text}"
        );
        ensure!(text.lines().count() == 1, "{text}");
    }
    Ok(())
}

fn of_database() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = source(directory.path())?;
    let from = from.to_str().context("UTF-8")?;
    let usual = program.home().join("writebench/writebench.db");
    let (named, other) = (
        directory.path().join("e.db"),
        directory.path().join("other.db"),
    );
    std::fs::create_dir_all(usual.parent().context("a directory")?)?;
    let folder = directory.path().join("folder");
    std::os::unix::fs::symlink(directory.path(), &folder)?;
    let beside = ["-runs", "-journal", "-wal", "-shm"]
        .map(|suffix| PathBuf::from(format!("{}{suffix}", named.display())));
    let places = [usual, named.clone(), other.clone(), folder.join("e.db")];
    for exists in [false, true] {
        for place in places.iter().chain(&beside) {
            if exists {
                std::fs::write(place, "")?;
            }
            let to = place.to_str().context("UTF-8")?;
            let db = named.to_str().context("UTF-8")?;
            let run = [
                "run",
                "--from",
                from,
                "--to",
                to,
                "--db",
                db,
                "--samples",
                "1",
                "--case",
                "sendfile",
            ];
            let output = program
                .command(&run)
                .env("WRITEBENCH_DB", &other)
                .output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(
                output.status.code() == Some(3) && said.contains("this is the database"),
                "{to}: {said}"
            );
            ensure!(
                place.exists() == exists
                    && place.metadata().map_or(0, |metadata| metadata.len()) == 0,
                "{to}"
            );
        }
    }
    let run = [
        "run",
        "--suite",
        "copy",
        "--samples",
        "1",
        "--db",
        named.to_str().context("UTF-8")?,
    ];
    let mut command: Command = program.command(&run);
    let output = command
        .stdin(File::open(from)?)
        .stdout(File::create(&named)?)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(3) && said.contains("this is the database"),
        "{said}"
    );
    Ok(())
}

fn shorter() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = source(directory.path())?;
    let to = directory.path().join("Y");
    let (from_text, to_text) = (
        from.to_str().context("UTF-8")?,
        to.to_str().context("UTF-8")?,
    );
    let arguments = [
        "run", "--from", from_text, "--to", to_text, "--suite", "copy", "--yes",
    ];
    let mut child =
        program.start(&[&arguments[..], &["--samples", "1000", "--budget", "4s"]].concat())?;
    wait_for_workspace(directory.path())?;
    OpenOptions::new().write(true).open(&from)?.set_len(1000)?;
    let code = child.wait()?.code();
    ensure!(code != Some(0), "{code:?}");
    let table = program.call(&["show"])?.stdout;
    ensure!(
        table.contains("but 3000001 are needed") || table.contains("ends too early"),
        "{table}"
    );
    ensure!(
        !to.exists() && entries(directory.path()).len() == 1,
        "{:?}",
        entries(directory.path())
    );
    Ok(())
}

/// Without other readers.
fn cold() -> Result<()> {
    let (program, image) = (program()?, Image::mount("ext4", 256 << 20)?);
    let bytes_read = |number: &str| -> Result<u64> {
        let stat = std::fs::read_to_string(format!("/sys/dev/block/{number}/stat"))?;
        Ok(stat
            .split_whitespace()
            .nth(2)
            .context("sectors read")?
            .parse::<u64>()?
            * 512)
    };
    let read_by = |origin: &str| -> Result<u64> {
        let case = format!("read-write,size=16MiB,origin={origin}");
        let environment = program
            .call(&["probe", "--json", image.path().to_str().context("UTF-8")?])?
            .stdout;
        let environment: serde_json::Value = serde_json::from_str(&environment)?;
        let number = environment["device"]["number"]
            .as_str()
            .context("a device")?
            .to_owned();
        let before = bytes_read(&number)?;
        let document = program.run(
            &image.path(),
            &["--case", &case, "--samples", "3", "--yes"],
            0,
        )?;
        ensure!(document["cases"][0]["outcome"] == "ok", "{document}");
        Ok(bytes_read(&number)? - before)
    };
    let (warm, cold) = (read_by("warm")?, read_by("cold")?);
    ensure!(
        cold >= 3 * (16 << 20) && warm < 16 << 20,
        "{warm} and {cold} bytes were read"
    );
    Ok(())
}

fn nothing_before() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = source(directory.path())?;
    let (from, to) = (from.to_str().context("UTF-8")?, directory.path().join("Y"));
    let to_text = to.to_str().context("UTF-8")?;
    ensure!(
        program
            .call(&["run", "--from", from, "--to", to_text, "--dry-run"])?
            .code
            == Some(0)
    );
    ensure!(
        program
            .call(&["run", "--from", from, "--to", to_text, "--size", "1MiB"])?
            .code
            == Some(2)
    );
    ensure!(!to.exists(), "Y was made");
    // A changing source never damages Y.
    std::fs::write(&to, "precious")?;
    let arguments = [
        "run",
        "--from",
        from,
        "--to",
        to_text,
        "--case",
        "sendfile",
        "--yes",
        "--samples",
        "1000000",
    ];
    let mut child = program.start(&[&arguments, ["--budget", "3s"].as_slice()].concat())?;
    wait_for_workspace(directory.path())?;
    OpenOptions::new()
        .append(true)
        .open(from)?
        .set_len(LENGTH as u64 + 1)?;
    ensure!(child.wait()?.code() == Some(1));
    ensure!(std::fs::read_to_string(&to)? == "precious");
    Ok(())
}

/// In another user's directory, who can plant a link.
fn planted() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let (from, theirs) = (source(directory.path())?, directory.path().join("theirs"));
    std::fs::create_dir(&theirs)?;
    std::os::unix::fs::chown(&theirs, Some(65534), Some(65534))?;
    let (ours, to) = (directory.path().join("ours"), theirs.join("Y"));
    std::fs::write(&ours, "precious")?;
    let (from, to_text) = (
        from.to_str().context("UTF-8")?,
        to.to_str().context("UTF-8")?,
    );
    let arguments = [
        "run",
        "--from",
        from,
        "--to",
        to_text,
        "--case",
        "sendfile",
        "--yes",
        "--samples",
        "1000000",
    ];
    let child = program.start(&[&arguments[..], &["--budget", "2s", "--no-limits"]].concat())?;
    wait_for_workspace(&theirs)?;
    std::os::unix::fs::symlink(&ours, &to)?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(3) && said.contains("was replaced by another"),
        "{output:?}"
    );
    ensure!(std::fs::read_to_string(&ours)? == "precious");
    ensure!(entries(&theirs) == [to.clone()], "{:?}", entries(&theirs));
    let ended = program.call(&["run", "--from", from, "--to", to_text, "--samples", "1"])?;
    ensure!(
        ended.code == Some(3) && ended.stderr.contains("is a symbolic link to"),
        "{ended:?}"
    );
    Ok(())
}

fn killed() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let (from, to) = (directory.path().join("X"), directory.path().join("Y"));
    File::create(&from)?.set_len(512 << 20)?;
    let (from_text, to_text) = (
        from.to_str().context("UTF-8")?,
        to.to_str().context("UTF-8")?,
    );
    let run = [
        "run",
        "--from",
        from_text,
        "--to",
        to_text,
        "--case",
        "sendfile",
        "--samples",
        "1",
    ];
    let mut child = program.start(&[&run[..], &["--no-limits"]].concat())?;
    let copy = || {
        entries(directory.path())
            .into_iter()
            .find_map(|entry| entry.join("copy").metadata().ok())
    };
    wait_for("the copy to begin", || {
        copy().filter(|metadata| metadata.len() > 0)
    })?;
    child.kill()?;
    child.wait()?;
    ensure!(!to.exists(), "half a copy looks like a whole one");
    let runs = program.call(&["runs"])?.stdout;
    ensure!(!runs.contains("complete"), "{runs}");
    let ended = program.call(&["run", "--resume", "--from", from_text, "--to", to_text])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.contains("is a copy, verified byte by byte"),
        "{ended:?}"
    );
    ensure!(to.metadata()?.len() == 512 << 20 && entries(directory.path()).len() == 2);
    ensure!(program.call(&["runs"])?.stdout.contains("complete"));
    Ok(())
}
