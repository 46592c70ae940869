//! The state of the filesystem, and the refusals.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fuser::{
    INodeNo, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite,
};
use rustix::io::Errno;

use super::Caching;
use super::script::{Call, Fault, Operation, What, When};
use super::tree::Tree;

/// The state, shared by the test and the server's threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared(Arc<Mutex<State>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files, the script, and the operations so far.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tree: Tree,
    script: Vec<Fault>,
    // The pairs of file and line that have happened.
    done: Vec<(usize, usize)>,
    files: usize,
    operations: Vec<Operation>,
    // The number of operations on each file, of each kind on each file, and of each kind.
    of_file: HashMap<usize, usize>,
    of_kind_in_file: HashMap<(usize, Call), usize>,
    of_kind: HashMap<Call, usize>,
    // Requests that are never answered.
    held: Vec<Box<dyn Any + Send>>,
}

impl State {
    pub(super) fn follow(&mut self, script: &[Fault]) {
        self.script = script.to_vec();
        self.done.clear();
        self.operations.clear();
        self.of_file.clear();
        self.of_kind_in_file.clear();
        self.of_kind.clear();
        self.files = 0;
    }

    pub(super) fn operations(&self) -> Vec<Operation> {
        self.operations.clone()
    }

    pub(super) fn release(&mut self) {
        self.held.clear();
    }

    /// Starts another watched file. After ESTALE the kernel repeats the same request, and after EINTR the
    /// program may.
    pub(super) fn begin_file(&mut self) -> usize {
        let asked_again = self.operations.last().is_some_and(|it| {
            let again = [Errno::STALE, Errno::INTR].map(|errno| Some(What::Fail(errno)));
            it.call == Call::Create && again.contains(&it.fault)
        });
        if !asked_again {
            self.files += 1;
        }
        self.files - 1
    }

    /// Records an operation; returns its fault.
    fn meet(&mut self, file: usize, call: Call, offset: Option<u64>, length: u64) -> Option<What> {
        let counts = [
            self.of_file.entry(file).or_default(),
            self.of_kind_in_file.entry((file, call)).or_default(),
            self.of_kind.entry(call).or_default(),
        ];
        let [number, of_kind @ ..] = counts.map(|count| {
            *count += 1;
            *count
        });
        let mut operation = Operation { file, number, call, offset, fault: None };
        let is_due = |line: &usize| {
            self.script[*line].is_due(&operation, length, of_kind) && !self.done.contains(&(file, *line))
        };
        if let Some(line) = (0..self.script.len()).find(is_due) {
            if !matches!(self.script[line].when, When::Each(_) | When::Every(..)) {
                self.done.push((file, line));
            }
            operation.fault = Some(self.script[line].what);
        }
        self.operations.push(operation);
        operation.fault
    }
}

/// An answer that can be an error.
pub(super) trait Refuse: Send + 'static {
    /// Answers with that error.
    fn refuse(self, errno: Errno);
}

macro_rules! refuse {
    ($($reply:ty),*) => {
        $(impl Refuse for $reply {
            fn refuse(self, errno: Errno) {
                self.error(fuser::Errno::from_i32(errno.raw_os_error()));
            }
        })*
    };
}
refuse!(ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite);

/// Serves the kernel's requests.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) watched_name: OsString,
    pub(super) caching: Caching,
    pub(super) shared: Shared,
}

impl Server {
    pub(super) fn new(watched_name: &str, caching: Caching, shared: Shared) -> Self {
        Self { watched_name: watched_name.into(), caching, shared }
    }

    /// The watched file with that node number.
    pub(super) fn watched(&self, number: INodeNo) -> Option<usize> {
        self.shared.lock().tree.node(number).ok()?.watched
    }

    /// Admits an operation, with its reply and fault, unless the script makes it fail or hang.
    pub(super) fn admit<R: Refuse>(
        &self,
        file: Option<usize>,
        call: Call,
        range: Option<(u64, u64)>,
        reply: R,
    ) -> Option<(R, Option<What>)> {
        let Some(file) = file else { return Some((reply, None)) };
        let (offset, length) = (range.map(|(offset, _)| offset), range.map_or(0, |(_, length)| length));
        let mut state = self.shared.lock();
        match state.meet(file, call, offset, length) {
            Some(What::Fail(errno)) => reply.refuse(errno),
            // Dropping the reply would answer the request.
            Some(What::Hang) => state.held.push(Box::new(reply)),
            Some(What::Delay(time)) => {
                drop(state);
                std::thread::sleep(time);
                return Some((reply, None));
            }
            what => return Some((reply, what)),
        }
        None
    }
}
