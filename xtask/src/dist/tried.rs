//! Uses each file of a release as its users do, without Rust and this repository.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use writebench_testkit::has_program;

use super::release::{Release, TARGETS, Target};
use crate::command::{output, printed, root, succeed};

const MOST_BYTES: u64 = 12_000_000;
/// The limit of the median.
const MOST_START: Duration = Duration::from_millis(5);
/// LTS versions from the oldest supported one.
const NODES: [&str; 4] = ["18", "20", "22", "24"];

pub(super) fn all(release: &Release) -> Result<bool> {
    let of_target = |target: &Target| {
        (format!("{}: the tarball in an empty root", target.name), empty_root(target, release))
    };
    let mut tries: Vec<_> = TARGETS.iter().map(of_target).collect();
    if let Some(own) = TARGETS.iter().find(|target| target.emulator().is_none()) {
        tries.push(("the package, on Debian: installed, used and removed".to_owned(), debian(own, release)));
        tries.push(("the contents of the package for rpm".to_owned(), red_hat(own, release)));
    }
    tries.extend(
        NODES.map(|version| (format!("the Node package, with Node {version}"), node(version, release))),
    );
    tries.push(("the sums".to_owned(), sums(release)));
    tries.push(("the container file, read by hadolint".to_owned(), container_file()));
    println!();
    let mut all_good = true;
    for (name, outcome) in &tries {
        match outcome {
            Ok(()) => println!("passed   {name}"),
            Err(error) => println!("FAILED   {name}: {error:#}"),
        }
        all_good &= outcome.is_ok();
    }
    Ok(all_good)
}

fn needs(program: &str) -> Result<()> {
    ensure!(has_program(program), "{program} is not installed, so this could not be tried");
    Ok(())
}

/// The mounts end with their namespace.
fn in_root(folder: &Path, words: &str) -> Command {
    let mounts = "mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && mount --rbind /sys \"$0/sys\" \
         && mount -t tmpfs tmpfs \"$0/tmp\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &format!("{mounts} && exec chroot \"$0\" {words}")]).arg(folder);
    command
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
        output(&mut in_root(folder.path(), &format!("{inside} {words}"))).context(words)?;
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
        needs(&emulator)?;
        let path = printed(Command::new("sh").args(["-c", &format!("command -v {emulator}")]))?;
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

fn debian(target: &Target, release: &Release) -> Result<()> {
    needs("mmdebstrap")?;
    let folder = tempfile::tempdir()?;
    let system = folder.path().join("debian");
    let mut make = Command::new("mmdebstrap");
    // Mirrors may be older than the validity of their lists.
    make.arg("--aptopt=Acquire::Check-Valid-Until \"false\"");
    make.args(["--quiet", "--variant=essential", "--mode=root", "stable"]).arg(&system);
    output(&mut make)?;
    fs::copy(release.deb(target), system.join("writebench.deb"))?;
    fs::create_dir_all(system.join("data"))?;
    for words in [
        "dpkg --install /writebench.deb",
        "writebench --db /data/db run /data --case write,size=1MiB --samples 2 --quiet",
        "test -f /usr/share/man/man1/writebench-run.1.gz -o -f /usr/share/man/man1/writebench-run.1",
        "test -f /usr/share/bash-completion/completions/writebench",
        "test -f /usr/share/doc/writebench/THIRD-PARTY.md -o -f /usr/share/doc/writebench/THIRD-PARTY.md.gz",
        "dpkg --remove writebench",
        "test ! -e /usr/bin/writebench",
    ] {
        output(&mut in_root(&system, words)).context(words.to_owned())?;
    }
    Ok(())
}

fn red_hat(target: &Target, release: &Release) -> Result<()> {
    needs("rpm")?;
    let query =
        |what: &str| printed(Command::new("rpm").args(["--query", "--package", what]).arg(release.rpm(target)));
    let files = query("--list")?;
    for wanted in ["/usr/bin/writebench", "/usr/share/man/man1/writebench-run.1", "THIRD-PARTY.md"] {
        ensure!(files.contains(wanted), "{wanted} is not in {files}");
    }
    let asked = query("--requires")?;
    let foreign = asked.lines().find(|line| !line.starts_with("rpmlib(") && !line.is_empty());
    ensure!(foreign.is_none(), "it requires {foreign:?}");
    Ok(())
}

/// Only the tarballs are used.
fn node(version: &str, release: &Release) -> Result<()> {
    needs("npm")?;
    let folder = tempfile::tempdir()?;
    let mut install = Command::new("npm");
    install.current_dir(folder.path());
    install.args(["install", "--silent", "--no-audit", "--no-fund", "--omit=optional"]);
    let processor = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    install.arg(format!("node-linux-{processor}@{version}"));
    for kind in ["", "-linux-x64-gnu"] {
        install.arg(release.folder.join(format!("writebench-direct-io{kind}-{}.tgz", release.version)));
    }
    output(&mut install)?;
    let program = "const io = require('@writebench/direct-io'); const fs = require('node:fs');
        const block = io.getAlignedBuffer(4096, 4096); block.fill(7);
        const fd = fs.openSync('written', fs.constants.O_CREAT | fs.constants.O_RDWR | io.O_DIRECT);
        fs.writeSync(fd, block, 0, 4096, 0); fs.closeSync(fd);
        console.log(process.versions.node, fs.readFileSync('written').every((byte) => byte === 7));";
    let node = folder.path().join(format!("node_modules/node-linux-{processor}/bin/node"));
    let said = printed(Command::new(node).current_dir(folder.path()).args(["-e", program]))?;
    ensure!(said.starts_with(version) && said.trim().ends_with("true"), "{said}");
    Ok(())
}

fn sums(release: &Release) -> Result<()> {
    let mut check = Command::new("sha256sum");
    succeed(check.current_dir(&release.folder).args(["--check", "--quiet", "--strict", "SHA256SUMS"]))
}

fn container_file() -> Result<()> {
    needs("hadolint")?;
    succeed(Command::new("hadolint").arg(root().join("Containerfile")))
}
