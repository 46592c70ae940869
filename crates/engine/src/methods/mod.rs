//! The methods: one file each, and the registry.
//!
//! To add a method, write a file with a [`Method`] and add a line to [`METHODS`]. The conformance tests,
//! `writebench list`, the documentation and the completions use the registry.

use std::os::fd::{BorrowedFd, OwnedFd};

use writebench_model::{Axis, MethodInfo, SyncCall};

use crate::call::CallError;
use crate::file;
use crate::job::Part;
use crate::records::Records;

pub(crate) mod allocate;
mod copy;
mod copy_file_range;
mod ficlone;
mod fwrite;
pub(crate) mod map;
mod mapped;
mod mmap;
mod mmap_mmap;
mod mmap_write;
#[cfg(feature = "mpi")]
mod mpi_file;
#[cfg(not(feature = "mpi"))]
#[path = "no_mpi_file.rs"]
mod mpi_file;
mod mpiio;
mod pipeline;
mod program;
mod pwrite;
mod pwritev;
mod read_mmap;
mod read_write;
mod sendfile;
mod splice;
pub(crate) mod streaming_copy;
mod uring;
mod uring_copy;
mod write;
mod writev;

/// Every method, in the order in which help shows them.
const METHODS: &[&Method] = &[
    &write::METHOD,
    &pwrite::METHOD,
    &writev::METHOD,
    &pwritev::METHOD,
    &fwrite::METHOD,
    &mmap::METHOD,
    &uring::METHOD,
    &mpiio::METHOD,
    &read_write::METHOD,
    &mmap_write::METHOD,
    &read_mmap::METHOD,
    &mmap_mmap::METHOD,
    &pipeline::METHOD,
    &uring_copy::METHOD,
    &splice::METHOD,
    &sendfile::METHOD,
    &copy_file_range::METHOD,
    &ficlone::METHOD,
    &allocate::METHOD,
    &program::WRITES,
    &program::COPIES,
];

/// The axes of methods that write through the page cache in order.
const WRITE_BEHIND: &[Axis] = &[Axis::Writeback, Axis::Drop];

/// The calls that make data durable after a write call.
const SYNCS_AFTERWARDS: &[SyncCall] = &[SyncCall::None, SyncCall::Fsync, SyncCall::Fdatasync];
/// Like [`SYNCS_AFTERWARDS`], or by the mapping.
const SYNCS_OF_MAPS: &[SyncCall] = &[SyncCall::None, SyncCall::Msync, SyncCall::Fsync, SyncCall::Fdatasync];
/// The calls for descriptors, or opening the file with a flag.
const SYNCS: &[SyncCall] =
    &[SyncCall::None, SyncCall::Fsync, SyncCall::Fdatasync, SyncCall::ODsync, SyncCall::OSync];
/// Like [`SYNCS`], or a flag of the write call.
const SYNCS_WITH_FLAGS: &[SyncCall] = &[
    SyncCall::None,
    SyncCall::Fsync,
    SyncCall::Fdatasync,
    SyncCall::ODsync,
    SyncCall::OSync,
    SyncCall::RwfDsync,
];
/// The calls that can follow every few chunks.
const SYNCS_ON_THE_WAY: &[SyncCall] = &[SyncCall::Fsync, SyncCall::Fdatasync];

/// The axes of a method that writes from memory.
const WRITING: &[Axis] = &[
    Axis::Chunk,
    Axis::Ranks,
    Axis::Threads,
    Axis::Files,
    Axis::Descriptor,
    Axis::Data,
    Axis::Source,
    Axis::Memory,
];

/// The axes of methods whose calls have an offset of their own.
const STRIDING: &[Axis] = &[Axis::Layout, Axis::Block];

/// The API that moves the bytes.
pub(crate) struct Method {
    info: MethodInfo,
    /// Makes a lane for each part, with its buffers, before the clock.
    pub lanes: for<'a> fn(&[Part<'a>]) -> Vec<Box<dyn Lane + 'a>>,
}

/// A method at work on one part, in the part's own thread. Each function is called once, in this order.
pub(crate) trait Lane: Send {
    /// Whether [`Lane::attach`] and [`Lane::detach`] do anything.
    fn attaches(&self) -> bool {
        false
    }

    /// Works in phase `open`, after the file is open and has its length.
    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        Ok(())
    }

    /// Runs the loop of phase `write`. When it returns, the kernel has the data. `records` counts the bytes
    /// that were handed over.
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError>;

    /// Works in phase `sync`.
    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
        crate::sync::sync(file, call)
    }

    /// Works in phase `close`, before the file is closed.
    fn detach(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    /// Works in phase `close`, for the last lane that holds the descriptor.
    fn close(&mut self, file: OwnedFd) -> Result<(), CallError> {
        file::close(file)
    }
}

/// The cards of all methods.
#[must_use]
pub fn infos() -> Vec<&'static MethodInfo> {
    METHODS.iter().map(|method| &method.info).collect()
}

/// The method with that card.
pub(crate) fn named(info: &'static MethodInfo) -> &'static Method {
    METHODS.iter().find(|method| method.info == *info).expect("cards come from the registry")
}

/// Makes the same kind of lane for each part.
fn lane_each<'a, L: Lane + 'a>(parts: &[Part<'a>], lane: impl Fn(Part<'a>) -> L) -> Vec<Box<dyn Lane + 'a>> {
    parts.iter().map(|&part| Box::new(lane(part)) as Box<dyn Lane + 'a>).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::file::OPEN_DIRECT;
    use rustix::io::Errno;
    use writebench_model::Phase;

    #[test]
    fn not_supported_is_no_fault() {
        use {copy_file_range::COPY_FILE_RANGE, map::MMAP, splice::SET_PIPE_SIZE, uring::IO_URING_SETUP};
        let outcome = |call: Call, errno| CallError::new(call, errno).outcome(Phase::Prepare, None).name();
        assert_eq!(outcome("fallocate".into(), Errno::OPNOTSUPP), "unsupported");
        assert_eq!(outcome(MMAP, Errno::NODEV), "unsupported");
        assert_eq!(outcome(COPY_FILE_RANGE, Errno::XDEV), "unsupported");
        assert_eq!(outcome(COPY_FILE_RANGE, Errno::INVAL), "unsupported");
        assert_eq!(outcome(OPEN_DIRECT, Errno::INVAL), "unsupported");
        assert_eq!(outcome(IO_URING_SETUP, Errno::PERM), "unsupported");
        assert_eq!(outcome(SET_PIPE_SIZE, Errno::PERM), "unsupported");
        let reason = CallError::new(IO_URING_SETUP, Errno::PERM).outcome(Phase::Write, None);
        assert!(reason.reason().unwrap().contains("kernel.io_uring_disabled"), "{reason:?}");
        assert_eq!(outcome("write".into(), Errno::INVAL), "failed");
        assert_eq!(outcome("open".into(), Errno::PERM), "failed");
        assert_eq!(outcome("fallocate".into(), Errno::NOSPC), "failed");
    }
}
