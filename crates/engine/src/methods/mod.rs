//! The methods: one file each, and the registry.
//!
//! To add one, write a file with a type that implements [`Method`] and add a line to [`METHODS`]. The
//! conformance tests, `writebench list`, the documentation and the completions go through the registry.

use std::os::fd::{BorrowedFd, OwnedFd};

use writebench_model::{MethodInfo, SyncCall};

use crate::call::CallError;
use crate::file;
use crate::job::Part;
use crate::records::Records;

pub mod allocate;
mod copy;
mod copy_file_range;
mod fwrite;
pub mod map;
mod mmap;
mod mmap_write;
mod pwrite;
mod pwritev;
mod read_write;
mod sendfile;
mod splice;
pub mod streaming_copy;
mod uring;
mod write;
mod writev;

/// Every method, in the order in which help shows them.
const METHODS: &[&dyn Method] = &[
    &write::Write,
    &pwrite::Pwrite,
    &writev::Writev,
    &pwritev::Pwritev,
    &fwrite::Fwrite,
    &mmap::Mmap,
    &uring::Uring,
    &read_write::ReadWrite,
    &mmap_write::MmapWrite,
    &splice::Splice,
    &sendfile::Sendfile,
    &copy_file_range::CopyFileRange,
    &allocate::Allocate,
];

/// What makes data durable that was handed over by a call on a file: a call of its own, or the file itself.
const SYNCS: &[SyncCall] =
    &[SyncCall::None, SyncCall::Fsync, SyncCall::Fdatasync, SyncCall::ODsync, SyncCall::OSync];
/// The same, and a flag of the call.
const SYNCS_WITH_FLAGS: &[SyncCall] = &[
    SyncCall::None,
    SyncCall::Fsync,
    SyncCall::Fdatasync,
    SyncCall::ODsync,
    SyncCall::OSync,
    SyncCall::RwfDsync,
];
/// What can come after every so many chunks.
const SYNCS_ON_THE_WAY: &[SyncCall] = &[SyncCall::Fsync, SyncCall::Fdatasync];

/// The API that moves the bytes.
pub trait Method: std::marker::Sync {
    /// Its card.
    fn info(&self) -> &'static MethodInfo;

    /// A lane for each part. Before the clock: buffers are made here.
    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>>;
}

/// A method at work on one part, in the part's own thread. Each function is called once, in this order.
pub trait Lane: Send {
    /// Whether [`Lane::attach`] and [`Lane::detach`] do anything.
    fn attaches(&self) -> bool {
        false
    }

    /// Phase `open`, after the file is open and has its length.
    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        Ok(())
    }

    /// Phase `write`: the loop. When it returns, the kernel has the data. `records` is told what was handed over.
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError>;

    /// Phase `sync`.
    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
        crate::sync::sync(file, call)
    }

    /// Phase `close`, before the file is closed.
    fn detach(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    /// Phase `close`, for the last lane that holds the descriptor.
    fn close(&mut self, file: OwnedFd) -> Result<(), CallError> {
        file::close(file)
    }
}

/// The cards of all methods.
#[must_use]
pub fn infos() -> Vec<&'static MethodInfo> {
    METHODS.iter().map(|method| method.info()).collect()
}

/// The method with that card.
pub(crate) fn named(info: &'static MethodInfo) -> &'static dyn Method {
    METHODS.iter().copied().find(|method| method.info() == info).expect("cards come from the registry")
}

/// A lane for each part, made the same way.
fn lane_each<'a, L: Lane + 'a>(parts: &[Part<'a>], lane: impl Fn(Part<'a>) -> L) -> Vec<Box<dyn Lane + 'a>> {
    parts.iter().map(|&part| Box::new(lane(part)) as Box<dyn Lane + 'a>).collect()
}
