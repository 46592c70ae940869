mod stacked;
mod users;

use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use writebench_runner::{RunnerError, claim_device, device_description};
use writebench_testkit::{LoopDevice, Need, Trials, call, wait_for};

use crate::users::{Mapped, MountedAt, SwappedTo};

const SMALL_BYTES: u64 = 8 << 20;
/// Enough for every kind of filesystem. The image is sparse.
const LARGE_BYTES: u64 = 512 << 20;

fn main() -> ExitCode {
    const LOOP: Need = Need::LoopDevice;
    let mut trials = Trials::default();
    trials.add(
        "a blank device is claimed and described",
        &[LOOP],
        a_blank_device,
    );
    trials.add(
        "a device with large sectors is claimed",
        &[LOOP],
        large_sectors,
    );
    trials.add(
        "a worker opens the device again through its descriptor",
        &[LOOP],
        a_worker_inherits_it,
    );
    trials.add(
        "a second claim is refused while the first is held",
        &[LOOP],
        a_second_claim,
    );
    for kind in ["ext4", "xfs", "btrfs"] {
        trials.add(
            format!("{kind} is overwritten only with consent"),
            &[LOOP, Need::Image(kind)],
            move || a_filesystem(kind),
        );
    }
    trials.add(
        "LVM is overwritten only with consent",
        &[LOOP],
        an_lvm_member,
    );
    trials.add(
        "swap space is overwritten only with consent",
        &[LOOP, Need::Program("mkswap")],
        swap_space,
    );
    trials.add(
        "partitions, and a table of them, are overwritten only with consent",
        &[LOOP, Need::Program("partx")],
        partitions,
    );
    let both = [LOOP, Need::Image("ext4"), Need::Image("btrfs")];
    trials.add("two signatures are more than none", &both, two_signatures);
    trials.add(
        "an unreadable device is not considered blank",
        &[LOOP],
        an_unreadable_device,
    );
    let ext4 = [LOOP, Need::Image("ext4")];
    trials.add("a mounted device is refused", &ext4, mounted);
    let partitioned = [LOOP, Need::Image("ext4"), Need::Program("partx")];
    trials.add(
        "a device with a mounted partition is refused",
        &partitioned,
        a_mounted_partition,
    );
    let hidden = [LOOP, Need::Image("ext4"), Need::Program("unshare")];
    trials.add(
        "a device mounted in another namespace is refused",
        &hidden,
        mounted_out_of_sight,
    );
    let btrfs = [LOOP, Need::Image("btrfs")];
    trials.add(
        "every device of a mounted btrfs is refused",
        &btrfs,
        a_filesystem_on_two_devices,
    );
    trials.add(
        "a swap device is refused",
        &[LOOP, Need::Program("swapon")],
        swapped_to,
    );
    trials.add(
        "a device below device mapper is refused",
        &[LOOP, Need::DeviceMapper],
        mapped,
    );
    trials.add(
        "a read-only device is refused",
        &[LOOP, Need::Program("blockdev")],
        read_only,
    );
    trials.add("a device without room is refused", &[LOOP], without_room);
    trials.add(
        "the kernel does not mount a claimed device",
        &ext4,
        no_mount_while_claimed,
    );
    let table = [LOOP, Need::Program("partx")];
    trials.add(
        "a claimed partition keeps its disk from being claimed",
        &table,
        a_claimed_partition,
    );
    let nodes = [LOOP, Need::Image("ext4"), Need::Program("mknod")];
    trials.add(
        "links and other nodes lead to the same device",
        &nodes,
        other_names,
    );
    trials.add(
        "a node exchanged over and over never leads to data",
        &nodes,
        an_exchanged_node,
    );
    trials.add("only block devices are claimed", &[], no_block_device);
    stacked::add(&mut trials);
    // A program started by one test would inherit, and hold, another's claims.
    trials.run(1)
}

/// The text of a refusal that is the same with permission to destroy data.
fn always_refused(target: &Path) -> Result<String> {
    let text = refused(target, false)?;
    ensure!(
        refused(target, true)? == text,
        "the user cannot override it: {text}"
    );
    Ok(text)
}

fn refused(target: &Path, destroy_data: bool) -> Result<String> {
    match claim_device(target, destroy_data) {
        Err(error @ RunnerError::DeviceRefused { .. }) => Ok(error.to_string()),
        Err(error) => Err(error).context("another error"),
        Ok(device) => anyhow::bail!("{} was claimed", device_description(&device.facts)),
    }
}

/// Expects that refusal, and a claim with permission to destroy data.
fn refused_until_told(device: &LoopDevice, expected: &str) -> Result<()> {
    let text = refused(device.path(), false)?;
    ensure!(
        text == format!("{} {expected}", device.path().display()),
        "{text}"
    );
    claim_device(device.path(), true)?;
    Ok(())
}

fn a_blank_device() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let claimed = claim_device(device.path(), false)?;
    ensure!(claimed.facts.path == device.path());
    ensure!((claimed.facts.size_bytes, claimed.facts.logical_sector_bytes) == (SMALL_BYTES, 512));
    ensure!(claimed.facts.number == writebench_probe::block_device(device.path())?.number);
    let name = device
        .path()
        .file_name()
        .context("a name")?
        .to_string_lossy();
    let expected = format!("{name}, loop over {}, 8 MiB", device.image().display());
    ensure!(
        device_description(&claimed.facts) == expected,
        "{}",
        device_description(&claimed.facts)
    );
    Ok(())
}

fn large_sectors() -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SMALL_BYTES, 4096)?;
    ensure!(
        claim_device(device.path(), false)?
            .facts
            .logical_sector_bytes
            == 4096
    );
    Ok(())
}

fn a_worker_inherits_it() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let claimed = claim_device(device.path(), false)?;
    let number = claimed.as_fd().as_raw_fd();
    call(Command::new("sh").args(["-c", &format!("printf written 1<> /proc/self/fd/{number}")]))?;
    let mut bytes = [0; 7];
    std::fs::File::open(device.path())?.read_exact_at(&mut bytes, 0)?;
    ensure!(&bytes == b"written", "{bytes:?}");
    Ok(())
}

fn a_second_claim() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let claimed = claim_device(device.path(), false)?;
    let text = always_refused(device.path())?;
    ensure!(text.contains(" is in use by the kernel: "), "{text}");
    drop(claimed);
    claim_device(device.path(), false)?;
    Ok(())
}

fn a_filesystem(kind: &str) -> Result<()> {
    let device = LoopDevice::attach(LARGE_BYTES)?;
    call(Command::new(format!("mkfs.{kind}")).arg(device.path()))?;
    let article = if kind == "btrfs" { "a" } else { "an" };
    let expected =
        format!("carries {article} {kind} filesystem: add --destroy-data to overwrite it");
    refused_until_told(&device, &expected)
}

/// The label of a physical volume as pvcreate writes it. Its checksum covers these bytes.
fn an_lvm_member() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let mut label = [0; 512];
    label[..8].copy_from_slice(b"LABELONE");
    label[8] = 1;
    label[16..20].copy_from_slice(&0x3cb0_b085_u32.to_le_bytes());
    label[20] = 32;
    label[24..32].copy_from_slice(b"LVM2 001");
    label[32..64].fill(b'a');
    write_at(&device, &label, 512)?;
    refused_until_told(
        &device,
        "carries the signature of LVM2_member: add --destroy-data to overwrite it",
    )
}

fn swap_space() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    call(Command::new("mkswap").arg(device.path()))?;
    refused_until_told(
        &device,
        "carries the signature of swap: add --destroy-data to overwrite it",
    )
}

fn partitions() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let partition = device.partition()?;
    let name = partition.file_name().context("a name")?.to_string_lossy();
    refused_until_told(
        &device,
        &format!("has partitions ({name}): add --destroy-data to overwrite them"),
    )?;
    claim_device(&partition, false)?;
    call(Command::new("partx").arg("--delete").arg(device.path()))?;
    refused_until_told(
        &device,
        "carries a partition table (dos): add --destroy-data to overwrite it",
    )
}

fn two_signatures() -> Result<()> {
    const BTRFS_AT: u64 = 64 << 10;
    let device = LoopDevice::attach(LARGE_BYTES)?;
    call(Command::new("mkfs.btrfs").arg(device.path()))?;
    let mut superblock = [0; 4096];
    std::fs::File::open(device.path())?.read_exact_at(&mut superblock, BTRFS_AT)?;
    call(Command::new("mkfs.ext4").arg("-F").arg(device.path()))?;
    write_at(&device, &superblock, BTRFS_AT)?;
    refused_until_told(
        &device,
        "carries several signatures: add --destroy-data to overwrite it",
    )
}

/// An image without its end gives errors there, where some kinds of RAID have their signature.
fn an_unreadable_device() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    std::fs::OpenOptions::new()
        .write(true)
        .open(device.image())?
        .set_len(SMALL_BYTES / 2)?;
    refused_until_told(
        &device,
        "is not overwritten: its content is unknown, because blkid could not read it. Add \
         --destroy-data to overwrite it",
    )
}

fn mounted() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    call(Command::new("mkfs.ext4").arg(device.path()))?;
    let mount = MountedAt::new(device.path())?;
    let text = always_refused(device.path())?;
    let (path, point) = (device.path().display(), mount.point().display().to_string());
    ensure!(
        text == format!("{path} is mounted at {point}: unmount it first"),
        "{text}"
    );
    drop(mount);
    claim_device(device.path(), true)?;
    Ok(())
}

fn a_mounted_partition() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let partition = device.partition()?;
    call(Command::new("mkfs.ext4").arg(&partition))?;
    let mount = MountedAt::new(&partition)?;
    let text = always_refused(device.path())?;
    let name = partition.file_name().context("a name")?.to_string_lossy();
    let (path, point) = (device.path().display(), mount.point().display().to_string());
    let expected = format!("{path} (its partition {name}) is mounted at {point}: unmount it first");
    ensure!(text == expected, "{text}");
    ensure!(always_refused(&partition)?.contains(" is mounted at "));
    Ok(())
}

fn mounted_out_of_sight() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    call(Command::new("mkfs.ext4").arg(device.path()))?;
    let point = tempfile::tempdir()?;
    let mut elsewhere = Command::new("unshare")
        .args([
            "--mount",
            "sh",
            "-c",
            "mount \"$0\" \"$1\" && echo mounted && read line",
        ])
        .args([device.path(), point.path()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(elsewhere.stdout.take().context("its output")?).read_line(&mut line)?;
    let claimed = always_refused(device.path());
    drop(elsewhere.stdin.take());
    elsewhere.wait()?;
    ensure!(line == "mounted\n", "it could not be mounted");
    let text = claimed?;
    ensure!(text.contains(" is in use by the kernel: "), "{text}");
    wait_for("the end of the mount", || {
        claim_device(device.path(), true).ok()
    })?;
    Ok(())
}

/// The list of mounts names one device, under a number that is neither's.
fn a_filesystem_on_two_devices() -> Result<()> {
    let devices = [
        LoopDevice::attach(LARGE_BYTES)?,
        LoopDevice::attach(LARGE_BYTES)?,
    ];
    let [first, second] = devices.each_ref().map(LoopDevice::path);
    call(Command::new("mkfs.btrfs").args([first, second]))?;
    let _mount = MountedAt::new(first)?;
    let texts = [always_refused(first)?, always_refused(second)?];
    ensure!(
        texts.iter().any(|text| text.contains(" is mounted at ")),
        "{texts:?}"
    );
    ensure!(
        texts
            .iter()
            .any(|text| text.contains(" is in use by the kernel: ")),
        "{texts:?}"
    );
    Ok(())
}

fn swapped_to() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    call(Command::new("mkswap").arg(device.path()))?;
    let swap = SwappedTo::new(device.path())?;
    let text = always_refused(device.path())?;
    ensure!(
        text == format!(
            "{} is used as swap: swapoff it first",
            device.path().display()
        ),
        "{text}"
    );
    drop(swap);
    claim_device(device.path(), true)?;
    Ok(())
}

fn mapped() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let mapped = Mapped::over(device.path(), SMALL_BYTES / 512)?;
    let text = always_refused(device.path())?;
    ensure!(
        text.contains(" is used by dm-") && text.contains(mapped.name()),
        "{text}"
    );
    Ok(())
}

fn read_only() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    call(Command::new("blockdev").arg("--setro").arg(device.path()))?;
    let text = always_refused(device.path())?;
    ensure!(text.contains(" is read-only: "), "{text}");
    call(Command::new("blockdev").arg("--setrw").arg(device.path()))?;
    claim_device(device.path(), false)?;
    Ok(())
}

fn without_room() -> Result<()> {
    let device = LoopDevice::attach(0)?;
    let text = always_refused(device.path())?;
    ensure!(
        text.contains(" has 0 bytes, less than one sector of 512: "),
        "{text}"
    );
    Ok(())
}

fn no_mount_while_claimed() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    call(Command::new("mkfs.ext4").arg(device.path()))?;
    let claimed = claim_device(device.path(), true)?;
    let error = MountedAt::new(device.path())
        .map(|_| ())
        .expect_err("claimed")
        .to_string();
    ensure!(error.contains("busy"), "{error}");
    drop(claimed);
    MountedAt::new(device.path())?;
    Ok(())
}

fn a_claimed_partition() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let partition = device.partition()?;
    let _claimed = claim_device(&partition, false)?;
    let text = refused(device.path(), true)?;
    ensure!(text.contains(" is in use by the kernel: "), "{text}");
    Ok(())
}

fn other_names() -> Result<()> {
    let device = LoopDevice::attach(SMALL_BYTES)?;
    let directory = tempfile::tempdir()?;
    let link = directory.path().join("by-id");
    std::os::unix::fs::symlink(device.path(), &link)?;
    let number = writebench_probe::block_device(device.path())?.number;
    let (major, minor) = number.split_once(':').context("two numbers")?;
    let node = directory.path().join("node");
    call(Command::new("mknod").arg(&node).args(["b", major, minor]))?;
    for name in [&link, &node] {
        let claimed = claim_device(name, false)?;
        ensure!(
            claimed.facts.number == number,
            "{}",
            device_description(&claimed.facts)
        );
        ensure!(always_refused(device.path())?.contains(" is in use by the kernel: "));
    }
    ensure!(claim_device(&link, false)?.facts.path == device.path());
    call(Command::new("mkfs.ext4").arg(device.path()))?;
    let _mount = MountedAt::new(device.path())?;
    for name in [&link, &node] {
        let text = always_refused(name)?;
        ensure!(
            text.starts_with(&format!("{} is mounted at ", name.display())),
            "{text}"
        );
    }
    Ok(())
}

/// Successive calls by path may each see another device. The claimed device must be the blank one.
fn an_exchanged_node() -> Result<()> {
    let (blank, precious) = (
        LoopDevice::attach(SMALL_BYTES)?,
        LoopDevice::attach(SMALL_BYTES)?,
    );
    call(Command::new("mkfs.ext4").arg(precious.path()))?;
    let directory = tempfile::tempdir()?;
    let [node, next] = ["node", "next"].map(|name| directory.path().join(name));
    let mut nodes = Vec::new();
    for device in [precious.path(), blank.path()] {
        let (number, own) = (
            writebench_probe::block_device(device)?.number,
            directory.path().join(nodes.len().to_string()),
        );
        let (major, minor) = number.split_once(':').context("two numbers")?;
        call(Command::new("mknod").arg(&own).args(["b", major, minor]))?;
        nodes.push(own);
    }
    std::fs::hard_link(&nodes[1], &node)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let exchange = || -> Result<()> {
            for other in nodes.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    return Ok(());
                }
                std::fs::hard_link(other, &next)?;
                std::fs::rename(&next, &node)?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        };
        let exchanges = scope.spawn(exchange);
        let number = writebench_probe::block_device(blank.path())?.number;
        let wrong = (0..150)
            .filter_map(|_| claim_device(&node, false).ok())
            .find(|device| device.facts.number != number);
        is_over.store(true, Ordering::Relaxed);
        exchanges.join().expect("no panic")?;
        ensure!(wrong.is_none(), "{wrong:?}");
        Ok(())
    })
}

fn no_block_device() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("file");
    std::fs::write(&file, "precious")?;
    for path in [Path::new("/dev/null"), directory.path(), &file] {
        let error = claim_device(path, true).map(|_| ()).expect_err("no device");
        let expected = format!(
            "{} is not a block device: name one, such as /dev/sdb",
            path.display()
        );
        ensure!(error.to_string() == expected, "{error}");
    }
    ensure!(std::fs::read(&file)? == b"precious");
    Ok(())
}

fn write_at(device: &LoopDevice, bytes: &[u8], offset: u64) -> Result<()> {
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(device.path())?;
    file.write_all_at(bytes, offset)?;
    Ok(file.sync_all()?)
}
