//! All facts about a target directory.

use std::path::Path;

use writebench_model::Environment;

use crate::device::BlockDevice;
use crate::error::ProbeError;
use crate::kernel_file::ROOT;
use crate::target::Target;
use crate::{cpu, device, filesystem, memory, mount, system, tunables};

/// Facts about machine, filesystem, device, tunables for a target directory.
///
/// A target that is itself a block device has that device as its [`writebench_model::Device`], and a filesystem of the
/// kind `block device` with the device's path, size and sectors.
///
/// # Errors
///
/// stat(2) or statvfs(3) fails on the target, or the target is a device that sysfs lacks.
pub fn environment(target: &Path) -> Result<Environment, ProbeError> {
    let root = Path::new(ROOT);
    let target = Target::inspect(target)?;
    let mounts = mount::all(root);
    let mount = mount::for_target(&target, &mounts);
    let device = device::below(root, &target, mount);
    let filesystem = match target.node {
        Some(number) => {
            filesystem::for_block_device(target.path, &BlockDevice::from_node(root, target.path, number)?)?
        }
        None => filesystem::facts(target.path, mount)?,
    };
    Ok(Environment {
        system: system::facts(root),
        cpu: cpu::facts(root),
        memory: memory::facts(root, &mounts),
        filesystem,
        tunables: tunables::for_target(root, target.node.unwrap_or(target.filesystem), device.as_ref()),
        device: device.map(|device| device.facts()),
    })
}
