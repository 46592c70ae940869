//! The kernel's requests, each checked against the script first.

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
use super::server::{Refuse, Server};
use super::tree::{Content, Tree};

/// The kernel caches names, but no attributes.
const ATTRIBUTES_VALID: Duration = Duration::ZERO;
const NAMES_VALID: Duration = Duration::from_secs(3600);

const GENERATION: Generation = Generation(0);
const HANDLE: FileHandle = FileHandle(0);

/// The kernel gets ENOSYS for all other requests; it keeps locks itself.
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
        let found = self.shared.lock().tree.find(parent, name);
        let file = found.ok().and_then(|number| self.watched(number));
        let Some((reply, _)) = self.admit(file, Call::Lookup, None, reply) else { return };
        self.entry(reply, |_| found);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let admitted = self.admit(self.watched(number), Call::Attributes, None, reply);
        let Some((reply, what)) = admitted else { return };
        self.attributes(reply, number, |tree| {
            if let (Some(What::Size(size)), Ok(node)) = (what, tree.node(number)) {
                node.told_size = Some(size);
            }
            cut(what, tree, number)
        });
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
        let Some((reply, _)) = self.admit(self.watched(number), call, None, reply) else { return };
        self.attributes(reply, number, |tree| {
            size.map_or(Ok(()), |size| tree.data(number).map(|data| data.resize(to_size(size), 0)))
        });
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        self.entry(reply, |tree| tree.add(parent, name, Content::Directory(BTreeMap::new()), mode));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let found = self.shared.lock().tree.find(parent, name);
        let file = found.ok().and_then(|number| self.watched(number));
        let Some((reply, _)) = self.admit(file, Call::Unlink, None, reply) else { return };
        done(self.shared.lock().tree.remove(parent, name), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(self.shared.lock().tree.remove(parent, name), reply);
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
        done(self.shared.lock().tree.rename((parent, name), (new_parent, new_name)), reply);
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
        let file = (name == self.watched_name).then(|| self.shared.lock().begin_file());
        let Some((reply, _)) = self.admit(file, Call::Create, None, reply) else { return };
        let flags = self.open_flags(file);
        let mut state = self.shared.lock();
        let made = state.tree.add(parent, name, Content::File(Vec::new()), mode).and_then(|number| {
            state.tree.node(number)?.watched = file;
            state.tree.attributes(number)
        });
        answer(made, reply, |reply, it| reply.created(&NAMES_VALID, &it, GENERATION, HANDLE, flags));
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let file = self.watched(number);
        let Some((reply, _)) = self.admit(file, Call::Open, None, reply) else { return };
        reply.opened(HANDLE, self.open_flags(file));
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
        let admitted = self.admit(self.watched(number), Call::Read, Some((offset, size.into())), reply);
        let Some((reply, what)) = admitted else { return };
        let mut state = self.shared.lock();
        let data = cut(what, &mut state.tree, number).and_then(|()| state.tree.data(number));
        answer(data, reply, |reply, data| {
            let begin = to_size(offset).min(data.len());
            let end = begin.saturating_add(size as usize).min(data.len());
            let mut found = data[begin..end].to_vec();
            if let (Some(What::Flip), Some(last)) = (what, found.last_mut()) {
                *last ^= 1;
            }
            reply.data(&found);
        });
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
        let Some((reply, what)) = self.admit(self.watched(number), Call::Write, range, reply) else { return };
        let taken = match what {
            Some(What::Short) => &data[..data.len() / 2],
            Some(What::Nothing) => &[],
            _ => data,
        };
        let mut state = self.shared.lock();
        let file = cut(what, &mut state.tree, number).and_then(|()| state.tree.data(number));
        answer(file, reply, |reply, file| {
            let (begin, end) = (to_size(offset), to_size(offset) + taken.len());
            if file.len() < end {
                file.resize(end, 0);
            }
            if what != Some(What::Lose) {
                file[begin..end].copy_from_slice(taken);
            }
            reply.written(u32::try_from(taken.len()).unwrap_or(u32::MAX));
        });
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
        let admitted = self.admit(self.watched(number), Call::Fallocate, Some((offset, length)), reply);
        let Some((reply, _)) = admitted else { return };
        if mode.cast_unsigned() != FallocateFlags::empty().bits() {
            return reply.refuse(Errno::OPNOTSUPP);
        }
        let grown = self.shared.lock().tree.data(number).map(|data| {
            let end = to_size(offset.saturating_add(length));
            data.resize(data.len().max(end), 0);
        });
        done(grown, reply);
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
    /// An operation without effect.
    fn admit_only(&self, number: INodeNo, call: Call, reply: ReplyEmpty) {
        if let Some((reply, _)) = self.admit(self.watched(number), call, None, reply) {
            reply.ok();
        }
    }

    fn open_flags(&self, file: Option<usize>) -> FopenFlags {
        match (file, self.caching) {
            (None, _) => FopenFlags::FOPEN_KEEP_CACHE,
            (Some(_), Caching::None) => FopenFlags::FOPEN_DIRECT_IO,
            // A reader sees the present data.
            (Some(_), _) => FopenFlags::empty(),
        }
    }

    fn entry(&self, reply: ReplyEntry, find: impl FnOnce(&mut Tree) -> Result<INodeNo, Errno>) {
        let tree = &mut self.shared.lock().tree;
        let found = find(tree).and_then(|number| tree.attributes(number));
        answer(found, reply, |reply, it| {
            reply.entry_with_ttls(&ATTRIBUTES_VALID, &NAMES_VALID, &it, GENERATION);
        });
    }

    fn attributes(
        &self,
        reply: ReplyAttr,
        number: INodeNo,
        change: impl FnOnce(&mut Tree) -> Result<(), Errno>,
    ) {
        let tree = &mut self.shared.lock().tree;
        let changed = change(tree).and_then(|()| tree.attributes(number));
        answer(changed, reply, |reply, it| reply.attr(&ATTRIBUTES_VALID, &it));
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

fn done(result: Result<(), Errno>, reply: ReplyEmpty) {
    answer(result, reply, |reply, ()| reply.ok());
}

fn answer<T, R: Refuse>(result: Result<T, Errno>, reply: R, yes: impl FnOnce(R, T)) {
    match result {
        Ok(it) => yes(reply, it),
        Err(errno) => reply.refuse(errno),
    }
}
