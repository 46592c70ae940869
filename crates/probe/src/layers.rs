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

/// An overlay of images on an overlay is rare enough.
const MOST: usize = 8;

/// From the top down, as far as they are known. In a container, an overlay's upper directory is out of sight.
pub(crate) fn below(
    root: &Path,
    mount: Option<&Mount>,
    device: Option<&BlockDevice>,
    mounts: &[Mount],
) -> Vec<LayerBelow> {
    let mut layers = Vec::new();
    let (mut mount, mut device) = (mount, device.cloned());
    while let Some(layer) =
        next(root, mount, device.as_ref(), mounts).filter(|_| layers.len() < MOST)
    {
        layers.push(LayerBelow {
            role: layer.role,
            kind: layer.mount.kind.clone(),
            mount_options: layer.mount.all_options(),
            device: layer.device.as_ref().map(BlockDevice::facts),
        });
        (mount, device) = (Some(layer.mount), layer.device);
    }
    layers
}

struct Layer<'m> {
    role: LayerRole,
    mount: &'m Mount,
    device: Option<BlockDevice>,
}

fn next<'m>(
    root: &Path,
    mount: Option<&Mount>,
    device: Option<&BlockDevice>,
    mounts: &'m [Mount],
) -> Option<Layer<'m>> {
    if let Some(path) = mount.and_then(upper_directory) {
        let target = Target::inspect(&path).ok()?;
        let mount = mount::for_target(&target, mounts)?;
        let device = device::below(root, &target, Some(mount));
        return Some(Layer {
            role: LayerRole::UpperDirectory,
            mount,
            device,
        });
    }
    let number = image_filesystem(root, device?)?;
    let mount = mounts.iter().rev().find(|mount| mount.number == number)?;
    let device = device::of_filesystem(root, number, Some(mount));
    Some(Layer {
        role: LayerRole::Image,
        mount,
        device,
    })
}

/// A relative one is from mount(8)'s directory, which nobody knows.
fn upper_directory(mount: &Mount) -> Option<PathBuf> {
    let is_overlay = mount.kind == "overlay";
    let option = mount
        .super_options
        .split(',')
        .find_map(|option| option.strip_prefix("upperdir="));
    option
        .filter(|_| is_overlay)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// Of the file behind a loop device. Only root may ask the device, and sysfs has the file's path.
fn image_filesystem(root: &Path, device: &BlockDevice) -> Option<DeviceNumber> {
    let path = kernel_file::text(&device.disk.join("loop/backing_file"))?;
    match loop_backing(root, &device.whole_disk(root)?) {
        Ok(Some(file)) if file.device.is_some() => None,
        Ok(Some(file)) => Some(DeviceNumber::from_stat(file.filesystem)),
        Ok(None) | Err(_) => fs::metadata(path)
            .ok()
            .map(|stat| DeviceNumber::from_stat(stat.dev())),
    }
}
