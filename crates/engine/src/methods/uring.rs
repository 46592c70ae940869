//! io_uring: operations are queued, and several are under way at the same time.
#![expect(unsafe_code, reason = "the kernel reads memory that the queue refers to after the call")]

mod queue;

use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::IoUring;
use rustix::io::Errno;
use writebench_model::Registered;

use self::queue::Queue;
use super::{IoThread, each_thread};
use crate::call::{Call, CallError, Meaning};
use crate::records::Records;
use crate::region::Region;
use crate::staging::Staging;

/// EPERM if the kernel or a sandbox forbids io_uring: io_uring_setup(2).
pub(super) const IO_URING_SETUP: Call = Call {
    name: "io_uring_setup",
    meanings: &[(Errno::PERM, Meaning::Forbidden("see kernel.io_uring_disabled and kernel.io_uring_group"))],
};

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| UringThread { region, ring: None, staging: None })
}

struct UringThread<'a> {
    region: Region<'a>,
    ring: Option<IoUring>,
    // Beside the ring, which may have it registered.
    staging: Option<Staging>,
}

impl IoThread for UringThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        let axes = self.region.axes;
        // Each write may have a linked sync.
        let ring = IoUring::new(axes.depth * 2).map_err(|error| CallError::from_io(IO_URING_SETUP, &error))?;
        let staging = self.staging.insert(Staging::for_region(&self.region, axes.depth.into())?);
        if matches!(axes.registered, Registered::Buffers | Registered::Both) && !self.region.memory().is_empty()
        {
            register_memory(&ring, staging.buffer().map_or(self.region.memory(), |buffer| buffer))?;
        }
        if matches!(axes.registered, Registered::Files | Registered::Both) {
            let registered = ring.submitter().register_files(&[file.as_raw_fd()]);
            registered.map_err(|error| CallError::from_io("io_uring_register files", &error))?;
        }
        self.ring = Some(ring);
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let staging = self.staging.as_mut().and_then(Staging::buffer);
        let mut queue = Queue::new(self.region, file, ring, staging);
        let result = queue.run(records);
        if result.is_err() {
            // No operation may be under way when the file is closed and the memory is reused.
            queue.drain();
        }
        result
    }

    fn detach(&mut self) -> Result<(), CallError> {
        let Some(ring) = self.ring.take() else { return Ok(()) };
        unregister(&ring, self.region.axes.registered, !self.region.memory().is_empty())
    }
}

/// Ends what the kernel knows of files and memory. It tears a ring down some time after it is closed, and would
/// hold the file and the pages until then: outside every phase.
pub(super) fn unregister(ring: &IoUring, registered: Registered, has_memory: bool) -> Result<(), CallError> {
    if matches!(registered, Registered::Files | Registered::Both) {
        let done = ring.submitter().unregister_files();
        done.map_err(|error| CallError::from_io("io_uring_register unregister files", &error))?;
    }
    if matches!(registered, Registered::Buffers | Registered::Both) && has_memory {
        let done = ring.submitter().unregister_buffers();
        done.map_err(|error| CallError::from_io("io_uring_register unregister buffers", &error))?;
    }
    Ok(())
}

/// Submits what is queued, and waits for so many completions.
pub(super) fn submit(ring: &IoUring, wanted: usize) -> Result<(), CallError> {
    loop {
        match ring.submit_and_wait(wanted) {
            Ok(_) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            // The kernel requires that its completions are taken first: io_uring_enter(2).
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => return Ok(()),
            Err(error) => return Err(CallError::from_io("io_uring_enter", &error)),
        }
    }
}

/// Waits until none of the operations is under way, whatever the results.
pub(super) fn drain(ring: &mut IoUring, under_way: &mut usize) {
    while *under_way > 0 {
        let waited = ring.submit_and_wait(1);
        let goes_on = [libc::EINTR, libc::EAGAIN, libc::EBUSY].map(Some);
        if waited.is_err_and(|error| !goes_on.contains(&error.raw_os_error())) {
            return;
        }
        while ring.completion().next().is_some() {
            *under_way -= 1;
        }
    }
}

/// The most bytes of one registered buffer: io_uring_register(2).
const PIECE_BYTES: usize = 1 << 30;

fn register_memory(ring: &IoUring, memory: &[u8]) -> Result<(), CallError> {
    let buffers: Vec<libc::iovec> = memory
        .chunks(PIECE_BYTES)
        .map(|piece| libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() })
        .collect();
    // SAFETY: the source stays in place for longer than the thread, and so the ring, lives; the thread has the other.
    unsafe { ring.submitter().register_buffers(&buffers) }
        .map_err(|error| CallError::from_io("io_uring_register buffers", &error))
}
