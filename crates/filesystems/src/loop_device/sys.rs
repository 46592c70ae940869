#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

use linux_raw_sys::loop_device::{
    self, LOOP_CONFIGURE, LOOP_CTL_GET_FREE, LOOP_SET_DIRECT_IO, loop_config,
};
use rustix::io::Errno;
use rustix::ioctl::{IntegerSetter, Setter, ioctl};

nix::ioctl_none_bad!(get_free, LOOP_CTL_GET_FREE);
// BLKFLSBUF of linux/fs.h.
nix::ioctl_none!(flush_buffers_of, 0x12, 97);

/// Writes out and drops what the kernel has cached of a block device.
pub(super) fn flush_buffers(device: &File) -> nix::Result<()> {
    // SAFETY: the descriptor is open, and the code takes no argument.
    unsafe { flush_buffers_of(device.as_raw_fd()) }.map(drop)
}

/// The number of a loop device that is free at this moment. The kernel creates the device if necessary.
pub(super) fn free_number(control: &File) -> nix::Result<i32> {
    // SAFETY: the descriptor is open, and the code takes no argument and returns a number.
    unsafe { get_free(control.as_raw_fd()) }
}

/// Puts a file behind a free device. `AUTOCLEAR` detaches the device after its last user, which is this process until
/// the mount.
pub(super) fn configure(device: &File, backing: &File, direct: bool) -> Result<(), Errno> {
    let mut flags = loop_device::LO_FLAGS_AUTOCLEAR as u32;
    if direct {
        flags |= loop_device::LO_FLAGS_DIRECT_IO as u32;
    }
    // SAFETY: the structure holds only numbers, each of which may be zero: no option, and the kernel's block
    // size.
    let mut config: loop_config = unsafe { std::mem::zeroed() };
    config.fd = u32::try_from(backing.as_raw_fd()).map_err(|_| Errno::BADF)?;
    config.info.lo_flags = flags;
    // SAFETY: the kernel reads a `loop_config` for this code.
    let setter = unsafe { Setter::<LOOP_CONFIGURE, loop_config>::new(config) };
    // SAFETY: the kernel only reads `setter`'s value.
    unsafe { ioctl(device, setter) }
}

/// Makes an attached device read and write its file past the page cache.
pub(super) fn set_direct_io(device: &File) -> Result<(), Errno> {
    // SAFETY: this code takes a number, 1 for direct.
    let setter = unsafe { IntegerSetter::<LOOP_SET_DIRECT_IO>::new_usize(1) };
    // SAFETY: no memory is handed over.
    unsafe { ioctl(device, setter) }
}

/// `struct btrfs_ioctl_vol_args` of linux/btrfs.h.
#[repr(C)]
pub(super) struct VolumeName {
    descriptor: i64,
    name: [u8; 4088],
}

// BTRFS_IOC_FORGET_DEV.
nix::ioctl_write_ptr!(forget_device, 0x94, 5, VolumeName);

/// btrfs remembers each device that it has seen, with the state of that time. Errors are ignored: a device that it does
/// not know is one of them.
pub(crate) fn forget_btrfs(node: &str) {
    let Ok(control) = File::options().write(true).open("/dev/btrfs-control") else {
        return;
    };
    let mut volume = VolumeName {
        descriptor: 0,
        name: [0; 4088],
    };
    // The last byte remains zero.
    for (to, from) in volume.name[..4087].iter_mut().zip(node.bytes()) {
        *to = from;
    }
    // SAFETY: the kernel reads a structure of this size, with a name that a zero ends.
    let _ = unsafe { forget_device(control.as_raw_fd(), &raw const volume) };
}
