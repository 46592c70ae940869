//! `read(2)` into a mapping of the copy.

use std::os::fd::BorrowedFd;

use writebench_model::SyncCall;

use super::IoThread;
use super::copy::{Input, move_all};
use super::mapped::{self, Mapped, each_mapped_thread};
use crate::call::{CallError, retry};
use crate::job::Part;
use crate::records::Records;

pub(super) fn io_threads<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_mapped_thread(parts, |part, mapped| ReadMmapThread { part, input: Input::default(), mapped })
}

struct ReadMmapThread<'a> {
    part: Part<'a>,
    input: Input,
    mapped: Mapped,
}

impl IoThread for ReadMmapThread<'_> {
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
