//! The checks that refuse contradictory values of a case.

use crate::axis::{Axis, Choices};
use crate::case::{Case, CaseError};
use crate::file_set::FileSize;
use crate::method::{Cursor, Method};
use crate::quantity::Bytes;
use crate::sync::{Sync, SyncCall};
use crate::value::{
    Access, AllocateCall, Cache, Collective, DataMemory, Descriptor, Drop, FileLayout, Files,
    Holes, Huge, MapSharing, Naming, PageOrder, Populate, Prepare, Protect, Registered, Source,
};

/// The axis whose value is not possible, and the reason.
type Contradiction = (Axis, String);

/// A check of some axes.
type Check = fn(&Case) -> Result<(), Contradiction>;

fn refuse(axis: Axis, why: impl Into<String>) -> Result<(), Contradiction> {
    Err((axis, why.into()))
}

impl Case {
    /// The smallest sector. Direct I/O always needs multiples of it.
    pub const SECTOR_BYTES: u64 = 512;
    /// The size of a huge page on machines with pages of 4 KiB. `MADV_COLLAPSE` fails on others.
    pub const HUGE_PAGE_BYTES: u64 = 2 << 20;
    /// The most threads of all ranks together.
    pub const MOST_THREADS: u64 = 1 << 20;

    pub(crate) fn check(&self) -> Result<(), CaseError> {
        let checks: &[Check] = &[
            starts_and_calls,
            sizes,
            layout,
            blocks,
            windows,
            memory,
            write_behind,
            arrivals,
            pages,
            protection,
            direct,
            holes,
            file_set,
        ];
        checks
            .iter()
            .try_for_each(|check| check(self))
            .map_err(|(axis, why)| {
                let value = self.value(axis);
                CaseError::Contradiction(format!(
                    "{axis}={value} is not possible with {}: {why}",
                    self.method()
                ))
            })
    }
}

/// The file's start, the sync calls and the flags must be among those of the method's card.
fn starts_and_calls(case: &Case) -> Result<(), Contradiction> {
    let method = case.method();
    let choices = case.choices();
    if !method.card().prepares.contains(&choices.prepare) {
        let fitting: Vec<&str> = method
            .card()
            .prepares
            .iter()
            .map(|prepare| prepare.name())
            .collect();
        return refuse(
            Axis::Prepare,
            format!("the method starts from {}", fitting.join(", ")),
        );
    }
    if let Some(every) = choices.sync.every
        && choices.sync.call.is_write_through()
        && case.given().access == Access::Sequential
    {
        let call = choices.sync.call;
        return refuse(Axis::Sync, Sync::one_call_only(call, every));
    }
    if choices.sync.every.is_some()
        && !choices.sync.call.is_write_through()
        && !method.card().syncs_on_the_way.contains(&choices.sync.call)
    {
        return match method.card().syncs_on_the_way {
            [] => refuse(Axis::Sync, "the method syncs at the end only"),
            calls => refuse(
                Axis::Sync,
                format!("before the end use {}", names_of_calls(calls)),
            ),
        };
    }
    if !method.card().syncs.contains(&choices.sync.call) {
        let calls = names_of_calls(method.card().syncs);
        return refuse(Axis::Sync, format!("use {calls}"));
    }
    if let Some(every) = choices.sync.every
        && method.has_axis(Axis::Vector)
        && !every.is_multiple_of(choices.vector)
    {
        let call = choices.sync.call;
        let vector = choices.vector;
        let fitting = every.next_multiple_of(vector);
        let why = format!(
            "a call writes {vector} chunks. Set sync={call}/{fitting}, or as vector a divisor of {every}"
        );
        return refuse(Axis::Sync, why);
    }
    if choices.cache == Cache::Dontcache && !method.has_flags() {
        let why = "RWF_DONTCACHE is a flag of pwritev2(2). Use pwrite, writev, pwritev or io_uring";
        return refuse(Axis::Cache, why);
    }
    Ok(())
}

fn names_of_calls(calls: &[SyncCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.name()).collect();
    names.join(", ")
}

/// The bytes must suffice for all threads, mappings and reservations.
fn sizes(case: &Case) -> Result<(), Contradiction> {
    let method = case.method();
    let choices = case.choices();
    // Many ranks are plausible, more threads than a machine has cores are not.
    let ranks = choices.ranks;
    let most = Case::MOST_THREADS;
    if u64::from(ranks) * u64::from(choices.threads) > most {
        return refuse(
            Axis::Threads,
            format!("with {ranks} ranks there are more than {most} threads in total"),
        );
    }
    if method.card().cursor == Cursor::NoData && choices.call == AllocateCall::FallocateKeepSize {
        return refuse(
            Axis::Call,
            "the file would have no length. Use prepare=fallocate-keep-size",
        );
    }
    let allocating = if method.card().cursor == Cursor::NoData {
        Some(choices.call)
    } else {
        choices.prepare.call()
    };
    let reserves = allocating.is_some_and(AllocateCall::gives_blocks);
    if case.given().size_bytes == 0
        && (method.card().cursor == Cursor::Mapping || reserves || method.copies())
    {
        return refuse(
            Axis::Size,
            "a mapping, a reservation or a copy needs at least one byte",
        );
    }
    let size = Bytes(case.given().size_bytes);
    if choices.threads > 1 && case.given().size_bytes < u64::from(choices.threads) {
        return refuse(
            Axis::Threads,
            format!("size={size} is less than a byte per thread"),
        );
    }
    if choices.ranks > 1 && case.given().size_bytes < u64::from(case.thread_count()) {
        return refuse(
            Axis::Ranks,
            format!("size={size} is less than a byte per thread"),
        );
    }
    Ok(())
}

/// Strided blocks are those of one file, and calls do not cross their borders.
fn blocks(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    if choices.layout == FileLayout::Segmented {
        let is_default = choices.block_bytes == Choices::defaults(choices.prepare).block_bytes;
        return if is_default {
            Ok(())
        } else {
            refuse(Axis::Block, "only layout=strided has blocks")
        };
    }
    if choices.files != Files::Shared {
        return refuse(
            Axis::Layout,
            "strided blocks need one file. Set files=shared",
        );
    }
    if choices.block_bytes == 0 || !choices.block_bytes.is_multiple_of(choices.chunk_size_bytes) {
        return refuse(
            Axis::Block,
            format!("it must be a multiple of chunk={}", case.value(Axis::Chunk)),
        );
    }
    if case.given().size_bytes
        <= choices
            .block_bytes
            .saturating_mul(u64::from(case.thread_count() - 1))
    {
        let size = Bytes(case.given().size_bytes);
        return refuse(
            Axis::Block,
            format!("size={size} has less than a block per thread"),
        );
    }
    if choices.writeback_bytes.is_some() {
        return refuse(
            Axis::Writeback,
            "write-behind needs contiguous parts. Set layout=segmented",
        );
    }
    Ok(())
}

/// Threads must not share what only one of them can use, and a part of the file has one writer.
fn layout(case: &Case) -> Result<(), Contradiction> {
    let method = case.method();
    let choices = case.choices();
    let own_file = choices.files == Files::PerThread;
    let own_descriptor = choices.descriptor == Descriptor::PerThread;
    if own_file && own_descriptor {
        return refuse(
            Axis::Descriptor,
            "files=per-thread already gives each thread its own",
        );
    }
    if own_file && choices.map == MapSharing::PerThread {
        return refuse(
            Axis::Map,
            "files=per-thread already gives each thread its own",
        );
    }
    if method.card().cursor == Cursor::Mapping
        && own_descriptor
        && choices.map == MapSharing::Shared
    {
        return refuse(
            Axis::Descriptor,
            "a shared mapping has one descriptor. Set map=per-thread",
        );
    }
    if method.card().cursor == Cursor::FilePosition
        && choices.threads > 1
        && !own_file
        && !own_descriptor
    {
        let fitting = if method.has_axis(Axis::Files) {
            "files=per-thread or "
        } else {
            ""
        };
        let why =
            format!("threads would share one file position. Set {fitting}descriptor=per-thread");
        return refuse(Axis::Threads, why);
    }
    if choices.prepare == Prepare::FallocateAhead && case.thread_count() > case.file_count() {
        let fitting = if choices.threads > 1 {
            "threads=1 or files=per-thread"
        } else {
            "files=per-rank"
        };
        return refuse(
            Axis::Prepare,
            format!("blocks are reserved ahead of one writer. Set {fitting}"),
        );
    }
    // A collective call needs one file, open in all ranks.
    if choices.collective == Collective::Yes && choices.files != Files::Shared {
        return refuse(
            Axis::Collective,
            "collective calls need one file. Set files=shared",
        );
    }
    Ok(())
}

/// A window holds whole chunks, or whole huge pages.
fn windows(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    let Some(window) = choices.prepared_window_bytes() else {
        let is_default = choices.window_bytes == Choices::defaults(choices.prepare).window_bytes;
        let why = "only populate=window and huge=collapse have windows";
        return if is_default {
            Ok(())
        } else {
            refuse(Axis::Window, why)
        };
    };
    if !window.is_multiple_of(choices.chunk_size_bytes) {
        return refuse(
            Axis::Window,
            format!("it must be a multiple of chunk={}", case.value(Axis::Chunk)),
        );
    }
    if choices.sync.is_on_the_way() {
        return refuse(
            Axis::Sync,
            "data prepared by window is synced at the end only",
        );
    }
    let huge = Case::HUGE_PAGE_BYTES;
    if choices.huge == Huge::Collapse && choices.populate == Populate::All {
        return refuse(
            Axis::Populate,
            "huge pages are made by window. Set populate=window",
        );
    }
    if choices.huge == Huge::Collapse && !window.is_multiple_of(huge) {
        return refuse(
            Axis::Window,
            format!(
                "MADV_COLLAPSE takes multiples of a huge page, {}",
                Bytes(huge)
            ),
        );
    }
    if choices.huge == Huge::Collapse
        && case.given().size_bytes / u64::from(case.thread_count().max(1)) < huge
    {
        return refuse(
            Axis::Huge,
            format!("each thread needs at least one huge page, {}", Bytes(huge)),
        );
    }
    Ok(())
}

/// Huge pages need memory as large as one of them.
fn memory(case: &Case) -> Result<(), Contradiction> {
    if case.given().memory != DataMemory::HugePages || case.source_bytes() >= Case::HUGE_PAGE_BYTES
    {
        return Ok(());
    }
    let source = case.value(Axis::Source);
    let huge = Bytes(Case::HUGE_PAGE_BYTES);
    refuse(
        Axis::Memory,
        format!("with source={source} the memory is smaller than a huge page, {huge}"),
    )
}

/// Write-behind needs data in the page cache, and no other call that writes it out.
fn write_behind(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    if choices.writeback_bytes.is_none() {
        let why = "only write-behind drops pages. Set writeback=SIZE";
        return if choices.drop == Drop::No {
            Ok(())
        } else {
            refuse(Axis::Drop, why)
        };
    }
    if choices.cache != Cache::Buffered {
        return refuse(Axis::Writeback, "write-behind needs cache=buffered");
    }
    if choices.sync.is_on_the_way() {
        return refuse(
            Axis::Writeback,
            "syncs before the end already write the data out",
        );
    }
    Ok(())
}

/// Records arrive at one thread, because several would share the arrivals.
fn arrivals(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    match case.given().records_per_s {
        Some(_) if !choices.sync.is_on_the_way() => refuse(
            Axis::Rate,
            "only durable records have a latency. Set sync=fdatasync/1",
        ),
        Some(_) if choices.threads > 1 || choices.ranks > 1 => {
            refuse(Axis::Rate, "one thread takes the records")
        }
        _ => Ok(()),
    }
}

/// Pages at random places are those of one file that exists, and one thread commits them.
fn pages(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    let given = case.given();
    if given.access == Access::Sequential {
        let why = "only pages at random places have one. Set access=uniform";
        return match (choices.order, choices.protect) {
            (PageOrder::Arrival, Protect::None) => Ok(()),
            (PageOrder::Arrival, _) => refuse(Axis::Protect, why),
            (PageOrder::Sorted, _) => refuse(Axis::Order, why),
        };
    }
    let page_bytes = choices.chunk_size_bytes;
    let obstacles = [
        (
            choices.prepare != Prepare::Overwrite,
            Axis::Prepare,
            "pages are overwritten in a file that exists. Set prepare=overwrite",
        ),
        (
            choices.sync.every.is_none(),
            Axis::Sync,
            "a commit needs its number of pages. Set sync=fdatasync/16",
        ),
        (
            page_bytes == Choices::WHOLE || given.size_bytes < page_bytes,
            Axis::Chunk,
            "the file has at least a page. Set chunk=8KiB",
        ),
        (
            !given.size_bytes.is_multiple_of(page_bytes.max(1)),
            Axis::Size,
            "the file has whole pages. Set a multiple of chunk",
        ),
        (
            choices.threads > 1,
            Axis::Threads,
            "one thread commits. Set threads=1",
        ),
        (
            choices.ranks > 1,
            Axis::Ranks,
            "one rank commits. Set ranks=1",
        ),
        (
            choices.layout != FileLayout::Segmented,
            Axis::Layout,
            "pages have random places. Set layout=segmented",
        ),
        (
            given.source != Source::File,
            Axis::Source,
            "each page has its own content. Set source=file",
        ),
        (
            given.records_per_s.is_some(),
            Axis::Rate,
            "only records of a log arrive at a rate. Set access=sequential",
        ),
    ];
    match obstacles.into_iter().find(|(is_there, ..)| *is_there) {
        Some((_, axis, why)) => refuse(axis, why),
        None => Ok(()),
    }
}

/// What protects pages needs calls that can.
fn protection(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    let page_bytes = choices.chunk_size_bytes;
    match choices.protect {
        Protect::None => Ok(()),
        Protect::RwfAtomic if choices.cache != Cache::Direct => {
            refuse(Axis::Protect, "the flag needs direct I/O. Set cache=direct")
        }
        Protect::RwfAtomic if !page_bytes.is_power_of_two() => refuse(
            Axis::Chunk,
            "RWF_ATOMIC takes pages of a power of two. Set chunk=8KiB",
        ),
        Protect::RwfAtomic => Ok(()),
        Protect::DoubleWrite if case.method() != Method::Pwrite => {
            refuse(Axis::Protect, "a double write is made by pwrite")
        }
        Protect::DoubleWrite
            if !matches!(choices.sync.call, SyncCall::Fsync | SyncCall::Fdatasync) =>
        {
            refuse(
                Axis::Sync,
                "the journal is synced before the pages. Set sync=fdatasync/16",
            )
        }
        Protect::DoubleWrite => Ok(()),
    }
}

/// Direct I/O needs whole sectors (open(2), `O_DIRECT`). Data in unaligned memory is copied first.
fn direct(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    const SECTOR: u64 = Case::SECTOR_BYTES;
    if choices.cache != Cache::Direct {
        return Ok(());
    }
    for (axis, bytes) in [
        (Axis::Chunk, choices.chunk_size_bytes),
        (Axis::Size, case.given().size_bytes),
    ] {
        if bytes != Choices::WHOLE && !bytes.is_multiple_of(SECTOR) {
            return refuse(
                axis,
                format!("direct I/O needs multiples of a sector, at least {SECTOR} bytes"),
            );
        }
    }
    if case
        .ranges()
        .iter()
        .any(|range| !range.offset.is_multiple_of(SECTOR))
    {
        return refuse(
            Axis::Threads,
            "direct I/O needs whole sectors for each thread",
        );
    }
    Ok(())
}

/// Kept holes need a file that is empty before, and are no contiguous data.
fn holes(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    if case.given().holes == Holes::Fill {
        return Ok(());
    }
    if !matches!(choices.prepare, Prepare::Create | Prepare::Truncate) {
        return refuse(
            Axis::Prepare,
            "holes=keep sets the length itself, and reserves nothing. Set prepare=create or truncate",
        );
    }
    if choices.writeback_bytes.is_some() {
        return refuse(
            Axis::Writeback,
            "write-behind needs contiguous data. Set holes=fill",
        );
    }
    Ok(())
}

/// A set has at least a file for each thread, and its files get their names in a way that the method supports.
fn file_set(case: &Case) -> Result<(), Contradiction> {
    let method = case.method();
    let choices = case.choices();
    if !method.writes_set() {
        return Ok(());
    }
    if case.given().size_bytes == 0 {
        return refuse(Axis::Size, "a set of files needs at least one byte");
    }
    let files = case.given().file_size.count(case.given().size_bytes);
    if files > FileSize::MOST_FILES {
        return refuse(
            Axis::FileSize,
            format!(
                "the set would have more than {} files",
                FileSize::MOST_FILES
            ),
        );
    }
    if files < u64::from(case.thread_count()) {
        return refuse(
            Axis::Threads,
            format!("the set has fewer files ({files}) than threads"),
        );
    }
    if method == Method::UringFiles {
        linked_operations(case)?;
    }
    if choices.naming == Naming::ExchangeBackground && case.given().file_size != FileSize::Whole {
        return refuse(
            Axis::Naming,
            "a second thread removes one old file. Set file-size=whole",
        );
    }
    match (choices.naming, choices.prepare) {
        (Naming::Exchange | Naming::ExchangeBackground, Prepare::Create) => refuse(
            Axis::Naming,
            "an exchange needs old files. Set prepare=overwrite",
        ),
        (naming, Prepare::Truncate) if naming != Naming::Direct => refuse(
            Axis::Prepare,
            "the old files are replaced. Set prepare=overwrite",
        ),
        _ => Ok(()),
    }
}

/// A ring that opens each file itself links one write, and it cannot link every way of naming.
fn linked_operations(case: &Case) -> Result<(), Contradiction> {
    let choices = case.choices();
    let largest = case.given().longest_file_bytes();
    if largest > choices.chunk_size_bytes {
        let chunk = case.value(Axis::Chunk);
        return refuse(
            Axis::FileSize,
            format!("one write has a whole file, and chunk={chunk} is smaller"),
        );
    }
    if matches!(choices.registered, Registered::Files | Registered::Both) {
        return refuse(
            Axis::Registered,
            "the ring has all files registered. Use none or buffers",
        );
    }
    if !matches!(choices.naming, Naming::Direct | Naming::Rename) {
        return refuse(
            Axis::Naming,
            "no operation of io_uring is linked for it. Use direct or rename",
        );
    }
    Ok(())
}
