//! io_uring: operations are queued, and several are under way at the same time.
#![expect(unsafe_code, reason = "the kernel reads memory that the queue refers to after the call")]

mod queue;

use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::IoUring;
use rustix::io::Errno;
use writebench_model::{Axis, Cursor, MethodInfo, Prepare, Registered};

use self::queue::Queue;
use super::{Lane, Method, SYNCS_ON_THE_WAY, SYNCS_WITH_FLAGS, lane_each};
use crate::call::{CallError, IO_URING_SETUP};
use crate::job::Part;
use crate::records::Records;

static INFO: MethodInfo = MethodInfo {
    name: "uring",
    summary: "io_uring writes at an offset, one per chunk, several under way; sync=CALL/1 links a sync to each",
    calls: "io_uring_setup, io_uring_register, io_uring_enter",
    has_buffer: false,
    cursor: Cursor::Offset,
    axes: &[
        Axis::Chunk,
        Axis::Depth,
        Axis::Registered,
        Axis::Threads,
        Axis::Files,
        Axis::Descriptor,
        Axis::Cache,
        Axis::Data,
        Axis::Source,
        Axis::Alignment,
    ],
    prepares: Prepare::ALL,
    syncs: SYNCS_WITH_FLAGS,
    syncs_on_the_way: SYNCS_ON_THE_WAY,
};

pub(super) struct Uring;

impl Method for Uring {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn lanes<'a>(&self, parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
        lane_each(parts, |part| UringLane { part, ring: None })
    }
}

struct UringLane<'a> {
    part: Part<'a>,
    ring: Option<IoUring>,
}

impl Lane for UringLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        let axes = self.part.axes;
        // A write may have a sync linked to it.
        let ring = IoUring::new(axes.depth * 2).map_err(|error| failed(IO_URING_SETUP, &error))?;
        if matches!(axes.registered, Registered::Buffers | Registered::Both) && !self.part.memory().is_empty() {
            register_memory(&ring, self.part.memory())?;
        }
        if matches!(axes.registered, Registered::Files | Registered::Both) {
            let registered = ring.submitter().register_files(&[file.as_raw_fd()]);
            registered.map_err(|error| failed("io_uring_register files", &error))?;
        }
        self.ring = Some(ring);
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let mut queue = Queue::new(self.part, file, ring);
        let result = queue.run(records);
        if result.is_err() {
            // Nothing may be under way when the file is closed and the memory given to others.
            queue.drain();
        }
        result
    }

    fn detach(&mut self) -> Result<(), CallError> {
        let Some(ring) = self.ring.take() else { return Ok(()) };
        // The kernel takes a ring apart some time after it was closed; until then it would hold on to the file.
        match self.part.axes.registered {
            Registered::Files | Registered::Both => ring
                .submitter()
                .unregister_files()
                .map_err(|error| failed("io_uring_register unregister files", &error)),
            _ => Ok(()),
        }
    }
}

/// What the kernel takes in one registered buffer: io_uring_register(2).
const PIECE_BYTES: usize = 1 << 30;

fn register_memory(ring: &IoUring, memory: &[u8]) -> Result<(), CallError> {
    let buffers: Vec<libc::iovec> = memory
        .chunks(PIECE_BYTES)
        .map(|piece| libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() })
        .collect();
    // SAFETY: the source stays where it is for longer than the lane, and the ring, live.
    unsafe { ring.submitter().register_buffers(&buffers) }
        .map_err(|error| failed("io_uring_register buffers", &error))
}

fn failed(call: &'static str, error: &std::io::Error) -> CallError {
    CallError::new(call, Errno::from_io_error(error).unwrap_or(Errno::IO))
}
