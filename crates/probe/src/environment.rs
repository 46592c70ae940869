use std::path::Path;

use writebench_model::{Environment, Filesystem};

use crate::device::BlockDevice;
use crate::error::ProbeError;
use crate::kernel_file::ROOT;
use crate::mountinfo::Mount;
use crate::target::Target;
use crate::{cpu, device, filesystem, layers, memory, mount, system, tunables};

/// Reads all facts about the machine, the target's filesystem and the device below it.
///
/// A target that is a block device is itself the [`writebench_model::Device`], on a filesystem of the kind
/// `block device`.
///
/// # Errors
///
/// It is an error if stat(2) or statvfs(3) fails on the target, or if sysfs lacks the target's device.
pub fn environment(target: &Path) -> Result<Environment, ProbeError> {
    let root = Path::new(ROOT);
    let target = Target::inspect(target)?;
    let mounts = mount::all(root);
    let mount = mount::for_target(&target, &mounts);
    let device = device::below(root, &target, mount);
    let number = target.node.unwrap_or(target.filesystem);
    Ok(Environment {
        system: system::facts(root),
        cpu: cpu::facts(root, &mounts),
        memory: memory::facts(root, &mounts),
        filesystem: filesystem_of(root, &target, mount)?,
        below: layers::below(root, mount, device.as_ref(), &mounts),
        tunables: tunables::for_target(root, number, device.as_ref()),
        device: device.map(|device| device.facts()),
    })
}

fn filesystem_of(
    root: &Path,
    target: &Target<'_>,
    mount: Option<&Mount>,
) -> Result<Filesystem, ProbeError> {
    match target.node {
        Some(number) => {
            let device = BlockDevice::from_node(root, target.path, number)?;
            filesystem::for_block_device(target.path, &device)
        }
        None => filesystem::facts(target.path, mount),
    }
}
