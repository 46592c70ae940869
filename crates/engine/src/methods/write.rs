//! `write(2)`: at the file's own position.

use std::os::fd::BorrowedFd;

use super::{IoThread, each_thread};
use crate::call::{CallError, hand_over};
use crate::job::Part;
use crate::records::Records;
use crate::staging::Staging;
use crate::sync;

pub(super) fn io_threads<'a>(parts: &[Part<'a>]) -> Vec<Box<dyn IoThread + 'a>> {
    each_thread(parts, |part| WriteThread { part })
}

struct WriteThread<'a> {
    part: Part<'a>,
}

impl IoThread for WriteThread<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, records: &mut Records) -> Result<(), CallError> {
        let call = self.part.axes.sync.call;
        let mut staging = Staging::of(&self.part, 1)?;
        let write = |bytes: &[u8], _| rustix::io::write(file, bytes);
        records.each(
            &self.part,
            |chunk, offset| hand_over("write", staging.staged(chunk), offset, write),
            |_, _| sync::sync(file, call),
        )
    }
}
