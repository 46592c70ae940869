//! The state of the filesystem, and the order in which the script and the requests meet.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fuser::{
    INodeNo, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite,
};
use rustix::io::Errno;

use super::Caching;
use super::script::{Call, Fault, Operation, What, When};
use super::tree::Tree;

/// The state that the threads of the server and the test share.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared(Arc<Mutex<State>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) progress: Progress,
    pub(super) directory_sync_error: Option<Errno>,
    /// The replies of hanging requests, which are never answered.
    pub(super) held: Vec<Box<dyn Any + Send>>,
}

/// How far the script has been followed.
#[derive(Debug, Default)]
pub(super) struct Progress {
    script: Vec<Fault>,
    // The pairs of a file and a line of the script that have met.
    done: Vec<(usize, usize)>,
    files: usize,
    pub(super) operations: Vec<Operation>,
    // The number of operations per file and kind, where `None` stands for all.
    counts: HashMap<(Option<usize>, Option<Call>), usize>,
}

impl Progress {
    pub(super) fn follow(&mut self, script: &[Fault]) {
        *self = Self {
            script: script.to_vec(),
            ..Self::default()
        };
    }

    /// The number of a file that is created. The kernel repeats the request after ESTALE, and the program may after
    /// EINTR.
    pub(super) fn begin_file(&mut self) -> usize {
        let is_repeated = self.operations.last().is_some_and(|operation| {
            operation.call == Call::Create
                && matches!(
                    operation.fault,
                    Some(What::Fail(Errno::STALE | Errno::INTR))
                )
        });
        if !is_repeated {
            self.files += 1;
        }
        self.files - 1
    }

    /// Records an operation, and returns the fault that it meets.
    fn meet(&mut self, file: usize, call: Call, offset: Option<u64>, length: u64) -> Option<What> {
        let number = self.count(Some(file), None);
        let of_kind = [
            self.count(Some(file), Some(call)),
            self.count(None, Some(call)),
        ];
        let mut operation = Operation {
            file,
            number,
            call,
            offset,
            fault: None,
        };
        let fault = self.take_fault(&operation, length, of_kind);
        // A test that sees a hanging operation may release it, so its reply must be held by then.
        operation.fault = fault.filter(|what| *what != What::Hang);
        self.operations.push(operation);
        fault
    }

    fn count(&mut self, file: Option<usize>, call: Option<Call>) -> usize {
        let count = self.counts.entry((file, call)).or_default();
        *count += 1;
        *count
    }

    /// The first fault of the script that is due and has not yet met the file.
    fn take_fault(
        &mut self,
        operation: &Operation,
        length: u64,
        of_kind: [usize; 2],
    ) -> Option<What> {
        let (line, Fault { when, what }) =
            self.script.iter().enumerate().find(|(line, fault)| {
                fault.is_due(operation, length, of_kind)
                    && !self.done.contains(&(operation.file, *line))
            })?;
        if !matches!(when, When::Each(_) | When::Every(..)) {
            self.done.push((operation.file, line));
        }
        Some(*what)
    }
}

/// The reply to a request.
pub(super) trait Reply: Send + 'static {
    fn refuse(self, errno: Errno);
}

macro_rules! replies {
    ($($reply:ty),*) => {
        $(impl Reply for $reply {
            fn refuse(self, errno: Errno) {
                self.error(fuser::Errno::from_i32(errno.raw_os_error()));
            }
        })*
    };
}
replies!(
    ReplyAttr,
    ReplyCreate,
    ReplyData,
    ReplyDirectory,
    ReplyEmpty,
    ReplyEntry,
    ReplyOpen,
    ReplyWrite
);

#[derive(Debug)]
pub(super) struct Server {
    pub(super) watched_name: OsString,
    pub(super) caching: Caching,
    pub(super) shared: Shared,
}

impl Server {
    /// Whether a file has the watched name, or a temporary name made from it.
    pub(super) fn watches(&self, name: &OsStr) -> bool {
        let rest = name.as_bytes().strip_prefix(self.watched_name.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
    }

    /// The number of a watched file.
    pub(super) fn watched(&self, number: INodeNo) -> Option<usize> {
        self.shared.lock().tree.node(number).ok()?.watched
    }

    /// Does the work, unless the script has a fault for the operation. No script applies if `file` is `None`.
    pub(super) fn serve<T, R: Reply>(
        &self,
        (file, call): (Option<usize>, Call),
        range: Option<(u64, u64)>,
        reply: R,
        work: impl FnOnce(&mut Tree, Option<What>) -> Result<T, Errno>,
        accept: impl FnOnce(R, T),
    ) {
        let (index, what) = self.meet(file, call, range);
        match what {
            Some(What::Fail(errno)) => reply.refuse(errno),
            Some(What::Hang) => {
                let mut state = self.shared.lock();
                // Dropping the reply would answer the request.
                state.held.push(Box::new(reply));
                // A new script forgets the operations of the one before.
                if let Some(operation) = state.progress.operations.get_mut(index) {
                    operation.fault = Some(What::Hang);
                }
            }
            _ => {
                if let Some(What::Delay(time)) = what {
                    std::thread::sleep(time);
                }
                let done = work(&mut self.shared.lock().tree, what);
                answer(reply, done, accept);
            }
        }
    }

    /// The index of an operation among those of watched files, and the fault that it meets.
    fn meet(
        &self,
        file: Option<usize>,
        call: Call,
        range: Option<(u64, u64)>,
    ) -> (usize, Option<What>) {
        let offset = range.map(|(offset, _)| offset);
        let length = range.map_or(0, |(_, length)| length);
        let progress = &mut self.shared.lock().progress;
        let index = progress.operations.len();
        let what = file.and_then(|file| progress.meet(file, call, offset, length));
        (index, what)
    }
}

/// Replies with the value or the error.
pub(super) fn answer<T, R: Reply>(reply: R, done: Result<T, Errno>, accept: impl FnOnce(R, T)) {
    match done {
        Ok(value) => accept(reply, value),
        Err(errno) => reply.refuse(errno),
    }
}
