use std::fs;
use std::path::Path;

/// Whether the btrfs on the device `name` has more devices. A mount names only one of them, and that one's sector
/// counts miss a part of the filesystem's writes.
pub(crate) fn has_other_devices(root: &Path, name: &str) -> bool {
    let Ok(filesystems) = fs::read_dir(root.join("sys/fs/btrfs")) else {
        return false;
    };
    filesystems.flatten().any(|filesystem| {
        let devices = filesystem.path().join("devices");
        devices.join(name).exists()
            && fs::read_dir(devices).is_ok_and(|entries| entries.count() > 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_others_only_if_its_filesystem_lists_them() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "single/devices/sda1",
            "pair/devices/sdb",
            "pair/devices/sdc",
            "features",
        ] {
            fs::create_dir_all(root.path().join("sys/fs/btrfs").join(path)).unwrap();
        }
        assert!(!has_other_devices(root.path(), "sda1"));
        assert!(has_other_devices(root.path(), "sdb"));
        assert!(!has_other_devices(root.path(), "vda"));
    }
}
