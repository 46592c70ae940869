//! Exclusive claims on block devices before they are overwritten.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use writebench_model::Bytes;
use writebench_probe::{BlockDeviceFacts, DeviceAlias, DeviceUses, ProbeError};

use crate::claim_error::{ClaimError, one_line};
use crate::error::{RunnerError, failed};
use crate::signature;

/// A block device to overwrite. While this lives, the kernel lets no other program mount it, swap to it,
/// build on it or claim it, nor any other device with the same bytes.
///
/// A worker inherits the descriptor and reopens it through `/proc/self/fd`. The claim lasts until the last
/// process with it has ended.
#[derive(Debug)]
pub struct ClaimedDevice {
    descriptor: OwnedFd,
    pub facts: BlockDeviceFacts,
    _aliases: Vec<OwnedFd>,
}

/// A line by which a person recognises a device: name, model, serial number and size.
pub fn device_description(facts: &BlockDeviceFacts) -> String {
    let serial = facts
        .serial
        .as_ref()
        .map(|serial| format!("serial {serial}"));
    let size = Bytes(facts.size_bytes).approximate();
    let parts = [
        Some(facts.name.clone()),
        facts.model.clone(),
        serial,
        Some(size),
    ];
    one_line(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

impl AsFd for ClaimedDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Claims a block device in order to overwrite it. A device in use, read-only or without space is refused,
/// and one with partitions or content unless `destroy_data` is set.
pub fn claim_device(target: &Path, destroy_data: bool) -> Result<ClaimedDevice, RunnerError> {
    let seen = writebench_probe::block_device(target)?;
    check(target, &seen, destroy_data)?;
    let busy = refused(target, ClaimError::Busy);
    let descriptor = open_exclusively((&seen.path, target), &seen.number, OFlags::RDWR, busy)?;
    // The path may lead elsewhere by now, so only the descriptor is used. A new user may have appeared
    // before the claim.
    let facts = writebench_probe::open_block_device(descriptor.as_fd(), &seen.path)?;
    let mut aliases: Vec<(DeviceAlias, OwnedFd)> = Vec::new();
    loop {
        let uses = check(target, &facts, destroy_data)?;
        let is_new = |alias: &DeviceAlias| aliases.iter().all(|(claimed, _)| claimed != alias);
        let new: Vec<DeviceAlias> = uses.aliases.into_iter().filter(is_new).collect();
        if new.is_empty() {
            break;
        }
        for alias in new {
            // A mount of an alias, later or in another namespace, would use the same bytes.
            let path = Path::new("/dev").join(&alias.name);
            let busy = refused(target, ClaimError::AliasBusy(one_line(&alias.name)));
            let descriptor = open_exclusively((&path, &path), &alias.number, OFlags::RDONLY, busy)?;
            aliases.push((alias, descriptor));
        }
    }
    if !destroy_data {
        check_contents(target, descriptor.as_fd())?;
    }
    let aliases = aliases
        .into_iter()
        .map(|(_, descriptor)| descriptor)
        .collect();
    Ok(ClaimedDevice {
        descriptor,
        facts,
        _aliases: aliases,
    })
}

/// Checks whether the device could be claimed now, at most by opening it for reading.
pub fn check_claim(target: &Path, destroy_data: bool) -> Result<(), RunnerError> {
    let seen = writebench_probe::block_device(target)?;
    check(target, &seen, destroy_data)?;
    if destroy_data {
        return Ok(());
    }
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let device =
        rustix::fs::open(&seen.path, flags, Mode::empty()).map_err(failed("open", target))?;
    check_contents(target, device.as_fd())
}

fn check(
    target: &Path,
    facts: &BlockDeviceFacts,
    destroy_data: bool,
) -> Result<DeviceUses, RunnerError> {
    let uses = writebench_probe::device_uses(&facts.number).map_err(|error| match error {
        ProbeError::UnknownLoop { .. } => {
            refused(target, ClaimError::UnknownUse(one_line(&error.to_string())))
        }
        error => error.into(),
    })?;
    check_use(facts, &uses, destroy_data).map_err(|reason| refused(target, reason))?;
    Ok(uses)
}

fn check_use(
    facts: &BlockDeviceFacts,
    uses: &DeviceUses,
    destroy_data: bool,
) -> Result<(), ClaimError> {
    let size_bytes = facts.size_bytes;
    let sector_bytes = facts.logical_sector_bytes;
    if let Some(first) = uses.uses.first() {
        Err(ClaimError::Used(first.clone()))
    } else if facts.read_only {
        Err(ClaimError::ReadOnly)
    } else if size_bytes < sector_bytes {
        Err(ClaimError::TooSmall {
            size_bytes,
            sector_bytes,
        })
    } else if !uses.partitions.is_empty() && !destroy_data {
        Err(ClaimError::Partitioned(uses.partitions.join(", ")))
    } else {
        Ok(())
    }
}

/// Claims the device at `path`, which errors call `shown`, and checks that its number is unchanged.
fn open_exclusively(
    (path, shown): (&Path, &Path),
    number: &str,
    access: OFlags,
    busy: RunnerError,
) -> Result<OwnedFd, RunnerError> {
    // O_EXCL without O_CREAT is the kernel's claim on a block device. Without O_CLOEXEC a worker inherits
    // the descriptor.
    let flags = access | OFlags::EXCL | OFlags::NOCTTY;
    let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::BUSY => busy,
        Errno::ROFS => refused(shown, ClaimError::ReadOnly),
        errno => failed("open", shown)(errno),
    })?;
    let stat = rustix::fs::fstat(&descriptor).map_err(failed("fstat", shown))?;
    let own = format!(
        "{}:{}",
        rustix::fs::major(stat.st_rdev),
        rustix::fs::minor(stat.st_rdev)
    );
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice || own != number {
        return Err(refused(shown, ClaimError::Changed));
    }
    Ok(descriptor)
}

/// blkid can still read, because it does not open exclusively.
fn check_contents(target: &Path, device: BorrowedFd<'_>) -> Result<(), RunnerError> {
    match signature::find(device) {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(refused(target, ClaimError::CarriesData(found))),
        Err(reason) => Err(refused(target, ClaimError::CannotTell(reason))),
    }
}

fn refused(target: &Path, reason: ClaimError) -> RunnerError {
    RunnerError::DeviceRefused {
        device: target.display().to_string(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_probe::{DeviceUse, UseEnd};

    fn facts() -> BlockDeviceFacts {
        BlockDeviceFacts {
            path: "/dev/sdb".into(),
            name: "sdb".to_owned(),
            number: "8:16".to_owned(),
            size_bytes: 1 << 40,
            logical_sector_bytes: 512,
            model: Some("A Disk".to_owned()),
            serial: Some("S5H9NS0N".to_owned()),
            read_only: false,
        }
    }

    fn refusal(facts: &BlockDeviceFacts, uses: &DeviceUses, destroy_data: bool) -> Option<String> {
        let reason = check_use(facts, uses, destroy_data).err()?;
        Some(refused(Path::new("/dev/sdb"), reason).to_string())
    }

    #[test]
    fn a_device_in_use_is_refused_even_with_consent() {
        let swap = DeviceUse {
            edges: Vec::new(),
            end: UseEnd::Swap,
        };
        let used = DeviceUses {
            uses: vec![swap],
            ..DeviceUses::default()
        };
        let unused = DeviceUses::default();
        let refusals = [
            (facts(), &used, "/dev/sdb is used as swap: swapoff it first"),
            (
                BlockDeviceFacts {
                    read_only: true,
                    ..facts()
                },
                &unused,
                "/dev/sdb is read-only: make it writable, or name another device",
            ),
            (
                BlockDeviceFacts {
                    size_bytes: 0,
                    ..facts()
                },
                &unused,
                "/dev/sdb has 0 bytes, less than one sector of 512: name another device",
            ),
        ];
        for (facts, uses, message) in refusals {
            assert_eq!(refusal(&facts, uses, false).as_deref(), Some(message));
            assert_eq!(refusal(&facts, uses, true).as_deref(), Some(message));
        }
        assert_eq!(refusal(&facts(), &unused, false), None);
    }

    #[test]
    fn partitions_are_refused_without_consent() {
        let partitions = vec!["sdb1".to_owned(), "sdb2".to_owned()];
        let uses = DeviceUses {
            partitions,
            ..DeviceUses::default()
        };
        let message = "/dev/sdb has partitions (sdb1, sdb2): add --destroy-data to overwrite them";
        assert_eq!(refusal(&facts(), &uses, false).as_deref(), Some(message));
        assert_eq!(refusal(&facts(), &uses, true), None);
    }

    #[test]
    fn a_replaced_node_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let busy = refused(file.path(), ClaimError::Busy);
        let claimed = open_exclusively(
            (file.path(), Path::new("/dev/sdb")),
            "8:16",
            OFlags::RDWR,
            busy,
        );
        let error = claimed.unwrap_err().to_string();
        assert!(
            error.starts_with("/dev/sdb became another device"),
            "{error}"
        );
    }

    #[test]
    fn a_device_description_is_one_line_of_known_facts() {
        let descriptor: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        let device = ClaimedDevice {
            descriptor,
            facts: facts(),
            _aliases: Vec::new(),
        };
        assert_eq!(
            device_description(&device.facts),
            "sdb, A Disk, serial S5H9NS0N, 1 TiB"
        );
        let facts = BlockDeviceFacts {
            model: Some("loop over /a\nb".to_owned()),
            serial: None,
            ..facts()
        };
        assert_eq!(device_description(&facts), "sdb, loop over /a?b, 1 TiB");
    }
}
