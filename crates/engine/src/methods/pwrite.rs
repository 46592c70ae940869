//! `pwrite(2)`: at an offset of its own.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use super::writev::flags;
use super::{IoThread, each_thread};
use crate::call::{CallError, hand_over};
use crate::job::Part;
use crate::records::Records;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_threads<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(parts, |part| PwriteThread { part })
}

struct PwriteThread<'a> {
    part: Part<'a>,
}

impl IoThread for PwriteThread<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let sync = |_, _| sync::sync(file, self.part.axes.sync.call);
        let flags = flags(self.part.axes);
        let mut staging = Staging::of(&self.part, 1)?;
        if flags.is_empty() {
            let write = |bytes: &[u8], offset| rustix::io::pwrite(file, bytes, offset);
            let hand_over = |chunk, offset| hand_over("pwrite", staging.staged(chunk), offset, write);
            return records.each(&self.part, hand_over, sync);
        }
        // Only pwritev2 takes flags: readv(2).
        let write = |bytes: &[u8], offset| rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, flags);
        let hand_over = |chunk, offset| hand_over("pwritev2", staging.staged(chunk), offset, write);
        records.each(&self.part, hand_over, sync)
    }
}
