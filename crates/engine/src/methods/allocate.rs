//! Giving a file its length and blocks: a method of its own, and what `prepare` does.

use std::os::fd::BorrowedFd;

use model::{AllocateCall, Axis, Cursor, MethodInfo, Prepare, Sync};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::{Lane, Method, lane_each};
use crate::call::{CallError, retry};
use crate::job::Part;

static INFO: MethodInfo = MethodInfo {
    name: "allocate",
    summary: "creates a file of that size with posix_fallocate, fallocate or ftruncate; no data is written",
    calls: "fallocate or ftruncate",
    cursor: Cursor::NoData,
    axes: &[Axis::Call],
    prepares: &[Prepare::Create, Prepare::Truncate],
    syncs: &[Sync::None, Sync::Fsync, Sync::Fdatasync],
};

pub(super) struct Allocate;

impl Method for Allocate {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| AllocateLane { part })
    }
}

struct AllocateLane<'a> {
    part: Part<'a>,
}

impl Lane for AllocateLane<'_> {
    fn write(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        allocate(file, self.part.axes.call, self.part.file_length)
    }
}

/// Gives a file its length, and with `fallocate` and `posix_fallocate` its blocks.
pub(crate) fn allocate(file: BorrowedFd<'_>, call: AllocateCall, length: u64) -> Result<(), CallError> {
    match call {
        AllocateCall::Ftruncate => retry("ftruncate", || rustix::fs::ftruncate(file, length)),
        AllocateCall::Fallocate => {
            retry("fallocate", || rustix::fs::fallocate(file, FallocateFlags::empty(), 0, length))
        }
        AllocateCall::PosixFallocate => {
            let length = i64::try_from(length).map_err(|_| CallError::new("posix_fallocate", Errno::FBIG))?;
            // It returns the error number and leaves errno alone, unlike everything around it.
            retry("posix_fallocate", || {
                nix::fcntl::posix_fallocate(file, 0, length)
                    .map_err(|errno| Errno::from_raw_os_error(errno as i32))
            })
        }
    }
}
