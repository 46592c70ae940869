//! The requests of the kernel. Each is checked against the script first.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::Caching;
use super::script::{Call, What};
use super::server::{Reply, Server, answer};
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
            Caching::WriteThrough | Caching::Unmappable => return Ok(()),
            Caching::None => InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
            Caching::WriteBack => InitFlags::FUSE_WRITEBACK_CACHE,
        };
        config
            .add_capabilities(wish)
            .map_err(|_| Errno::OPNOTSUPP.into())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let (found, file) = self.named(parent, name);
        self.serve(
            (file, Call::Lookup),
            None,
            reply,
            |tree, _| tree.attributes(found?),
            entry,
        );
    }

    fn forget(&self, _: &Request, number: INodeNo, _: u64) {
        self.shared.lock().tree.forget(number);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.serve(
            (self.watched(number), Call::Attributes),
            None,
            reply,
            |tree, what| {
                if let Some(What::Size(size)) = what {
                    tree.node(number)?.reported_size = Some(size);
                }
                cut(what, tree, number)?;
                tree.attributes(number)
            },
            attributes,
        );
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
        let call = if size.is_some() {
            Call::Truncate
        } else {
            Call::Attributes
        };
        self.serve(
            (self.watched(number), call),
            None,
            reply,
            |tree, _| {
                if let Some(size) = size {
                    tree.data(number)?.resize(to_size(size), 0);
                }
                tree.attributes(number)
            },
            attributes,
        );
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let tree = &mut self.shared.lock().tree;
        let made = tree.add(parent, name, Content::Directory(BTreeMap::new()), mode);
        answer(
            reply,
            made.and_then(|number| tree.attributes(number)),
            entry,
        );
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let file = self.named(parent, name).1;
        self.serve(
            (file, Call::Unlink),
            None,
            reply,
            |tree, _| tree.remove(parent, name),
            done,
        );
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(reply, self.shared.lock().tree.remove(parent, name), done);
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
        if !flags.is_empty() {
            return answer(reply, Err(Errno::INVAL), done);
        }
        answer(
            reply,
            self.shared
                .lock()
                .tree
                .rename((parent, name), (new_parent, new_name)),
            done,
        );
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
        let file = self
            .watches(name)
            .then(|| self.shared.lock().progress.begin_file());
        let flags = self.open_flags(file);
        self.serve(
            (file, Call::Create),
            None,
            reply,
            |tree, _| {
                let number = tree.add(parent, name, Content::File(Vec::new()), mode)?;
                tree.node(number)?.watched = file;
                tree.attributes(number)
            },
            |reply, made| reply.created(&NAMES_VALID, &made, GENERATION, HANDLE, flags),
        );
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let file = self.watched(number);
        let flags = self.open_flags(file);
        self.serve(
            (file, Call::Open),
            None,
            reply,
            |_, _| Ok(()),
            |reply, ()| reply.opened(HANDLE, flags),
        );
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
        self.serve(
            (self.watched(number), Call::Read),
            Some((offset, size.into())),
            reply,
            |tree, what| read(tree, number, what, to_size(offset), size as usize),
            |reply, found| reply.data(&found),
        );
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
        self.serve(
            (self.watched(number), Call::Write),
            Some((offset, data.len() as u64)),
            reply,
            |tree, what| write(tree, number, what, to_size(offset), data),
            ReplyWrite::written,
        );
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
        self.serve(
            (self.watched(number), Call::Fallocate),
            Some((offset, length)),
            reply,
            |tree, _| {
                if mode.cast_unsigned() != FallocateFlags::empty().bits() {
                    return Err(Errno::OPNOTSUPP);
                }
                let data = tree.data(number)?;
                let end = to_size(offset.saturating_add(length));
                data.resize(data.len().max(end), 0);
                Ok(())
            },
            done,
        );
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.admit_only(number, Call::Fsync, reply);
    }

    /// Returns ENOSYS, which the kernel takes for success, unless the test has another error.
    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let errno = self
            .shared
            .lock()
            .directory_sync_error
            .unwrap_or(Errno::NOSYS);
        reply.refuse(errno);
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

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let mut state = self.shared.lock();
        let names = match state.tree.names(number) {
            Ok(names) => names.clone(),
            Err(errno) => return reply.refuse(errno),
        };
        for (next, (name, entry)) in (1..).zip(&names).skip(to_size(offset)) {
            let entry = INodeNo(*entry);
            let Ok(kind) = state.tree.node(entry).map(|node| node.kind()) else {
                continue;
            };
            if reply.add(entry, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        const BLOCKS: u64 = 1 << 24;
        const BLOCK_BYTES: u32 = 4096;
        reply.statfs(
            BLOCKS,
            BLOCKS,
            BLOCKS,
            BLOCKS,
            BLOCKS,
            BLOCK_BYTES,
            255,
            BLOCK_BYTES,
        );
    }
}

impl Server {
    /// Serves a request that has no work.
    fn admit_only(&self, number: INodeNo, call: Call, reply: ReplyEmpty) {
        self.serve(
            (self.watched(number), call),
            None,
            reply,
            |_, _| Ok(()),
            done,
        );
    }

    /// The file with a name, and its number as a watched file.
    fn named(&self, parent: INodeNo, name: &OsStr) -> (Result<INodeNo, Errno>, Option<usize>) {
        let found = self.shared.lock().tree.find(parent, name);
        (found, found.ok().and_then(|number| self.watched(number)))
    }

    fn open_flags(&self, file: Option<usize>) -> FopenFlags {
        match (file, self.caching) {
            (_, Caching::Unmappable) | (Some(_), Caching::None) => FopenFlags::FOPEN_DIRECT_IO,
            (None, _) => FopenFlags::FOPEN_KEEP_CACHE,
            (Some(_), _) => FopenFlags::empty(),
        }
    }
}

fn entry(reply: ReplyEntry, file: FileAttr) {
    reply.entry_with_ttls(&ATTRIBUTES_VALID, &NAMES_VALID, &file, GENERATION);
}

fn attributes(reply: ReplyAttr, file: FileAttr) {
    reply.attr(&ATTRIBUTES_VALID, &file);
}

fn done(reply: ReplyEmpty, (): ()) {
    reply.ok();
}

fn read(
    tree: &mut Tree,
    number: INodeNo,
    what: Option<What>,
    offset: usize,
    size: usize,
) -> Result<Vec<u8>, Errno> {
    cut(what, tree, number)?;
    let data = tree.data(number)?;
    let begin = offset.min(data.len());
    let end = begin.saturating_add(size).min(data.len());
    let mut found = data[begin..end].to_vec();
    if what == Some(What::Flip)
        && let Some(last) = found.last_mut()
    {
        *last ^= 1;
    }
    Ok(found)
}

/// Returns the number of bytes that the write reports.
fn write(
    tree: &mut Tree,
    number: INodeNo,
    what: Option<What>,
    offset: usize,
    data: &[u8],
) -> Result<u32, Errno> {
    let accepted = match what {
        Some(What::Short) => &data[..data.len() / 2],
        Some(What::Nothing) => &[],
        _ => data,
    };
    cut(what, tree, number)?;
    let file = tree.data(number)?;
    let end = offset + accepted.len();
    file.resize(file.len().max(end), 0);
    if what != Some(What::Lose) {
        file[offset..end].copy_from_slice(accepted);
    }
    Ok(u32::try_from(accepted.len()).unwrap_or(u32::MAX))
}

/// Removes all data of a file if the script says so.
fn cut(what: Option<What>, tree: &mut Tree, number: INodeNo) -> Result<(), Errno> {
    if what == Some(What::Cut) {
        tree.data(number)?.clear();
    }
    Ok(())
}

fn to_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
