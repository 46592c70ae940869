use std::collections::BTreeMap;
use std::path::Path;

use crate::device::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::kernel_file;

const WRITEBACK: [&str; 8] = [
    "dirty_ratio",
    "dirty_bytes",
    "dirty_background_ratio",
    "dirty_background_bytes",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
    "swappiness",
    "overcommit_memory",
];

const HUGE_PAGES: [&str; 2] = ["enabled", "shmem_enabled"];

const QUEUE: [&str; 4] = [
    "nr_requests",
    "max_sectors_kb",
    "read_ahead_kb",
    "wbt_lat_usec",
];

/// The kernel's settings that affect writes to a target, by their paths without the first slash.
pub(crate) fn for_target(
    root: &Path,
    filesystem: DeviceNumber,
    device: Option<&BlockDevice>,
) -> BTreeMap<String, String> {
    let mut tunables = BTreeMap::new();
    for name in WRITEBACK {
        let path = format!("proc/sys/vm/{name}");
        insert(&mut tunables, kernel_file::text(&root.join(&path)), path);
    }
    for name in HUGE_PAGES {
        let path = format!("sys/kernel/mm/transparent_hugepage/{name}");
        insert(&mut tunables, kernel_file::choice(&root.join(&path)), path);
    }
    if let Some(device) = device {
        let disk = device.disk_name();
        for name in QUEUE {
            let path = format!("sys/block/{disk}/queue/{name}");
            insert(&mut tunables, kernel_file::text(&root.join(&path)), path);
        }
    }
    // Dirty pages are counted per disk, across its partitions, or per mount of a network filesystem.
    let counted = [device.and_then(BlockDevice::disk_number), Some(filesystem)];
    for number in counted.into_iter().flatten() {
        let path = format!("sys/class/bdi/{number}/max_ratio");
        insert(&mut tunables, kernel_file::text(&root.join(&path)), path);
    }
    tunables
}

/// Adds a setting that this kernel has.
fn insert(tunables: &mut BTreeMap<String, String>, value: Option<String>, path: String) {
    if let Some(value) = value {
        tunables.insert(path, value);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn existing_settings_are_found_by_path() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("proc/sys/vm/laptop_mode", "0\n"),
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
            ("sys/class/bdi/0:52/max_ratio", "100\n"),
        ];
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tunables = for_target(
            root.path(),
            DeviceNumber {
                major: 0,
                minor: 52,
            },
            None,
        );
        let expected = [
            ("proc/sys/vm/dirty_ratio", "20"),
            ("sys/class/bdi/0:52/max_ratio", "100"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "madvise"),
        ];
        assert_eq!(
            tunables,
            expected
                .map(|(path, value)| (path.to_owned(), value.to_owned()))
                .into()
        );
    }
}
