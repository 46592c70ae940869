use writebench_model::{
    Advice, AllocateCall, Axis, Cache, Case, Checksums, Choices, Cursor, DataMemory, Descriptor,
    Drop, Given, Holes, Huge, MapSharing, Method, Opening, PageOrder, Populate, Prepare, Protect,
    Registered, Store, SyncCall, SyncFiles,
};

use crate::EmitOptions;

/// A case with the questions that templates ask.
pub(crate) struct CaseView<'c> {
    /// The case whose calls the code makes.
    pub(crate) case: &'c Case,
    /// The case that the user named, maybe one of a set with the calls of `write`.
    pub(crate) named: &'c Case,
    pub(crate) options: EmitOptions,
    /// The sentence at the end of the first paragraph.
    pub(crate) caution: Option<&'c str>,
}

/// The largest block of a device with O_DIRECT, which is also a page.
const MOST_BLOCK_BYTES: u64 = 4096;

impl CaseView<'_> {
    pub(crate) fn given(&self) -> &Given {
        self.case.given()
    }

    pub(crate) fn choices(&self) -> &Choices {
        self.case.choices()
    }

    pub(crate) fn has(&self, axis: Axis) -> bool {
        self.case.method().has_axis(axis)
    }

    /// Whether the function of a stream needs the length beforehand.
    pub(crate) fn expects(&self) -> bool {
        self.reserves() || self.fills_with_zeros()
    }

    /// Whether the loop returns the end of the data. Only the writes of a stream show its length.
    pub(crate) fn returns_end(&self) -> bool {
        self.expects() || self.reserves_ahead()
    }

    pub(crate) fn is(&self, method: Method) -> bool {
        self.case.method() == method
    }

    pub(crate) fn copies(&self) -> bool {
        self.case.method().copies()
    }

    pub(crate) fn is_uring(&self) -> bool {
        self.is(Method::Uring) || self.is(Method::UringCopy)
    }

    /// Whether each call takes an offset, and ignores the file's position.
    pub(crate) fn is_positional(&self) -> bool {
        self.is(Method::Pwrite) || self.is(Method::Pwritev) || self.is(Method::Uring)
    }

    pub(crate) fn is_at_position(&self) -> bool {
        self.case.method().card().cursor == Cursor::FilePosition && !self.is_uring()
    }

    pub(crate) fn is_vectored(&self) -> bool {
        self.has(Axis::Vector)
    }

    pub(crate) fn registers_buffers(&self) -> bool {
        self.has(Axis::Registered)
            && matches!(
                self.choices().registered,
                Registered::Buffers | Registered::Both
            )
    }

    pub(crate) fn registers_files(&self) -> bool {
        self.has(Axis::Registered)
            && matches!(
                self.choices().registered,
                Registered::Files | Registered::Both
            )
    }

    /// The size of a chunk as an expression. None if a chunk is all of a thread's bytes.
    pub(crate) fn chunk(&self) -> Option<String> {
        self.chunk_bytes().map(number)
    }

    pub(crate) fn chunk_bytes(&self) -> Option<u64> {
        (self.choices().chunk_size_bytes != Choices::WHOLE)
            .then_some(self.choices().chunk_size_bytes)
    }

    /// The number of threads with a part of the data each.
    pub(crate) fn threads(&self) -> u32 {
        if self.options.is_stream {
            1
        } else {
            self.choices().threads
        }
    }

    /// The number of threads that write the chunks of one producer.
    pub(crate) fn writers(&self) -> u32 {
        if self.options.is_stream {
            self.choices().threads
        } else {
            1
        }
    }

    pub(crate) fn has_writers(&self) -> bool {
        self.writers() > 1
    }

    /// Whether the producer fills a buffer while others are written.
    pub(crate) fn has_ring(&self) -> bool {
        self.has_writers() || self.options.is_stream && self.is_uring()
    }

    /// The number of buffers, of which the producer fills one while each writer has one.
    pub(crate) fn buffers(&self) -> u32 {
        if self.has_writers() {
            self.writers() + 1
        } else if self.has_ring() {
            self.choices().depth
        } else {
            1
        }
    }

    /// The constant in C and C++ of which a thread's part is a multiple.
    pub(crate) fn granule(&self) -> &'static str {
        match (self.choices().prepared_window_bytes(), self.chunk()) {
            (None, None) => "(size_t)4096",
            (None, Some(_)) => "CHUNK",
            (Some(_), _) => "WINDOW",
        }
    }

    /// Whether a thread's part begins at a page, as for mappings and direct I/O.
    pub(crate) fn parts_are_pages(&self) -> bool {
        self.maps_target() || self.maps_source() || self.is_direct()
    }

    /// The end of the bytes that the case's calls write.
    pub(crate) fn end_of_calls(&self) -> &'static str {
        if self.is_direct() { "whole" } else { "size" }
    }

    pub(crate) fn has_offset(&self) -> bool {
        self.is_positional() || self.writeback().is_some()
    }

    pub(crate) fn counts_bytes(&self) -> bool {
        self.has_offset() || self.expects() || self.reserves_ahead()
    }

    /// Whether the code knows the offset of the end. Direct I/O writes an end of less than a block there.
    pub(crate) fn ends_at_offset(&self) -> bool {
        self.counts_bytes() || self.is_direct()
    }

    pub(crate) fn has_own_descriptors(&self) -> bool {
        self.threads() > 1
            && self.has(Axis::Descriptor)
            && self.choices().descriptor == Descriptor::PerThread
    }

    /// The flags of open(2) except `O_DIRECT`. The first is the access.
    pub(crate) fn access_flags(&self) -> Vec<&'static str> {
        // A shared writable mapping needs a readable descriptor.
        let access = if self.maps_target() {
            "O_RDWR"
        } else {
            "O_WRONLY"
        };
        let how: &[&str] = match self.choices().prepare.opening() {
            Opening::Emptied => &["O_TRUNC"],
            Opening::Kept => &[],
            Opening::New => &["O_CREAT", "O_EXCL"],
        };
        [&[access], how].concat()
    }

    pub(crate) fn sync_flag(&self) -> Option<&'static str> {
        match self.choices().sync.call {
            SyncCall::ODsync => Some("O_DSYNC"),
            SyncCall::OSync => Some("O_SYNC"),
            _ => None,
        }
    }

    /// The variable that has the file's name during the writes.
    pub(crate) fn written_name(&self) -> &'static str {
        if self.options.is_atomic {
            "name"
        } else {
            "path"
        }
    }

    pub(crate) fn overwrites(&self) -> bool {
        self.choices().prepare == Prepare::Overwrite
    }

    /// Whether the function makes the file. Only then it is removed after an error.
    pub(crate) fn creates_name(&self) -> bool {
        !self.choices().prepare.needs_old_content()
    }

    /// Whether the function opens an existing file, which may be the source itself.
    pub(crate) fn meets_source(&self) -> bool {
        let has_source = self.copies() || self.options.is_stream && self.options.is_program;
        has_source && !self.creates_name() && !self.writes_set()
    }

    /// Whether a new file's mode is that of another one: of the replaced file, or of a copy's source.
    pub(crate) fn chooses_mode(&self) -> bool {
        self.creates_name() && (self.options.is_atomic || self.copies())
    }

    /// Whether a new copy is opened again. Its owner needs the permission, which its source may lack.
    pub(crate) fn reopens_copy(&self) -> bool {
        self.copies() && self.creates_name() && (self.has_own_descriptors() || self.is_direct())
    }

    /// Whether the calls depend on the length in the source's status. A clone ends with its source.
    pub(crate) fn checks_end(&self) -> bool {
        self.copies() && (!self.is(Method::Ficlone) || self.reserves() || self.overwrites())
    }

    pub(crate) fn omits_checksums(&self) -> bool {
        self.has(Axis::Checksums) && self.given().checksums == Checksums::No && self.creates_name()
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.has(Axis::Cache) && self.choices().cache == Cache::Direct
    }

    /// Whether the source is also opened with O_DIRECT.
    pub(crate) fn is_direct_on_both_sides(&self) -> bool {
        self.is(Method::UringCopy) && self.is_direct()
    }

    pub(crate) fn is_dontcache(&self) -> bool {
        self.has(Axis::Cache) && self.choices().cache == Cache::Dontcache
    }

    /// The number of bytes of which addresses, offsets and lengths are multiples with O_DIRECT.
    pub(crate) fn block(&self) -> u64 {
        let chunk = self.chunk_bytes().unwrap_or(MOST_BLOCK_BYTES);
        (1 << chunk.trailing_zeros().min(12)).min(MOST_BLOCK_BYTES)
    }

    /// Whether the data is in huge pages, or is copied for direct I/O to a buffer of at least one.
    pub(crate) fn is_in_huge_pages(&self) -> bool {
        let buffer_bytes = if self.options.is_stream && self.is_direct() {
            self.choices()
                .chunk_size_bytes
                .saturating_mul(self.buffers().into())
        } else {
            self.case.staged_bytes() / u64::from(self.choices().threads)
        };
        self.given().memory == DataMemory::HugePages || buffer_bytes >= Case::HUGE_PAGE_BYTES
    }

    /// Whether the code makes huge pages, for data from a producer or elsewhere.
    pub(crate) fn makes_huge_pages(&self) -> bool {
        self.is_in_huge_pages()
            && (self.is_direct() || self.options.is_stream || self.options.is_program)
    }

    /// Whether a call sets the length or allocates blocks.
    pub(crate) fn reserves(&self) -> bool {
        self.case.preparing_call().is_some()
    }

    /// Whether the call only sets the length.
    pub(crate) fn sets_length(&self) -> bool {
        self.case.preparing_call() == Some(AllocateCall::Ftruncate)
    }

    /// Whether a copy leaves out the holes of its source.
    pub(crate) fn keeps_holes(&self) -> bool {
        self.has(Axis::Holes) && self.given().holes == Holes::Keep
    }

    /// The function of C, C++ and Rust that copies between two offsets.
    pub(crate) fn copy_function(&self) -> &'static str {
        if self.keeps_holes() {
            "copy_data"
        } else {
            "copy_range"
        }
    }

    pub(crate) fn writes_zeroes(&self) -> bool {
        self.choices().prepare == Prepare::WriteZeroes
    }

    /// Why printed code goes on if the call that reserves blocks is refused.
    pub(crate) fn cannot_reserve(&self) -> &'static str {
        if self.writes_zeroes() {
            "this device or filesystem cannot do that"
        } else {
            "this filesystem cannot reserve blocks"
        }
    }

    pub(crate) fn reserves_ahead(&self) -> bool {
        self.choices().prepare == Prepare::FallocateAhead
    }

    pub(crate) fn reserves_blocks(&self) -> bool {
        !matches!(
            self.choices().prepare,
            Prepare::SetLen | Prepare::Create | Prepare::Truncate
        )
    }

    pub(crate) fn fills_with_zeros(&self) -> bool {
        self.choices().prepare == Prepare::ZeroFill
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.choices().sync.call != SyncCall::None || self.choices().sync_files != SyncFiles::None
    }

    /// Whether the directory is synced, for the name of a new file. A set's function always syncs it.
    pub(crate) fn syncs_directory(&self) -> bool {
        self.is_durable() && (self.creates_name() || self.is(Method::WriteFiles))
    }

    pub(crate) fn sync_name(&self) -> &'static str {
        self.choices().sync.call.name()
    }

    pub(crate) fn syncs_at_end(&self) -> bool {
        self.choices().sync.is_at_end()
    }

    pub(crate) fn sync_every(&self) -> Option<u32> {
        self.choices().sync.every
    }

    pub(crate) fn sync_after_several(&self) -> Option<u32> {
        self.choices().sync.every.filter(|&every| every > 1)
    }

    pub(crate) fn is_fdatasync(&self) -> bool {
        self.choices().sync.call == SyncCall::Fdatasync
    }

    pub(crate) fn syncs_map(&self) -> bool {
        self.choices().sync.call == SyncCall::Msync
    }

    pub(crate) fn is_rwf_dsync(&self) -> bool {
        self.choices().sync.call == SyncCall::RwfDsync
    }

    pub(crate) fn is_rwf_atomic(&self) -> bool {
        self.has(Axis::Protect) && self.choices().protect == Protect::RwfAtomic
    }

    /// Whether each call has RWF_DSYNC, RWF_DONTCACHE or RWF_ATOMIC.
    pub(crate) fn has_flags(&self) -> bool {
        self.is_rwf_dsync() || self.is_dontcache() || self.is_rwf_atomic()
    }

    /// Whether pages go to a journal before they go to their places.
    pub(crate) fn writes_twice(&self) -> bool {
        self.has(Axis::Protect) && self.choices().protect == Protect::DoubleWrite
    }

    pub(crate) fn sorts_pages(&self) -> bool {
        self.has(Axis::Order) && self.choices().order == PageOrder::Sorted
    }

    /// Whether each page is copied to memory of the store.
    pub(crate) fn copies_pages(&self) -> bool {
        self.writes_twice() || self.is_direct()
    }

    /// The pages of a commit, or 0 for other cases.
    pub(crate) fn commit_pages(&self) -> u32 {
        self.case.commit_pages().unwrap_or(0)
    }

    /// The bytes before the pages of a journal.
    pub(crate) fn journal_head(&self) -> u64 {
        Case::journal_head_bytes(self.commit_pages().into())
    }

    /// The call that makes a commit durable, unless its writes do.
    pub(crate) fn sync_of_commit(&self) -> Option<&'static str> {
        let call = self.choices().sync.call;
        (!call.is_write_through()).then_some(call.name())
    }

    /// Whether EINTR of a sync gets lost in languages whose fsync(2) and fdatasync(2) continue after any. msync(2) is
    /// called once.
    pub(crate) fn hides_eintr(&self) -> bool {
        matches!(
            self.choices().sync.call,
            SyncCall::Fsync | SyncCall::Fdatasync
        ) || self.fills_with_zeros()
    }

    pub(crate) fn writeback(&self) -> Option<String> {
        self.choices()
            .writeback_bytes
            .filter(|_| self.has(Axis::Writeback))
            .map(number)
    }

    pub(crate) fn drops(&self) -> bool {
        self.has(Axis::Drop) && self.choices().drop == Drop::Yes
    }

    pub(crate) fn maps_target(&self) -> bool {
        self.case.method().card().cursor == Cursor::Mapping
    }

    pub(crate) fn maps_source(&self) -> bool {
        self.is(Method::MmapWrite) || self.is(Method::MmapMmap)
    }

    pub(crate) fn has_own_maps(&self) -> bool {
        self.threads() > 1 && self.has(Axis::Map) && self.choices().map == MapSharing::PerThread
    }

    pub(crate) fn prepares_windows(&self) -> bool {
        self.populates() || self.huge_is_collapse()
    }

    pub(crate) fn prepares_all(&self) -> bool {
        self.populates_all() && !self.huge_is_collapse()
    }

    pub(crate) fn syncs_file_on_the_way(&self) -> bool {
        self.sync_every().is_some() && !self.syncs_map()
    }

    pub(crate) fn shares_map(&self) -> bool {
        self.copies() && self.maps_target() && self.threads() > 1 && !self.has_own_maps()
    }

    pub(crate) fn populates(&self) -> bool {
        self.has(Axis::Populate) && self.choices().populate != Populate::None
    }

    pub(crate) fn populates_all(&self) -> bool {
        self.has(Axis::Populate) && self.choices().populate == Populate::All
    }

    pub(crate) fn window(&self) -> String {
        number(self.choices().window_bytes)
    }

    pub(crate) fn maps_huge(&self) -> bool {
        self.has(Axis::Huge) && self.choices().huge != Huge::None
    }

    pub(crate) fn huge_is_collapse(&self) -> bool {
        self.has(Axis::Huge) && self.choices().huge == Huge::Collapse
    }

    pub(crate) fn is_nontemporal(&self) -> bool {
        self.has(Axis::Store) && self.choices().store == Store::Nontemporal
    }

    pub(crate) fn is_sequential(&self) -> bool {
        self.has(Axis::Advice) && self.choices().advice == Advice::Sequential
    }

    pub(crate) fn loops_writing(&self) -> bool {
        self.fills_with_zeros() || !self.moves_in_kernel() && !self.maps_target()
    }

    pub(crate) fn moves_in_kernel(&self) -> bool {
        self.is(Method::Sendfile) || self.is(Method::CopyFileRange) || self.is(Method::Ficlone)
    }
}

/// An expression for a number of bytes: `1 << 20` for powers of two, `3 << 20` for multiples of large ones.
pub(crate) fn number(bytes: u64) -> String {
    match bytes.trailing_zeros() {
        shift @ 10.. if bytes > 0 => {
            format!("{} << {}", bytes >> (shift / 10 * 10), shift / 10 * 10)
        }
        _ => bytes.to_string(),
    }
}
