use std::fs;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::device::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::kernel_file::{self, ROOT};
use crate::target::Target;

/// What must be known about a block device before it is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDeviceFacts {
    /// The path of the device's node. Symbolic links in it are resolved.
    pub path: PathBuf,
    /// The kernel's name, such as `sda` or `loop0`.
    pub name: String,
    /// The major and minor number, such as `7:0`. Paths with the same number are the same device.
    pub number: String,
    pub size_bytes: u64,
    pub logical_sector_bytes: u64,
    /// The maker's model name, or the basis of a virtual device.
    pub model: Option<String>,
    pub serial: Option<String>,
    pub read_only: bool,
}

/// Reads the facts about the block device at `path`. Symbolic links are followed.
///
/// # Errors
///
/// It is an error if the path names no block device, or if the kernel lacks a fact that must be known before a write
/// to the device.
pub fn block_device(path: &Path) -> Result<BlockDeviceFacts, ProbeError> {
    let root = Path::new(ROOT);
    let node = Target::inspect(path)?.node;
    let number = node.ok_or_else(|| ProbeError::NotABlockDevice {
        path: path.to_owned(),
    })?;
    let canonical =
        fs::canonicalize(path).map_err(|error| ProbeError::call("realpath", path, error))?;
    let device = BlockDevice::from_node(root, path, number)?;
    let identified = direct_io::BlockDevice::at(path)
        .map_err(|error| ProbeError::call("look at", path, error))?;
    facts(canonical, &device, identified.serial)
}

/// Reads the facts about an open block device, which cannot be replaced during the call. `path` only appears in the
/// result and in errors.
///
/// # Errors
///
/// The errors are those of [`block_device`].
pub fn open_block_device(
    descriptor: BorrowedFd<'_>,
    path: &Path,
) -> Result<BlockDeviceFacts, ProbeError> {
    let stat =
        rustix::fs::fstat(descriptor).map_err(|errno| ProbeError::call("fstat", path, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
        return Err(ProbeError::NotABlockDevice {
            path: path.to_owned(),
        });
    }
    let device =
        BlockDevice::from_node(Path::new(ROOT), path, DeviceNumber::from_stat(stat.st_rdev))?;
    let identified = direct_io::BlockDevice::from_file(descriptor)
        .map_err(|error| ProbeError::call("look at", path, error))?;
    facts(path.to_owned(), &device, identified.serial)
}

fn facts(
    path: PathBuf,
    device: &BlockDevice,
    serial: Option<String>,
) -> Result<BlockDeviceFacts, ProbeError> {
    Ok(BlockDeviceFacts {
        path,
        name: device.name(),
        number: device.number.to_string(),
        size_bytes: device.size_bytes()?,
        logical_sector_bytes: device.logical_sector_bytes()?,
        model: device.model(),
        serial,
        read_only: kernel_file::needed_number(&device.folder.join("ro"))? != 0,
    })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// No device on this machine has these numbers.
    fn tree() -> TempDir {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("sys/devices/sdz");
        for folder in ["queue", "sdz1"] {
            fs::create_dir_all(disk.join(folder)).unwrap();
        }
        let files = [
            ("size", "4096"),
            ("ro", "0"),
            ("queue/logical_block_size", "512"),
            ("sdz1/partition", "1"),
        ];
        for (path, content) in files {
            fs::write(disk.join(path), format!("{content}\n")).unwrap();
        }
        let links = root.path().join("sys/dev/block");
        fs::create_dir_all(&links).unwrap();
        symlink("../../devices/sdz", links.join("8:65520")).unwrap();
        symlink("../../devices/sdz/sdz1", links.join("8:65521")).unwrap();
        root
    }

    fn facts_for(root: &TempDir, number: &str) -> Result<BlockDeviceFacts, ProbeError> {
        let device = BlockDevice::find(root.path(), number.parse().unwrap()).unwrap();
        facts("/dev/sdz".into(), &device, None)
    }

    #[test]
    fn a_disk_has_its_size_and_its_sectors() {
        let expected = BlockDeviceFacts {
            path: "/dev/sdz".into(),
            name: "sdz".to_owned(),
            number: "8:65520".to_owned(),
            size_bytes: 2 << 20,
            logical_sector_bytes: 512,
            model: None,
            serial: None,
            read_only: false,
        };
        assert_eq!(facts_for(&tree(), "8:65520").unwrap(), expected);
    }

    #[test]
    fn a_partition_has_its_disks_sectors() {
        let root = tree();
        for file in ["size", "ro"] {
            fs::write(root.path().join("sys/devices/sdz/sdz1").join(file), "1\n").unwrap();
        }
        let facts = facts_for(&root, "8:65521").unwrap();
        assert_eq!(
            (
                facts.name.as_str(),
                facts.read_only,
                facts.logical_sector_bytes
            ),
            ("sdz1", true, 512)
        );
    }

    #[test]
    fn a_missing_required_fact_is_an_error() {
        for file in ["size", "ro", "queue/logical_block_size"] {
            let root = tree();
            fs::remove_file(root.path().join("sys/devices/sdz").join(file)).unwrap();
            let error = facts_for(&root, "8:65520").unwrap_err().to_string();
            assert!(
                error.contains(file) && error.starts_with("read "),
                "{error}"
            );
        }
    }

    #[test]
    fn other_files_are_refused_by_name() {
        for path in ["/dev/null", "/", "/proc/swaps"] {
            let error = block_device(Path::new(path)).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("{path} is not a block device: name one, such as /dev/sdb")
            );
        }
        let null = fs::File::open("/dev/null").unwrap();
        let error = open_block_device(null.as_fd(), Path::new("/dev/sdb"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "/dev/sdb is not a block device: name one, such as /dev/sdb"
        );
        let error = block_device(Path::new("/dev/no such disk"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "stat /dev/no such disk: No such file or directory (2)"
        );
    }
}
