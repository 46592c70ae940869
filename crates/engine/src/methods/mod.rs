//! The methods' loops: one file each.

use std::os::fd::{BorrowedFd, OwnedFd};

use writebench_model::{Method, SyncCall};

use crate::call::CallError;
use crate::file;
use crate::records::Records;
use crate::region::Region;

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
mod null;
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

/// A method at work on one region, in the region's own thread. Each function is called once, in this order.
pub(crate) trait IoThread: Send {
    /// Whether [`IoThread::attach`] and [`IoThread::detach`] do anything.
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

    /// Works in phase `close`, for the last thread that holds the descriptor.
    fn close(&mut self, file: OwnedFd) -> Result<(), CallError> {
        file::close(file)
    }
}

/// Makes a thread of the method for each region, with its buffers, before the clock.
pub(crate) fn io_threads<'a>(method: Method, regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    match method {
        Method::Write => write::io_threads(regions),
        Method::Pwrite => pwrite::io_threads(regions),
        Method::Writev => writev::io_threads(regions),
        Method::Pwritev => pwritev::io_threads(regions),
        Method::Fwrite => fwrite::io_threads(regions),
        Method::Mmap => mmap::io_threads(regions),
        Method::Uring => uring::io_threads(regions),
        Method::Mpiio => mpiio::io_threads(regions),
        Method::ReadWrite => read_write::io_threads(regions),
        Method::MmapWrite => mmap_write::io_threads(regions),
        Method::ReadMmap => read_mmap::io_threads(regions),
        Method::MmapMmap => mmap_mmap::io_threads(regions),
        Method::Pipeline => pipeline::io_threads(regions),
        Method::UringCopy => uring_copy::io_threads(regions),
        Method::Splice => splice::io_threads(regions),
        Method::Sendfile => sendfile::io_threads(regions),
        Method::CopyFileRange => copy_file_range::io_threads(regions),
        Method::Ficlone => ficlone::io_threads(regions),
        Method::Allocate => allocate::io_threads(regions),
        Method::Null => null::io_threads(regions),
        Method::Program | Method::CopyProgram => program::io_threads(regions),
    }
}

/// Makes the same kind of thread for each region.
fn each_thread<'a, L: IoThread + 'a>(
    regions: &[Region<'a>],
    thread: impl Fn(Region<'a>) -> L,
) -> Vec<Box<dyn IoThread + 'a>> {
    regions.iter().map(|&region| Box::new(thread(region)) as Box<dyn IoThread + 'a>).collect()
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
