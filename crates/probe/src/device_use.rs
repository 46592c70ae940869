//! A device's bytes are used directly, through a partition, through a device stacked on it, or through another
//! device with the same bytes.

use std::path::Path;

use crate::device::source_number;
use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::kernel_file::{self, ROOT};
use crate::mountinfo::Mount;
use crate::stack::{Extent, Node, Stack};
use crate::{mount, swap};

/// Uses in other mount namespaces are missing, but an exclusive open detects them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceUses {
    /// The kernel's names, including partitions of other devices with the same bytes.
    pub partitions: Vec<String>,
    pub uses: Vec<DeviceUse>,
    /// Devices with some of the same bytes, not stacked on this one: their use is its use.
    pub aliases: Vec<DeviceAlias>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceUse {
    /// From the device to the used one, in order.
    pub edges: Vec<Edge>,
    pub end: UseEnd,
}

/// A step to another device with some of the bytes, by the kernel's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edge {
    Partition(String),
    Loop(String),
    /// Device mapper, RAID or a cache, with device mapper's own name: `dm-0 (vg0-root)`.
    Holder(String),
    SameBytes(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UseEnd {
    Mounted(Vec<String>),
    Swap,
    /// The device exists, and so uses the device below it.
    Attached,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceAlias {
    pub name: String,
    /// As in [`crate::BlockDeviceFacts::number`].
    pub number: String,
}

/// `number` is [`crate::BlockDeviceFacts::number`].
///
/// # Errors
///
/// The device does not exist, or the kernel lacks a fact that must be known before a write to the device, such
/// as the file behind a loop device.
pub fn device_uses(number: &str) -> Result<DeviceUses, ProbeError> {
    uses_in(Path::new(ROOT), number)
}

fn uses_in(root: &Path, number: &str) -> Result<DeviceUses, ProbeError> {
    let stack = Stack::read(root)?;
    let target = number.parse().ok().and_then(|number| stack.node(number));
    let target = target.ok_or_else(|| ProbeError::NoSuchDevice {
        path: number.into(),
        number: number.into(),
    })?;
    let bytes = stack.extent(target);
    let overlap = |node: &&Node| stack.extent(node).overlaps(&bytes);
    let mut search = HolderSearch {
        stack: &stack,
        mounts: mounted(&mount::list(root)?),
        swaps: swap::devices(root)?,
        seen: Vec::new(),
        uses: Vec::new(),
    };
    search.visit(target, &bytes, &[])?;
    let above: Vec<DeviceNumber> = search.seen.clone();
    // Disks precede their partitions, so devices stacked on them are found through the disk.
    let mut same: Vec<&Node> = stack.nodes.iter().filter(overlap).collect();
    same.sort_by_key(|node| (node.device.is_partition(), node.is_loop));
    for node in &same {
        search.visit(node, &bytes, &[Edge::SameBytes(node.device.name())])?;
    }
    let is_inside = |node: &&&Node| {
        let disk = stack
            .nodes
            .iter()
            .find(|disk| node.device.is_partition_of(&disk.device));
        disk.is_some_and(|disk| bytes.contains(&stack.extent(disk)))
    };
    let is_other = |node: &&&Node| {
        node.device.disk != target.device.disk && !above.contains(&node.device.number)
    };
    // A claim on a partition blocks a claim on its disk, and the reverse.
    let others: Vec<&Node> = same.iter().filter(is_other).copied().collect();
    let has_partition = |disk: &Node| {
        others
            .iter()
            .any(|node| node.device.is_partition_of(&disk.device))
    };
    let alias = |Node { device, .. }: &Node| DeviceAlias {
        name: device.name(),
        number: device.number.to_string(),
    };
    Ok(DeviceUses {
        partitions: same
            .iter()
            .filter(is_inside)
            .map(|node| node.device.name())
            .collect(),
        aliases: others
            .iter()
            .filter(|node| !has_partition(node))
            .map(|node| alias(node))
            .collect(),
        uses: search.uses,
    })
}

/// A filesystem on several devices, like btrfs, has its own number and names one of them.
fn mounted(mounts: &[Mount]) -> Vec<(DeviceNumber, String)> {
    let number = |mount: &Mount| {
        if mount.number.is_anonymous() {
            source_number(&mount.source)
        } else {
            Some(mount.number)
        }
    };
    mounts
        .iter()
        .filter_map(|mount| Some((number(mount)?, mount.mount_point.clone())))
        .collect()
}

/// From a device upwards, to all uses of its bytes.
struct HolderSearch<'s> {
    stack: &'s Stack,
    mounts: Vec<(DeviceNumber, String)>,
    swaps: Vec<DeviceNumber>,
    seen: Vec<DeviceNumber>,
    uses: Vec<DeviceUse>,
}

impl HolderSearch<'_> {
    fn visit(&mut self, node: &Node, bytes: &Extent, edges: &[Edge]) -> Result<(), ProbeError> {
        if self.seen.contains(&node.device.number) {
            return Ok(());
        }
        self.seen.push(node.device.number);
        let mounts = self
            .mounts
            .iter()
            .filter(|(number, _)| *number == node.device.number);
        let points: Vec<String> = mounts.map(|(_, point)| point.clone()).collect();
        let mounted = (!points.is_empty()).then_some(UseEnd::Mounted(points));
        let swap = self
            .swaps
            .contains(&node.device.number)
            .then_some(UseEnd::Swap);
        let ends = mounted.into_iter().chain(swap);
        self.uses.extend(ends.map(|end| DeviceUse {
            edges: edges.to_vec(),
            end,
        }));
        let stack = self.stack;
        let above = stack
            .nodes
            .iter()
            .filter(|other| stack.extent(other).overlaps(bytes));
        for partition in above
            .clone()
            .filter(|other| other.device.is_partition_of(&node.device))
        {
            self.visit(
                partition,
                bytes,
                &[edges, &[Edge::Partition(partition.device.name())]].concat(),
            )?;
        }
        let unseen =
            |other: &&Node| node.is_below(other) && !self.seen.contains(&other.device.number);
        for over in above.filter(unseen).collect::<Vec<_>>() {
            self.visit_stacked(
                over,
                bytes,
                &[edges, &[Edge::Loop(over.device.name())]].concat(),
            )?;
        }
        for folder in kernel_file::entries(&node.device.folder.join("holders"))? {
            self.visit_holder(&folder, edges)?;
        }
        Ok(())
    }

    /// Two loop devices over the same device only have the same bytes.
    fn visit_stacked(
        &mut self,
        node: &Node,
        bytes: &Extent,
        edges: &[Edge],
    ) -> Result<(), ProbeError> {
        let before = self.uses.len();
        self.visit(node, bytes, edges)?;
        let is_alias = matches!(edges, [Edge::SameBytes(_), .., Edge::Loop(_)]);
        if self.uses.len() == before && !is_alias {
            self.uses.push(DeviceUse {
                edges: edges.to_vec(),
                end: UseEnd::Attached,
            });
        }
        Ok(())
    }

    fn visit_holder(&mut self, folder: &Path, edges: &[Edge]) -> Result<(), ProbeError> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let label = match kernel_file::text(&folder.join("dm/name")) {
            Some(own) => format!("{name} ({own})"),
            None => name.to_string(),
        };
        let edges = [edges, &[Edge::Holder(label)]].concat();
        match self
            .stack
            .nodes
            .iter()
            .find(|node| node.device.name() == name)
        {
            Some(node) => self.visit_stacked(node, &self.stack.extent(node), &edges),
            None => {
                self.uses.push(DeviceUse {
                    edges,
                    end: UseEnd::Attached,
                });
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// No device on this machine has these numbers.
    fn tree(mountinfo: &str) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        let devices = [
            ("8:65520", "sdz", None),
            ("8:65521", "sdz/sdz1", Some("8")),
            ("250:65520", "dm-9", None),
            ("250:65521", "dm-9/dm-9p1", Some("0")),
        ];
        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        for (number, path, start) in devices {
            let folder = root.path().join("sys/devices").join(path);
            fs::create_dir_all(folder.join("holders")).unwrap();
            fs::write(folder.join("size"), "4000\n").unwrap();
            if let Some(start) = start {
                fs::write(folder.join("partition"), "1\n").unwrap();
                fs::write(folder.join("start"), format!("{start}\n")).unwrap();
            }
            symlink(
                format!("../../devices/{path}"),
                root.path().join("sys/dev/block").join(number),
            )
            .unwrap();
        }
        fs::create_dir_all(root.path().join("proc/self")).unwrap();
        fs::write(root.path().join("proc/self/mountinfo"), mountinfo).unwrap();
        root
    }

    fn hold(root: &TempDir, device: &str, holder: &str) {
        let folder = root
            .path()
            .join("sys/devices")
            .join(device)
            .join("holders")
            .join(holder);
        fs::create_dir_all(folder.join("dm")).unwrap();
        fs::write(folder.join("dm/name"), "vg0-root\n").unwrap();
    }

    fn used(edge: Option<Edge>, end: UseEnd) -> DeviceUse {
        DeviceUse {
            edges: edge.into_iter().collect(),
            end,
        }
    }

    fn mounted_at(point: &str) -> UseEnd {
        UseEnd::Mounted(vec![point.to_owned()])
    }

    #[test]
    fn an_unused_disk_has_partitions_and_no_uses() {
        let uses = uses_in(
            tree("27 1 254:0 / / rw - ext4 /dev/vda rw\n").path(),
            "8:65520",
        )
        .unwrap();
        assert_eq!(
            uses,
            DeviceUses {
                partitions: vec!["sdz1".to_owned()],
                ..DeviceUses::default()
            }
        );
    }

    #[test]
    fn a_use_of_a_partition_is_a_use_of_its_disk() {
        let root = tree(
            "27 1 8:65521 / /mnt rw - ext4 /dev/root rw\n28 1 0:50 / /tmp rw - tmpfs tmpfs rw\n",
        );
        hold(&root, "sdz/sdz1", "dm-0");
        let partition = Edge::Partition("sdz1".to_owned());
        let holder = Edge::Holder("dm-0 (vg0-root)".to_owned());
        let held = DeviceUse {
            edges: vec![partition.clone(), holder.clone()],
            end: UseEnd::Attached,
        };
        let uses = uses_in(root.path(), "8:65520").unwrap().uses;
        assert_eq!(uses, [used(Some(partition), mounted_at("/mnt")), held]);
        let held = used(Some(holder), UseEnd::Attached);
        assert_eq!(
            uses_in(root.path(), "8:65521").unwrap().uses,
            [used(None, mounted_at("/mnt")), held]
        );
    }

    #[test]
    fn a_use_of_a_disk_is_a_use_of_its_partition() {
        let root = tree("27 1 8:65520 / /mnt rw - xfs /dev/sdz rw\n");
        assert_eq!(
            uses_in(root.path(), "8:65520").unwrap().uses,
            [used(None, mounted_at("/mnt"))]
        );
        let disk = Edge::SameBytes("sdz".to_owned());
        let uses = uses_in(root.path(), "8:65521").unwrap();
        assert_eq!(uses.uses, [used(Some(disk), mounted_at("/mnt"))]);
        assert!(
            uses.partitions.is_empty() && uses.aliases.is_empty(),
            "{uses:?}"
        );
    }

    #[test]
    fn the_device_on_a_holder_is_named_first() {
        let root = tree("27 1 250:65521 / /mnt rw - xfs /dev/x rw\n");
        hold(&root, "sdz", "dm-9");
        let edges = vec![
            Edge::Holder("dm-9 (vg0-root)".to_owned()),
            Edge::Partition("dm-9p1".to_owned()),
        ];
        assert_eq!(
            uses_in(root.path(), "8:65520").unwrap().uses,
            [DeviceUse {
                edges,
                end: mounted_at("/mnt")
            }]
        );
        assert!(
            uses_in(root.path(), "250:65520")
                .unwrap()
                .aliases
                .is_empty(),
            "it has bytes of its own"
        );
    }

    #[test]
    fn a_missing_required_fact_is_an_error() {
        for file in [
            "proc/self/mountinfo",
            "sys/devices/sdz/size",
            "sys/devices/sdz/sdz1/start",
        ] {
            let root = tree("");
            fs::remove_file(root.path().join(file)).unwrap();
            let error = uses_in(root.path(), "8:65520").unwrap_err().to_string();
            assert!(
                error.contains(file) && error.starts_with("read "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_loop_device_with_an_unknown_file_is_an_error() {
        let root = tree("");
        let folder = root.path().join("sys/devices/loop9");
        fs::create_dir_all(folder.join("loop")).unwrap();
        fs::write(folder.join("loop/backing_file"), "/image\n").unwrap();
        fs::write(folder.join("size"), "8\n").unwrap();
        symlink(
            "../../devices/loop9",
            root.path().join("sys/dev/block/7:65520"),
        )
        .unwrap();
        let error = uses_in(root.path(), "8:65520").unwrap_err().to_string();
        assert!(
            error.starts_with("the file behind loop9 is unknown (open "),
            "{error}"
        );
        assert!(
            error.ends_with("No such file or directory (2)): be root, or detach loop9"),
            "{error}"
        );
    }
}
