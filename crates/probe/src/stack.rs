//! The block devices of this machine, and where each device's bytes are on the device or file below it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use direct_io::LoopBacking;
use rustix::fs::{Mode, OFlags};

use crate::device::{BlockDevice, SECTOR_BYTES};
use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::kernel_file;

/// What holds the bytes of a device. A device mapper or RAID device holds its own, because sysfs does not show where
/// they are below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backing {
    Device(DeviceNumber),
    File { filesystem: u64, inode: u64 },
}

/// A range of bytes on a device or in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    backing: Backing,
    start: u64,
    end: u64,
}

impl Extent {
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.backing == other.backing && self.start < other.end && other.start < self.end
    }

    /// The same bytes, seen one level lower, where this extent's device begins at `start`.
    fn on(self, backing: Backing, start: u64) -> Self {
        Self {
            backing,
            start: self.start.saturating_add(start),
            end: self.end.saturating_add(start),
        }
    }

    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.backing == other.backing && self.start <= other.start && other.end <= self.end
    }
}

/// A block device and the place of its bytes.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) device: BlockDevice,
    pub(crate) is_loop: bool,
    /// The place of its bytes one level below. A device of the lowest level has its own.
    below: Extent,
}

impl Node {
    /// Whether `other` is a loop device directly over this one.
    pub(crate) fn is_below(&self, other: &Self) -> bool {
        other.is_loop
            && !other.device.is_partition()
            && other.below.backing == Backing::Device(self.device.number)
    }
}

#[derive(Debug)]
pub(crate) struct Stack {
    pub(crate) nodes: Vec<Node>,
}

impl Stack {
    /// Finds all block devices. It is an error if the file behind a loop device is unknown.
    pub(crate) fn read(root: &Path) -> Result<Self, ProbeError> {
        let links = kernel_file::entries(&root.join("sys/dev/block"))?;
        let numbers = links
            .iter()
            .filter_map(|link| link.file_name()?.to_str()?.parse().ok());
        let devices: Vec<BlockDevice> = numbers
            .filter_map(|number| BlockDevice::find(root, number))
            .collect();
        let mut nodes = Vec::new();
        for device in &devices {
            match extent_below(root, device, &devices) {
                Ok(below) => nodes.push(Node {
                    device: device.clone(),
                    is_loop: is_loop(device),
                    below,
                }),
                // The device was removed during the call.
                Err(_) if !device.folder.exists() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { nodes })
    }

    pub(crate) fn node(&self, number: DeviceNumber) -> Option<&Node> {
        self.nodes.iter().find(|node| node.device.number == number)
    }

    /// The place of a device's bytes on the lowest device.
    pub(crate) fn extent(&self, node: &Node) -> Extent {
        let mut extent = node.below;
        // No valid chain is longer, so wrong data cannot cause an endless loop.
        for _ in &self.nodes {
            let Backing::Device(number) = extent.backing else {
                break;
            };
            let Some(below) = self.node(number).map(|node| node.below) else {
                break;
            };
            if below.backing == extent.backing {
                break;
            }
            extent = extent.on(below.backing, below.start);
        }
        extent
    }
}

/// Whether it is a loop device or a partition of one.
fn is_loop(device: &BlockDevice) -> bool {
    device.disk.join("loop/backing_file").exists()
}

/// The place of a device's bytes one level below.
fn extent_below(
    root: &Path,
    device: &BlockDevice,
    all: &[BlockDevice],
) -> Result<Extent, ProbeError> {
    let own = Extent {
        backing: Backing::Device(device.number),
        start: 0,
        end: device.size_bytes()?,
    };
    if device.is_partition() {
        let sectors = kernel_file::needed_number(&device.folder.join("start"))?;
        let start = sectors.saturating_mul(SECTOR_BYTES);
        let disk = all.iter().find(|other| other.folder == device.disk);
        return Ok(disk.map_or(own, |disk| own.on(Backing::Device(disk.number), start)));
    }
    if is_loop(device) {
        let file = loop_backing(root, device)?;
        return Ok(file.map_or(own, |file| own.on(backing(&file), file.offset_bytes)));
    }
    Ok(own)
}

fn backing(file: &LoopBacking) -> Backing {
    match file.device {
        Some(number) => Backing::Device(DeviceNumber::from_stat(number)),
        None => Backing::File {
            filesystem: file.filesystem,
            inode: file.inode,
        },
    }
}

/// The file behind a loop device. `loop/backing_file` may be stale or from another mount namespace, so the kernel
/// reports the file's numbers. A device that was detached during the call has no file.
pub(crate) fn loop_backing(
    root: &Path,
    device: &BlockDevice,
) -> Result<Option<LoopBacking>, ProbeError> {
    let path = root.join("dev").join(device.name());
    ask_loop_device(&path, device.number).map_err(|cause| ProbeError::UnknownLoop {
        name: device.name(),
        cause: Box::new(cause),
    })
}

fn ask_loop_device(path: &Path, number: DeviceNumber) -> Result<Option<LoopBacking>, ProbeError> {
    let opened = open_node(path)?;
    let stat =
        rustix::fs::fstat(&opened).map_err(|errno| ProbeError::call("fstat", path, errno))?;
    if DeviceNumber::from_stat(stat.st_rdev) != number {
        let why = format!("it is not the node of block device {number}");
        return Err(ProbeError::call("open", path, io::Error::other(why)));
    }
    LoopBacking::from_device(&opened)
        .map_err(|error| ProbeError::call("ask", path, io::Error::other(error)))
}

/// The path may lead to something else than a device, so the call must not wait for it or make it a terminal.
fn open_node(path: &Path) -> Result<OwnedFd, ProbeError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| ProbeError::call("open", path, errno))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn node(number: &str, size_bytes: u64, below: Option<(Backing, u64)>) -> Node {
        let number: DeviceNumber = number.parse().unwrap();
        let folder = PathBuf::from(number.to_string());
        let own = Extent {
            backing: Backing::Device(number),
            start: 0,
            end: size_bytes,
        };
        let below = below.map_or(own, |(backing, start)| own.on(backing, start));
        Node {
            device: BlockDevice {
                number,
                disk: folder.clone(),
                folder,
            },
            is_loop: false,
            below,
        }
    }

    const FILE: Backing = Backing::File {
        filesystem: 1,
        inode: 2,
    };

    fn over(number: &str) -> Backing {
        Backing::Device(number.parse().unwrap())
    }

    #[test]
    fn the_bytes_of_a_device_are_found_through_all_levels_below() {
        let stack = Stack {
            nodes: vec![
                node("7:0", 1000, Some((FILE, 100))),
                node("259:0", 500, Some((over("7:0"), 200))),
                node("7:1", 400, Some((over("259:0"), 50))),
            ],
        };
        let extent = stack.extent(&stack.nodes[2]);
        assert_eq!(
            extent,
            Extent {
                backing: FILE,
                start: 350,
                end: 750
            }
        );
        let [disk, partition, _] = &stack.nodes[..] else {
            panic!()
        };
        assert!(stack.extent(disk).contains(&stack.extent(partition)));
        assert!(!stack.extent(partition).contains(&stack.extent(disk)));
    }

    #[test]
    fn stretches_that_only_touch_do_not_overlap() {
        let stack = Stack {
            nodes: vec![
                node("7:0", 100, Some((FILE, 0))),
                node("7:1", 100, Some((FILE, 100))),
                node("7:2", 2, Some((FILE, 99))),
                node(
                    "7:3",
                    100,
                    Some((
                        Backing::File {
                            filesystem: 1,
                            inode: 3,
                        },
                        0,
                    )),
                ),
            ],
        };
        let [first, second, middle, other] =
            [0, 1, 2, 3].map(|index| stack.extent(&stack.nodes[index]));
        assert!(!first.overlaps(&second) && middle.overlaps(&first) && second.overlaps(&middle));
        assert!(!first.overlaps(&other));
    }

    #[test]
    fn devices_listed_below_each_other_cause_no_endless_loop() {
        let stack = Stack {
            nodes: vec![
                node("7:0", 1, Some((over("7:1"), 0))),
                node("7:1", 1, Some((over("7:0"), 0))),
            ],
        };
        stack.extent(&stack.nodes[0]);
    }
}
