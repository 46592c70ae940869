//! Who uses the bytes of a device: directly, through a partition, through a device stacked on it, or through another
//! device with the same bytes.

use std::path::Path;

use crate::device::source_number;
use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::kernel_file::{self, ROOT};
use crate::mountinfo::Mount;
use crate::stack::{Extent, Node, Stack};
use crate::{mount, swap};

/// All uses of a device that this process can see. It does not see those in other mount namespaces, but an exclusive
/// open of the device detects them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceUses {
    /// The kernel's names of the partitions, including those of other devices with the same bytes.
    pub partitions: Vec<String>,
    pub uses: Vec<DeviceUse>,
    /// Devices that have some of the same bytes and are not stacked on this one. Their use is its use.
    pub aliases: Vec<DeviceAlias>,
}

/// One use of a device, possibly through other devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceUse {
    /// The steps from the device to the used one, in order.
    pub edges: Vec<Edge>,
    pub end: UseEnd,
}

/// A step to another device with some of the bytes, which has the kernel's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edge {
    /// The other device is a partition of this one.
    Partition(String),
    /// The other device is a loop device over this one.
    Loop(String),
    /// The other device is of device mapper, a RAID or a cache. Device mapper's own name follows: `dm-0 (vg0-root)`.
    Holder(String),
    /// The other device has some of the same bytes without being stacked on this one.
    SameBytes(String),
}

/// How the device at the end of the steps is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UseEnd {
    /// It is mounted at these mount points.
    Mounted(Vec<String>),
    /// The kernel swaps to it.
    Swap,
    /// The device exists, and so uses the device below it.
    Attached,
}

/// Another device with some of the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceAlias {
    /// The kernel's name.
    pub name: String,
    /// The number has the form of [`crate::BlockDeviceFacts::number`].
    pub number: String,
}

/// Finds the uses of the device with a number, which is [`crate::BlockDeviceFacts::number`].
///
/// # Errors
///
/// It is an error if the device does not exist, or if the kernel lacks a fact that must be known before a write to the
/// device, such as the file behind a loop device.
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
    let mut search = HolderSearch {
        stack: &stack,
        mounts: mounted(&mount::list(root)?),
        swaps: swap::devices(root)?,
        seen: Vec::new(),
        uses: Vec::new(),
    };
    search.visit(target, &bytes, &[])?;
    let stacked_on_target: Vec<DeviceNumber> = search.seen.clone();
    let same_bytes = overlapping(&stack, &bytes);
    for node in &same_bytes {
        search.visit(node, &bytes, &[Edge::SameBytes(node.device.name())])?;
    }
    Ok(DeviceUses {
        partitions: partitions_within(&stack, &bytes, &same_bytes),
        aliases: aliases(target, &stacked_on_target, &same_bytes),
        uses: search.uses,
    })
}

/// All devices that share bytes with the extent. Disks precede their partitions, so that devices stacked on them are
/// found through the disk.
fn overlapping<'s>(stack: &'s Stack, bytes: &Extent) -> Vec<&'s Node> {
    let mut nodes: Vec<&Node> = stack
        .nodes
        .iter()
        .filter(|node| stack.extent(node).overlaps(bytes))
        .collect();
    nodes.sort_by_key(|node| (node.device.is_partition(), node.is_loop));
    nodes
}

/// The names of those partitions whose whole disk is within the extent.
fn partitions_within(stack: &Stack, bytes: &Extent, nodes: &[&Node]) -> Vec<String> {
    let mut names = Vec::new();
    for node in nodes {
        let disk = stack
            .nodes
            .iter()
            .find(|disk| node.device.is_partition_of(&disk.device));
        if disk.is_some_and(|disk| bytes.contains(&stack.extent(disk))) {
            names.push(node.device.name());
        }
    }
    names
}

/// The devices with the target's bytes that are neither parts of its disk nor stacked on it. A claim on a partition
/// blocks a claim on its disk, and the reverse, so a disk whose partition is listed is left out.
fn aliases(target: &Node, stacked: &[DeviceNumber], same_bytes: &[&Node]) -> Vec<DeviceAlias> {
    let others: Vec<&Node> = same_bytes
        .iter()
        .filter(|node| node.device.disk != target.device.disk)
        .filter(|node| !stacked.contains(&node.device.number))
        .copied()
        .collect();
    let mut aliases = Vec::new();
    for Node { device, .. } in &others {
        let has_partition = others
            .iter()
            .any(|other| other.device.is_partition_of(device));
        if !has_partition {
            aliases.push(DeviceAlias {
                name: device.name(),
                number: device.number.to_string(),
            });
        }
    }
    aliases
}

/// The devices that are mounted, with their mount points.
fn mounted(mounts: &[Mount]) -> Vec<(DeviceNumber, String)> {
    mounts
        .iter()
        .filter_map(|mount| Some((mounted_number(mount)?, mount.mount_point.clone())))
        .collect()
}

/// A filesystem on several devices, like btrfs, has a number of its own and names one of the devices.
fn mounted_number(mount: &Mount) -> Option<DeviceNumber> {
    if mount.number.is_anonymous() {
        source_number(&mount.source)
    } else {
        Some(mount.number)
    }
}

/// A search from a device upwards, to all uses of its bytes.
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
        self.add_own_uses(node.device.number, edges);
        self.visit_partitions(node, bytes, edges)?;
        self.visit_loop_devices(node, bytes, edges)?;
        for folder in kernel_file::entries(&node.device.folder.join("holders"))? {
            self.visit_holder(&folder, edges)?;
        }
        Ok(())
    }

    fn add_own_uses(&mut self, device: DeviceNumber, edges: &[Edge]) {
        let points: Vec<String> = self
            .mounts
            .iter()
            .filter(|(number, _)| *number == device)
            .map(|(_, point)| point.clone())
            .collect();
        if !points.is_empty() {
            self.add_use(edges, UseEnd::Mounted(points));
        }
        if self.swaps.contains(&device) {
            self.add_use(edges, UseEnd::Swap);
        }
    }

    fn add_use(&mut self, edges: &[Edge], end: UseEnd) {
        self.uses.push(DeviceUse {
            edges: edges.to_vec(),
            end,
        });
    }

    fn visit_partitions(
        &mut self,
        disk: &Node,
        bytes: &Extent,
        edges: &[Edge],
    ) -> Result<(), ProbeError> {
        let stack = self.stack;
        for node in &stack.nodes {
            if node.device.is_partition_of(&disk.device) && stack.extent(node).overlaps(bytes) {
                let partition = Edge::Partition(node.device.name());
                self.visit(node, bytes, &[edges, &[partition]].concat())?;
            }
        }
        Ok(())
    }

    fn visit_loop_devices(
        &mut self,
        below: &Node,
        bytes: &Extent,
        edges: &[Edge],
    ) -> Result<(), ProbeError> {
        let stack = self.stack;
        let unseen: Vec<&Node> = stack
            .nodes
            .iter()
            .filter(|node| below.is_below(node) && stack.extent(node).overlaps(bytes))
            .filter(|node| !self.seen.contains(&node.device.number))
            .collect();
        for node in unseen {
            let over = Edge::Loop(node.device.name());
            self.visit_stacked(node, bytes, &[edges, &[over]].concat())?;
        }
        Ok(())
    }

    /// A stacked device that nobody uses is itself a use of the device below, except where two loop devices over the
    /// same device only have the same bytes.
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
            self.add_use(edges, UseEnd::Attached);
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
        let mut nodes = self.stack.nodes.iter();
        match nodes.find(|node| node.device.name() == name) {
            Some(node) => self.visit_stacked(node, &self.stack.extent(node), &edges),
            None => {
                self.add_use(&edges, UseEnd::Attached);
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
