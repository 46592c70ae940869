//! The kernel's requests, answered by the server's operations.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, CopyFileRangeFlags, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{AtFlags, FallocateFlags, Mode, SeekFrom};
use rustix::io::Errno;

use super::handles::OpenFile;
use super::server::{Change, Server, VALID, errno};

/// What is never reused, as the file below is held for as long as the kernel knows it.
const GENERATION: Generation = Generation(0);

/// What is not here the kernel is told that nobody has: extended attributes and links; locks it keeps itself.
impl Filesystem for Server {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        self.agree(config)
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(self.lookup(parent, name), reply);
    }

    fn forget(&self, _: &Request, number: INodeNo, lookups: u64) {
        self.forget(number, lookups);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        attributes(self.attributes(number), reply);
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        owner: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let change = Change { mode, owner, group, size, accessed, modified, handle };
        attributes(self.change(number, &change), reply);
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        let made = self
            .below(parent)
            .and_then(|directory| rustix::fs::mkdirat(&*directory, name, Mode::from_raw_mode(mode)));
        entry(made.and_then(|()| self.lookup(parent, name)), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let below = self.below(parent);
        done(below.and_then(|directory| rustix::fs::unlinkat(&*directory, name, AtFlags::empty())), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let below = self.below(parent);
        done(below.and_then(|directory| rustix::fs::unlinkat(&*directory, name, AtFlags::REMOVEDIR)), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let both = self.below(parent).and_then(|from| Ok((from, self.below(new_parent)?)));
        let renamed =
            both.and_then(|(from, to)| rustix::fs::renameat_with(&*from, name, &*to, new_name, flags));
        done(renamed, reply);
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        opened(self.open(number, flags.0), reply);
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        match self.create(parent, name, mode, flags) {
            Ok((it, handle)) => reply.created(&VALID, &it, GENERATION, handle, FopenFlags::empty()),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.files.get(handle) {
            Ok(file) => file.read(size as usize, offset, |read| match read {
                Ok(data) => reply.data(data),
                Err(error) => reply.error(error.into()),
            }),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let file = self.files.get(handle).map_err(io::Error::from);
        match file.and_then(|file| file.write(data, offset)) {
            Ok(count) => reply.written(u32::try_from(count).unwrap_or(u32::MAX)),
            Err(error) => reply.error(error.into()),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let flags = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        let file = self.files.get(handle);
        done(file.and_then(|it| rustix::fs::fallocate(&it.file, flags, offset, length)), reply);
    }

    fn fsync(&self, _: &Request, _: INodeNo, handle: FileHandle, only_data: bool, reply: ReplyEmpty) {
        done(self.files.get(handle).and_then(|it| Self::sync(&it.file, only_data)), reply);
    }

    fn flush(&self, _: &Request, _: INodeNo, handle: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        match self.flush(handle) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.files.remove(handle);
        reply.ok();
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        opened(self.open_directory(number), reply);
    }

    fn readdir(&self, _: &Request, _: INodeNo, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let entries = match self.entries(handle, offset) {
            Ok(entries) => entries,
            Err(error) => return reply.error(errno(error)),
        };
        for (next, entry) in (offset + 1..).zip(entries) {
            if reply.add(INodeNo(entry.number), next, entry.kind, &entry.name) {
                break;
            }
        }
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, handle: FileHandle, only_data: bool, reply: ReplyEmpty) {
        done(self.directories.get(handle).and_then(|it| Self::sync(&it.file, only_data)), reply);
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.directories.remove(handle);
        reply.ok();
    }

    fn statfs(&self, _: &Request, number: INodeNo, reply: ReplyStatfs) {
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        match self.below(number).and_then(|file| rustix::fs::fstatvfs(&*file)) {
            Ok(it) => reply.statfs(
                it.f_blocks,
                it.f_bfree,
                it.f_bavail,
                it.f_files,
                it.f_ffree,
                short(it.f_bsize),
                short(it.f_namemax),
                short(it.f_frsize),
            ),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn lseek(&self, _: &Request, _: INodeNo, handle: FileHandle, offset: i64, whence: i32, reply: ReplyLseek) {
        match self.files.get(handle).and_then(|file| found(&file, offset.cast_unsigned(), whence)) {
            Ok(offset) => reply.offset(offset.cast_signed()),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn copy_file_range(
        &self,
        _: &Request,
        _: INodeNo,
        from: FileHandle,
        mut from_offset: u64,
        _: INodeNo,
        to: FileHandle,
        mut to_offset: u64,
        length: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        // The answer has 32 bits; the kernel asks again for the rest.
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(1 << 30);
        let both = self.files.get(from).and_then(|from| Ok((from, self.files.get(to)?)));
        let copied = both.and_then(|(from, to)| {
            let (from, to) = (&from.file, &to.file);
            rustix::fs::copy_file_range(from, Some(&mut from_offset), to, Some(&mut to_offset), length)
        });
        match copied {
            Ok(count) => reply.written(u32::try_from(count).unwrap_or(u32::MAX)),
            Err(error) => reply.error(errno(error)),
        }
    }
}

/// Only what the kernel cannot know itself.
fn found(file: &Arc<OpenFile>, offset: u64, whence: i32) -> Result<u64, Errno> {
    const SEEK_DATA: i32 = 3;
    const SEEK_HOLE: i32 = 4;
    let from = match whence {
        SEEK_DATA => SeekFrom::Data(offset),
        SEEK_HOLE => SeekFrom::Hole(offset),
        _ => return Err(Errno::INVAL),
    };
    rustix::fs::seek(&file.file, from)
}

fn entry(found: Result<FileAttr, Errno>, reply: ReplyEntry) {
    match found {
        Ok(it) => reply.entry(&VALID, &it, GENERATION),
        Err(error) => reply.error(errno(error)),
    }
}

fn attributes(found: Result<FileAttr, Errno>, reply: ReplyAttr) {
    match found {
        Ok(it) => reply.attr(&VALID, &it),
        Err(error) => reply.error(errno(error)),
    }
}

fn opened(handle: Result<FileHandle, Errno>, reply: ReplyOpen) {
    match handle {
        Ok(handle) => reply.opened(handle, FopenFlags::empty()),
        Err(error) => reply.error(errno(error)),
    }
}

fn done(result: Result<(), Errno>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}
