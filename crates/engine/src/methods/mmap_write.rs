//! `write(2)` from a mapping of the file that is copied.

use std::os::fd::{AsFd, BorrowedFd};

use writebench_model::{Advice, MethodInfo};

use super::copy::{self, Input, move_all};
use super::map::{Access, Map};
use super::{Lane, Method, lane_each};
use crate::call::CallError;
use crate::file;
use crate::job::Part;
use crate::records::Records;

pub(super) static METHOD: Method = Method {
    info: MethodInfo {
        name: "mmap-write",
        summary: "copies a file: mmap(2) of all of it, write(2) from the mapping, a chunk per call",
        words: "mmap(2) of the source, write(2)",
        calls: "mmap, write",
        effort: 4,
        ..copy::INFO
    },
    lanes: |parts| lane_each(parts, |part| MmapWriteLane { part, map: None }),
};

struct MmapWriteLane<'a> {
    part: Part<'a>,
    map: Option<Map>,
}

impl Lane for MmapWriteLane<'_> {
    fn attaches(&self) -> bool {
        true
    }

    fn attach(&mut self, _file: BorrowedFd<'_>) -> Result<(), CallError> {
        let input = Input::open_unadvised(&self.part)?;
        let map = Map::new(input.as_fd(), 0, self.part.range.length, Access::Read)?;
        // The mapping keeps the file open.
        file::close(input)?;
        if self.part.axes.advice == Advice::Sequential {
            map.advise(rustix::mm::Advice::WillNeed)?;
            map.advise(rustix::mm::Advice::Sequential)?;
        }
        self.map = Some(map);
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let Some(map) = &self.map else { return Ok(()) };
        let bytes = map.bytes();
        move_all(&self.part, "write", records, |most, at| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            rustix::io::write(file, &bytes[at..at + most])
        })
    }

    fn detach(&mut self) -> Result<(), CallError> {
        self.map.take().map_or(Ok(()), Map::unmap)
    }
}
