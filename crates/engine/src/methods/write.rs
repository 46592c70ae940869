//! `write(2)`: at the file's own position.

use std::os::fd::BorrowedFd;

use super::{IoThread, each_thread};
use crate::call::{CallError, hand_over};
use crate::records::Records;
use crate::region::Region;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| WriteThread { region })
}

struct WriteThread<'a> {
    region: Region<'a>,
}

impl IoThread for WriteThread<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let call = self.region.axes.sync.call;
        let mut staging = Staging::for_region(&self.region, 1)?;
        let write = |bytes: &[u8], _| rustix::io::write(file, bytes);
        records.each(
            &self.region,
            |chunk, offset| hand_over("write", staging.staged(chunk), offset, write),
            |_, _| sync::sync(file, call),
        )
    }
}
