use std::fs;
use std::path::{Path, PathBuf};

use writebench_model::Device;

use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::mountinfo::Mount;
use crate::target::{Target, block_device_at};
use crate::{btrfs, kernel_file};

/// Sysfs counts in this unit, whatever the sector size of a device is.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A disk or a partition, as found in sysfs.
#[derive(Debug, Clone)]
pub(crate) struct BlockDevice {
    /// A partition's own number, under which the kernel counts its sectors apart from the disk's.
    pub(crate) number: DeviceNumber,
    pub(crate) folder: PathBuf,
    /// The folder of the whole disk, which has the queue.
    pub(crate) disk: PathBuf,
}

/// The device that counts all writes of the target, or `None` if no single device does.
pub(crate) fn below(
    root: &Path,
    target: &Target<'_>,
    mount: Option<&Mount>,
) -> Option<BlockDevice> {
    match target.node {
        Some(number) => BlockDevice::find(root, number),
        None => of_filesystem(root, target.filesystem, mount),
    }
}

/// The device that counts all writes of the filesystem with this number.
pub(crate) fn of_filesystem(
    root: &Path,
    number: DeviceNumber,
    mount: Option<&Mount>,
) -> Option<BlockDevice> {
    if !number.is_anonymous() {
        return BlockDevice::find(root, number);
    }
    let mount = mount?;
    let device = BlockDevice::find(root, source_number(&mount.source)?)?;
    let shared = mount.kind == "btrfs" && btrfs::has_other_devices(root, &device.name());
    (!shared).then_some(device)
}

/// The number of the device that a mount names as its source. A source that is not a path, like `tank/data` of ZFS,
/// must not be looked up in the current directory.
pub(crate) fn source_number(source: &str) -> Option<DeviceNumber> {
    let path = Path::new(source);
    if !path.is_absolute() {
        return None;
    }
    block_device_at(path)
}

impl BlockDevice {
    pub(crate) fn find(root: &Path, number: DeviceNumber) -> Option<Self> {
        let link = root.join("sys/dev/block").join(number.to_string());
        let folder = fs::canonicalize(link).ok()?;
        let is_partition = folder.join("partition").exists();
        let disk = if is_partition {
            folder.parent()?.to_owned()
        } else {
            folder.clone()
        };
        Some(Self {
            number,
            folder,
            disk,
        })
    }

    pub(crate) fn from_node(
        root: &Path,
        node: &Path,
        number: DeviceNumber,
    ) -> Result<Self, ProbeError> {
        Self::find(root, number).ok_or_else(|| ProbeError::NoSuchDevice {
            path: node.to_owned(),
            number: number.to_string(),
        })
    }

    pub(crate) fn name(&self) -> String {
        kernel_file::name(&self.folder)
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.folder != self.disk
    }

    pub(crate) fn is_partition_of(&self, disk: &Self) -> bool {
        self.is_partition() && self.disk == disk.folder
    }

    pub(crate) fn size_bytes(&self) -> Result<u64, ProbeError> {
        kernel_file::needed_number(&self.folder.join("size"))
            .map(|sectors| sectors.saturating_mul(SECTOR_BYTES))
    }

    pub(crate) fn logical_sector_bytes(&self) -> Result<u64, ProbeError> {
        kernel_file::needed_number(&self.disk.join("queue/logical_block_size"))
    }

    /// The name of the whole disk in `/sys/block`.
    pub(crate) fn disk_name(&self) -> String {
        kernel_file::name(&self.disk)
    }

    pub(crate) fn whole_disk(&self, root: &Path) -> Option<Self> {
        Self::find(root, self.disk_number()?)
    }

    /// The number of the whole disk, under which `/sys/class/bdi` has the limits of writeback.
    pub(crate) fn disk_number(&self) -> Option<DeviceNumber> {
        kernel_file::value(&self.disk.join("dev"))
    }

    pub(crate) fn facts(&self) -> Device {
        let queue = self.disk.join("queue");
        Device {
            name: self.name(),
            number: self.number.to_string(),
            model: self.model(),
            size_bytes: self.size_bytes().ok(),
            rotational: kernel_file::value::<u8>(&queue.join("rotational")).map(|flag| flag != 0),
            write_cache: kernel_file::text(&queue.join("write_cache")),
            own_write_cache: self.own_write_cache(),
            scheduler: kernel_file::choice(&queue.join("scheduler")),
            logical_sector_bytes: self.logical_sector_bytes().ok(),
            physical_sector_bytes: kernel_file::value(&queue.join("physical_block_size")),
        }
    }

    /// The write cache as virtio_blk and sd read it from the device. `queue/write_cache` can be overwritten, and then
    /// the kernel sends no flush to a device with a cache (Documentation/ABI/stable/sysfs-block).
    fn own_write_cache(&self) -> Option<String> {
        self.disk_text("cache_type")
            .or_else(|| self.scsi_cache_type())
    }

    fn scsi_cache_type(&self) -> Option<String> {
        let disks = kernel_file::entries(&self.disk.join("device/scsi_disk")).ok()?;
        kernel_file::text(&disks.first()?.join("cache_type"))
    }

    /// The model of the hardware, or what a virtual device is made of. Memory cards have a name instead of a model.
    pub(crate) fn model(&self) -> Option<String> {
        self.disk_text("device/model")
            .or_else(|| self.disk_text("device/name"))
            .or_else(|| self.virtual_device())
            .or_else(|| self.vendor())
    }

    fn virtual_device(&self) -> Option<String> {
        if let Some(file) = self.disk_text("loop/backing_file") {
            return Some(format!("loop over {file}"));
        }
        if let Some(name) = self.disk_text("dm/name") {
            return Some(format!("device mapper {name}"));
        }
        let level = self.disk_text("md/level")?;
        Some(format!("md {level}"))
    }

    /// A virtio disk has no model, and its vendor is a number: the driver's name is more useful.
    fn vendor(&self) -> Option<String> {
        let vendor = self.disk_text("device/vendor")?;
        match fs::canonicalize(self.disk.join("device/driver")) {
            Ok(driver) => Some(format!("{}, vendor {vendor}", kernel_file::name(&driver))),
            Err(_) => Some(vendor),
        }
    }

    fn disk_text(&self, path: &str) -> Option<String> {
        kernel_file::text(&self.disk.join(path))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn tree(number: &str, device: &str, files: &[(&str, &str)]) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        let links = root.path().join("sys/dev/block");
        fs::create_dir_all(&links).unwrap();
        fs::create_dir_all(root.path().join("sys/devices").join(device)).unwrap();
        symlink(format!("../../devices/{device}"), links.join(number)).unwrap();
        for (path, content) in files {
            let path = root.path().join("sys/devices").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{content}\n")).unwrap();
        }
        root
    }

    fn facts(root: &TempDir, number: &str) -> Device {
        BlockDevice::find(root.path(), number.parse().unwrap())
            .unwrap()
            .facts()
    }

    #[test]
    fn a_partition_has_its_own_size_and_number_and_its_disks_queue_and_model() {
        let root = tree(
            "8:1",
            "sda/sda1",
            &[
                ("sda/sda1/partition", "1"),
                ("sda/sda1/size", "2048"),
                ("sda/size", "4096"),
                ("sda/dev", "8:0"),
                ("sda/device/model", "Samsung SSD 870 "),
                ("sda/device/scsi_disk/0:0:0:0/cache_type", "write through"),
                ("sda/queue/rotational", "0"),
                ("sda/queue/write_cache", "write back"),
                ("sda/queue/scheduler", "[mq-deadline] none"),
                ("sda/queue/logical_block_size", "512"),
                ("sda/queue/physical_block_size", "4096"),
            ],
        );
        let expected = Device {
            name: "sda1".to_owned(),
            number: "8:1".to_owned(),
            model: Some("Samsung SSD 870".to_owned()),
            size_bytes: Some(1 << 20),
            rotational: Some(false),
            write_cache: Some("write back".to_owned()),
            own_write_cache: Some("write through".to_owned()),
            scheduler: Some("mq-deadline".to_owned()),
            logical_sector_bytes: Some(512),
            physical_sector_bytes: Some(4096),
        };
        assert_eq!(facts(&root, "8:1"), expected);
        let device = BlockDevice::find(root.path(), "8:1".parse().unwrap()).unwrap();
        assert_eq!(device.disk_name(), "sda");
        assert_eq!(
            device.disk_number(),
            Some(DeviceNumber { major: 8, minor: 0 })
        );
    }

    #[test]
    fn a_virtual_device_is_named_by_its_basis() {
        let models = [
            (
                ("loop0/loop/backing_file", "/var/disk image"),
                "loop over /var/disk image",
            ),
            (("loop0/dm/name", "vg0-root"), "device mapper vg0-root"),
            (("loop0/md/level", "raid1"), "md raid1"),
            (("loop0/device/name", "SD32G"), "SD32G"),
            (("loop0/device/vendor", "0x1af4"), "0x1af4"),
        ];
        for (file, model) in models {
            let root = tree("7:0", "loop0", &[file]);
            assert_eq!(facts(&root, "7:0").model.as_deref(), Some(model));
        }
    }

    #[test]
    fn a_vendors_number_comes_with_the_driver() {
        let root = tree(
            "254:0",
            "vda",
            &[("vda/device/vendor", "0x1af4"), ("virtio_blk/module", "")],
        );
        symlink(
            "../../virtio_blk",
            root.path().join("sys/devices/vda/device/driver"),
        )
        .unwrap();
        assert_eq!(
            facts(&root, "254:0").model.as_deref(),
            Some("virtio_blk, vendor 0x1af4")
        );
    }

    #[test]
    fn facts_missing_in_sysfs_are_left_out() {
        let root = tree(
            "7:0",
            "loop0",
            &[("loop0/size", "many"), ("loop0/queue/rotational", "")],
        );
        let facts = facts(&root, "7:0");
        assert_eq!(
            (facts.size_bytes, facts.rotational, facts.model),
            (None, None, None)
        );
    }

    #[test]
    fn without_sysfs_there_is_no_device() {
        let root = tempfile::tempdir().unwrap();
        assert!(BlockDevice::find(root.path(), DeviceNumber { major: 8, minor: 0 }).is_none());
    }

    #[test]
    fn a_source_other_than_a_device_node_has_no_number() {
        for source in ["tmpfs", "tank/data", "server:/export", "/", "/dev/null", ""] {
            assert_eq!(source_number(source), None, "{source}");
        }
    }
}
