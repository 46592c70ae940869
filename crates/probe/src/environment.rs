use std::path::Path;

use writebench_model::Environment;

use crate::device::BlockDevice;
use crate::error::ProbeError;
use crate::kernel_file::ROOT;
use crate::target::Target;
use crate::{cpu, device, filesystem, layers, memory, mount, system, tunables};

/// A target that is a block device is itself the [`writebench_model::Device`], on a filesystem of the kind
/// `block device`.
///
/// # Errors
///
/// stat(2) or statvfs(3) fails on the target, or sysfs lacks the target's device.
pub fn environment(target: &Path) -> Result<Environment, ProbeError> {
    let root = Path::new(ROOT);
    let target = Target::inspect(target)?;
    let mounts = mount::all(root);
    let mount = mount::for_target(&target, &mounts);
    let device = device::below(root, &target, mount);
    let filesystem = match target.node {
        Some(number) => filesystem::for_block_device(
            target.path,
            &BlockDevice::from_node(root, target.path, number)?,
        )?,
        None => filesystem::facts(target.path, mount)?,
    };
    Ok(Environment {
        system: system::facts(root),
        cpu: cpu::facts(root, &mounts),
        memory: memory::facts(root, &mounts),
        filesystem,
        below: layers::below(root, mount, device.as_ref(), &mounts),
        tunables: tunables::for_target(
            root,
            target.node.unwrap_or(target.filesystem),
            device.as_ref(),
        ),
        device: device.map(|device| device.facts()),
    })
}
