//! `read(2)` into a mapping of the copy.

use std::os::fd::BorrowedFd;

use writebench_model::{Axis, Cursor, Family, MethodInfo, SyncCall};

use super::copy::{self, Input, move_all};
use super::mapped::{self, Mapped, lane_each_mapped};
use super::{Lane, Method, SYNCS_OF_MAPS};
use crate::call::{CallError, retry};
use crate::job::Part;
use crate::records::Records;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "read-mmap",
        summary: "copies a file: mmap(2) of the copy, read(2) into the mapping, a chunk per call",
        words: "read(2) into mmap(2) of the copy",
        calls: "mmap, madvise, read, msync, munmap",
        cursor: Cursor::Mapping,
        axes: &[copy::COPYING, &[Axis::Map, Axis::Populate, Axis::Huge, Axis::Window]],
        prepares: mapped::PREPARES,
        syncs: SYNCS_OF_MAPS,
        effort: 4,
        code: Ok(Family::CopyMap),
        ..copy::INFO
    },
    lanes: |parts| {
        lane_each_mapped(parts, |part, mapped| ReadMmapLane { part, input: Input::default(), mapped })
    },
};

struct ReadMmapLane<'a> {
    part: Part<'a>,
    input: Input,
    mapped: Mapped,
}

impl Lane for ReadMmapLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.input.open(&self.part)?;
        self.mapped.attach(&self.part, file)
    }

    fn write(&mut self, _file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let input = self.input.file()?;
        let (part, map) = (&self.part, self.mapped.map()?);
        let mut prepared = 0;
        move_all(part, "read", records, |most, at| {
            mapped::prepare_from(part, map, at, &mut prepared)?;
            retry("read", || map.read_into(input, part.file_offset + at, most))
        })
    }

    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<(), CallError> {
        self.mapped.sync(file, call)
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.input.close()?;
        self.mapped.detach()
    }
}
