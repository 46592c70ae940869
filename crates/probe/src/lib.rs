//! The environment of a benchmark, read from the kernel: machine, filesystem, device, settings.
//!
//! Each file pairs readers, which take the root of the file tree so that a test can supply another, with
//! parsers, which take text. An unknown fact is `None`, never a guess or an error; only a target that cannot
//! be inspected is an error.

mod block_device;
mod btrfs;
mod cgroup;
mod cpu;
mod device;
mod device_number;
mod device_use;
mod error;
mod file_layout;
mod filesystem;
mod hypervisor;
mod interconnect;
mod kernel_file;
mod memory;
mod mount;
mod mountinfo;
mod os_release;
mod pressure;
mod space;
mod stack;
mod swap;
mod system;
mod target;
mod tunables;

use std::path::Path;

pub use block_device::{BlockDeviceFacts, block_device, open_block_device};
pub use cgroup::ControlGroups;
pub use device_use::{DeviceUse, DeviceUses, Step, Twin, UseEnd, device_uses};
pub use error::ProbeError;
pub use pressure::cpu_wait;
pub use space::{Space, space, space_around};

use crate::device::BlockDevice;
use crate::target::Target;

const ROOT: &str = "/";

/// The fastest link of this node, with its rate, if the kernel knows one.
#[must_use]
pub fn interconnect() -> Option<String> {
    interconnect::interconnect(Path::new(ROOT))
}

/// Facts about machine, filesystem, device, tunables for a target directory.
///
/// A target that is itself a block device has that device as its [`writebench_model::Device`], and a filesystem of the
/// kind `block device` with the device's path, size and sectors.
///
/// # Errors
///
/// stat(2) or statvfs(3) fails on the target, or the target is a device that sysfs lacks.
pub fn environment(target: &Path) -> Result<writebench_model::Environment, ProbeError> {
    let root = Path::new(ROOT);
    let target = Target::look_at(target)?;
    let mounts = mount::all(root);
    let mount = mount::of(&target, &mounts);
    let device = device::below(root, &target, mount);
    let filesystem = match target.node {
        Some(number) => {
            filesystem::of_block_device(target.path, &BlockDevice::of_node(root, target.path, number)?)?
        }
        None => filesystem::facts(target.path, mount)?,
    };
    Ok(writebench_model::Environment {
        system: system::facts(root),
        cpu: cpu::facts(root),
        memory: memory::facts(root, &mounts),
        filesystem,
        tunables: tunables::of(root, target.node.unwrap_or(target.filesystem), device.as_ref()),
        device: device.map(|device| device.facts()),
    })
}

/// The memory that new work can have without swapping: the kernel's `MemAvailable`, capped by the control
/// groups around this process, for which page cache of files counts as free.
///
/// # Errors
///
/// `/proc/meminfo` cannot be read or lacks the line.
pub fn available_memory_bytes() -> Result<u64, ProbeError> {
    let root = Path::new(ROOT);
    memory::available_bytes(root, &mount::all(root))
}
