//! The device below a filesystem fails or disappears during a run.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use writebench_testkit::{
    Caching, Call, Errno, Fault, Faulty, LoopDevice, Need, Trials, What, When, call, send, unmount,
    wait_for,
};

use crate::real_faults::{Running, nothing_left, one_line};

pub(crate) fn add(trials: &mut Trials) {
    for kind in ["ext4", "xfs", "btrfs"] {
        let needs = [Need::Image(kind), Need::LoopDevice, Need::Fuse];
        let name = format!("a device with errors below {kind} gives no figure");
        trials.add(name, &needs, move || goes_bad(kind, Errno::IO));
    }
    let needs = [Need::Image("btrfs"), Need::LoopDevice, Need::Fuse];
    trials.add("a full device below btrfs gives no result", &needs, || {
        goes_bad("btrfs", Errno::NOSPC)
    });
    let needs = [Need::Image("ext4"), Need::LoopDevice];
    trials.add(
        "a detached device remains while it is mounted",
        &needs,
        detached,
    );
}

const SYNCED: [&str; 2] = ["write,size=64KiB,sync=fsync", "mmap,size=64KiB,sync=fsync"];
/// The minimum of mkfs.xfs.
const DEVICE_BYTES: u64 = 300 << 20;

/// Unmounted and detached when dropped.
pub(crate) struct Stack {
    point: tempfile::TempDir,
}

impl Stack {
    pub(crate) fn mount(kind: &str, image: &Path) -> Result<Self> {
        call(Command::new(format!("mkfs.{kind}")).arg("-q").arg(image))?;
        let stack = Self {
            point: tempfile::tempdir()?,
        };
        stack.mount_again(image)?;
        Ok(stack)
    }

    pub(crate) fn path(&self) -> &Path {
        self.point.path()
    }

    fn mount_again(&self, image: &Path) -> Result<()> {
        // Only direct I/O passes errno on. Through the page cache, all errors become EIO.
        let mut losetup = Command::new("losetup");
        let output = losetup
            .args(["--find", "--show", "--direct-io=on"])
            .arg(image)
            .output()?;
        ensure!(output.status.success(), "{output:?}");
        let device = String::from_utf8(output.stdout)?;
        let mounted = call(
            Command::new("mount")
                .arg(device.trim())
                .arg(self.point.path()),
        );
        // Unmounting detaches the device.
        call(Command::new("losetup").args(["--detach", device.trim()]))?;
        mounted
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let _ = unmount(self.point.path());
    }
}

fn goes_bad(kind: &str, errno: Errno) -> Result<()> {
    // The loop device turns a flush into fsync(2).
    let faulty = Faulty::mount("image", Caching::WriteThrough)?;
    let image = faulty.path().join("image");
    File::create(&image)?.set_len(DEVICE_BYTES)?;
    let stack = Stack::mount(kind, &image)?;
    let run = Running::begin(stack.path(), &SYNCED)?;
    let refused = |call| Fault {
        when: When::Each(call),
        what: What::Fail(errno),
    };
    faulty.follow(&[refused(Call::Write), refused(Call::Fsync)]);
    let (program, over) = run.end()?;
    // The filesystem decides about the outcome, and whether the run's directory can be removed.
    ensure!(
        matches!(over.code, Some(1 | 4)),
        "{:?}: {}",
        over.code,
        over.stderr
    );
    if over.code == Some(1) {
        one_line(&over.stderr)?;
    }
    for id in SYNCED {
        let samples = over.case(id)?["samples"].as_array().context("samples")?;
        let (last, before) = samples.split_last().context("a sample")?;
        ensure!(
            before.iter().all(|sample| sample["outcome"] == "ok"),
            "{id}: {before:?}"
        );
        ensure!(
            matches!(last["outcome"].as_str(), Some("failed" | "worker-died")),
            "{id}: {last}"
        );
        ensure!(last["total_ns"] == 0, "{id}: {last}");
        let reason = last["reason"].as_str().context("a reason")?;
        ensure!(
            ["(5)", "(28)", "(30)", "(108)", "SIGBUS (7)"]
                .iter()
                .any(|error| reason.contains(error)),
            "{reason}"
        );
    }
    faulty.follow(&[]);
    unmount(stack.path())?;
    stack.mount_again(&image)?;
    nothing_left(&program, stack.path())
}

/// The kernel detaches the device after unmounting.
fn detached() -> Result<()> {
    let device = LoopDevice::attach(64 << 20)?;
    let mounted = device.format_and_mount(device.path(), "ext4")?;
    let run = Running::begin(mounted.path(), &["write,size=64KiB,sync=fsync"])?;
    let name = device.path().file_name().context("a device's name")?;
    let autoclear = Path::new("/sys/block").join(name).join("loop/autoclear");
    // Not later: another test may then have a device of this name.
    drop(device);
    ensure!(
        std::fs::read_to_string(autoclear)?.trim() == "1",
        "the device is detached when it is unmounted"
    );
    let rows = run.rows();
    wait_for("more samples", || (run.rows() > rows + 3).then_some(()))?;
    send(run.process(), Signal::INT)?;
    let (program, over) = run.end()?;
    ensure!(over.code == Some(130), "{:?}: {}", over.code, over.stderr);
    ensure!(
        over.case("write,size=64KiB,sync=fsync")?["outcome"] == "ok",
        "{}",
        over.stderr
    );
    nothing_left(&program, mounted.path())
}
