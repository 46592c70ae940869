//! `read(2)` into a mapping of the copy.

use std::os::fd::BorrowedFd;

use writebench_model::SyncCall;

use super::Lane;
use super::copy::{Input, move_all};
use super::mapped::{self, Mapped, lane_each_mapped};
use crate::call::{CallError, retry};
use crate::job::Part;
use crate::records::Records;

pub(super) fn lanes<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn Lane + 'a>> {
    lane_each_mapped(parts, |part, mapped| ReadMmapLane { part, input: Input::default(), mapped })
}

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
