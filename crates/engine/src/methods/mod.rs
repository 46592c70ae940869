use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Barrier};

use writebench_model::{Method, Protect, SyncCall};

use crate::call::Result;
use crate::file;
use crate::region::Region;
use crate::write_loop::WriteLoop;
use mapped::SharedMapping;
use uring_files::ByRing;
use write_files::ByCalls;

pub(crate) mod allocate;
mod attached;
mod background_unlink;
mod copy;
mod copy_file_range;
mod double_write;
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
mod pwrite;
mod pwritev;
mod read_mmap;
mod read_write;
mod sendfile;
mod set_thread;
mod splice;
pub(crate) mod streaming_copy;
mod uring;
mod uring_copy;
mod uring_files;
mod write;
mod write_files;
mod writev;

/// A method at work on one region, in the region's own thread. Each function is called once, in this order. A
/// closure is a method with a loop alone.
pub(crate) trait IoThread: Send {
    /// Whether the method needs more than the file.
    fn attaches(&self) -> bool {
        true
    }

    /// Prepares what the method needs, in phase `open` when the file has its length.
    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<()> {
        Ok(())
    }

    /// Does the work of phase `write`. On return the kernel has the data.
    fn write(&mut self, file: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()>;

    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
        crate::sync::sync(file, call)
    }

    /// Gives back what the method needs, in phase `close` before the file is closed.
    fn detach(&mut self) -> Result<()> {
        Ok(())
    }

    /// Waits for work that is not part of the sample's time.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// Closes the file in phase `close`. Only the descriptor's last thread does so.
    fn close(&mut self, file: OwnedFd) -> Result<()> {
        file::close(file)
    }
}

impl<W: FnMut(BorrowedFd<'_>, &mut WriteLoop) -> Result<()> + Send> IoThread for W {
    fn attaches(&self) -> bool {
        false
    }

    fn write(&mut self, file: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        self(file, write_loop)
    }
}

/// Makes the thread of each region, before the clock starts.
pub(crate) fn io_threads<'a>(
    method: Method,
    regions: &[Region<'a>],
) -> Vec<Box<dyn IoThread + 'a>> {
    let mapping = SharedMapping::default();
    let barrier = Arc::new(Barrier::new(regions.len()));
    match method {
        Method::Write => each(regions, write::io_thread),
        Method::Pwrite if writes_twice(regions) => each(regions, double_write::io_thread),
        Method::Pwrite => each(regions, pwrite::io_thread),
        Method::Writev => each(regions, writev::io_thread),
        Method::Pwritev => each(regions, pwritev::io_thread),
        Method::Fwrite => each(regions, fwrite::io_thread),
        Method::Mmap => each(regions, |region| mmap::io_thread(region, mapping.clone())),
        Method::Uring => each(regions, uring::io_thread),
        Method::Mpiio => each(regions, mpiio::io_thread),
        Method::WriteFiles => each(regions, |region| {
            set_thread::io_thread(region, barrier.clone(), ByCalls)
        }),
        Method::UringFiles => each(regions, |region| {
            set_thread::io_thread(region, barrier.clone(), ByRing::default())
        }),
        Method::ReadWrite => each(regions, read_write::io_thread),
        Method::MmapWrite => each(regions, mmap_write::io_thread),
        Method::ReadMmap => each(regions, |region| {
            read_mmap::io_thread(region, mapping.clone())
        }),
        Method::MmapMmap => each(regions, |region| {
            mmap_mmap::io_thread(region, mapping.clone())
        }),
        Method::Pipeline => each(regions, pipeline::io_thread),
        Method::UringCopy => each(regions, uring_copy::io_thread),
        Method::Splice => each(regions, splice::io_thread),
        Method::Sendfile => each(regions, sendfile::io_thread),
        Method::CopyFileRange => each(regions, copy_file_range::io_thread),
        Method::Ficlone => each(regions, ficlone::io_thread),
        Method::Allocate => each(regions, allocate::io_thread),
        Method::Null => each(regions, null::io_thread),
        // The engine starts the user's program instead.
        Method::Program | Method::CopyProgram => Vec::new(),
    }
}

fn writes_twice(regions: &[Region<'_>]) -> bool {
    regions
        .iter()
        .any(|region| region.choices.protect == Protect::DoubleWrite)
}

fn each<'a, T: IoThread + 'a>(
    regions: &[Region<'a>],
    io_thread: impl Fn(Region<'a>) -> T,
) -> Vec<Box<dyn IoThread + 'a>> {
    regions
        .iter()
        .map(|&region| Box::new(io_thread(region)) as Box<dyn IoThread + 'a>)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Call, CallError};
    use crate::file::OPEN_DIRECT;
    use rustix::io::Errno;
    use writebench_model::Phase;

    #[test]
    fn not_supported_is_not_a_fault() {
        use {
            copy_file_range::COPY_FILE_RANGE, map::MMAP, splice::SET_PIPE_SIZE,
            uring::IO_URING_SETUP,
        };
        let outcome = |call: Call, errno| {
            CallError::new(call, errno)
                .outcome(Phase::Prepare, None)
                .name()
        };
        assert_eq!(outcome("fallocate".into(), Errno::OPNOTSUPP), "unsupported");
        assert_eq!(outcome(MMAP, Errno::NODEV), "unsupported");
        assert_eq!(outcome(COPY_FILE_RANGE, Errno::XDEV), "unsupported");
        assert_eq!(outcome(COPY_FILE_RANGE, Errno::INVAL), "unsupported");
        assert_eq!(outcome(OPEN_DIRECT, Errno::INVAL), "unsupported");
        assert_eq!(outcome(IO_URING_SETUP, Errno::PERM), "unsupported");
        assert_eq!(outcome(SET_PIPE_SIZE, Errno::PERM), "unsupported");
        let reason = CallError::new(IO_URING_SETUP, Errno::PERM).outcome(Phase::Write, None);
        assert!(
            reason
                .reason()
                .unwrap()
                .contains("kernel.io_uring_disabled"),
            "{reason:?}"
        );
        assert_eq!(outcome("write".into(), Errno::INVAL), "failed");
        assert_eq!(outcome("open".into(), Errno::PERM), "failed");
        assert_eq!(outcome("fallocate".into(), Errno::NOSPC), "failed");
    }
}
