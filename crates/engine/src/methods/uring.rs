//! `io_uring`: several writes in flight.
#![expect(
    unsafe_code,
    reason = "the kernel reads the queue's memory after the call"
)]

mod queue;

use std::io::Write as _;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use rustix::io::Errno;
use writebench_model::Registered;

use self::queue::Queue;
use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{Call, CallError};
use crate::region::to_usize;
use crate::staging::Staging;

/// EPERM if the kernel or a sandbox forbids io_uring: io_uring_setup(2).
pub(super) const IO_URING_SETUP: Call = Call {
    name: "io_uring_setup",
    lacks: &[Errno::PERM],
    advice: &[(
        Errno::PERM,
        "in a container, its seccomp profile blocks io_uring. Elsewhere see kernel.io_uring_disabled and kernel.io_uring_group",
    )],
};

/// EINVAL from a kernel before 5.19, and EMFILE above the limit on open files: io_uring_register(2).
const REGISTER_SLOTS: Call = Call {
    name: "io_uring_register files",
    lacks: &[Errno::INVAL],
    advice: &[(Errno::MFILE, "choose a smaller depth, or see ulimit -n")],
};

/// The most bytes of one operation: write(2). The kernel cuts a longer operation silently, and would run a linked one
/// before the rest is moved.
pub(super) const MOST_BYTES: usize = 0x7fff_f000;

/// The most bytes of one registered buffer: io_uring_register(2).
pub(super) const PIECE_BYTES: usize = 1 << 30;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    UringThread {
        region,
        ring: None,
        staging: None,
    }
}

struct UringThread<'a> {
    region: Region<'a>,
    ring: Option<RegisteredRing>,
    // Dropped after the ring, which may have it registered.
    staging: Option<Staging>,
}

impl IoThread for UringThread<'_> {
    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<()> {
        let choices = self.region.choices;
        // A linked sync may follow each chunk in flight.
        let ring = self.ring.insert(RegisteredRing::new(choices.depth * 2)?);
        let staging = self
            .staging
            .insert(Staging::for_region(&self.region, choices.depth.into())?);
        let memory = staging
            .buffer()
            .map_or(self.region.memory(), |buffer| buffer);
        // SAFETY: the region's data outlives the thread, which drops the ring before its staging.
        unsafe {
            ring.register(
                choices.registered,
                &[file.as_raw_fd()],
                memory.chunks(PIECE_BYTES),
            )
        }
    }

    fn write(&mut self, file: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let staging = self.staging.as_mut().and_then(Staging::buffer);
        Queue::new(self.region, file, &mut ring.ring, staging).run(write_loop)
    }

    fn detach(&mut self) -> Result<()> {
        self.ring.take().map_or(Ok(()), RegisteredRing::unregister)
    }
}

pub(super) struct RegisteredRing {
    pub ring: IoUring,
    has_files: bool,
    has_buffers: bool,
}

impl RegisteredRing {
    /// A ring for so many operations, with nothing registered.
    pub(super) fn new(operations: u32) -> Result<Self> {
        let ring = IoUring::new(operations).map_err(failed(IO_URING_SETUP))?;
        Ok(Self {
            ring,
            has_files: false,
            has_buffers: false,
        })
    }

    /// Registers empty slots for files that the ring opens itself.
    pub(super) fn register_slots(&mut self, count: u32) -> Result<()> {
        self.ring
            .submitter()
            .register_files_sparse(count)
            .map_err(failed(REGISTER_SLOTS))?;
        self.has_files = true;
        Ok(())
    }

    /// # Safety
    /// The memory stays in place until [`RegisteredRing::unregister`], or until the ring is dropped.
    pub(super) unsafe fn register<'m>(
        &mut self,
        registered: Registered,
        files: &[RawFd],
        memory: impl Iterator<Item = &'m [u8]>,
    ) -> Result<()> {
        let buffers: Vec<libc::iovec> = memory
            .map(|bytes| libc::iovec {
                iov_base: bytes.as_ptr().cast_mut().cast(),
                iov_len: bytes.len(),
            })
            .collect();
        let submitter = self.ring.submitter();
        if has_buffers(registered) && !buffers.is_empty() {
            // SAFETY: as the caller promises.
            unsafe { submitter.register_buffers(&buffers) }
                .map_err(failed("io_uring_register buffers"))?;
            self.has_buffers = true;
        }
        if has_files(registered) {
            submitter
                .register_files(files)
                .map_err(failed("io_uring_register files"))?;
            self.has_files = true;
        }
        Ok(())
    }

    /// The kernel tears a ring down some time after it is closed, and would hold the file and the pages until
    /// then, outside every phase.
    pub(super) fn unregister(self) -> Result<()> {
        let submitter = self.ring.submitter();
        if self.has_files {
            submitter
                .unregister_files()
                .map_err(failed("io_uring_register unregister files"))?;
        }
        if self.has_buffers {
            submitter
                .unregister_buffers()
                .map_err(failed("io_uring_register unregister buffers"))?;
        }
        Ok(())
    }
}

fn has_files(registered: Registered) -> bool {
    matches!(registered, Registered::Files | Registered::Both)
}

pub(super) fn has_buffers(registered: Registered) -> bool {
    matches!(registered, Registered::Buffers | Registered::Both)
}

pub(super) fn entry_file(registered: Registered, descriptor: RawFd, index: i32) -> (Fd, Flags) {
    if has_files(registered) {
        (Fd(index), Flags::FIXED_FILE)
    } else {
        (Fd(descriptor), Flags::empty())
    }
}

/// A write of the bytes, or of as many as one operation takes, with their number. `at` is their place in the
/// registered memory.
pub(super) fn write_entry(
    bytes: &[u8],
    at: usize,
    registered: Registered,
    (file, file_flags): (Fd, Flags),
    (offset, write_flags): (u64, i32),
) -> (Entry, usize) {
    // A write may not cross the border of a registered buffer.
    let most = if has_buffers(registered) {
        PIECE_BYTES - at % PIECE_BYTES
    } else {
        MOST_BYTES
    };
    let bytes = &bytes[..bytes.len().min(most)];
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let entry = if has_buffers(registered) {
        let buffer = u16::try_from(at / PIECE_BYTES).unwrap_or(u16::MAX);
        opcode::WriteFixed::new(file, bytes.as_ptr(), length, buffer)
            .offset(offset)
            .rw_flags(write_flags)
            .build()
    } else {
        opcode::Write::new(file, bytes.as_ptr(), length)
            .offset(offset)
            .rw_flags(write_flags)
            .build()
    };
    (entry.flags(file_flags), bytes.len())
}

/// Whether the operation did nothing, and succeeds later.
pub(super) fn must_be_repeated(result: i32) -> bool {
    matches!(-result, libc::EINTR | libc::EAGAIN)
}

/// What the queues need of a ring, so that tests need no kernel with io_uring.
pub(super) trait Ring {
    /// Pushes all operations, or none and returns false if there is no room.
    ///
    /// # Safety
    /// Their memory and their files must outlive them.
    unsafe fn push(&mut self, entries: &[Entry]) -> bool;
    /// Submits the pushed operations and waits for so many completions. Returns whether the kernel has taken
    /// operations. After an error it has taken none.
    fn submit(&mut self, wanted: usize) -> Result<bool>;
    /// The user data and the result of the next completion.
    fn completed(&mut self) -> Option<(u64, i32)>;
}

impl Ring for IoUring {
    unsafe fn push(&mut self, entries: &[Entry]) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.submission().push_multiple(entries) }.is_ok()
    }

    fn submit(&mut self, wanted: usize) -> Result<bool> {
        loop {
            match self.submit_and_wait(wanted) {
                Ok(taken) => return Ok(taken > 0),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                // Its completions must be taken first: io_uring_enter(2).
                Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => {
                    return Ok(false);
                }
                Err(error) => return Err(failed("io_uring_enter")(error)),
            }
        }
    }

    fn completed(&mut self) -> Option<(u64, i32)> {
        self.completion()
            .next()
            .map(|entry| (entry.user_data(), entry.result()))
    }
}

/// The kernel uses the files and the memory of an operation until its completion, however this process fails. So
/// a drop waits for all that the kernel has taken, also after errors, and rather ends the process than give back
/// memory that is in use. Operations that the kernel has not taken stay in the ring, which must not be submitted
/// again.
pub(super) struct Operations<'q, R: Ring> {
    ring: &'q mut R,
    /// The operations without a completion.
    in_flight: usize,
    /// Those of them that the kernel has not taken.
    unsubmitted: usize,
}

/// A completion's user data has the kind of its operation in the low bits.
const KINDS: u64 = 8;

pub(super) fn user_data(slot: usize, kind: u64) -> u64 {
    slot as u64 * KINDS + kind
}

impl<'q, R: Ring> Operations<'q, R> {
    pub(super) fn new(ring: &'q mut R) -> Self {
        Self {
            ring,
            in_flight: 0,
            unsubmitted: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_flight == 0
    }

    /// A submission does not cut a link between the operations.
    ///
    /// # Safety
    /// Their memory and their files must outlive this.
    pub(super) unsafe fn push(&mut self, entries: &[Entry]) -> Result<()> {
        // SAFETY: as the caller promises.
        while !unsafe { self.ring.push(entries) } {
            self.submit()?;
        }
        self.in_flight += entries.len();
        self.unsubmitted += entries.len();
        Ok(())
    }

    /// Each operation begins after the success of the one before. There is one completion, of the last or of a
    /// failed one.
    ///
    /// # Safety
    /// Their memory and their files must outlive this.
    pub(super) unsafe fn push_chain(&mut self, entries: &mut [Entry]) -> Result<()> {
        if let Some((_, before)) = entries.split_last_mut() {
            for entry in before {
                *entry = entry.clone().flags(Flags::IO_LINK | Flags::SKIP_SUCCESS);
            }
        }
        // SAFETY: as the caller promises.
        unsafe { self.push(entries) }?;
        let without_completion = entries.len().saturating_sub(1);
        self.in_flight -= without_completion;
        self.unsubmitted -= without_completion;
        Ok(())
    }

    pub(super) fn submit(&mut self) -> Result<()> {
        self.submit_and_wait_for(0)
    }

    /// Waits for a completion if an operation is in flight.
    pub(super) fn wait(&mut self) -> Result<()> {
        self.submit_and_wait_for(usize::from(self.in_flight > 0))
    }

    /// Waits for all operations in flight, by one call.
    pub(super) fn wait_for_all(&mut self) -> Result<()> {
        self.submit_and_wait_for(self.in_flight)
    }

    fn submit_and_wait_for(&mut self, wanted: usize) -> Result<()> {
        if self.ring.submit(wanted)? {
            // The kernel may have taken only some, but none of them is certainly unused.
            self.unsubmitted = 0;
        }
        Ok(())
    }

    pub(super) fn completed(&mut self) -> Option<(usize, u64, i32)> {
        let (user_data, result) = self.ring.completed()?;
        self.in_flight -= 1;
        Some((to_usize(user_data / KINDS), user_data % KINDS, result))
    }
}

impl<R: Ring> Operations<'_, R> {
    fn take_completions(&mut self) {
        while self.completed().is_some() {}
    }

    /// Completions also arrive in the ring's memory, without io_uring_enter(2).
    fn wait_without_calls(&mut self, error: CallError) {
        let start = Instant::now();
        while self.in_flight > self.unsubmitted {
            if start.elapsed() >= MOST_WAIT {
                let count = self.in_flight - self.unsubmitted;
                let reason = error.reason();
                // The worker's last line is the reason of its end.
                let _ = writeln!(
                    std::io::stderr(),
                    "{reason}, and {count} operations still use its memory"
                );
                std::process::abort();
            }
            std::thread::sleep(INSPECTION_INTERVAL);
            self.take_completions();
        }
    }
}

/// How long to wait for a device that has answered the calls before.
const MOST_WAIT: Duration = Duration::from_secs(10);
const INSPECTION_INTERVAL: Duration = Duration::from_millis(1);

impl<R: Ring> Drop for Operations<'_, R> {
    fn drop(&mut self) {
        self.take_completions();
        while self.in_flight > 0 {
            let waited = self.wait();
            self.take_completions();
            if let Err(error) = waited {
                return self.wait_without_calls(error);
            }
        }
    }
}

fn failed(call: impl Into<Call>) -> impl FnOnce(std::io::Error) -> CallError {
    move |error| CallError::from_io(call, &error)
}

pub(super) fn operation_failed(call: &'static str, result: i32) -> CallError {
    CallError::new(call, Errno::from_raw_os_error(-result))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use io_uring::opcode::Nop;

    use super::*;

    #[derive(Default)]
    struct Narrow {
        queued: Vec<u64>,
        submissions: Vec<Vec<u64>>,
        completions: VecDeque<u64>,
    }

    impl Ring for Narrow {
        unsafe fn push(&mut self, entries: &[Entry]) -> bool {
            let has_room = self.queued.len() + entries.len() <= 2;
            if has_room {
                self.queued.extend(entries.iter().map(Entry::get_user_data));
            }
            has_room
        }

        fn submit(&mut self, _: usize) -> Result<bool> {
            self.completions.extend(&self.queued);
            self.submissions.push(std::mem::take(&mut self.queued));
            Ok(!self.submissions.last().is_none_or(Vec::is_empty))
        }

        fn completed(&mut self) -> Option<(u64, i32)> {
            Some((self.completions.pop_front()?, 0))
        }
    }

    fn entries(numbers: &[u64]) -> Vec<Entry> {
        numbers
            .iter()
            .map(|&number| Nop::new().build().user_data(number))
            .collect()
    }

    #[test]
    fn linked_operations_are_submitted_together_and_all_are_awaited() {
        let mut ring = Narrow::default();
        let mut operations = Operations::new(&mut ring);
        for numbers in [&[1][..], &[2, 3], &[4, 5]] {
            // SAFETY: a Nop has neither memory nor a file.
            unsafe { operations.push(&entries(numbers)) }.unwrap();
        }
        assert_eq!(operations.completed(), Some((0, 1, 0)));
        drop(operations);
        assert_eq!(ring.submissions, [vec![1], vec![2, 3], vec![4, 5]]);
        assert!(
            ring.completions.is_empty(),
            "dropping the operations takes every completion"
        );
    }

    /// Takes operations until it fails, as a sandbox may after some calls. Completions arrive some time later.
    struct Failing {
        queued: usize,
        in_use: usize,
        calls_left: usize,
        inspections: usize,
    }

    impl Failing {
        const SLOW: usize = 5;

        fn after(calls: usize) -> Self {
            Self {
                queued: 0,
                in_use: 0,
                calls_left: calls,
                inspections: 0,
            }
        }
    }

    impl Ring for Failing {
        unsafe fn push(&mut self, entries: &[Entry]) -> bool {
            self.queued += entries.len();
            true
        }

        fn submit(&mut self, _: usize) -> Result<bool> {
            if self.calls_left == 0 {
                return Err(CallError::new("io_uring_enter", Errno::NXIO));
            }
            self.calls_left -= 1;
            self.in_use += std::mem::take(&mut self.queued);
            Ok(true)
        }

        fn completed(&mut self) -> Option<(u64, i32)> {
            self.inspections += 1;
            if self.in_use == 0 || !self.inspections.is_multiple_of(Self::SLOW) {
                return None;
            }
            self.in_use -= 1;
            Some((0, 0))
        }
    }

    #[test]
    fn no_operation_is_left_to_the_kernel_after_an_unusual_error() {
        for calls in 0..3 {
            let mut ring = Failing::after(calls);
            let mut operations = Operations::new(&mut ring);
            for round in 0..3 {
                for number in 0..2 {
                    // SAFETY: a Nop has neither memory nor a file.
                    unsafe { operations.push(&entries(&[number])) }.unwrap();
                }
                assert_eq!(operations.submit().is_ok(), round < calls);
            }
            drop(operations);
            assert_eq!(
                ring.in_use, 0,
                "the memory of these operations would be given back after {calls} calls"
            );
            assert_eq!(
                ring.queued,
                6 - 2 * calls,
                "the kernel does not use what it has not taken"
            );
        }
    }
}
