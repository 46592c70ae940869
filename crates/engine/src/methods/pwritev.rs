//! `pwritev(2)`: several buffers in one call, at an offset of its own.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use super::writev::{flags, vector, write_vectors};
use super::{IoThread, each_thread};
use crate::call::CallError;
use crate::records::Records;
use crate::region::Region;
use crate::sync;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| PwritevThread { region, vector: vector(&region) })
}

struct PwritevThread<'a> {
    region: Region<'a>,
    vector: Vec<IoSlice<'a>>,
}

impl IoThread for PwritevThread<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let flags = flags(self.region.axes);
        let sync = self.region.axes.sync.call;
        let sync = |_, _| sync::sync(file, sync);
        if flags.is_empty() {
            let write = |vector: &[IoSlice<'_>], offset| rustix::io::pwritev(file, vector, offset);
            write_vectors(&self.region, &mut self.vector, "pwritev", records, write, sync)
        } else {
            let write = |vector: &[IoSlice<'_>], offset| rustix::io::pwritev2(file, vector, offset, flags);
            write_vectors(&self.region, &mut self.vector, "pwritev2", records, write, sync)
        }
    }
}
