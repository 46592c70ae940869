use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Result, ensure};
use writebench_probe::DeviceUses;
use writebench_testkit::{LoopDevice, Need, Trials};

const SIZE_BYTES: u64 = 8 << 20;

fn main() -> ExitCode {
    let mut trials = Trials::default();
    trials.add(
        "an unused device has its size, its sectors and its backing file",
        &[Need::LoopDevice],
        an_unused_device,
    );
    trials.add(
        "large sectors are reported",
        &[Need::LoopDevice],
        large_sectors,
    );
    trials.add(
        "a link and another node are the same device by number",
        &[Need::LoopDevice, Need::Program("mknod")],
        the_same_device_by_other_names,
    );
    trials.add(
        "partitions are named",
        &[Need::LoopDevice, Need::Program("partx")],
        partitions_are_named,
    );
    trials.add(
        "the environment of a device is the device, not its node's filesystem",
        &[Need::LoopDevice],
        the_environment_of_a_device,
    );
    trials.add(
        "a node without a device is an error",
        &[Need::LoopDevice, Need::Program("mknod")],
        a_node_without_a_device,
    );
    trials.run(1)
}

fn an_unused_device() -> Result<()> {
    let device = LoopDevice::attach(SIZE_BYTES)?;
    let facts = writebench_probe::block_device(device.path())?;
    ensure!(
        facts.path == device.path() && Path::new("/dev").join(&facts.name) == device.path(),
        "{facts:?}"
    );
    ensure!(
        (facts.size_bytes, facts.logical_sector_bytes) == (SIZE_BYTES, 512),
        "{facts:?}"
    );
    ensure!(
        facts.model == Some(format!("loop over {}", device.image().display())),
        "{facts:?}"
    );
    ensure!(!facts.read_only, "{facts:?}");
    let uses = writebench_probe::device_uses(&facts.number)?;
    ensure!(uses == DeviceUses::default(), "{uses:?}");
    Ok(())
}

fn large_sectors() -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SIZE_BYTES, 4096)?;
    let facts = writebench_probe::block_device(device.path())?;
    ensure!(
        (facts.size_bytes, facts.logical_sector_bytes) == (SIZE_BYTES, 4096),
        "{facts:?}"
    );
    Ok(())
}

fn the_same_device_by_other_names() -> Result<()> {
    let device = LoopDevice::attach(SIZE_BYTES)?;
    let directory = tempfile::tempdir()?;
    let link = directory.path().join("by-id");
    std::os::unix::fs::symlink(device.path(), &link)?;
    let facts = writebench_probe::block_device(device.path())?;
    ensure!(
        writebench_probe::block_device(&link)? == facts,
        "the link leads to the device"
    );
    let node = directory.path().join("node");
    make_node(&node, &facts.number)?;
    let other = writebench_probe::block_device(&node)?;
    ensure!(
        (&other.number, &other.name) == (&facts.number, &facts.name),
        "{other:?}"
    );
    Ok(())
}

fn partitions_are_named() -> Result<()> {
    let device = LoopDevice::attach(SIZE_BYTES)?;
    let partition = device.partition()?;
    let disk = writebench_probe::block_device(device.path())?;
    let facts = writebench_probe::block_device(&partition)?;
    ensure!(facts.size_bytes == SIZE_BYTES - (1 << 20), "{facts:?}");
    let uses = [
        writebench_probe::device_uses(&disk.number)?,
        writebench_probe::device_uses(&facts.number)?,
    ];
    ensure!(
        uses[0].partitions == [facts.name.as_str()] && uses[1].partitions.is_empty(),
        "{uses:?}"
    );
    Ok(())
}

fn the_environment_of_a_device() -> Result<()> {
    let device = LoopDevice::attach_with_sectors(SIZE_BYTES, 4096)?;
    let environment = writebench_probe::environment(device.path())?;
    let expected = writebench_model::Filesystem {
        kind: "block device".to_owned(),
        source: device.path().display().to_string(),
        mount_point: "none".to_owned(),
        mount_options: "none".to_owned(),
        total_bytes: SIZE_BYTES,
        available_bytes: SIZE_BYTES,
        block_size_bytes: 4096,
        file_layout: None,
        direct_io: environment.filesystem.direct_io,
        atomic_writes: None,
    };
    ensure!(
        environment.filesystem == expected,
        "{:?}",
        environment.filesystem
    );
    let number = writebench_probe::block_device(device.path())?.number;
    ensure!(environment.device.map(|device| device.number) == Some(number));
    let space = writebench_probe::space(device.path())?;
    ensure!(
        (space.total_bytes, space.available_bytes) == (SIZE_BYTES, SIZE_BYTES),
        "{space:?}"
    );
    ensure!(space.available_inodes.is_none(), "{space:?}");
    Ok(())
}

fn a_node_without_a_device() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let node = directory.path().join("node");
    // No disk has that many partitions.
    make_node(&node, "254:1048575")?;
    let error = writebench_probe::block_device(&node).map_err(|error| error.to_string());
    let expected = format!(
        "{} is the node of block device 254:1048575, which does not exist: name another device",
        node.display()
    );
    ensure!(error == Err(expected.clone()), "{error:?}");
    ensure!(writebench_probe::environment(&node).is_err_and(|error| error.to_string() == expected));
    ensure!(writebench_probe::space(&node).is_err_and(|error| error.to_string() == expected));
    Ok(())
}

fn make_node(path: &Path, number: &str) -> Result<()> {
    let (major, minor) = number.split_once(':').unwrap_or_default();
    let made = Command::new("mknod")
        .arg(path)
        .args(["b", major, minor])
        .status()?;
    ensure!(made.success(), "mknod {}", path.display());
    Ok(())
}
