//! A block device that is to be overwritten: whether it may be, and nobody else's while we hold it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use model::Bytes;
use probe::BlockDeviceFacts;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::RunnerError;
use crate::refusal::DeviceRefusal;
use crate::signature;

/// A block device that is ours to overwrite: while this lives, the kernel lets nobody mount it, swap to it,
/// build on it or claim it too. A worker inherits the descriptor and opens it again through `/proc/self/fd`;
/// the claim lasts until the last process that inherited it is gone.
#[derive(Debug)]
pub struct ClaimedDevice {
    descriptor: OwnedFd,
    facts: BlockDeviceFacts,
}

impl ClaimedDevice {
    /// The node, without symbolic links on the way.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.facts.path
    }

    /// Major and minor number, `7:0`, as in [`BlockDeviceFacts::number`].
    #[must_use]
    pub fn number(&self) -> &str {
        &self.facts.number
    }

    /// Its size.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.facts.size_bytes
    }

    /// Size of an addressable sector.
    #[must_use]
    pub fn logical_sector_bytes(&self) -> u64 {
        self.facts.logical_sector_bytes
    }

    /// Name, model, serial number and size in one line, for a person to recognise it by.
    #[must_use]
    pub fn description(&self) -> String {
        device_description(&self.facts)
    }
}

/// Name, model, serial number and size in one line, for a person to recognise a device by.
#[must_use]
pub fn device_description(facts: &BlockDeviceFacts) -> String {
    let serial = facts.serial.as_ref().map(|serial| format!("serial {serial}"));
    let size = Bytes(facts.size_bytes).approximate();
    let parts = [Some(facts.name.clone()), facts.model.clone(), serial, Some(size)];
    one_line(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

impl AsFd for ClaimedDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Takes a block device, named by any path that leads to it, to overwrite it. One that is in use, read-only
/// or without room is refused; one that has partitions or carries anything only if `destroy_data` is not set.
///
/// # Errors
/// It is refused ([`RunnerError::DeviceRefused`]); or it is no block device, cannot be looked at, or cannot
/// be opened.
pub fn claim_device(target: &Path, destroy_data: bool) -> Result<ClaimedDevice, RunnerError> {
    let seen = probe::block_device(target)?;
    check_use(target, &seen, destroy_data)?;
    let descriptor = open_alone(target, &seen)?;
    // Once more, now that nothing can change: something may have come before it was ours.
    let facts = probe::block_device(&seen.path)?;
    if facts.number != seen.number {
        return Err(refused(target, DeviceRefusal::Changed));
    }
    check_use(target, &facts, destroy_data)?;
    if !destroy_data {
        check_contents(target, &facts)?;
    }
    Ok(ClaimedDevice { descriptor, facts })
}

fn check_use(target: &Path, facts: &BlockDeviceFacts, destroy_data: bool) -> Result<(), RunnerError> {
    let used = |device: &String, refusal| Err(refused_part(target, facts, device, refusal));
    if let Some(first) = facts.mounts.first() {
        let of_the_same = facts.mounts.iter().filter(|mounted| mounted.device == first.device);
        let points: Vec<_> = of_the_same.map(|mounted| one_line(&mounted.mount_point)).collect();
        return used(&first.device, DeviceRefusal::Mounted(points.join(", ")));
    }
    if let Some(device) = facts.swaps.first() {
        return used(device, DeviceRefusal::Swap);
    }
    if let Some(holder) = facts.holders.first() {
        return used(&holder.device, DeviceRefusal::Held(one_line(&holder.name)));
    }
    if facts.read_only {
        return Err(refused(target, DeviceRefusal::ReadOnly));
    }
    let (size_bytes, sector_bytes) = (facts.size_bytes, facts.logical_sector_bytes);
    if size_bytes < sector_bytes {
        return Err(refused(target, DeviceRefusal::TooSmall { size_bytes, sector_bytes }));
    }
    if !facts.partitions.is_empty() && !destroy_data {
        return Err(refused(target, DeviceRefusal::Partitioned(facts.partitions.join(", "))));
    }
    Ok(())
}

/// Opens the device for writing, for ourselves, and sees to it that it is the one that was looked at.
fn open_alone(target: &Path, seen: &BlockDeviceFacts) -> Result<OwnedFd, RunnerError> {
    // O_EXCL without O_CREAT is the kernel's claim on a block device. Without O_CLOEXEC, so that a worker
    // inherits it.
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::NOCTTY;
    let descriptor = rustix::fs::open(&seen.path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::BUSY => refused(target, DeviceRefusal::Busy),
        Errno::ROFS => refused(target, DeviceRefusal::ReadOnly),
        errno => failed("open", target, errno),
    })?;
    let stat = rustix::fs::fstat(&descriptor).map_err(|errno| failed("stat", target, errno))?;
    let number = format!("{}:{}", rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice || number != seen.number {
        return Err(refused(target, DeviceRefusal::Changed));
    }
    Ok(descriptor)
}

/// blkid reads beside our claim: it does not open exclusively.
fn check_contents(target: &Path, facts: &BlockDeviceFacts) -> Result<(), RunnerError> {
    match signature::of(&facts.path) {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(refused(target, DeviceRefusal::CarriesData(found))),
        Err(reason) => Err(refused(target, DeviceRefusal::CannotTell(reason))),
    }
}

fn refused(target: &Path, refusal: DeviceRefusal) -> RunnerError {
    RunnerError::DeviceRefused { device: target.display().to_string(), refusal }
}

/// For what may be about a partition only.
fn refused_part(target: &Path, facts: &BlockDeviceFacts, device: &str, refusal: DeviceRefusal) -> RunnerError {
    if device == facts.name {
        return refused(target, refusal);
    }
    let device = format!("{} (its partition {device})", target.display());
    RunnerError::DeviceRefused { device, refusal }
}

fn failed(call: &'static str, path: &Path, errno: Errno) -> RunnerError {
    RunnerError::target(call, path, io::Error::from(errno))
}

/// Names that people and makers give may have anything in them.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use probe::{Holder, Mounted};

    fn unused() -> BlockDeviceFacts {
        BlockDeviceFacts {
            path: "/dev/sdb".into(),
            name: "sdb".to_owned(),
            number: "8:16".to_owned(),
            size_bytes: 1 << 40,
            logical_sector_bytes: 512,
            model: Some("A Disk".to_owned()),
            serial: Some("S5H9NS0N".to_owned()),
            read_only: false,
            partitions: Vec::new(),
            mounts: Vec::new(),
            swaps: Vec::new(),
            holders: Vec::new(),
        }
    }

    fn refusal(facts: &BlockDeviceFacts, destroy_data: bool) -> Option<String> {
        let checked = check_use(Path::new("/dev/sdb"), facts, destroy_data);
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn what_uses_a_device_is_refused_whatever_the_user_says() {
        let mounted = |device: &str, point: &str| Mounted { device: device.into(), mount_point: point.into() };
        let uses = [
            (
                BlockDeviceFacts { mounts: vec![mounted("sdb", "/a"), mounted("sdb", "/b\nc")], ..unused() },
                "/dev/sdb is mounted at /a, /b?c: unmount it first",
            ),
            (
                BlockDeviceFacts { mounts: vec![mounted("sdb2", "/a")], ..unused() },
                "/dev/sdb (its partition sdb2) is mounted at /a: unmount it first",
            ),
            (
                BlockDeviceFacts { swaps: vec!["sdb".to_owned()], ..unused() },
                "/dev/sdb is used as swap: swapoff it first",
            ),
            (
                BlockDeviceFacts {
                    holders: vec![Holder { device: "sdb1".to_owned(), name: "dm-0 (vg0-root)".to_owned() }],
                    ..unused()
                },
                "/dev/sdb (its partition sdb1) is used by dm-0 (vg0-root): take that down first",
            ),
            (
                BlockDeviceFacts { read_only: true, ..unused() },
                "/dev/sdb is read-only: make it writable, or name another device",
            ),
            (
                BlockDeviceFacts { size_bytes: 0, ..unused() },
                "/dev/sdb has 0 bytes, less than one sector of 512: name another device",
            ),
        ];
        for (facts, message) in uses {
            assert_eq!(refusal(&facts, false).as_deref(), Some(message));
            assert_eq!(refusal(&facts, true).as_deref(), Some(message));
        }
        assert_eq!(refusal(&unused(), false), None);
    }

    #[test]
    fn partitions_are_refused_until_the_user_says_so() {
        let facts = BlockDeviceFacts { partitions: vec!["sdb1".to_owned(), "sdb2".to_owned()], ..unused() };
        let message = "/dev/sdb has partitions (sdb1, sdb2): add --destroy-data to overwrite them";
        assert_eq!(refusal(&facts, false).as_deref(), Some(message));
        assert_eq!(refusal(&facts, true), None);
    }

    #[test]
    fn a_node_that_stands_for_something_else_by_now_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let seen = BlockDeviceFacts { path: file.path().to_path_buf(), ..unused() };
        let error = open_alone(Path::new("/dev/sdb"), &seen).unwrap_err().to_string();
        assert!(error.starts_with("/dev/sdb became another device"), "{error}");
    }

    #[test]
    fn a_device_is_described_in_one_line_by_what_is_known_of_it() {
        let descriptor: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        let device = ClaimedDevice { descriptor, facts: unused() };
        assert_eq!(device.description(), "sdb, A Disk, serial S5H9NS0N, 1 TiB");
        let facts = BlockDeviceFacts { model: Some("loop over /a\nb".to_owned()), serial: None, ..unused() };
        assert_eq!(ClaimedDevice { facts, ..device }.description(), "sdb, loop over /a?b, 1 TiB");
    }
}
