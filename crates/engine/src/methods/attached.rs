//! Methods that need more than the file: a source, a mapping, a pipe.

use std::os::fd::{BorrowedFd, OwnedFd};

use writebench_model::SyncCall;

use super::map::{Map, Mapping};
use super::{IoThread, Region, Result, WriteLoop};
use crate::{file, sync};

/// Lives from phase `open` to phase `close`.
pub(super) trait Attachment: Send {
    fn sync(&self, file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
        sync::sync(file, call)
    }

    fn detach(self) -> Result<()>;
}

impl Attachment for OwnedFd {
    fn detach(self) -> Result<()> {
        file::close(self)
    }
}

impl Attachment for Map {
    fn sync(&self, file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
        if call == SyncCall::Msync {
            Mapping::sync(self, 0, u64::MAX)
        } else {
            sync::sync(file, call)
        }
    }

    fn detach(self) -> Result<()> {
        self.unmap()
    }
}

/// The copy's mapping is the second. A source is never synced.
impl<A: Attachment, B: Attachment> Attachment for (A, B) {
    fn sync(&self, file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
        self.1.sync(file, call)
    }

    fn detach(self) -> Result<()> {
        self.0.detach()?;
        self.1.detach()
    }
}

pub(super) fn attached<'a, A: Attachment + 'a>(
    region: Region<'a>,
    attach: impl Fn(&Region<'a>, BorrowedFd<'_>) -> Result<A> + Send + 'a,
    write: impl FnMut(&Region<'a>, &A, BorrowedFd<'_>, &mut WriteLoop) -> Result<()> + Send + 'a,
) -> impl IoThread + 'a {
    AttachedThread {
        region,
        attach,
        attachment: None,
        write,
    }
}

struct AttachedThread<'a, A, F, W> {
    region: Region<'a>,
    attach: F,
    attachment: Option<A>,
    write: W,
}

impl<'a, A, F, W> IoThread for AttachedThread<'a, A, F, W>
where
    A: Attachment,
    F: Fn(&Region<'a>, BorrowedFd<'_>) -> Result<A> + Send,
    W: FnMut(&Region<'a>, &A, BorrowedFd<'_>, &mut WriteLoop) -> Result<()> + Send,
{
    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<()> {
        self.attachment = Some((self.attach)(&self.region, file)?);
        Ok(())
    }

    fn write(&mut self, file: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        let Some(attachment) = &self.attachment else {
            return Ok(());
        };
        (self.write)(&self.region, attachment, file, write_loop)
    }

    fn sync(&mut self, file: BorrowedFd<'_>, call: SyncCall) -> Result<()> {
        self.attachment
            .as_ref()
            .map_or(Ok(()), |attachment| attachment.sync(file, call))
    }

    fn detach(&mut self) -> Result<()> {
        self.attachment.take().map_or(Ok(()), Attachment::detach)
    }
}
