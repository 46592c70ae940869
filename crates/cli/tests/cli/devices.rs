//! Block devices as targets.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, LoopDevice, Need, Trials, call, directory_on, unmount};

use crate::program;

const SIZE: u64 = 64 << 20;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::LoopDevice];
    trials.add("suite direct writes to a loop device", &needs, on_a_device);
    trials.add("a device named once is refused", &needs, not_named);
    trials.add(
        "a device with a filesystem needs --destroy-data, a mounted one is refused",
        &needs,
        with_data,
    );
    let ext4 = [Need::Image("ext4")];
    trials.add(
        "--dry-run of a device in use shows the plan and the refusal",
        &ext4,
        dry_run,
    );
    trials.add(
        "a device below a mounted loop device is refused and unchanged",
        &ext4,
        below,
    );
    trials.add(
        "a second loop device over a mounted image is refused and unchanged",
        &ext4,
        beside,
    );
    trials.add(
        "a run is not resumed on a device with new data",
        &needs,
        resumed,
    );
    trials.add(
        "cases that need a new file are refused on a device",
        &needs,
        files,
    );
    trials.add("sectors of 4096 bytes are respected", &needs, sectors);
    trials.add(
        "--destroy is refused without a device",
        &[Need::Filesystem(Kind::Tmpfs)],
        || {
            let target = directory_on(Kind::Tmpfs);
            refused(
                &[
                    target.path().to_str().context("UTF-8")?,
                    "--destroy",
                    "/dev/null",
                ],
                2,
                "Give the device",
            )
        },
    );
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path in UTF-8")
}

fn refused(arguments: &[&str], code: i32, why: &str) -> Result<()> {
    let ended = program()?.call(&[&["run"], arguments].concat())?;
    ensure!(
        ended.code == Some(code) && ended.stderr.contains(why),
        "{arguments:?}: {ended:?}"
    );
    ensure!(
        ended.stderr.lines().count() == 1 && ended.stdout.is_empty(),
        "{ended:?}"
    );
    Ok(())
}

fn dry_run() -> Result<()> {
    let (program, device) = (program()?, LoopDevice::attach(SIZE)?);
    let node = text(device.path())?;
    let words = [
        "run",
        node,
        "--suite",
        "direct",
        "--destroy",
        node,
        "--dry-run",
    ];
    let free = program.call(&words)?;
    ensure!(
        free.code == Some(0) && free.stdout.contains("Nothing was written"),
        "{free:?}"
    );
    let mounted = device.format_and_mount(device.path(), "ext4")?;
    let used = program.call(&words)?;
    ensure!(
        used.code == Some(3) && used.stdout.contains("Nothing was written"),
        "{used:?}"
    );
    ensure!(
        used.stderr.contains("unmount it first") && used.stderr.lines().count() == 1,
        "{used:?}"
    );
    drop(mounted);
    let full = program.call(&words)?;
    ensure!(
        full.code == Some(3) && full.stderr.contains("--destroy-data"),
        "{full:?}"
    );
    let agreed = program.call(&[&words[..], &["--destroy-data"]].concat())?;
    ensure!(agreed.code == Some(0), "{agreed:?}");
    Ok(())
}

fn on_a_device() -> Result<()> {
    let (program, device) = (program()?, LoopDevice::attach(SIZE)?);
    let node = text(device.path())?;
    let arguments = [
        "--suite",
        "direct",
        "--size",
        "1MiB",
        "--set",
        "chunk=4KiB,64KiB",
        "--samples",
        "1",
        "--verify",
        "every",
        "--destroy",
        node,
    ];
    let document = program.run(device.path(), &arguments, 0)?;
    let cases = document["cases"].as_array().context("cases")?;
    ensure!(cases.len() == 2 * 21, "{} cases", cases.len());
    for case in cases {
        let sample = &case["samples"][0];
        ensure!(
            case["outcome"] == "ok"
                && sample["read_back"]["extent"] == "whole"
                && sample["bytes"] == 1 << 20,
            "{case}"
        );
    }
    ensure!(
        document["targets"][0]["environment"]["filesystem"]["kind"] == "block device",
        "{}",
        document["targets"][0]["environment"]
    );
    // Only the beginning of the device is overwritten.
    let image = std::fs::File::open(device.image())?;
    let mut bytes = vec![0; 2 << 20];
    call(Command::new("blockdev").args(["--flushbufs", node]))?;
    image.read_exact_at(&mut bytes, 0)?;
    ensure!(
        bytes[..1 << 20].iter().any(|byte| *byte != 0)
            && bytes[1 << 20..].iter().all(|byte| *byte == 0)
    );
    Ok(())
}

fn not_named() -> Result<()> {
    let (device, other) = (LoopDevice::attach(SIZE)?, LoopDevice::attach(SIZE)?);
    let (node, other) = (text(device.path())?, text(other.path())?);
    refused(
        &[node, "--suite", "direct"],
        3,
        &format!("add --destroy {node}"),
    )?;
    refused(&[node, "--suite", "direct"], 3, "loop")?;
    refused(
        &[node, "--suite", "direct"],
        3,
        "64 MiB), whose content would be lost",
    )?;
    refused(
        &[node, "--suite", "direct", "--destroy", other],
        3,
        "does not name the target",
    )?;
    let image = std::fs::read(device.image())?;
    ensure!(image.iter().all(|byte| *byte == 0), "something was written");
    Ok(())
}

fn with_data() -> Result<()> {
    let (program, device) = (program()?, LoopDevice::attach(SIZE)?);
    let node = text(device.path())?;
    call(Command::new("mkfs.ext4").args(["-q", node]))?;
    let run = [
        "--case",
        "pwrite,size=1MiB,prepare=overwrite",
        "--samples",
        "1",
        "--destroy",
        node,
    ];
    refused(&[&[node], run.as_slice()].concat(), 3, "ext4")?;
    let mounted = tempfile::tempdir()?;
    call(Command::new("mount").arg(node).arg(mounted.path()))?;
    let result = refused(
        &[&[node], run.as_slice(), &["--destroy-data"]].concat(),
        3,
        "mounted at",
    );
    unmount(mounted.path())?;
    result?;
    let document = program.run(
        device.path(),
        &[run.as_slice(), &["--destroy-data"]].concat(),
        0,
    )?;
    ensure!(document["cases"][0]["outcome"] == "ok", "{document}");
    Ok(())
}

fn below() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let above = LoopDevice::over(device.path(), &[])?;
    stays_whole(&device, &above, "is used by")
}

fn beside() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let alias = LoopDevice::over(&device.image(), &[])?;
    stays_whole(&device, &alias, "shares its bytes with")
}

/// Mounts `used`, whose bytes are those of `device`.
fn stays_whole(device: &LoopDevice, used: &LoopDevice, how: &str) -> Result<()> {
    let mounted = used.format_and_mount(used.path(), "ext4")?;
    let point = text(mounted.path())?;
    std::fs::write(mounted.path().join("file"), vec![7; 8 << 20])?;
    call(Command::new("sync").args(["--file-system", point]))?;
    let name = used.path().file_name().context("a name")?.to_string_lossy();
    let why = format!("{how} {name}, which is mounted at {point}: unmount it first");
    let node = text(device.path())?;
    let case = [
        "--case",
        "pwrite,size=32MiB,prepare=overwrite",
        "--samples",
        "1",
    ];
    refused(
        &[
            &[node],
            case.as_slice(),
            &["--destroy", node, "--destroy-data"],
        ]
        .concat(),
        3,
        &why,
    )?;
    drop(mounted);
    call(Command::new("fsck.ext4").args(["-f", "-n", text(used.path())?]))?;
    let mounted = tempfile::tempdir()?;
    call(Command::new("mount").arg(used.path()).arg(mounted.path()))?;
    let content = std::fs::read(mounted.path().join("file"));
    unmount(mounted.path())?;
    ensure!(content? == vec![7; 8 << 20], "the file is another");
    Ok(())
}

/// Another user may use the device before the run is resumed.
fn resumed() -> Result<()> {
    let (program, device) = (program()?, LoopDevice::attach(SIZE)?);
    let node = text(device.path())?;
    let case = [
        "--case",
        "pwrite,size=1MiB,prepare=overwrite",
        "--samples",
        "3",
        "--destroy",
        node,
    ];
    program.run(
        device.path(),
        &[case.as_slice(), &["--max-bytes", "3MiB"]].concat(),
        0,
    )?;
    let resume = [
        "run",
        "--resume",
        "--destroy",
        node,
        "--max-bytes",
        "100MiB",
    ];
    call(Command::new("mkfs.ext4").args(["-q", node]))?;
    let ended = program.call(&resume)?;
    ensure!(
        ended.code == Some(3) && ended.stderr.contains("--destroy-data"),
        "{ended:?}"
    );
    call(Command::new("wipefs").args(["--all", "--quiet", node]))?;
    let ended = program.call(&resume)?;
    ensure!(ended.code == Some(0), "{ended:?}");
    Ok(())
}

fn files() -> Result<()> {
    let device = LoopDevice::attach(SIZE)?;
    let node = text(device.path())?;
    for (case, why) in [
        ("write,size=1MiB", "prepare=overwrite"),
        (
            "pwrite,size=1MiB,prepare=overwrite,threads=2,files=per-thread",
            "files=per-thread",
        ),
        ("write,size=65MiB,prepare=overwrite", "67108864 bytes"),
    ] {
        refused(&[node, "--case", case, "--destroy", node], 2, why)?;
    }
    Ok(())
}

fn sectors() -> Result<()> {
    let (program, device) = (program()?, LoopDevice::attach_with_sectors(SIZE, 4096)?);
    let node = text(device.path())?;
    let case =
        |chunk: &str| format!("pwrite,size=1MiB,chunk={chunk},prepare=overwrite,cache=direct");
    refused(
        &[node, "--case", &case("512"), "--destroy", node],
        2,
        "sectors of 4096 bytes",
    )?;
    let arguments = ["--case", &case("4KiB"), "--samples", "1", "--destroy", node];
    ensure!(program.run(device.path(), &arguments, 0)?["cases"][0]["outcome"] == "ok");
    Ok(())
}
