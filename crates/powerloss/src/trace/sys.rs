#![expect(
    unsafe_code,
    reason = "ptrace(2) and ioctl(2) take pointers, and a child asks for its tracing between fork and exec"
)]

use std::ffi::OsString;
use std::io::IoSliceMut;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// Why a traced thread stands still.
pub(super) enum Stop {
    Entry { number: u64, arguments: [u64; 6] },
    Exit { is_error: bool },
    Other,
}

/// `struct ptrace_syscall_info` of linux/ptrace.h. libc has it for some C libraries only.
#[repr(C)]
#[derive(Default)]
struct SyscallInfo {
    kind: u8,
    reserved: u8,
    flags: u16,
    architecture: u32,
    instruction: u64,
    stack: u64,
    /// The number and six arguments at an entry, and the result and whether it is an error at an exit.
    words: [u64; 8],
}

const PTRACE_GET_SYSCALL_INFO: u32 = 0x420e;
const ENTRY: u8 = 1;
const EXIT: u8 = 2;

pub(super) fn stop(pid: Pid) -> Result<Stop, Errno> {
    let mut info = SyscallInfo::default();
    // SAFETY: the kernel writes at most so many bytes into the structure, which may have any content.
    let written = unsafe {
        libc::ptrace(
            PTRACE_GET_SYSCALL_INFO as _,
            pid.as_raw(),
            size_of::<SyscallInfo>(),
            &raw mut info,
        )
    };
    Errno::result(written)?;
    let [first, rest @ ..] = info.words;
    Ok(match info.kind {
        ENTRY => {
            let [a, b, c, d, e, f, _] = rest;
            Stop::Entry {
                number: first,
                arguments: [a, b, c, d, e, f],
            }
        }
        EXIT => Stop::Exit {
            is_error: rest[0].to_ne_bytes()[0] != 0,
        },
        _ => Stop::Other,
    })
}

/// Lets a command begin as a traced child of this thread.
pub(super) fn trace_child(command: &mut Command) {
    // SAFETY: between fork and exec, the child makes one system call and allocates nothing.
    unsafe {
        command.pre_exec(|| ptrace::traceme().map_err(Into::into));
    }
}

/// A string in the memory of a process, up to its zero.
pub(super) fn text(pid: Pid, address: u64) -> Option<OsString> {
    const PAGE_BYTES: usize = 4096;
    let mut address = usize::try_from(address).ok()?;
    let mut text = Vec::new();
    // A page at a time, because the next one may not be mapped.
    while text.len() <= libc::PATH_MAX as usize {
        let length = PAGE_BYTES - address % PAGE_BYTES;
        let mut page = vec![0; length];
        let place = RemoteIoVec {
            base: address,
            len: length,
        };
        let read = process_vm_readv(pid, &mut [IoSliceMut::new(&mut page)], &[place]).ok()?;
        page.truncate(read);
        if let Some(end) = page.iter().position(|&byte| byte == 0) {
            text.extend(&page[..end]);
            return Some(OsString::from_vec(text));
        }
        text.extend(page);
        address += read;
        if read == 0 {
            return None;
        }
    }
    None
}

// BTRFS_IOC_START_SYNC and BTRFS_IOC_WAIT_SYNC of linux/btrfs.h.
nix::ioctl_read!(start_sync, 0x94, 24, u64);
nix::ioctl_write_ptr!(wait_sync, 0x94, 22, u64);

/// Commits the present transaction of a btrfs filesystem.
pub(crate) fn commit_btrfs(root: RawFd) -> Result<(), Errno> {
    let mut transaction = 0;
    // SAFETY: the kernel writes the number of the transaction.
    unsafe { start_sync(root, &raw mut transaction) }?;
    // SAFETY: the kernel reads the number.
    unsafe { wait_sync(root, &raw const transaction) }.map(drop)
}
