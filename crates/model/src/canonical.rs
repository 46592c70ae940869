//! The canonical form of a case, which all cases of the same calls share.

use crate::axis::{Axis, Choices};
use crate::case::Case;
use crate::method::Method;
use crate::quantity::Bytes;
use crate::sync::{Sync, SyncCall};
use crate::value::{
    Cache, Descriptor, Directory, Drop, FileLayout, Files, Huge, MapSharing, Populate, Prepare,
    Registered, Source,
};

/// The largest pipe that `splice` makes for its chunk, because the kernel allows no more to every user: pipe(7).
const MOST_PIPE_BYTES: u64 = 1 << 20;
/// The unit of write-behind, which takes whole pages.
const PAGE_BYTES: u64 = 4096;

/// New values for some axes.
type Values = Vec<(Axis, String)>;

/// Replaces values that have no effect in this case. None if all have one.
type Rule = fn(&Case) -> Option<Case>;

/// The rules in their order. A rule may make the next one applicable.
const RULES: &[Rule] = &[
    one_thread_shares_nothing,
    one_directory_has_all_files,
    one_block_is_contiguous,
    one_window_has_all,
    one_call_has_all,
    one_vector_has_all,
    one_queue_has_all,
    write_behind_before_the_end,
];

impl Case {
    /// The case that stands for all with the same calls on the file, in the same order, by the same threads. A value
    /// without an effect becomes the default: a chunk, a vector or a queue that a thread's range does not fill, a
    /// distance that no thread reaches, a choice between threads of which there is one. The workload remains.
    ///
    /// Not compared are the sizes of a ring and of a buffer, and in which phase a sync after the last chunk is counted.
    #[must_use]
    pub fn canonical(&self) -> Self {
        RULES
            .iter()
            .fold(self.clone(), |case, rule| rule(&case).unwrap_or(case))
    }

    /// Whether both make the same calls.
    pub fn is_same_work(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }

    /// Whether its calls are those of a method without vectors, because each has a vector of one chunk. A flag of the call
    /// needs a vectored one.
    pub fn has_needless_vector(&self) -> bool {
        let choices = self.choices();
        let has_flag = choices.cache == Cache::Dontcache || choices.sync.call == SyncCall::RwfDsync;
        let has_one = self.chunks_per_call() == 1 || self.most_chunks() <= 1;
        self.method().has_axis(Axis::Vector) && has_one && !has_flag
    }

    /// The case with these values, if they are possible and leave each thread its range and the file its workload.
    fn instead(&self, values: &[(Axis, String)]) -> Option<Self> {
        let case = self.with_all(values).ok()?;
        let has_ranges = self.method().writes_set() || case.ranges() == self.ranges();
        (has_ranges && case.workload() == self.workload()).then_some(case)
    }

    /// The most bytes that a call could get: a thread's range, or a file of a set.
    fn longest_bytes(&self) -> u64 {
        if !self.method().writes_set() {
            return self
                .ranges()
                .iter()
                .map(|range| range.length)
                .max()
                .unwrap_or(0);
        }
        self.given().longest_file_bytes()
    }

    /// The number of chunks of the thread with the most.
    fn most_chunks(&self) -> u64 {
        self.longest_bytes()
            .div_ceil(self.choices().chunk_size_bytes.max(1))
    }

    fn defaults(&self) -> Choices {
        Choices::defaults(self.method().card().prepares[0])
    }
}

fn text(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// One thread shares nothing, so it does not matter whether threads would share.
fn one_thread_shares_nothing(case: &Case) -> Option<Case> {
    let choices = case.choices();
    let is_one = case.thread_count() == 1;
    let mut values = Values::new();
    if choices.threads == 1 && choices.descriptor == Descriptor::PerThread {
        values.push((Axis::Descriptor, Descriptor::Shared.to_string()));
    }
    if is_one && choices.map == MapSharing::PerThread {
        values.push((Axis::Map, MapSharing::Shared.to_string()));
    }
    if is_one && choices.files != Files::Shared {
        values.push((Axis::Files, Files::Shared.to_string()));
    }
    (!values.is_empty()).then(|| case.instead(&values))?
}

/// Directories of 256 files are one for each thread, if none has more.
fn one_directory_has_all_files(case: &Case) -> Option<Case> {
    let is_fanned_out = case.method().writes_set() && case.choices().directory == Directory::FanOut;
    let most_files = case.file_count().div_ceil(case.thread_count().max(1));
    if !is_fanned_out || most_files as usize > Directory::FAN_OUT_FILES {
        return None;
    }
    case.instead(&[(Axis::Directory, Directory::PerThread.to_string())])
}

/// One block for each thread, or one thread with all blocks, is a contiguous part. MPI gets a view of blocks.
fn one_block_is_contiguous(case: &Case) -> Option<Case> {
    let choices = case.choices();
    let is_contiguous = choices.layout == FileLayout::Strided
        && (case.thread_count() == 1 || case.longest_bytes() <= choices.block_bytes);
    if !is_contiguous || case.method() == Method::Mpiio {
        return None;
    }
    case.instead(&[
        (Axis::Layout, FileLayout::Segmented.to_string()),
        (Axis::Block, text(case.defaults().block_bytes)),
    ])
}

/// A window with all of a thread's bytes prepares them all at once.
fn one_window_has_all(case: &Case) -> Option<Case> {
    let choices = case.choices();
    let longest = case.longest_bytes();
    if choices
        .prepared_window_bytes()
        .is_none_or(|window| window < longest)
    {
        return None;
    }
    let default = case.defaults().window_bytes;
    if choices.huge == Huge::Collapse {
        let whole = longest.next_multiple_of(Case::HUGE_PAGE_BYTES);
        let fitting = [default, whole]
            .into_iter()
            .find(|&window| window >= longest)?;
        return case.instead(&[(Axis::Window, text(fitting))]);
    }
    case.instead(&[
        (Axis::Populate, Populate::All.to_string()),
        (Axis::Window, text(default)),
    ])
}

/// All chunks that have all of a thread's bytes, or of each file, are alike.
fn one_call_has_all(case: &Case) -> Option<Case> {
    if !case.method().has_axis(Axis::Chunk) {
        return None;
    }
    let choices = case.choices();
    let longest = case.longest_bytes();
    // splice asks for a pipe as large as the chunk.
    let least = if case.method() == Method::Splice {
        longest.max(MOST_PIPE_BYTES)
    } else {
        longest
    };
    if choices.chunk_size_bytes < least {
        return None;
    }
    // A producer refills a chunk of its memory, so no chunk is larger than the file.
    let whole = if case.given().source == Source::Chunk {
        longest.max(1)
    } else {
        Choices::WHOLE
    };
    let default = case.defaults().chunk_size_bytes;
    let fitting = [default, whole].into_iter().filter(|&chunk| chunk >= least);
    let mut cases = fitting.map(|chunk| match chunk {
        chunk if chunk == choices.chunk_size_bytes => Some(case.clone()),
        Choices::WHOLE => case.instead(&[(Axis::Chunk, "whole".to_owned())]),
        chunk => case.instead(&[(Axis::Chunk, text(chunk))]),
    });
    cases.find_map(|case| case)
}

/// All vectors that have all of a thread's chunks are alike, and so are the syncs after as many.
fn one_vector_has_all(case: &Case) -> Option<Case> {
    if case.method().writes_set() || !case.method().has_axis(Axis::Chunk) {
        return None;
    }
    let chunks = case.most_chunks().max(1);
    let mut values = Values::new();
    let mut vector = case.chunks_per_call();
    if case.method().has_axis(Axis::Vector) {
        let fitting = [u64::from(case.defaults().vector), chunks]
            .into_iter()
            .find(|&fitting| fitting >= chunks);
        if let Some(fitting) = fitting.filter(|_| vector >= chunks) {
            values.push((Axis::Vector, fitting.to_string()));
            vector = fitting;
        }
    }
    values.extend(
        sync_after_the_last(case, chunks, vector).map(|sync| (Axis::Sync, sync.to_string())),
    );
    (!values.is_empty()).then(|| case.instead(&values))?
}

/// A sync that is due after the thread's last chunk is the one at the end, if each file has one writer. A ring links a
/// sync to its write.
fn sync_after_the_last(case: &Case, chunks: u64, vector: u64) -> Option<Sync> {
    let choices = case.choices();
    let every = choices
        .sync
        .every
        .map(u64::from)
        .filter(|&every| every >= chunks)?;
    if case.method() == Method::Uring {
        return None;
    }
    let is_alone = case.file_count() == case.thread_count();
    if is_alone
        && case.given().records_per_s.is_none()
        && choices.prepare != Prepare::FallocateAhead
    {
        return Some(Sync {
            every: None,
            ..choices.sync
        });
    }
    let fitting = u32::try_from(chunks.next_multiple_of(vector))
        .ok()
        .filter(|&least| least <= Sync::MAX_EVERY)?;
    (u64::from(fitting) != every).then_some(Sync {
        every: Some(fitting),
        ..choices.sync
    })
}

/// All queues that have all of a thread's chunks or files are alike.
fn one_queue_has_all(case: &Case) -> Option<Case> {
    if !case.method().has_axis(Axis::Depth) {
        return None;
    }
    let operations = if case.method().writes_set() {
        u64::from(case.file_count().div_ceil(case.thread_count().max(1)))
    } else {
        // All pages of a commit are awaited before the next.
        case.most_chunks()
            .min(case.commit_pages().map_or(u64::MAX, u64::from))
    };
    let depth = u64::from(case.choices().depth);
    // Registered memory is that of all operations in flight.
    if depth < operations
        || case.choices().registered != Registered::None && case.method().card().has_buffer
    {
        return None;
    }
    let fitting = [u64::from(case.defaults().depth), operations]
        .into_iter()
        .find(|&fitting| fitting >= operations)?;
    (fitting != depth).then(|| case.instead(&[(Axis::Depth, fitting.to_string())]))?
}

/// Write-behind starts at the end of a call, so all distances up to the same calls are alike. A distance beyond the
/// thread's last byte is none.
fn write_behind_before_the_end(case: &Case) -> Option<Case> {
    let choices = case.choices();
    let distance = choices.writeback_bytes?;
    let longest = case.longest_bytes();
    if distance > longest {
        return case.instead(&[
            (Axis::Writeback, "none".to_owned()),
            (Axis::Drop, Drop::No.to_string()),
        ]);
    }
    if case.thread_count() > 1 || case.method().copies() {
        return None;
    }
    let call_bytes = choices
        .chunk_size_bytes
        .saturating_mul(case.chunks_per_call())
        .min(longest);
    let bytes_between_starts = distance.div_ceil(call_bytes).saturating_mul(call_bytes);
    let rest = longest % bytes_between_starts;
    let starts_once_more = rest >= distance;
    let longest_alike = if starts_once_more {
        rest
    } else {
        bytes_between_starts
    };
    let whole_pages = longest_alike / PAGE_BYTES * PAGE_BYTES;
    let mut values = vec![(Axis::Writeback, text(whole_pages))];
    // What is dropped was written before the last call, so it takes two starts.
    if longest / bytes_between_starts + u64::from(starts_once_more) < 2 {
        values.push((Axis::Drop, Drop::No.to_string()));
    }
    case.instead(&values)
}
