//! Each request is checked against the script first.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::Caching;
use super::script::{Call, What};
use super::server::{Refusal, Reply, Server};
use super::tree::{Content, Tree};

/// The kernel does not cache attributes.
const ATTRIBUTES_VALID: Duration = Duration::ZERO;
const NAMES_VALID: Duration = Duration::from_secs(3600);

const GENERATION: Generation = Generation(0);
const HANDLE: FileHandle = FileHandle(0);

/// All other requests get ENOSYS, and the kernel keeps locks itself.
impl Filesystem for Server {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wish = match self.caching {
            Caching::WriteThrough => return Ok(()),
            Caching::None => InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
            Caching::WriteBack => InitFlags::FUSE_WRITEBACK_CACHE,
        };
        config.add_capabilities(wish).map_err(|_| Errno::OPNOTSUPP.into())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let (found, file) = self.named(parent, name);
        let found = self.admit(file, Call::Lookup, None).and_then(|_| Ok(found?));
        self.entry(found, reply);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let admitted = self.admit(self.watched(number), Call::Attributes, None);
        let changed = admitted.and_then(|what| {
            let tree = &mut self.shared.lock().tree;
            if let Some(What::Size(size)) = what {
                tree.node(number)?.told_size = Some(size);
            }
            Ok(cut(what, tree, number)?)
        });
        self.attributes(changed, number, reply);
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let call = if size.is_some() { Call::Truncate } else { Call::Attributes };
        let changed = self.admit(self.watched(number), call, None).and_then(|_| {
            if let Some(size) = size {
                self.shared.lock().tree.data(number)?.resize(to_size(size), 0);
            }
            Ok(())
        });
        self.attributes(changed, number, reply);
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        let made = self.shared.lock().tree.add(parent, name, Content::Directory(BTreeMap::new()), mode);
        self.entry(made.map_err(Refusal::from), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let admitted = self.admit(self.named(parent, name).1, Call::Unlink, None);
        let removed = admitted.and_then(|_| Ok(self.shared.lock().tree.remove(parent, name)?));
        self.answer(removed, reply, |reply, ()| reply.ok());
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.shared.lock().tree.remove(parent, name);
        self.answer(removed.map_err(Refusal::from), reply, |reply, ()| reply.ok());
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let renamed = self.shared.lock().tree.rename((parent, name), (new_parent, new_name));
        self.answer(renamed.map_err(Refusal::from), reply, |reply, ()| reply.ok());
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let file = (name == self.watched_name).then(|| self.shared.lock().course.begin_file());
        let made = self.admit(file, Call::Create, None).and_then(|_| {
            let tree = &mut self.shared.lock().tree;
            let number = tree.add(parent, name, Content::File(Vec::new()), mode)?;
            tree.node(number)?.watched = file;
            Ok(tree.attributes(number)?)
        });
        let flags = self.open_flags(file);
        self.answer(made, reply, |reply, made| reply.created(&NAMES_VALID, &made, GENERATION, HANDLE, flags));
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let file = self.watched(number);
        let admitted = self.admit(file, Call::Open, None);
        self.answer(admitted, reply, |reply, _| reply.opened(HANDLE, self.open_flags(file)));
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let admitted = self.admit(self.watched(number), Call::Read, Some((offset, size.into())));
        let read = admitted.and_then(|what| {
            let tree = &mut self.shared.lock().tree;
            cut(what, tree, number)?;
            let data = tree.data(number)?;
            let begin = to_size(offset).min(data.len());
            let end = begin.saturating_add(size as usize).min(data.len());
            let mut found = data[begin..end].to_vec();
            if let (Some(What::Flip), Some(last)) = (what, found.last_mut()) {
                *last ^= 1;
            }
            Ok(found)
        });
        self.answer(read, reply, |reply, found| reply.data(&found));
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let range = Some((offset, data.len() as u64));
        let written = self.admit(self.watched(number), Call::Write, range).and_then(|what| {
            let taken = match what {
                Some(What::Short) => &data[..data.len() / 2],
                Some(What::Nothing) => &[],
                _ => data,
            };
            let tree = &mut self.shared.lock().tree;
            cut(what, tree, number)?;
            let file = tree.data(number)?;
            let (begin, end) = (to_size(offset), to_size(offset) + taken.len());
            file.resize(file.len().max(end), 0);
            if what != Some(What::Lose) {
                file[begin..end].copy_from_slice(taken);
            }
            Ok(taken.len())
        });
        self.answer(written, reply, |reply, length| reply.written(u32::try_from(length).unwrap_or(u32::MAX)));
    }

    fn fallocate(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let range = Some((offset, length));
        let grown = self.admit(self.watched(number), Call::Fallocate, range).and_then(|_| {
            if mode.cast_unsigned() != FallocateFlags::empty().bits() {
                return Err(Errno::OPNOTSUPP.into());
            }
            let tree = &mut self.shared.lock().tree;
            let data = tree.data(number)?;
            data.resize(data.len().max(to_size(offset.saturating_add(length))), 0);
            Ok(())
        });
        self.answer(grown, reply, |reply, ()| reply.ok());
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.admit_only(number, Call::Fsync, reply);
    }

    fn flush(&self, _: &Request, number: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.admit_only(number, Call::Flush, reply);
    }

    fn release(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.admit_only(number, Call::Release, reply);
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let mut state = self.shared.lock();
        let names = match state.tree.names(number) {
            Ok(names) => names.clone(),
            Err(errno) => return reply.refuse(errno),
        };
        for (next, (name, entry)) in (1..).zip(&names).skip(to_size(offset)) {
            let entry = INodeNo(*entry);
            let Ok(kind) = state.tree.node(entry).map(|node| node.kind()) else { continue };
            if reply.add(entry, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        const BLOCKS: u64 = 1 << 24;
        const BLOCK_BYTES: u32 = 4096;
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCK_BYTES, 255, BLOCK_BYTES);
    }
}

impl Server {
    fn admit_only(&self, number: INodeNo, call: Call, reply: ReplyEmpty) {
        self.answer(self.admit(self.watched(number), call, None), reply, |reply, _| reply.ok());
    }

    /// With its number as a watched file.
    fn named(&self, parent: INodeNo, name: &OsStr) -> (Result<INodeNo, Errno>, Option<usize>) {
        let found = self.shared.lock().tree.find(parent, name);
        (found, found.ok().and_then(|number| self.watched(number)))
    }

    fn open_flags(&self, file: Option<usize>) -> FopenFlags {
        match (file, self.caching) {
            (None, _) => FopenFlags::FOPEN_KEEP_CACHE,
            (Some(_), Caching::None) => FopenFlags::FOPEN_DIRECT_IO,
            (Some(_), _) => FopenFlags::empty(),
        }
    }

    fn entry(&self, found: Result<INodeNo, Refusal>, reply: ReplyEntry) {
        let found = found.and_then(|number| Ok(self.shared.lock().tree.attributes(number)?));
        self.answer(found, reply, |reply, file| {
            reply.entry_with_ttls(&ATTRIBUTES_VALID, &NAMES_VALID, &file, GENERATION);
        });
    }

    fn attributes(&self, changed: Result<(), Refusal>, number: INodeNo, reply: ReplyAttr) {
        let changed = changed.and_then(|()| Ok(self.shared.lock().tree.attributes(number)?));
        self.answer(changed, reply, |reply, file| reply.attr(&ATTRIBUTES_VALID, &file));
    }
}

fn cut(what: Option<What>, tree: &mut Tree, number: INodeNo) -> Result<(), Errno> {
    if what == Some(What::Cut) {
        tree.data(number)?.clear();
    }
    Ok(())
}

fn to_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
