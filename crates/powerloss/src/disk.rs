//! A disk in memory, as a file in FUSE.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, Session, SessionACL, WriteFlags,
};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::close;
use rustix::fs::FallocateFlags;
use writebench_model::Bytes;

use crate::error::Error;
use crate::event::Event;

const PAGE_BYTES: usize = 4096;

/// The mounted file. It must be dropped after its loop device.
pub(crate) struct DiskFile {
    content: SharedContent,
    point: PathBuf,
    _server: Server,
}

/// The thread that has mounted the file, and with its own threads answers the kernel.
///
/// If the process is killed while one of its threads waits for this disk, that thread cannot end before an answer, or
/// before the connection to the kernel is closed. So the connection's descriptor is in a table of this thread's own,
/// which the kernel closes when the threads with the table have ended.
struct Server {
    // Its end ends the mount.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The content that the threads of FUSE share with the rest.
#[derive(Clone)]
pub(crate) struct SharedContent(Arc<Mutex<Content>>);

pub(crate) struct Content {
    /// Untouched pages take no memory.
    image: Vec<u8>,
    use_: Use,
}

/// What becomes of a write.
enum Use {
    /// It changes the image, and is recorded.
    Record(Vec<Event>),
    /// It changes pages of its own, which are dropped before the next mount.
    Replay(HashMap<usize, Box<[u8]>>),
}

const DISK: INodeNo = INodeNo(2);
/// A write into this file is a marker, at exactly this place among the writes to the disk.
const MARKER: INodeNo = INodeNo(3);
const DISK_NAME: &str = "disk";
const MARKER_NAME: &str = "durable";
/// Nothing changes but the content.
const VALID: Duration = Duration::from_secs(1 << 20);
const GENERATION: Generation = Generation(0);
const HANDLE: FileHandle = FileHandle(0);

impl DiskFile {
    pub(crate) fn recording(point: &Path, bytes: u64) -> Result<Self, Error> {
        Self::mount(point, bytes, Use::Record(Vec::new()))
    }

    pub(crate) fn replaying(point: &Path, bytes: u64) -> Result<Self, Error> {
        Self::mount(point, bytes, Use::Replay(HashMap::new()))
    }

    fn mount(point: &Path, bytes: u64, use_: Use) -> Result<Self, Error> {
        require_fuse()?;
        require_memory(bytes)?;
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let content = SharedContent(Arc::new(Mutex::new(Content {
            image: vec![0; length],
            use_,
        })));
        Ok(Self {
            content: content.clone(),
            point: point.to_owned(),
            _server: Server::start(content, point)?,
        })
    }

    pub(crate) fn open(&self) -> Result<File, Error> {
        let path = self.path();
        let opened = File::options().read(true).write(true).open(&path);
        opened.map_err(|error| Error::call("make a disk", "open", &path, error))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.point.join(DISK_NAME)
    }

    /// A program that writes into this file says that its data is durable.
    pub(crate) fn marker(&self) -> PathBuf {
        self.point.join(MARKER_NAME)
    }

    pub(crate) fn content(&self) -> SharedContent {
        self.content.clone()
    }
}

/// An error of the mount would not say that this is the reason.
fn require_fuse() -> Result<(), Error> {
    const PATH: &str = "/dev/fuse";
    // The kernel's Documentation/admin-guide/devices.txt.
    const DEVICE: (u32, u32) = (10, 229);
    let missing = |call, error| Error::NoFuse {
        call,
        path: PATH,
        error,
    };
    let opened = File::options().read(true).write(true).open(PATH);
    let opened = opened.map_err(|error| missing("open", error))?;
    let device = opened
        .metadata()
        .map_err(|error| missing("stat", error))?
        .rdev();
    if (rustix::fs::major(device), rustix::fs::minor(device)) != DEVICE {
        return Err(missing("stat", rustix::io::Errno::NODEV.into()));
    }
    Ok(())
}

/// An allocation that fails ends the program.
fn require_memory(bytes: u64) -> Result<(), Error> {
    let info = rustix::system::sysinfo();
    let memory_bytes = u64::from(info.mem_unit) * info.totalram as u64;
    if bytes > memory_bytes {
        return Err(Error::NoMemory {
            disk: Bytes(bytes).approximate(),
            memory: Bytes(memory_bytes).approximate(),
        });
    }
    Ok(())
}

impl Server {
    fn start(content: SharedContent, point: &Path) -> Result<Self, Error> {
        let (end, ended) = mpsc::channel();
        let (started, is_started) = mpsc::channel();
        let place = point.to_owned();
        let thread = std::thread::spawn(move || match serve(content, &place) {
            Ok(session) => {
                let _ = started.send(Ok(()));
                // The end of the sender is the only message.
                let _ = ended.recv();
                drop(session);
            }
            Err(error) => {
                let _ = started.send(Err(error));
            }
        });
        let server = Self {
            end: Some(end),
            thread: Some(thread),
        };
        match is_started.recv() {
            Ok(result) => result.map(|()| server),
            Err(_) => Err(Error::call(
                "make a disk",
                "clone",
                point,
                io::Error::other("its thread has ended"),
            )),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(content: SharedContent, point: &Path) -> Result<BackgroundSession, Error> {
    let failed = |call| move |error| Error::call("make a disk", call, point, error);
    unshare(CloneFlags::CLONE_FILES)
        .map_err(io::Error::from)
        .map_err(failed("unshare(CLONE_FILES)"))?;
    close_copies().map_err(failed("close"))?;
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("writebench-powerloss".to_owned())];
    // The program under test may run as another user.
    config.acl = SessionACL::All;
    // One thread keeps the order in which requests arrive.
    config.n_threads = Some(1);
    let session = Session::new(content, point, &config).map_err(failed("mount"))?;
    session.spawn().map_err(failed("clone"))
}

/// Closes this thread's copies of the descriptors of all others. A copy would keep another disk's loop device attached, or
/// its filesystem in use, until this server ends.
fn close_copies() -> io::Result<()> {
    const STANDARD: RangeInclusive<RawFd> = 0..=2;
    let mut copies = Vec::new();
    for entry in std::fs::read_dir("/proc/thread-self/fd")? {
        let number = entry?.file_name().to_string_lossy().parse();
        copies.extend(number.ok().filter(|number| !STANDARD.contains(number)));
    }
    for copy in copies {
        match close(copy) {
            // The directory that was read.
            Ok(()) | Err(nix::errno::Errno::EBADF) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl SharedContent {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    pub(crate) fn record(&mut self, event: Event) {
        if let Use::Record(events) = &mut self.use_ {
            events.push(event);
        }
    }

    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        match &mut self.use_ {
            Use::Record(events) => std::mem::take(events),
            Use::Replay(_) => Vec::new(),
        }
    }

    /// Drops what mounts have written.
    pub(crate) fn forget_mount(&mut self) {
        if let Use::Replay(pages) = &mut self.use_ {
            pages.clear();
        }
    }

    /// The bytes of the image itself.
    pub(crate) fn image(&mut self) -> &mut [u8] {
        &mut self.image
    }

    fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        let end = offset.saturating_add(length).min(self.image.len());
        let mut bytes = self.image[offset.min(end)..end].to_vec();
        if let Use::Replay(pages) = &self.use_ {
            for page in offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES) {
                let Some(changed) = pages.get(&page) else {
                    continue;
                };
                let begin = page * PAGE_BYTES;
                let from = begin.max(offset);
                let to = (begin + changed.len()).min(end);
                bytes[from - offset..to - offset]
                    .copy_from_slice(&changed[from - begin..to - begin]);
            }
        }
        bytes
    }

    fn write(&mut self, offset: usize, data: &[u8]) {
        let Self { image, use_ } = self;
        match use_ {
            Use::Record(events) => {
                image[offset..offset + data.len()].copy_from_slice(data);
                events.push(Event::Write {
                    offset,
                    data: data.into(),
                });
            }
            Use::Replay(pages) => {
                let end = offset + data.len();
                for page in offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES) {
                    let begin = page * PAGE_BYTES;
                    let whole = begin..(begin + PAGE_BYTES).min(image.len());
                    let changed = pages.entry(page).or_insert_with(|| image[whole].into());
                    let from = begin.max(offset);
                    let to = (begin + changed.len()).min(end);
                    changed[from - begin..to - begin]
                        .copy_from_slice(&data[from - offset..to - offset]);
                }
            }
        }
    }

    fn discard(&mut self, offset: usize, length: usize) {
        if let Use::Record(events) = &mut self.use_ {
            self.image[offset..offset + length].fill(0);
            events.push(Event::Discard { offset, length });
        } else {
            self.write(offset, &vec![0; length]);
        }
    }

    /// The place of a request on the disk, or none outside.
    fn place(&self, offset: u64, length: u64) -> Option<(usize, usize)> {
        let end = usize::try_from(offset.checked_add(length)?).ok()?;
        let offset = usize::try_from(offset).ok()?;
        (end <= self.image.len()).then_some((offset, end - offset))
    }

    fn attributes(&self, number: INodeNo) -> FileAttr {
        let size = if number == DISK {
            self.image.len() as u64
        } else {
            0
        };
        let (kind, perm) = if number == INodeNo::ROOT {
            (FileType::Directory, 0o755)
        } else {
            (FileType::RegularFile, 0o666)
        };
        FileAttr {
            ino: number,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

/// All other requests get ENOSYS.
impl Filesystem for SharedContent {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let number = match name.to_str() {
            Some(DISK_NAME) => DISK,
            Some(MARKER_NAME) => MARKER,
            _ => return reply.error(Errno::ENOENT),
        };
        reply.entry(&VALID, &self.lock().attributes(number), GENERATION);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&VALID, &self.lock().attributes(number));
    }

    /// The shell's `> file` truncates the marker.
    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<fuser::TimeOrNow>,
        _: Option<fuser::TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        reply.attr(&VALID, &self.lock().attributes(number));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        // The kernel must not keep pages of its own: each request arrives as it was made.
        reply.opened(HANDLE, FopenFlags::FOPEN_DIRECT_IO);
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
        if number != DISK {
            return reply.data(&[]);
        }
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        reply.data(&self.lock().read(offset, size as usize));
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
        // The kernel never sends 4 GiB at once.
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let mut content = self.lock();
        if number == MARKER {
            content.record(Event::Durable);
            return reply.written(length);
        }
        match content.place(offset, length.into()) {
            Some((offset, _)) => {
                content.write(offset, data);
                reply.written(length);
            }
            None => reply.error(Errno::ENOSPC),
        }
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        if number == DISK {
            self.lock().record(Event::Flush);
        }
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
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
        let zeroes = FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE;
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        let mut content = self.lock();
        match content.place(offset, length).filter(|_| number == DISK) {
            Some((offset, length)) if mode.intersects(zeroes) => {
                content.discard(offset, length);
                reply.ok();
            }
            Some(_) => reply.ok(),
            None => reply.error(Errno::EINVAL),
        }
    }
}
