//! The ioctls of loop devices that no library wraps in one step.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use rustix::ioctl::{IntegerSetter, Ioctl, IoctlOutput, Opcode, Setter, ioctl};

// linux/loop.h
const LOOP_SET_DIRECT_IO: Opcode = 0x4C08;
const LOOP_CONFIGURE: Opcode = 0x4C0A;
const LOOP_CTL_GET_FREE: Opcode = 0x4C82;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// The number of a loop device that is free now, made if need be.
pub(super) fn free_number(control: &File) -> Result<u32, Errno> {
    // SAFETY: `GetFree` hands no memory over.
    unsafe { ioctl(control, GetFree) }
}

/// Attaches a file, in one step: with `AUTOCLEAR` from the first moment, so that the device detaches itself when
/// its last user is gone, and that is this process until it is mounted.
pub(super) fn configure(device: &File, backing: BorrowedFd<'_>, direct: bool) -> Result<(), Errno> {
    let flags = LO_FLAGS_AUTOCLEAR | if direct { LO_FLAGS_DIRECT_IO } else { 0 };
    let info = LoopInfo {
        device: 0,
        inode: 0,
        rdevice: 0,
        offset: 0,
        size_limit: 0,
        number: 0,
        encrypt_type: 0,
        encrypt_key_size: 0,
        flags,
        file_name: [0; 64],
        crypt_name: [0; 64],
        encrypt_key: [0; 32],
        init: [0; 2],
    };
    let fd = u32::try_from(backing.as_raw_fd()).map_err(|_| Errno::BADF)?;
    // A block size of 0 leaves the choice to the kernel.
    let config = LoopConfig { fd, block_size: 0, info, reserved: [0; 8] };
    // SAFETY: a `loop_config` is what the kernel reads for this code.
    let setter = unsafe { Setter::<LOOP_CONFIGURE, LoopConfig>::new(config) };
    // SAFETY: the kernel only reads the value that belongs to `setter`.
    unsafe { ioctl(device, setter) }
}

/// Asks an attached device for direct I/O; the kernel says why not.
pub(super) fn set_direct_io(device: &File) -> Result<(), Errno> {
    // SAFETY: this code takes a number, 1 for direct.
    let setter = unsafe { IntegerSetter::<LOOP_SET_DIRECT_IO>::new_usize(1) };
    // SAFETY: no memory is handed over.
    unsafe { ioctl(device, setter) }
}

/// `LOOP_CTL_GET_FREE`, which returns the number as the call's own result.
struct GetFree;

// SAFETY: the code takes no argument and gives a number, which is not memory.
unsafe impl Ioctl for GetFree {
    type Output = u32;

    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        LOOP_CTL_GET_FREE
    }

    fn as_ptr(&mut self) -> *mut std::ffi::c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(output: IoctlOutput, _: *mut std::ffi::c_void) -> Result<u32, Errno> {
        u32::try_from(output).map_err(|_| Errno::RANGE)
    }
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn structures_are_laid_out_as_the_kernels() {
        // As gcc says of linux/loop.h, on 64-bit and 32-bit machines alike.
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!(offset_of!(LoopInfo, size_limit), 32);
        assert_eq!(offset_of!(LoopInfo, flags), 52);
        assert_eq!(offset_of!(LoopInfo, file_name), 56);
        assert_eq!(offset_of!(LoopInfo, encrypt_key), 184);
        assert_eq!(offset_of!(LoopInfo, init), 216);
        assert_eq!(size_of::<LoopConfig>(), 304);
        assert_eq!(offset_of!(LoopConfig, block_size), 4);
        assert_eq!(offset_of!(LoopConfig, info), 8);
        assert_eq!(offset_of!(LoopConfig, reserved), 240);
    }
}
