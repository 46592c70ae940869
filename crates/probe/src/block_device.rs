//! Whether a block device is in use, and by what.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::ProbeError;
use crate::ROOT;
use crate::device::{BlockDevice, source_number};
use crate::mountinfo::Mount;
use crate::target::Target;
use crate::{kernel_file, mount, swap};

/// What the kernel tells about a block device and who uses it. What only other processes or other mount
/// namespaces know is not in it: an exclusive open shows that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDeviceFacts {
    /// The node, without symbolic links on the way.
    pub path: PathBuf,
    /// The kernel's name: `sda`, `loop0`.
    pub name: String,
    /// Major and minor number, `7:0`: two paths with the same number are the same device.
    pub number: String,
    /// Its size.
    pub size_bytes: u64,
    /// Size of an addressable sector.
    pub logical_sector_bytes: u64,
    /// What the maker calls it, or what a virtual device stands on.
    pub model: Option<String>,
    /// What tells it from others of its model.
    pub serial: Option<String>,
    /// Whether the kernel refuses to write to it.
    pub read_only: bool,
    /// The kernel's names of its partitions.
    pub partitions: Vec<String>,
    /// Where it, or a partition of it, is mounted.
    pub mounts: Vec<Mounted>,
    /// The kernel's names of those of it and its partitions that are used as swap.
    pub swaps: Vec<String>,
    /// What stands on it, or on a partition of it.
    pub holders: Vec<Holder>,
}

/// A mount of a device or of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    /// The kernel's name of the device or partition.
    pub device: String,
    /// Where.
    pub mount_point: String,
}

/// A device that stands on another: device mapper, RAID, a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The kernel's name of the device or partition below.
    pub device: String,
    /// The kernel's name of what stands on it, with device mapper's own after it: `dm-0 (vg0-root)`.
    pub name: String,
}

/// Facts about the block device that a path names, directly or through symbolic links.
///
/// # Errors
///
/// When the path names none, or the kernel does not tell what must be known before a device is written to.
pub fn block_device(path: &Path) -> Result<BlockDeviceFacts, ProbeError> {
    let root = Path::new(ROOT);
    let node = Target::look_at(path)?.node;
    let number = node.ok_or_else(|| ProbeError::NotABlockDevice { path: path.to_owned() })?;
    let canonical = fs::canonicalize(path).map_err(|error| ProbeError::call("realpath", path, error))?;
    let device = BlockDevice::of_node(root, path, number)?;
    let told = direct_io::BlockDevice::at(path).map_err(|error| ProbeError::call("look at", path, error))?;
    facts(root, canonical, &device, told.serial)
}

fn facts(
    root: &Path,
    path: PathBuf,
    device: &BlockDevice,
    serial: Option<String>,
) -> Result<BlockDeviceFacts, ProbeError> {
    let partitions = device.partitions(root)?;
    let all: Vec<&BlockDevice> = [device].into_iter().chain(&partitions).collect();
    let mounts = mount::list(root)?;
    let swap_numbers = swap::devices(root)?;
    let mut holders = Vec::new();
    for device in &all {
        holders.extend(device.holders()?);
    }
    Ok(BlockDeviceFacts {
        path,
        name: device.label(),
        number: device.number.to_string(),
        size_bytes: device.size_bytes()?,
        logical_sector_bytes: device.logical_sector_bytes()?,
        model: device.model(),
        serial,
        read_only: kernel_file::needed_number(&device.folder.join("ro"))? != 0,
        mounts: all.iter().flat_map(|device| device.mounts(&mounts)).collect(),
        swaps: all.iter().filter(|device| swap_numbers.contains(&device.number)).map(|it| it.label()).collect(),
        holders,
        partitions: partitions.iter().map(BlockDevice::label).collect(),
    })
}

impl BlockDevice {
    /// A partition is a folder in its disk's, with its place among the others in the file `partition`.
    fn partitions(&self, root: &Path) -> Result<Vec<Self>, ProbeError> {
        let mut partitions = Vec::new();
        for folder in entries(&self.folder)?.into_iter().filter(|folder| folder.join("partition").exists()) {
            let file = folder.join("dev");
            let number = kernel_file::needed_text(&file)?.parse();
            let number = number.map_err(|_| ProbeError::Absent { path: file.clone(), line: "number" })?;
            partitions.push(Self::of_node(root, &folder, number)?);
        }
        Ok(partitions)
    }

    fn mounts(&self, mounts: &[Mount]) -> Vec<Mounted> {
        // A filesystem on several devices, like btrfs, has a number of its own and names one of them.
        let is_source =
            |mount: &Mount| mount.number.is_anonymous() && source_number(&mount.source) == Some(self.number);
        let is_mine = |mount: &&Mount| mount.number == self.number || is_source(mount);
        let mounted = |mount: &Mount| Mounted { device: self.label(), mount_point: mount.mount_point.clone() };
        mounts.iter().filter(is_mine).map(mounted).collect()
    }

    fn holders(&self) -> Result<Vec<Holder>, ProbeError> {
        let name = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match kernel_file::text(&path.join("dm/name")) {
                Some(own) => format!("{name} ({own})"),
                None => name.into_owned(),
            }
        };
        let holders = entries(&self.folder.join("holders"))?;
        Ok(holders.iter().map(|path| Holder { device: self.label(), name: name(path) }).collect())
    }
}

/// What is in a folder, in order; nothing where there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ProbeError> {
    let failed = |error| ProbeError::call("read", folder, error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// A root with the disk sdz, which has partition sdz1, and `mountinfo` as the list of mounts. The numbers
    /// are of no device that this machine has.
    fn tree(mountinfo: &str) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("sys/devices/sdz");
        for folder in ["holders", "queue", "sdz1/holders"] {
            fs::create_dir_all(disk.join(folder)).unwrap();
        }
        let files = [
            ("size", "4096"),
            ("ro", "0"),
            ("queue/logical_block_size", "512"),
            ("sdz1/partition", "1"),
            ("sdz1/dev", "8:65521"),
        ];
        for (path, content) in files {
            fs::write(disk.join(path), format!("{content}\n")).unwrap();
        }
        let links = root.path().join("sys/dev/block");
        fs::create_dir_all(&links).unwrap();
        symlink("../../devices/sdz", links.join("8:65520")).unwrap();
        symlink("../../devices/sdz/sdz1", links.join("8:65521")).unwrap();
        fs::create_dir_all(root.path().join("proc/self")).unwrap();
        fs::write(root.path().join("proc/self/mountinfo"), mountinfo).unwrap();
        root
    }

    fn facts_of(root: &TempDir, number: &str) -> Result<BlockDeviceFacts, ProbeError> {
        let device = BlockDevice::find(root.path(), number.parse().unwrap()).unwrap();
        facts(root.path(), "/dev/sdz".into(), &device, None)
    }

    #[test]
    fn a_disk_that_nothing_uses_has_its_size_and_its_partitions() {
        let facts = facts_of(&tree("27 1 254:0 / / rw - ext4 /dev/vda rw\n"), "8:65520").unwrap();
        let expected = BlockDeviceFacts {
            path: "/dev/sdz".into(),
            name: "sdz".to_owned(),
            number: "8:65520".to_owned(),
            size_bytes: 2 << 20,
            logical_sector_bytes: 512,
            model: None,
            serial: None,
            read_only: false,
            partitions: vec!["sdz1".to_owned()],
            mounts: Vec::new(),
            swaps: Vec::new(),
            holders: Vec::new(),
        };
        assert_eq!(facts, expected);
    }

    #[test]
    fn what_uses_a_partition_uses_its_disk() {
        let root = tree("27 1 8:65521 / /mnt rw - ext4 /dev/root rw\n28 1 0:50 / /tmp rw - tmpfs tmpfs rw\n");
        let holder = root.path().join("sys/devices/sdz/sdz1/holders/dm-0");
        fs::create_dir_all(holder.join("dm")).unwrap();
        fs::write(holder.join("dm/name"), "vg0-root\n").unwrap();
        let facts = facts_of(&root, "8:65520").unwrap();
        let mounted = Mounted { device: "sdz1".to_owned(), mount_point: "/mnt".to_owned() };
        let held = Holder { device: "sdz1".to_owned(), name: "dm-0 (vg0-root)".to_owned() };
        assert_eq!((facts.mounts, facts.holders), (vec![mounted], vec![held]));
    }

    #[test]
    fn what_uses_a_disk_as_a_whole_is_found_too() {
        let root = tree("27 1 8:65520 / /mnt rw - xfs /dev/sdz rw\n");
        fs::create_dir(root.path().join("sys/devices/sdz/holders/md0")).unwrap();
        let facts = facts_of(&root, "8:65520").unwrap();
        assert_eq!((facts.mounts[0].device.as_str(), facts.holders[0].name.as_str()), ("sdz", "md0"));
    }

    #[test]
    fn a_partition_has_no_partitions() {
        let root = tree("");
        for file in ["size", "ro"] {
            fs::write(root.path().join("sys/devices/sdz/sdz1").join(file), "1\n").unwrap();
        }
        let facts = facts_of(&root, "8:65521").unwrap();
        assert_eq!((facts.name.as_str(), facts.partitions.len(), facts.read_only), ("sdz1", 0, true));
        assert_eq!(facts.logical_sector_bytes, 512, "its disk's");
    }

    #[test]
    fn what_must_be_known_and_is_not_told_is_an_error() {
        for file in [
            "proc/self/mountinfo",
            "sys/devices/sdz/size",
            "sys/devices/sdz/ro",
            "sys/devices/sdz/queue/logical_block_size",
            "sys/devices/sdz/sdz1/dev",
        ] {
            let root = tree("");
            fs::remove_file(root.path().join(file)).unwrap();
            let error = facts_of(&root, "8:65520").unwrap_err().to_string();
            assert!(error.contains(file) && error.starts_with("read "), "{error}");
        }
    }

    #[test]
    fn what_is_no_block_device_is_refused_by_its_name() {
        for path in ["/dev/null", "/", "/proc/swaps"] {
            let error = block_device(Path::new(path)).unwrap_err().to_string();
            assert_eq!(error, format!("{path} is no block device: name one, such as /dev/sdb"));
        }
        let error = block_device(Path::new("/dev/no such disk")).unwrap_err().to_string();
        assert_eq!(error, "stat /dev/no such disk: No such file or directory (2)");
    }
}
