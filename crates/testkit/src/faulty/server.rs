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
    pub(super) course: Course,
    pub(super) directory_sync_error: Option<Errno>,
    /// Never answered.
    pub(super) held: Vec<Box<dyn Any + Send>>,
}

#[derive(Debug, Default)]
pub(super) struct Course {
    script: Vec<Fault>,
    // Past pairs of file and line.
    done: Vec<(usize, usize)>,
    files: usize,
    pub(super) operations: Vec<Operation>,
    // Per file and kind. None stands for all.
    counts: HashMap<(Option<usize>, Option<Call>), usize>,
}

impl Course {
    pub(super) fn follow(&mut self, script: &[Fault]) {
        *self = Self {
            script: script.to_vec(),
            ..Self::default()
        };
    }

    /// The kernel repeats the request after ESTALE, and the program may after EINTR.
    pub(super) fn begin_file(&mut self) -> usize {
        let is_repeated = self.operations.last().is_some_and(|operation| {
            let again = [Errno::STALE, Errno::INTR].map(|errno| Some(What::Fail(errno)));
            operation.call == Call::Create && again.contains(&operation.fault)
        });
        if !is_repeated {
            self.files += 1;
        }
        self.files - 1
    }

    fn meet(&mut self, file: usize, call: Call, offset: Option<u64>, length: u64) -> Option<What> {
        let kinds = [
            (Some(file), None),
            (Some(file), Some(call)),
            (None, Some(call)),
        ];
        let [number, of_kind @ ..] = kinds.map(|kind| {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            *count
        });
        let mut operation = Operation {
            file,
            number,
            call,
            offset,
            fault: None,
        };
        let is_due = |(line, fault): &(usize, &Fault)| {
            fault.is_due(&operation, length, of_kind) && !self.done.contains(&(file, *line))
        };
        if let Some((line, Fault { when, what })) = self.script.iter().enumerate().find(is_due) {
            if !matches!(when, When::Each(_) | When::Every(..)) {
                self.done.push((file, line));
            }
            operation.fault = Some(*what);
        }
        let fault = operation.fault;
        // A test that sees a hanging operation may release it, so its reply must be held by then.
        operation.fault = fault.filter(|what| *what != What::Hang);
        self.operations.push(operation);
        fault
    }
}

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
    /// A file with that name, or a temporary name made from it.
    pub(super) fn watches(&self, name: &OsStr) -> bool {
        let rest = name.as_bytes().strip_prefix(self.watched_name.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
    }

    pub(super) fn watched(&self, number: INodeNo) -> Option<usize> {
        self.shared.lock().tree.node(number).ok()?.watched
    }

    /// Does the work unless the script has a fault for the operation. `file` is none if no script applies.
    pub(super) fn serve<T, R: Reply>(
        &self,
        (file, call): (Option<usize>, Call),
        range: Option<(u64, u64)>,
        reply: R,
        work: impl FnOnce(&mut Tree, Option<What>) -> Result<T, Errno>,
        accept: impl FnOnce(R, T),
    ) {
        let (offset, length) = (
            range.map(|(offset, _)| offset),
            range.map_or(0, |(_, length)| length),
        );
        let (number, what) = {
            let course = &mut self.shared.lock().course;
            (
                course.operations.len(),
                file.and_then(|file| course.meet(file, call, offset, length)),
            )
        };
        match what {
            Some(What::Fail(errno)) => reply.refuse(errno),
            Some(What::Hang) => {
                let mut state = self.shared.lock();
                // Dropping the reply would answer the request.
                state.held.push(Box::new(reply));
                // A new script forgets the operations of the one before.
                if let Some(operation) = state.course.operations.get_mut(number) {
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
}

pub(super) fn answer<T, R: Reply>(reply: R, done: Result<T, Errno>, accept: impl FnOnce(R, T)) {
    match done {
        Ok(value) => accept(reply, value),
        Err(errno) => reply.refuse(errno),
    }
}
