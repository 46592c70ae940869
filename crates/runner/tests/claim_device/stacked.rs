//! Devices whose bytes are used through a loop device over them, or over the same file.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use writebench_runner::claim_device;
use writebench_testkit::{LoopDevice, Need, Trials, call, wait_for};

use crate::users::{MountedAt, SwappedTo};
use crate::{SMALL_BYTES, always_refused, refused, refused_until_told};

pub(crate) fn add(trials: &mut Trials) {
    const LOOP: Need = Need::LoopDevice;
    let ext4 = [LOOP, Need::Image("ext4")];
    trials.add(
        "a device below a mounted loop device is refused",
        &ext4,
        below_a_mount,
    );
    trials.add(
        "a device below a loop device is refused until its detachment",
        &[LOOP],
        below_an_idle_one,
    );
    trials.add(
        "a device below a loop device on a loop device is refused",
        &ext4,
        two_above,
    );
    let swap = [LOOP, Need::Program("swapon")];
    trials.add(
        "a device below a loop device with swap is refused",
        &swap,
        below_swap,
    );
    let partitioned = [LOOP, Need::Image("ext4"), Need::Program("partx")];
    trials.add(
        "a device below a loop device with a mounted partition is refused",
        &partitioned,
        below_a_partition,
    );
    trials.add(
        "a device with a loop device over its partition is refused",
        &partitioned,
        over_its_partition,
    );
    trials.add(
        "a partition below a user of its whole disk is refused, but not its neighbour",
        &partitioned,
        over_its_disk,
    );
    trials.add(
        "of two loop devices over one file, none is claimed while the other is mounted",
        &ext4,
        aliases,
    );
    trials.add(
        "a file is the same by another name, or by none",
        &ext4,
        stale_names,
    );
    let hidden = [LOOP, Need::Image("ext4"), Need::Program("unshare")];
    trials.add(
        "an alias mounted in another namespace is refused",
        &hidden,
        an_alias_out_of_sight,
    );
    trials.add(
        "an alias cannot be mounted while its device is claimed",
        &ext4,
        no_mount_of_an_alias,
    );
    trials.add(
        "partitions of an alias are overwritten only with consent",
        &partitioned,
        a_partitioned_alias,
    );
    trials.add(
        "loop devices over different parts of a file are not aliases",
        &ext4,
        different_parts,
    );
}

fn name(device: &Path) -> Result<String> {
    Ok(device
        .file_name()
        .context("a name")?
        .to_string_lossy()
        .into_owned())
}

fn make_ext4(device: &Path) -> Result<()> {
    call(Command::new("mkfs.ext4").arg("-q").arg(device))
}

fn over(device: &Path) -> Result<LoopDevice> {
    LoopDevice::over(device, &[])
}

fn always_refused_as(target: &Path, reason: &str) -> Result<()> {
    let text = always_refused(target)?;
    ensure!(text == format!("{} {reason}", target.display()), "{text}");
    Ok(())
}

fn below_a_mount() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let above = over(device.path())?;
    make_ext4(above.path())?;
    let mount = MountedAt::new(above.path())?;
    let (name, point) = (name(above.path())?, mount.point().display());
    always_refused_as(
        device.path(),
        &format!("is used by {name}, which is mounted at {point}: unmount it first"),
    )?;
    always_refused_as(
        above.path(),
        &format!("is mounted at {point}: unmount it first"),
    )
}

fn below_an_idle_one() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let above = over(device.path())?;
    let name = name(above.path())?;
    always_refused_as(
        device.path(),
        &format!("is used by {name}: detach it first (losetup --detach /dev/{name})"),
    )?;
    claim_device(above.path(), false)?;
    drop(above);
    claim_device(device.path(), false)?;
    Ok(())
}

fn two_above() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let first = over(device.path())?;
    let second = over(first.path())?;
    make_ext4(second.path())?;
    let mount = MountedAt::new(second.path())?;
    let (first_name, second_name, point) = (
        name(first.path())?,
        name(second.path())?,
        mount.point().display(),
    );
    always_refused_as(
        device.path(),
        &format!(
            "is used by {first_name}, which is used by {second_name}, which is mounted at {point}: unmount it first"
        ),
    )?;
    drop(mount);
    always_refused_as(
        device.path(),
        &format!(
            "is used by {first_name}, which is used by {second_name}: detach it first \
             (losetup --detach /dev/{second_name})"
        ),
    )
}

fn below_swap() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let above = over(device.path())?;
    call(Command::new("mkswap").arg(above.path()))?;
    let _swap = SwappedTo::new(above.path())?;
    let name = name(above.path())?;
    always_refused_as(
        device.path(),
        &format!("is used by {name}, which is used as swap: swapoff it first"),
    )
}

fn below_a_partition() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let above = over(device.path())?;
    let partition = above.partition()?;
    make_ext4(&partition)?;
    let mount = MountedAt::new(&partition)?;
    let (above, partition, point) = (
        name(above.path())?,
        name(&partition)?,
        mount.point().display(),
    );
    always_refused_as(
        device.path(),
        &format!(
            "is used by {above}, whose partition {partition} is mounted at {point}: unmount it first"
        ),
    )
}

fn over_its_partition() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let partition = device.partition()?;
    let above = over(&partition)?;
    make_ext4(above.path())?;
    let mount = MountedAt::new(above.path())?;
    let (above, point) = (name(above.path())?, mount.point().display());
    let reason = format!("is used by {above}, which is mounted at {point}: unmount it first");
    always_refused_as(&partition, &reason)?;
    always_refused_as(
        device.path(),
        &format!("(its partition {}) {reason}", name(&partition)?),
    )
}

fn over_its_disk() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let partition = device.partition()?;
    let before = LoopDevice::over(
        device.path(),
        &["--offset", "65536", "--sizelimit", "524288"],
    )?;
    make_ext4(before.path())?;
    let mount = MountedAt::new(before.path())?;
    claim_device(&partition, false)?;
    drop(mount);
    let within = LoopDevice::over(device.path(), &["--offset", "1048576"])?;
    make_ext4(within.path())?;
    let mount = MountedAt::new(within.path())?;
    let (device, within, point) = (
        name(device.path())?,
        name(within.path())?,
        mount.point().display(),
    );
    always_refused_as(
        &partition,
        &format!(
            "shares its bytes with {device}, which is used by {within}, which is mounted at {point}: \
                  unmount it first"
        ),
    )
}

fn aliases() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let alias = over(&device.image())?;
    make_ext4(alias.path())?;
    let mount = MountedAt::new(alias.path())?;
    let (name, point) = (name(alias.path())?, mount.point().display());
    always_refused_as(
        device.path(),
        &format!("shares its bytes with {name}, which is mounted at {point}: unmount it first"),
    )?;
    drop(mount);
    refused_until_told(
        &device,
        "carries an ext4 filesystem: add --destroy-data to overwrite it",
    )
}

fn stale_names() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let link = device.image().with_file_name("another name");
    std::fs::hard_link(device.image(), &link)?;
    let alias = over(&link)?;
    make_ext4(alias.path())?;
    let mount = MountedAt::new(alias.path())?;
    let (name, point) = (name(alias.path())?, mount.point().display().to_string());
    let reason =
        format!("shares its bytes with {name}, which is mounted at {point}: unmount it first");
    always_refused_as(device.path(), &reason)?;
    std::fs::remove_file(&link)?;
    std::fs::write(&link, "another file by that name")?;
    always_refused_as(device.path(), &reason)?;
    std::fs::remove_file(device.image())?;
    always_refused_as(device.path(), &reason)
}

fn an_alias_out_of_sight() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let alias = over(&device.image())?;
    make_ext4(alias.path())?;
    let point = tempfile::tempdir()?;
    let mut elsewhere = Command::new("unshare")
        .args([
            "--mount",
            "sh",
            "-c",
            "mount \"$0\" \"$1\" && echo mounted && read line",
        ])
        .args([alias.path(), point.path()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(elsewhere.stdout.take().context("its output")?).read_line(&mut line)?;
    let claimed = always_refused(device.path());
    drop(elsewhere.stdin.take());
    elsewhere.wait()?;
    ensure!(line == "mounted\n", "it could not be mounted");
    let (text, name) = (claimed?, name(alias.path())?);
    ensure!(
        text.contains(&format!(
            " shares its bytes with {name}, which is in use by the kernel: "
        )),
        "{text}"
    );
    wait_for("the end of the mount", || {
        claim_device(device.path(), true).ok()
    })?;
    Ok(())
}

fn no_mount_of_an_alias() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let alias = over(&device.image())?;
    make_ext4(alias.path())?;
    let claimed = claim_device(device.path(), true)?;
    let error = MountedAt::new(alias.path())
        .map(|_| ())
        .expect_err("claimed")
        .to_string();
    ensure!(error.contains("busy"), "{error}");
    drop(claimed);
    MountedAt::new(alias.path())?;
    Ok(())
}

fn a_partitioned_alias() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let alias = over(&device.image())?;
    let partition = alias.partition()?;
    let text = refused(device.path(), false)?;
    let expected = format!(
        "has partitions ({}): add --destroy-data to overwrite them",
        name(&partition)?
    );
    ensure!(text.ends_with(&expected), "{text}");
    claim_device(device.path(), true)?;
    make_ext4(&partition)?;
    let mount = MountedAt::new(&partition)?;
    let (alias, partition, point) = (
        name(alias.path())?,
        name(&partition)?,
        mount.point().display(),
    );
    always_refused_as(
        device.path(),
        &format!(
            "shares its bytes with {alias}, whose partition {partition} is mounted at {point}: unmount it first"
        ),
    )
}

fn different_parts() -> Result<()> {
    let whole = LoopDevice::attach(2 * SMALL_BYTES)?;
    let half = SMALL_BYTES.to_string();
    let image = whole.image();
    let first = LoopDevice::over(&image, &["--sizelimit", &half])?;
    let second = LoopDevice::over(&image, &["--offset", &half])?;
    make_ext4(second.path())?;
    let _mount = MountedAt::new(second.path())?;
    let text = always_refused(whole.path())?;
    ensure!(
        text.contains(" shares its bytes with ") && text.contains(" is mounted at "),
        "{text}"
    );
    // The device over the whole file overlaps both, and cannot be claimed with either.
    drop(whole);
    ensure!(!image.exists() && claim_device(first.path(), false)?.facts.size_bytes == SMALL_BYTES);
    Ok(())
}
