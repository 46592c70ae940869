//! A program of the user's: it writes a file, or copies one, and the time from its start to its end is the sample's.
//! [`crate::program`] starts it; there is no loop of ours.

use std::os::fd::BorrowedFd;

use writebench_model::{Axis, Copying, Cursor, MethodInfo, Prepare, SyncCall};

use super::{Lane, Method, lane_each};
use crate::call::CallError;
use crate::job::Part;
use crate::records::Records;

/// A program that writes data that it has, or makes.
pub(super) static WRITES: Method = Method {
    info: MethodInfo {
        name: "program",
        summary: "a program of your own that writes a file: `run --command 'PROGRAM {file}'`",
        words: "your program",
        calls: "the program's own",
        has_buffer: false,
        cursor: Cursor::Offset,
        copying: None,
        axes: &[&[Axis::Program]],
        // The old file is there before the program starts.
        prepares: &[Prepare::Create, Prepare::Overwrite],
        // The program's promise rather than our call.
        syncs: &[SyncCall::None, SyncCall::Fsync],
        syncs_on_the_way: &[],
        effort: 0,
        fio: Err("it is a program of its own"),
        code: Err("it is a program already"),
        example: &[],
    },
    lanes: |parts| lane_each(parts, |part| NoLane { _part: part }),
};

/// A program that copies a file.
pub(super) static COPIES: Method = Method {
    info: MethodInfo {
        name: "copy-program",
        summary: "a program of your own that copies a file: `run --copies --command 'cp {source} {file}'`",
        copying: Some(Copying::Bytes),
        ..WRITES_INFO
    },
    lanes: |parts| lane_each(parts, |part| NoLane { _part: part }),
};

const WRITES_INFO: MethodInfo = WRITES.info;

/// Programs are started without threads of ours.
struct NoLane<'a> {
    _part: Part<'a>,
}

impl Lane for NoLane<'_> {
    fn write(&mut self, _file: BorrowedFd<'_>, _records: &mut Records) -> Result<(), CallError> {
        Err(CallError::other("program", "it is started, and not called".to_owned()))
    }
}
