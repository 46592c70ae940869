#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

use linux_raw_sys::loop_device::{
    self, LOOP_CONFIGURE, LOOP_CTL_GET_FREE, LOOP_SET_DIRECT_IO, loop_config,
};
use rustix::io::Errno;
use rustix::ioctl::{IntegerSetter, Setter, ioctl};

nix::ioctl_none_bad!(get_free, LOOP_CTL_GET_FREE);

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
