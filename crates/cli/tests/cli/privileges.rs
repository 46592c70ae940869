use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use tempfile::TempDir;
use writebench_testkit::{Ended, Need, Trials, entries, send, wait_for};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::LoopDevice, Need::Program("setpriv")];
    trials.add("a suite runs as nobody", &needs, suite_as_nobody);
    trials.add("commands that need root refuse nobody", &needs, needs_root);
    trials.add(
        "a directory that is writable for the user's private group is safe for a database",
        &needs,
        own_group,
    );
    trials.add(
        "memory that nobody may not pin is refused before measuring",
        &needs,
        locked_memory,
    );
    trials.add(
        "a worker keeps only the rights that it needs",
        &[Need::Root],
        kept_rights,
    );
}

/// Debian's `nobody` and `nogroup`.
const NOBODY: u32 = 65534;

/// A copy of the program for the user `nobody`, with that user's home and target.
struct Nobody {
    folder: TempDir,
}

impl Nobody {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755))?;
        std::fs::copy(program()?.binary(), folder.path().join("writebench"))?;
        for name in ["home", "target"] {
            std::fs::create_dir(folder.path().join(name))?;
            chown(folder.path().join(name), Some(NOBODY), Some(NOBODY))?;
        }
        Ok(Self { folder })
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("target")
    }

    fn call(&self, arguments: &[&str]) -> Result<Ended> {
        let home = self.folder.path().join("home");
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "prlimit",
            "--memlock=65536",
        ]);
        command
            .arg(self.folder.path().join("writebench"))
            .args(arguments);
        command
            .env("HOME", &home)
            .env("XDG_DATA_HOME", &home)
            .env_remove("WRITEBENCH_DB")
            .current_dir("/");
        let output = command.output().context("start setpriv")?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ended {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        })
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn suite_as_nobody() -> Result<()> {
    let nobody = Nobody::new()?;
    let target = nobody.target();
    let ended = nobody.call(&[
        "run",
        text(&target)?,
        "--suite",
        "create",
        "--size",
        "1MiB",
        "--samples",
        "1",
    ])?;
    ensure!(
        ended.code == Some(0) && !ended.stdout.contains("failed"),
        "{ended:?}"
    );
    ensure!(entries(&target).is_empty(), "{:?}", entries(&target));
    Ok(())
}

fn needs_root() -> Result<()> {
    let nobody = Nobody::new()?;
    let ended = nobody.call(&["fs", "--on", "ext4"])?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("Run it as root"),
        "{ended:?}"
    );
    let ended = nobody.call(&["powerloss", "--command", "true", "--durable-at-exit"])?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("Run it as root"),
        "{ended:?}"
    );
    let ended = nobody.call(&["run", "/root", "--case", "write,size=1"])?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("Permission denied (13)"),
        "{ended:?}"
    );
    Ok(())
}

fn own_group() -> Result<()> {
    let nobody = Nobody::new()?;
    let (target, directory) = (nobody.target(), nobody.folder.path().join("group"));
    std::fs::create_dir(&directory)?;
    let database = directory.join("db");
    let run = [
        "run",
        text(&target)?,
        "--case",
        "write,size=4KiB",
        "--samples",
        "1",
        "--no-limits",
        "--db",
    ];
    let run = [&run[..], &[text(&database)?]].concat();
    for (group, mode, code) in [
        (NOBODY, 0o775, 0),
        (0, 0o775, 3),
        (NOBODY, 0o777, 3),
        (0, 0o755, 0),
    ] {
        chown(&directory, Some(NOBODY), Some(group))?;
        std::fs::set_permissions(&directory, PermissionsExt::from_mode(mode))?;
        let ended = nobody.call(&run)?;
        ensure!(ended.code == Some(code), "{group} {mode:o}: {ended:?}");
        ensure!(
            code == 0 || ended.stderr.contains("other users can make files in"),
            "{ended:?}"
        );
    }
    // Other users do not trust root's database.
    chown(&database, Some(0), None)?;
    let ended = nobody.call(&["show", "--db", text(&database)?])?;
    ensure!(
        ended.code == Some(3)
            && ended
                .stderr
                .contains("belongs to another user (uid 0): copy it"),
        "{ended:?}"
    );
    Ok(())
}

fn locked_memory() -> Result<()> {
    let nobody = Nobody::new()?;
    let target = nobody.target();
    let case = "io_uring,registered=both,size=1MiB";
    let arguments = [
        "run",
        text(&target)?,
        "--samples",
        "1",
        "--no-limits",
        "--case",
        case,
    ];
    let ended = nobody.call(&arguments)?;
    ensure!(
        ended.code == Some(3) && ended.stderr.contains("ulimit -l"),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.lines().count() == 1 && entries(&target).is_empty(),
        "{ended:?}"
    );
    Ok(())
}

/// `CAP_DAC_OVERRIDE` and `CAP_IPC_LOCK` of linux/capability.h.
const KEPT: u64 = 1 << 1 | 1 << 14;

fn kept_rights() -> Result<()> {
    let (program, target) = (program()?, tempfile::tempdir()?);
    let case = "write,size=64MiB,chunk=1";
    let child = program.start(&[
        "run",
        text(target.path())?,
        "--case",
        case,
        "--samples",
        "1",
        "--no-limits",
    ])?;
    wait_for("a sample's file", || {
        entries(target.path())
            .iter()
            .flat_map(|own| entries(own))
            .find(|file| file.ends_with("sample"))
    })?;
    let worker = writebench_testkit::worker(child.id()).context("a worker")?;
    let status = std::fs::read_to_string(format!("/proc/{worker}/status"))?;
    send(child.id(), Signal::TERM)?;
    ensure!(child.wait_with_output()?.status.code() == Some(130));
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        let rights = u64::from_str_radix(field(set).context("a set of capabilities")?, 16)?;
        ensure!(rights & !KEPT == 0, "{set} {rights:x}");
    }
    ensure!(
        field("CapEff:").is_some_and(|rights| !rights.ends_with("0000")),
        "it was root's: {status}"
    );
    ensure!(field("NoNewPrivs:") == Some("1"), "{status}");
    Ok(())
}
