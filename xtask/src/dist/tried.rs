//! Uses each file of a release as its users do, without Rust and this repository.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::release::{Release, TARGETS, Target};
use crate::command::{output, printed, root, succeed};
use crate::test::run_declared;

const MOST_BYTES: u64 = 12_000_000;
/// The limit of the median.
const MOST_START: Duration = Duration::from_millis(5);

pub(super) fn all(release: &Release) -> Result<bool> {
    let own = TARGETS.iter().find(|target| target.emulator().is_none()).context("no target of this machine")?;
    let shown = |path: &Path| path.display().to_string();
    let words = [
        ("deb", shown(&release.deb(own))),
        ("rpm", shown(&release.rpm(own))),
        ("folder", shown(&release.folder)),
        ("version", release.version.clone()),
        ("node", format!("node-linux-{}", if own.debian == "amd64" { "x64" } else { "arm64" })),
    ];
    let mut all_good = run_declared(include_str!("tried.toml"), words)?;
    for target in TARGETS {
        let outcome = empty_root(target, release);
        all_good &= outcome.is_ok();
        let text = outcome.map_or_else(|error| format!("FAILED: {error:#}"), |()| "passed".to_owned());
        println!("== {}: the tarball in an empty root {text}", target.name);
    }
    Ok(all_good)
}

fn empty_root(target: &Target, release: &Release) -> Result<()> {
    let folder = tempfile::tempdir().context("a folder for the root")?;
    for name in ["proc", "dev", "sys", "tmp", "data"] {
        fs::create_dir(folder.path().join(name))?;
    }
    succeed(Command::new("tar").arg("-xzf").arg(release.tarball(target)).arg("-C").arg(folder.path()))?;
    let program = folder.path().join(release.stem(target)).join("writebench");
    let size = fs::metadata(&program)?.len();
    ensure!(size <= MOST_BYTES, "the program has {size} bytes");
    let version = printed(target.command(&program).arg("--version"))?;
    ensure!(version.trim().ends_with(&release.version), "its version is {version}");
    if target.emulator().is_some() {
        // Emulated times mean nothing, and the emulator is outside the empty root.
        return emulated(target, &program);
    }
    let start = started(&program)?;
    println!("{}: {size} bytes, --version in {:.1} ms", target.name, start.as_secs_f64() * 1e3);
    ensure!(start <= MOST_START, "--version takes {start:?}");
    let inside = format!("/{}/writebench --db /data/db", release.stem(target));
    for words in [
        "run /data --quiet",
        "advise /data --for stream --budget 10s --quiet",
        "report --output /data/page.html",
        "code --lang c",
    ] {
        let mut command = Command::new("sh");
        command.arg(root().join("xtask/src/dist/in_root.sh")).arg(folder.path());
        output(command.args(inside.split(' ').chain(words.split(' ')))).context(words)?;
    }
    let page = fs::metadata(folder.path().join("data/page.html"))?.len();
    ensure!(page > 1 << 20, "the page has {page} bytes");
    Ok(())
}

fn emulated(target: &Target, program: &Path) -> Result<()> {
    // The program starts itself as its worker.
    let _emulator = Emulator::register(target)?;
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(program);
    command.arg("--db").arg(folder.path().join("db")).arg("run").arg(folder.path());
    command.args(["--case", "write,size=64KiB", "--samples", "1", "--quiet"]);
    let table = printed(&mut command)?;
    ensure!(table.contains("write"), "{table}");
    Ok(())
}

/// The kernel starts foreign programs with an emulator until the drop.
struct Emulator(String);

impl Emulator {
    const KERNEL: &str = "/proc/sys/fs/binfmt_misc";

    fn register(target: &Target) -> Result<Self> {
        let emulator = target.emulator().context("no emulator is needed")?;
        let path = printed(Command::new("sh").args(["-c", &format!("command -v {emulator}")]))
            .with_context(|| format!("{emulator} is not installed"))?;
        if !Path::new(Self::KERNEL).join("register").exists() {
            succeed(Command::new("mount").args(["-t", "binfmt_misc", "binfmt_misc", Self::KERNEL]))?;
        }
        // The head of a 64-bit ELF program, which may be position-independent.
        let machine = target.elf_machine;
        let magic = format!("\\x7fELF\\x02\\x01\\x01{}\\x02\\x00{machine}\\x00", "\\x00".repeat(9));
        let mask = format!("{}\\xff\\xfe{}\\xfe\\xff\\xff\\xff", "\\xff".repeat(6), "\\x00".repeat(8));
        let line = format!(":writebench-{emulator}:M::{magic}:{mask}:{}:F", path.trim());
        fs::write(Path::new(Self::KERNEL).join("register"), &line).with_context(|| line)?;
        Ok(Self(emulator))
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = fs::write(Path::new(Self::KERNEL).join(format!("writebench-{}", self.0)), "-1");
    }
}

fn started(program: &Path) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..21 {
        let start = Instant::now();
        output(Command::new(program).arg("--version"))?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}
