//! A case as the templates see it.

use writebench_model::{
    Advice, Axes, Axis, Cache, Case, Cursor, Descriptor, Drop, Huge, InCode, MapSharing, Method, Opening,
    Populate, Prepare, RecordedCase, Registered, Store, SyncCall,
};

use crate::Frame;
use crate::needs::needs;
use crate::wrapped::wrapped;

/// A case and its frame, with the questions that templates ask.
pub(crate) struct Way<'c> {
    case: &'c Case,
    frame: Frame,
}

/// The columns of a comment.
const COLUMNS: usize = 92;
/// O_DIRECT: the largest block of a device, and the size of a page.
const MOST_BLOCK_BYTES: u64 = 4096;

impl<'c> Way<'c> {
    pub(crate) fn new(case: &'c Case, frame: Frame) -> Self {
        Self { case, frame }
    }

    fn axes(&self) -> &Axes {
        self.case.axes()
    }

    fn has(&self, axis: Axis) -> bool {
        self.case.method().has_axis(axis)
    }

    // Words.

    /// The case's name, without what the caller decides.
    pub(crate) fn name(&self) -> String {
        let is_callers = |axis: &Axis| self.axes().in_code(*axis) == InCode::Callers;
        let of_caller: Vec<Axis> = self.case.chosen_axes().filter(is_callers).collect();
        RecordedCase::from(self.case.clone()).name_without(&of_caller)
    }

    /// A description of the function, in lines.
    pub(crate) fn about(&self) -> Vec<String> {
        let does = match (self.copies(), self.axes().prepare) {
            (true, Prepare::Truncate | Prepare::Overwrite) => "Copies a file over one that exists",
            (true, _) => "Copies a file to a new one",
            (false, Prepare::Truncate) => "Replaces the content of a file that exists",
            (false, Prepare::Overwrite) => "Overwrites a file that exists, from its beginning",
            (false, _) => "Writes a new file",
        };
        let mut text = format!("{does}: {}.", self.case.words());
        if self.atomic() {
            text += " Until it is whole, it has another name. Then it replaces the file of its own name, and has its \
                     mode. It has its owner and group where the program may give them.";
        }
        // A stream is put into memory that the function makes.
        if !self.streams()
            && let Some(needs) = needs(self.case, self.block())
        {
            text += &format!(" {needs}");
        }
        wrapped(&text, COLUMNS)
    }

    /// How errors are reported, and the state of the file after one, in lines.
    pub(crate) fn errors(&self, report: &str) -> Vec<String> {
        let state = match (self.atomic(), self.is_durable()) {
            (true, true) => {
                "After an error the old file stays, if there was one. Only if the sync of the directory failed, the \
                 whole new file is there, and a power loss may bring the old one back: call it again."
            }
            (true, false) => "After an error the old file stays, if there was one.",
            (false, _) if self.removes_on_error() => "After an error there is no file.",
            (false, _) => "After an error the file is incomplete.",
        };
        wrapped(format!("{report} {state}").trim_start(), COLUMNS)
    }

    // The frame.

    pub(crate) fn main(&self) -> bool {
        self.frame.is_program
    }

    pub(crate) fn atomic(&self) -> bool {
        self.frame.is_atomic
    }

    pub(crate) fn streams(&self) -> bool {
        self.frame.is_stream
    }

    /// Whether the function of a stream must know beforehand how many bytes there will be.
    pub(crate) fn expects(&self) -> bool {
        self.reserves() || self.fills_with_zeros()
    }

    // The method.

    pub(crate) fn is(&self, method: Method) -> bool {
        self.case.method() == method
    }

    pub(crate) fn copies(&self) -> bool {
        self.case.method().copies()
    }

    pub(crate) fn is_uring(&self) -> bool {
        self.is(Method::Uring) || self.is(Method::UringCopy)
    }

    /// Whether calls take an offset, rather than using the file's position.
    pub(crate) fn is_positional(&self) -> bool {
        self.is(Method::Pwrite) || self.is(Method::Pwritev) || self.is(Method::Uring)
    }

    /// Whether calls use the position of the file that is written.
    pub(crate) fn is_at_position(&self) -> bool {
        self.case.method().card().cursor == Cursor::FilePosition && !self.is_uring()
    }

    pub(crate) fn is_vectored(&self) -> bool {
        self.has(Axis::Vector)
    }

    pub(crate) fn vector(&self) -> u32 {
        self.axes().vector
    }

    pub(crate) fn depth(&self) -> u32 {
        self.axes().depth
    }

    pub(crate) fn registers_buffers(&self) -> bool {
        self.has(Axis::Registered) && matches!(self.axes().registered, Registered::Buffers | Registered::Both)
    }

    pub(crate) fn registers_files(&self) -> bool {
        self.has(Axis::Registered) && matches!(self.axes().registered, Registered::Files | Registered::Both)
    }

    // Chunks and threads.

    /// The bytes of a chunk, as `1 << 20` or a number; none for all of the thread's bytes.
    pub(crate) fn chunk(&self) -> Option<String> {
        (self.axes().chunk_size_bytes != u64::MAX).then(|| number(self.axes().chunk_size_bytes))
    }

    /// The bytes of a chunk as a number.
    pub(crate) fn chunk_bytes(&self) -> Option<u64> {
        (self.axes().chunk_size_bytes != u64::MAX).then_some(self.axes().chunk_size_bytes)
    }

    pub(crate) fn threads(&self) -> u32 {
        if self.has(Axis::Threads) { self.axes().threads } else { 1 }
    }

    /// The bytes that a thread's part is made of, for C: whole windows or chunks.
    pub(crate) fn granule(&self) -> &'static str {
        match (self.axes().prepared_window_bytes(), self.chunk()) {
            (None, None) => "(size_t)4096",
            (None, Some(_)) => "CHUNK",
            (Some(_), _) => "WINDOW",
        }
    }

    /// Whether the parts of threads begin at pages: mappings and direct I/O cannot begin elsewhere.
    pub(crate) fn parts_are_pages(&self) -> bool {
        self.maps_target() || self.maps_source() || self.is_direct()
    }

    pub(crate) fn has_own_descriptors(&self) -> bool {
        self.threads() > 1 && self.has(Axis::Descriptor) && self.axes().descriptor == Descriptor::PerThread
    }

    // Opening.

    pub(crate) fn truncates(&self) -> bool {
        self.axes().prepare == Prepare::Truncate
    }

    /// Whether the function writes in place.
    pub(crate) fn overwrites(&self) -> bool {
        self.axes().prepare == Prepare::Overwrite
    }

    /// Whether the function makes a name in the directory.
    pub(crate) fn creates_name(&self) -> bool {
        !self.axes().prepare.needs_old_content()
    }

    /// Whether what an error leaves is removed: only what the function has made itself.
    pub(crate) fn removes_on_error(&self) -> bool {
        self.creates_name()
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.has(Axis::Cache) && self.axes().cache == Cache::Direct
    }

    /// Whether the file that is copied is opened with O_DIRECT, too.
    pub(crate) fn is_direct_on_both_sides(&self) -> bool {
        self.is(Method::UringCopy) && self.is_direct()
    }

    pub(crate) fn is_dontcache(&self) -> bool {
        self.has(Axis::Cache) && self.axes().cache == Cache::Dontcache
    }

    /// The bytes that addresses, offsets and lengths are multiples of with O_DIRECT.
    pub(crate) fn block(&self) -> u64 {
        let chunk = self.chunk_bytes().unwrap_or(MOST_BLOCK_BYTES);
        (1 << chunk.trailing_zeros().min(12)).min(MOST_BLOCK_BYTES)
    }

    // The file's length and blocks.

    pub(crate) fn prepare(&self) -> Prepare {
        self.axes().prepare
    }

    /// Whether a call gives the file its length or blocks.
    pub(crate) fn reserves(&self) -> bool {
        self.axes().prepare.call().is_some()
    }

    /// Whether the file has blocks before it is written.
    pub(crate) fn reserves_blocks(&self) -> bool {
        !matches!(self.axes().prepare, Prepare::SetLen | Prepare::Create | Prepare::Truncate)
    }

    pub(crate) fn is_set_len(&self) -> bool {
        self.axes().prepare == Prepare::SetLen
    }

    pub(crate) fn is_posix_fallocate(&self) -> bool {
        self.axes().prepare == Prepare::PosixFallocate
    }

    pub(crate) fn fills_with_zeros(&self) -> bool {
        self.axes().prepare == Prepare::ZeroFill
    }

    // Durability.

    pub(crate) fn is_durable(&self) -> bool {
        self.axes().sync.call != SyncCall::None
    }

    /// `fsync`, `fdatasync` or `msync`, where it is a call of its own.
    pub(crate) fn sync_name(&self) -> &'static str {
        self.axes().sync.call.name()
    }

    pub(crate) fn syncs_at_end(&self) -> bool {
        self.axes().sync.is_at_end()
    }

    /// The number of chunks between two syncs on the way.
    pub(crate) fn sync_every(&self) -> Option<u32> {
        self.axes().sync.every
    }

    /// The number of chunks between two syncs, if it is more than one.
    pub(crate) fn sync_after_several(&self) -> Option<u32> {
        self.axes().sync.every.filter(|&every| every > 1)
    }

    pub(crate) fn is_fdatasync(&self) -> bool {
        self.axes().sync.call == SyncCall::Fdatasync
    }

    pub(crate) fn syncs_map(&self) -> bool {
        self.axes().sync.call == SyncCall::Msync
    }

    pub(crate) fn opens_dsync(&self) -> bool {
        self.axes().sync.call == SyncCall::ODsync
    }

    pub(crate) fn opens_sync(&self) -> bool {
        self.axes().sync.call == SyncCall::OSync
    }

    pub(crate) fn is_rwf_dsync(&self) -> bool {
        self.axes().sync.call == SyncCall::RwfDsync
    }

    /// Whether each call has a flag, RWF_DSYNC or RWF_DONTCACHE.
    pub(crate) fn has_flags(&self) -> bool {
        self.is_rwf_dsync() || self.is_dontcache()
    }

    /// The window of write-behind.
    pub(crate) fn writeback(&self) -> Option<String> {
        self.axes().writeback_bytes.filter(|_| self.has(Axis::Writeback)).map(number)
    }

    pub(crate) fn drops(&self) -> bool {
        self.has(Axis::Drop) && self.axes().drop == Drop::Yes
    }

    // Mappings.

    pub(crate) fn maps_target(&self) -> bool {
        self.case.method().card().cursor == Cursor::Mapping
    }

    pub(crate) fn maps_source(&self) -> bool {
        self.is(Method::MmapWrite) || self.is(Method::MmapMmap)
    }

    pub(crate) fn has_own_maps(&self) -> bool {
        self.threads() > 1 && self.has(Axis::Map) && self.axes().map == MapSharing::PerThread
    }

    /// Whether the threads of a copy have one mapping of it.
    pub(crate) fn shares_map(&self) -> bool {
        self.copies() && self.maps_target() && self.threads() > 1 && !self.has_own_maps()
    }

    pub(crate) fn populates(&self) -> bool {
        self.has(Axis::Populate) && self.axes().populate != Populate::None
    }

    pub(crate) fn populates_all(&self) -> bool {
        self.has(Axis::Populate) && self.axes().populate == Populate::All
    }

    pub(crate) fn window(&self) -> String {
        number(self.axes().window_bytes)
    }

    pub(crate) fn maps_huge(&self) -> bool {
        self.has(Axis::Huge) && self.axes().huge != Huge::None
    }

    pub(crate) fn huge_is_collapse(&self) -> bool {
        self.has(Axis::Huge) && self.axes().huge == Huge::Collapse
    }

    pub(crate) fn is_nontemporal(&self) -> bool {
        self.has(Axis::Store) && self.axes().store == Store::Nontemporal
    }

    pub(crate) fn is_sequential(&self) -> bool {
        self.has(Axis::Advice) && self.axes().advice == Advice::Sequential
    }

    /// Whether the code has a loop of its own around calls that write.
    pub(crate) fn loops_writing(&self) -> bool {
        let moves = self.is(Method::Sendfile) || self.is(Method::CopyFileRange) || self.is(Method::Ficlone);
        self.fills_with_zeros() || !moves && !self.maps_target()
    }

    // C's and C++'s own.

    /// Flags of open(2) beside those of access, each with ` | `.
    pub(crate) fn open_flags_c(&self) -> String {
        let direct = if self.is_direct() { " | O_DIRECT" } else { "" };
        format!("{direct}{}", self.sync_flags_c())
    }

    /// Flags of open(2) that make each call durable.
    pub(crate) fn sync_flags_c(&self) -> &'static str {
        match (self.opens_dsync(), self.opens_sync()) {
            (true, _) => " | O_DSYNC",
            (_, true) => " | O_SYNC",
            (false, false) => "",
        }
    }

    /// The flags with which the file is opened first.
    pub(crate) fn access_c(&self) -> String {
        let how = match self.axes().prepare.opening() {
            Opening::Emptied => " | O_TRUNC",
            Opening::Kept => "",
            Opening::New => " | O_CREAT | O_EXCL",
        };
        format!("{}{how}", self.access_again_c())
    }

    /// The flags of another descriptor of the same file.
    pub(crate) fn access_again_c(&self) -> &'static str {
        // A shared writable mapping needs a descriptor that can read.
        if self.maps_target() { "O_RDWR" } else { "O_WRONLY" }
    }

    /// The mode with which the file is made.
    pub(crate) fn mode_c(&self) -> &'static str {
        if self.atomic() { "mode" } else { "0666" }
    }

    /// The variable with the name under which the file is written.
    pub(crate) fn name_c(&self) -> &'static str {
        if self.atomic() { "name" } else { "path" }
    }

    /// The variable with the number of bytes that are written in whole blocks.
    pub(crate) fn whole_c(&self) -> &'static str {
        if self.is_direct() { "whole" } else { "size" }
    }

    /// The arguments of the function that fills the file, after the file.
    pub(crate) fn what_c(&self) -> &'static str {
        match (self.copies(), self.streams()) {
            (true, _) if self.threads() > 1 => "source, input, size",
            (true, _) => "input, size",
            (false, true) if self.expects() => "next, context, expected",
            (false, true) => "next, context",
            (false, false) => "data, size",
        }
    }

    /// The call of the function in a whole program.
    pub(crate) fn main_call_c(&self) -> &'static str {
        match (self.copies(), self.streams()) {
            (true, _) => "copy_file(argv[1], argv[2])",
            (false, true) if self.expects() => {
                "write_stream(argv[2], read_source, &source, (size_t)status.st_size)"
            }
            (false, true) => "write_stream(argv[2], read_source, &source)",
            (false, false) => "write_file(argv[2], data, size)",
        }
    }

    /// The sync of what was written without io_uring, where it has one on the way.
    pub(crate) fn sync_without_ring(&self) -> Option<&'static str> {
        if self.is_rwf_dsync() { Some("fdatasync") } else { self.sync_every().map(|_| self.sync_name()) }
    }

    /// The call that gives the file its length or blocks.
    pub(crate) fn reserve_c(&self) -> Option<&'static str> {
        Some(match self.axes().prepare {
            Prepare::SetLen => "ftruncate(fd, (off_t)size)",
            Prepare::Fallocate => "fallocate(fd, 0, 0, (off_t)size)",
            Prepare::PosixFallocate => "posix_fallocate(fd, 0, (off_t)size)",
            Prepare::FallocateKeepSize => "fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size)",
            Prepare::FallocateZeroRange => "fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, (off_t)size)",
            Prepare::Create | Prepare::Truncate | Prepare::ZeroFill | Prepare::Overwrite => return None,
        })
    }

    /// Whether the threads of `mmap` use the file itself.
    pub(crate) fn parts_have_file_c(&self) -> bool {
        self.has_own_maps() || self.has_own_descriptors() || self.sync_every().is_some() && !self.syncs_map()
    }

    /// The bytes of a chunk of io_uring.
    pub(crate) fn ring_chunk_c(&self) -> &'static str {
        if self.chunk().is_some() { "CHUNK" } else { "most" }
    }

    /// The flags of each call.
    pub(crate) fn flags_c(&self) -> &'static str {
        match (self.is_dontcache(), self.is_rwf_dsync()) {
            (true, true) => "RWF_DONTCACHE | RWF_DSYNC",
            (true, false) => "RWF_DONTCACHE",
            (false, _) => "RWF_DSYNC",
        }
    }

    pub(crate) fn vectored_call_c(&self) -> &'static str {
        match (self.has_flags(), self.is_positional()) {
            (true, true) => "pwritev2(fd, vector, count, offset, write_flags)",
            (true, false) => "pwritev2(fd, vector, count, -1, write_flags)",
            (false, true) => "pwritev(fd, vector, count, offset)",
            (false, false) => "writev(fd, vector, count)",
        }
    }

    /// The bytes of a buffer that data is copied to, to be aligned.
    pub(crate) fn buffer_c(&self) -> String {
        let chunks = if self.is_vectored() { format!("VECTOR * {}", "CHUNK") } else { "CHUNK".to_owned() };
        if self.chunk().is_none() { "size".to_owned() } else { chunks }
    }

    /// The bytes of a pipe that holds a chunk, 1 MiB at most.
    pub(crate) fn pipe_c(&self) -> u64 {
        const PIPE_MAX_BYTES: u64 = 1 << 20;
        const PAGE_BYTES: u64 = 4096;
        let chunk = self.axes().chunk_size_bytes;
        let needed = if chunk.is_multiple_of(PAGE_BYTES) { chunk } else { chunk.saturating_add(PAGE_BYTES) };
        needed.min(PIPE_MAX_BYTES)
    }
}

/// `1 << 20` for powers of two, `3 << 20` for multiples of large ones, the number otherwise.
fn number(bytes: u64) -> String {
    match bytes.trailing_zeros() {
        shift @ 10.. if bytes > 0 => format!("{} << {}", bytes >> (shift / 10 * 10), shift / 10 * 10),
        _ => bytes.to_string(),
    }
}
