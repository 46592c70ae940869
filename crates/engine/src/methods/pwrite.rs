//! `pwrite(2)`: at an offset of its own.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use super::writev::flags;
use super::{IoThread, each_thread};
use crate::call::{CallError, hand_over};
use crate::records::Records;
use crate::region::Region;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_threads<'a>(regions: &[Region<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(regions, |region| PwriteThread { region })
}

struct PwriteThread<'a> {
    region: Region<'a>,
}

impl IoThread for PwriteThread<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let sync = |_, _| sync::sync(file, self.region.axes.sync.call);
        let flags = flags(self.region.axes);
        let mut staging = Staging::for_region(&self.region, 1)?;
        if flags.is_empty() {
            let write = |bytes: &[u8], offset| rustix::io::pwrite(file, bytes, offset);
            let hand_over = |chunk, offset| hand_over("pwrite", staging.staged(chunk), offset, write);
            return records.each(&self.region, hand_over, sync);
        }
        // Only pwritev2 takes flags: readv(2).
        let write = |bytes: &[u8], offset| rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, flags);
        let hand_over = |chunk, offset| hand_over("pwritev2", staging.staged(chunk), offset, write);
        records.each(&self.region, hand_over, sync)
    }
}
