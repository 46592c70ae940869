//! The filesystems that hold the data of a target's own: below an overlay, or below a loop device.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use writebench_model::{LayerBelow, LayerRole};

use crate::device::{self, BlockDevice};
use crate::device_number::DeviceNumber;
use crate::mountinfo::Mount;
use crate::stack::loop_backing;
use crate::target::Target;
use crate::{kernel_file, mount};

/// No real stack is higher: even an overlay of images on an overlay is rare.
const MAX_LAYERS: usize = 8;

/// Finds the layers below a target from the top down, as far as they are known. In a container, the upper directory
/// of an overlay is out of sight.
pub(crate) fn below(
    root: &Path,
    mount: Option<&Mount>,
    device: Option<&BlockDevice>,
    mounts: &[Mount],
) -> Vec<LayerBelow> {
    let mut layers = Vec::new();
    let mut layer = layer_below(root, mount, device, mounts);
    while let Some(found) = layer
        && layers.len() < MAX_LAYERS
    {
        layers.push(found.facts());
        layer = layer_below(root, Some(found.mount), found.device.as_ref(), mounts);
    }
    layers
}

struct Layer<'m> {
    role: LayerRole,
    mount: &'m Mount,
    device: Option<BlockDevice>,
}

impl Layer<'_> {
    fn facts(&self) -> LayerBelow {
        LayerBelow {
            role: self.role,
            kind: self.mount.kind.clone(),
            mount_options: self.mount.all_options(),
            device: self.device.as_ref().map(BlockDevice::facts),
        }
    }
}

fn layer_below<'m>(
    root: &Path,
    mount: Option<&Mount>,
    device: Option<&BlockDevice>,
    mounts: &'m [Mount],
) -> Option<Layer<'m>> {
    match mount.and_then(upper_directory) {
        Some(directory) => layer_of_upper_directory(root, &directory, mounts),
        None => layer_of_image(root, device?, mounts),
    }
}

fn layer_of_upper_directory<'m>(
    root: &Path,
    directory: &Path,
    mounts: &'m [Mount],
) -> Option<Layer<'m>> {
    let target = Target::inspect(directory).ok()?;
    let mount = mount::for_target(&target, mounts)?;
    Some(Layer {
        role: LayerRole::UpperDirectory,
        mount,
        device: device::below(root, &target, Some(mount)),
    })
}

fn layer_of_image<'m>(root: &Path, device: &BlockDevice, mounts: &'m [Mount]) -> Option<Layer<'m>> {
    let number = image_filesystem(root, device)?;
    let mount = mounts.iter().rev().find(|mount| mount.number == number)?;
    Some(Layer {
        role: LayerRole::Image,
        mount,
        device: device::of_filesystem(root, number, Some(mount)),
    })
}

/// The upper directory of an overlay, if its path is absolute. A relative one is from mount(8)'s directory, which
/// nobody knows.
fn upper_directory(mount: &Mount) -> Option<PathBuf> {
    if mount.kind != "overlay" {
        return None;
    }
    let directory = mount
        .super_options
        .split(',')
        .find_map(|option| option.strip_prefix("upperdir="))?;
    Path::new(directory).is_absolute().then(|| directory.into())
}

/// The filesystem of the file behind a loop device. Only root may ask the device, and everyone finds the file's path
/// in sysfs.
fn image_filesystem(root: &Path, device: &BlockDevice) -> Option<DeviceNumber> {
    let path = kernel_file::text(&device.disk.join("loop/backing_file"))?;
    match loop_backing(root, &device.whole_disk(root)?) {
        Ok(Some(file)) if file.device.is_some() => None,
        Ok(Some(file)) => Some(DeviceNumber::from_stat(file.filesystem)),
        Ok(None) | Err(_) => {
            let stat = fs::metadata(path).ok()?;
            Some(DeviceNumber::from_stat(stat.dev()))
        }
    }
}
