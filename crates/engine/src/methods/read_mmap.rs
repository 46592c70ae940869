//! `read(2)` into a mapping of the copy.

use std::os::fd::BorrowedFd;

use writebench_model::SyncCall;

use super::IoThread;
use super::copy::{Input, move_all};
use super::mapped::{self, Mapped, each_mapped_thread};
use crate::call::{CallError, retry};
use crate::records::Records;
use crate::region::Region;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_mapped_thread(regions, |region, mapped| ReadMmapThread { region, input: Input::default(), mapped })
}

struct ReadMmapThread<'a> {
    region: Region<'a>,
    input: Input,
    mapped: Mapped,
}

impl IoThread for ReadMmapThread<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<(), CallError> {
        self.input.open(&self.region)?;
        self.mapped.attach(&self.region, file)
    }

    fn write(&mut self, _file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let input = self.input.file()?;
        let (region, map) = (&self.region, self.mapped.map()?);
        let mut prepared = 0;
        move_all(region, "read", records, |most, at| {
            mapped::prepare_from(region, map, at, &mut prepared)?;
            retry("read", || map.read_into(input, region.file_offset + at, most))
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
