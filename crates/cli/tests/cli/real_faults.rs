//! Faults of real filesystems.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    Image, Kind, Mounted, Need, Program, Trials, call, directory_on, entries, send, unmount,
    wait_for,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let (ext4, root) = ([Need::Image("ext4")], [Need::Root]);
    trials.add(
        "a full filesystem costs the cases that do not fit",
        &ext4,
        fills_up,
    );
    for kind in ["ext4", "btrfs"] {
        let needs = [Need::Image(kind), Need::Root];
        trials.add(
            format!("{kind} on a full disk gives no result"),
            &needs,
            move || full_below(kind),
        );
    }
    trials.add(
        "a target that becomes read-only is reported, and cleaned up later",
        &ext4,
        read_only,
    );
    trials.add(
        "a removed target directory ends only the run",
        &root,
        removed,
    );
    trials.add(
        "a lazily unmounted target keeps the run, and is left clean",
        &ext4,
        unmounted,
    );
}

/// A background run that continues until a fault.
pub(crate) struct Running {
    program: Program,
    child: Child,
}

pub(crate) struct Over {
    pub code: Option<i32>,
    pub stderr: String,
    document: Value,
}

impl Running {
    /// Returns after the first samples.
    pub(crate) fn begin(target: &Path, cases: &[&str]) -> Result<Self> {
        let program = program()?;
        let path = target.to_str().context("UTF-8")?;
        // Without a reserve, so the kernel refuses first.
        let mut arguments = vec![
            "--quiet",
            "run",
            path,
            // On a busy machine, the test may come late with its fault.
            "--samples",
            "5000",
            "--yes",
            "--no-limits",
            "--reserve",
            "0%",
        ];
        arguments.extend(cases.iter().flat_map(|case| ["--case", case]));
        let child = program
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let run = Self { program, child };
        wait_for("samples", || (run.rows() > 2 * cases.len()).then_some(()))?;
        Ok(run)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn rows(&self) -> usize {
        let shown = self.program.call(&["show", "--export", "csv=-"]);
        shown.map_or(0, |ended| ended.stdout.lines().count())
    }

    pub(crate) fn end(self) -> Result<(Program, Over)> {
        let output = self.child.wait_with_output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(!stderr.contains("panicked"), "{stderr}");
        let shown = self.program.call(&["show", "--export", "json=-"])?;
        let document = serde_json::from_str(&shown.stdout).with_context(|| format!("{shown:?}"))?;
        Ok((
            self.program,
            Over {
                code: output.status.code(),
                stderr,
                document,
            },
        ))
    }
}

impl Over {
    pub(crate) fn case(&self, id: &str) -> Result<&Value> {
        let cases = self.document["cases"].as_array().context("cases")?;
        cases
            .iter()
            .find(|case| case["name"] == id)
            .with_context(|| format!("{id} in {cases:?}"))
    }

    /// Only the last sample is a fault, with its cause.
    fn ended_by(&self, id: &str, outcome: &str, text: &str) -> Result<()> {
        let case = self.case(id)?;
        let samples = case["samples"].as_array().context("samples")?;
        let (last, before) = samples.split_last().context("a sample")?;
        ensure!(last["outcome"] == outcome, "{id}: {last}");
        ensure!(
            case["reason"]
                .as_str()
                .is_some_and(|reason| reason.contains(text)),
            "{id}: {}",
            case["reason"]
        );
        ensure!(
            !before.is_empty() && before.iter().all(|sample| sample["outcome"] == "ok"),
            "{id}: {before:?}"
        );
        Ok(())
    }
}

pub(crate) fn one_line(stderr: &str) -> Result<()> {
    ensure!(
        stderr.lines().count() == 1 && stderr.starts_with("writebench: "),
        "one clear line: {stderr}"
    );
    Ok(())
}

pub(crate) fn nothing_left(program: &Program, target: &Path) -> Result<()> {
    let path = target.to_str().context("UTF-8")?;
    let next = program.call(&[
        "run",
        path,
        "--case",
        "write,size=4KiB",
        "--samples",
        "1",
        "--no-limits",
    ])?;
    ensure!(next.code == Some(0), "{next:?}");
    let left: Vec<_> = entries(target)
        .into_iter()
        .filter(|entry| !entry.ends_with("lost+found"))
        .collect();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(())
}

fn fills_up() -> Result<()> {
    const WRITE: &str = "write,size=4MiB";
    const FALLOCATE: &str = "write,size=4MiB,prepare=fallocate";
    const STORE: &str = "mmap,size=4MiB";
    const FITS: &str = "write,size=64KiB";
    let image = Image::mount("ext4", 48 << 20)?;
    let mut run = Running::begin(&image.path(), &[WRITE, FALLOCATE, STORE, FITS])?;
    fill(&image.path(), 5 << 19, &mut run.child)?;
    // The case that fits would take long.
    wait_for("the other cases to fail", || {
        (failed_cases(&run.program) >= 3).then_some(())
    })?;
    send(run.child.id(), Signal::INT)?;
    let (program, over) = run.end()?;
    ensure!(over.code == Some(130), "{}", over.stderr);
    over.ended_by(WRITE, "failed", "write: No space left on device (28)")?;
    over.ended_by(
        FALLOCATE,
        "failed",
        "fallocate: No space left on device (28)",
    )?;
    over.ended_by(STORE, "worker-died", "SIGBUS (7)")?;
    ensure!(
        over.case(FITS)?["outcome"] == "ok",
        "{}",
        over.case(FITS)?["reason"]
    );
    std::fs::remove_file(image.path().join("filler"))?;
    nothing_left(&program, &image.path())
}

fn failed_cases(program: &Program) -> usize {
    let shown = program
        .call(&["show", "--export", "json=-"])
        .map(|ended| ended.stdout);
    let document: Value = serde_json::from_str(&shown.unwrap_or_default()).unwrap_or_default();
    let outcomes = document["cases"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|case| &case["outcome"]);
    outcomes
        .filter(|outcome| *outcome == "failed" || *outcome == "worker-died")
        .count()
}

/// Leaves only some bytes, even after a sample frees its blocks.
fn fill(target: &Path, left_bytes: u64, child: &mut Child) -> Result<()> {
    let filler = File::create(target.join("filler"))?;
    let flags = rustix::fs::FallocateFlags::empty();
    let total_bytes = |stat: &rustix::fs::StatVfs| stat.f_bfree * stat.f_frsize;
    let mut length: u64 = 0;
    let mut in_a_row = 0;
    // After a hundred checks without freed blocks, no sample has any left to free.
    while in_a_row < 100 {
        ensure!(
            child.try_wait()?.is_none(),
            "the run ended before the filesystem was full"
        );
        let free = total_bytes(&rustix::fs::statvfs(target)?);
        if free > left_bytes && rustix::fs::fallocate(&filler, flags, length, 256 << 10).is_ok() {
            (length, in_a_row) = (length + (256 << 10), 0);
        } else {
            in_a_row += 1;
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
    Ok(())
}

/// The filesystem has free blocks, the disk below has none.
fn full_below(kind: &str) -> Result<()> {
    const CASE: &str = "write,size=8MiB,sync=fsync";
    const SIZE_BYTES: u64 = 128 << 20;
    const ERRNOS: [&str; 3] = ["(5)", "(28)", "(30)"];
    let (disk, point) = (Mounted::tmpfs(SIZE_BYTES)?, tempfile::tempdir()?);
    let image = disk.path().join("image");
    File::create(&image)?.set_len(SIZE_BYTES)?;
    call(Command::new(format!("mkfs.{kind}")).arg("-q").arg(&image))?;
    call(
        Command::new("mount")
            .args(["-o", "loop"])
            .arg(&image)
            .arg(point.path()),
    )?;
    let run = || -> Result<(Program, writebench_testkit::Ended)> {
        let program = program()?;
        // Existing data has its blocks.
        call(Command::new("sync").arg("-f").arg(point.path()))?;
        ensure!(
            std::fs::write(disk.path().join("rest"), vec![1; 128 << 20]).is_err(),
            "the disk is not full"
        );
        let path = point.path().to_str().context("UTF-8")?;
        let ended = program.call(&[
            "--quiet",
            "run",
            path,
            "--yes",
            "--case",
            CASE,
            "--samples",
            "2",
            "--no-limits",
        ])?;
        Ok((program, ended))
    };
    let ended = run();
    unmount(point.path())?;
    let (program, ended) = ended?;
    let shown = program.call(&["show", "--export", "json=-"])?;
    let document: Value = serde_json::from_str(&shown.stdout)?;
    let case = &document["cases"][0];
    ensure!(case["estimate"].is_null(), "{case}");
    // The filesystem decides which call fails first, perhaps one between samples, which ends the run.
    let reason = match case["outcome"].as_str() {
        Some("failed") => case["reason"]
            .as_str()
            .filter(|reason| ERRNOS.iter().any(|errno| reason.ends_with(errno))),
        Some("not-run") if ended.code == Some(1) => Some(ended.stderr.as_str())
            .filter(|said| ERRNOS.iter().any(|errno| said.contains(errno))),
        _ => None,
    };
    ensure!(reason.is_some(), "{case} {ended:?}");
    // After losing data, the filesystem refuses removal.
    ensure!(ended.code == Some(4) || ended.code == Some(1), "{ended:?}");
    if ended.code == Some(1) {
        one_line(&ended.stderr)?;
    }
    Ok(())
}

fn read_only() -> Result<()> {
    let image = Image::mount("ext4", 64 << 20)?;
    let run = Running::begin(&image.path(), &["write,size=64KiB", "pwrite,size=64KiB"])?;
    // `remount,ro` is refused while a file is open for writing. The kernel does this after an error.
    image.remount("abort")?;
    let (program, over) = run.end()?;
    ensure!(
        over.code == Some(1) && over.stderr.contains("Read-only file system (30)"),
        "{}",
        over.stderr
    );
    one_line(&over.stderr)?;
    for case in ["write,size=64KiB", "pwrite,size=64KiB"] {
        // Of open(2), or of unlink(2) after the last sample.
        over.ended_by(case, "failed", ": Read-only file system (30)")?;
    }
    unmount(&image.path())?;
    call(
        Command::new("mount")
            .arg(image.device().path())
            .arg(image.path()),
    )?;
    nothing_left(&program, &image.path())
}

fn removed() -> Result<()> {
    let parent = directory_on(Kind::Tmpfs);
    let target = parent.path().join("target");
    std::fs::create_dir(&target)?;
    let run = Running::begin(&target, &["write,size=64KiB", "pwrite,size=64KiB"])?;
    wait_for("the directory to go", || {
        std::fs::remove_dir_all(&target).ok()
    })?;
    let (program, over) = run.end()?;
    for case in ["write,size=64KiB", "pwrite,size=64KiB"] {
        // Of open(2), or of stat(2) if a sample was in progress.
        over.ended_by(case, "failed", ": No such file or directory (2)")?;
    }
    ensure!(over.code == Some(4), "{:?}: {}", over.code, over.stderr);
    ensure!(
        entries(parent.path()).is_empty(),
        "it must not be made again"
    );
    std::fs::create_dir(&target)?;
    nothing_left(&program, &target)
}

fn unmounted() -> Result<()> {
    let image = Image::mount("ext4", 64 << 20)?;
    let run = Running::begin(&image.path(), &["write,size=64KiB"])?;
    call(Command::new("umount").arg("--lazy").arg(image.path()))?;
    let mut child = run.child;
    std::thread::sleep(std::time::Duration::from_millis(200));
    if child.try_wait()?.is_none() {
        send(child.id(), Signal::INT)?;
    }
    let (program, over) = Running {
        child,
        program: run.program,
    }
    .end()?;
    ensure!(
        matches!(over.code, Some(1 | 4 | 130)),
        "{:?}: {}",
        over.code,
        over.stderr
    );
    ensure!(
        entries(&image.path()).is_empty(),
        "nothing below the mount point"
    );
    call(
        Command::new("mount")
            .arg(image.device().path())
            .arg(image.path()),
    )?;
    nothing_left(&program, &image.path())
}
