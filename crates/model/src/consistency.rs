//! The checks that refuse contradictory values of a case.

use crate::axis::{Axes, Axis};
use crate::case::{Case, CaseError};
use crate::file_set::FileSize;
use crate::method::{Cursor, Method};
use crate::quantity::Bytes;
use crate::sync::SyncCall;
use crate::value::{
    AllocateCall, Cache, Collective, DataMemory, Descriptor, Drop, FileLayout, Files, Huge,
    MapSharing, Naming, Populate, Prepare, Registered,
};

/// The axis whose value is not possible, and the reason.
type Contradiction = (Axis, String);

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
        let method = self.method();
        let axes = self.axes();
        let checks = [
            starts_and_calls,
            sizes,
            layout,
            blocks,
            windows,
            memory,
            write_behind,
            arrivals,
            direct,
            file_set,
        ];
        checks
            .into_iter()
            .try_for_each(|check| check(self, method, axes))
            .map_err(|(axis, why)| {
                let value = axes.get(axis);
                CaseError::Contradiction(format!(
                    "{axis}={value} is not possible with {method}: {why}"
                ))
            })
    }
}

/// The file's start, the sync calls and the flags must be among those of the method's card.
fn starts_and_calls(_: &Case, method: Method, axes: &Axes) -> Result<(), Contradiction> {
    if !method.card().prepares.contains(&axes.prepare) {
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
    if axes.sync.every.is_some() && !method.card().syncs_on_the_way.contains(&axes.sync.call) {
        return match method.card().syncs_on_the_way {
            [] => refuse(Axis::Sync, "the method syncs at the end only"),
            calls => refuse(
                Axis::Sync,
                format!("before the end use {}", names_of_calls(calls)),
            ),
        };
    }
    if !method.card().syncs.contains(&axes.sync.call) {
        let calls = names_of_calls(method.card().syncs);
        return refuse(Axis::Sync, format!("use {calls}"));
    }
    if let Some(every) = axes.sync.every
        && method.has_axis(Axis::Vector)
        && !every.is_multiple_of(axes.vector)
    {
        let call = axes.sync.call;
        let vector = axes.vector;
        let fitting = every.next_multiple_of(vector);
        let why = format!(
            "a call writes {vector} chunks. Set sync={call}/{fitting}, or as vector a divisor of {every}"
        );
        return refuse(Axis::Sync, why);
    }
    if axes.cache == Cache::Dontcache && !method.has_flags() {
        let why = "RWF_DONTCACHE is a flag of pwritev2(2). Use pwrite, writev, pwritev or uring";
        return refuse(Axis::Cache, why);
    }
    Ok(())
}

fn names_of_calls(calls: &[SyncCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.name()).collect();
    names.join(", ")
}

/// The bytes must suffice for all threads, mappings and reservations.
fn sizes(case: &Case, method: Method, axes: &Axes) -> Result<(), Contradiction> {
    // Many ranks are plausible, more threads than a machine has cores are not.
    let ranks = axes.ranks;
    let most = Case::MOST_THREADS;
    if u64::from(ranks) * u64::from(axes.threads) > most {
        return refuse(
            Axis::Threads,
            format!("with {ranks} ranks there are more than {most} threads in total"),
        );
    }
    if method.card().cursor == Cursor::NoData && axes.call == AllocateCall::FallocateKeepSize {
        return refuse(
            Axis::Call,
            "the file would have no length. Use prepare=fallocate-keep-size",
        );
    }
    let allocating = if method.card().cursor == Cursor::NoData {
        Some(axes.call)
    } else {
        axes.prepare.call()
    };
    let reserves = allocating.is_some_and(AllocateCall::gives_blocks);
    if axes.size_bytes == 0
        && (method.card().cursor == Cursor::Mapping || reserves || method.copies())
    {
        return refuse(
            Axis::Size,
            "a mapping, a reservation or a copy needs at least one byte",
        );
    }
    let size = Bytes(axes.size_bytes);
    if axes.threads > 1 && axes.size_bytes < u64::from(axes.threads) {
        return refuse(
            Axis::Threads,
            format!("size={size} is less than a byte per thread"),
        );
    }
    if axes.ranks > 1 && axes.size_bytes < u64::from(case.thread_count()) {
        return refuse(
            Axis::Ranks,
            format!("size={size} is less than a byte per thread"),
        );
    }
    Ok(())
}

/// Strided blocks are those of one file, and calls do not cross their borders.
fn blocks(case: &Case, _: Method, axes: &Axes) -> Result<(), Contradiction> {
    if axes.layout == FileLayout::Segmented {
        let is_default = axes.block_bytes == Axes::defaults(axes.prepare).block_bytes;
        return if is_default {
            Ok(())
        } else {
            refuse(Axis::Block, "only layout=strided has blocks")
        };
    }
    if axes.files != Files::Shared {
        return refuse(
            Axis::Layout,
            "strided blocks need one file. Set files=shared",
        );
    }
    if axes.block_bytes == 0 || !axes.block_bytes.is_multiple_of(axes.chunk_size_bytes) {
        return refuse(
            Axis::Block,
            format!("it must be a multiple of chunk={}", axes.get(Axis::Chunk)),
        );
    }
    if axes.size_bytes
        <= axes
            .block_bytes
            .saturating_mul(u64::from(case.thread_count() - 1))
    {
        let size = Bytes(axes.size_bytes);
        return refuse(
            Axis::Block,
            format!("size={size} has less than a block per thread"),
        );
    }
    if axes.writeback_bytes.is_some() {
        return refuse(
            Axis::Writeback,
            "write-behind needs contiguous parts. Set layout=segmented",
        );
    }
    Ok(())
}

/// Threads must not share what only one of them can use, and a part of the file has one writer.
fn layout(case: &Case, method: Method, axes: &Axes) -> Result<(), Contradiction> {
    let own_file = axes.files == Files::PerThread;
    let own_descriptor = axes.descriptor == Descriptor::PerThread;
    if own_file && own_descriptor {
        return refuse(
            Axis::Descriptor,
            "files=per-thread already gives each thread its own",
        );
    }
    if own_file && axes.map == MapSharing::PerThread {
        return refuse(
            Axis::Map,
            "files=per-thread already gives each thread its own",
        );
    }
    if method.card().cursor == Cursor::Mapping && own_descriptor && axes.map == MapSharing::Shared {
        return refuse(
            Axis::Descriptor,
            "a shared mapping has one descriptor. Set map=per-thread",
        );
    }
    if method.card().cursor == Cursor::FilePosition
        && axes.threads > 1
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
    if axes.prepare == Prepare::FallocateAhead && case.thread_count() > case.file_count() {
        let fitting = if axes.threads > 1 {
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
    if axes.collective == Collective::Yes && axes.files != Files::Shared {
        return refuse(
            Axis::Collective,
            "collective calls need one file. Set files=shared",
        );
    }
    Ok(())
}

/// A window holds whole chunks, or whole huge pages.
fn windows(case: &Case, _: Method, axes: &Axes) -> Result<(), Contradiction> {
    let Some(window) = axes.prepared_window_bytes() else {
        let is_default = axes.window_bytes == Axes::defaults(axes.prepare).window_bytes;
        let why = "only populate=window and huge=collapse have windows";
        return if is_default {
            Ok(())
        } else {
            refuse(Axis::Window, why)
        };
    };
    if !window.is_multiple_of(axes.chunk_size_bytes) {
        return refuse(
            Axis::Window,
            format!("it must be a multiple of chunk={}", axes.get(Axis::Chunk)),
        );
    }
    if axes.sync.is_on_the_way() {
        return refuse(
            Axis::Sync,
            "data prepared by window is synced at the end only",
        );
    }
    let huge = Case::HUGE_PAGE_BYTES;
    if axes.huge == Huge::Collapse && axes.populate == Populate::All {
        return refuse(
            Axis::Populate,
            "huge pages are made by window. Set populate=window",
        );
    }
    if axes.huge == Huge::Collapse && !window.is_multiple_of(huge) {
        return refuse(
            Axis::Window,
            format!(
                "MADV_COLLAPSE takes multiples of a huge page, {}",
                Bytes(huge)
            ),
        );
    }
    if axes.huge == Huge::Collapse && axes.size_bytes / u64::from(case.thread_count().max(1)) < huge
    {
        return refuse(
            Axis::Huge,
            format!("each thread needs at least one huge page, {}", Bytes(huge)),
        );
    }
    Ok(())
}

/// Huge pages need memory as large as one of them.
fn memory(case: &Case, _: Method, axes: &Axes) -> Result<(), Contradiction> {
    if axes.memory != DataMemory::HugePages || case.source_bytes() >= Case::HUGE_PAGE_BYTES {
        return Ok(());
    }
    let source = axes.get(Axis::Source);
    let huge = Bytes(Case::HUGE_PAGE_BYTES);
    refuse(
        Axis::Memory,
        format!("with source={source} the memory is smaller than a huge page, {huge}"),
    )
}

/// Write-behind needs data in the page cache, and no other call that writes it out.
fn write_behind(_: &Case, _: Method, axes: &Axes) -> Result<(), Contradiction> {
    if axes.writeback_bytes.is_none() {
        let why = "only write-behind drops pages. Set writeback=SIZE";
        return if axes.drop == Drop::No {
            Ok(())
        } else {
            refuse(Axis::Drop, why)
        };
    }
    if axes.cache != Cache::Buffered {
        return refuse(Axis::Writeback, "write-behind needs cache=buffered");
    }
    if axes.sync.is_on_the_way() {
        return refuse(
            Axis::Writeback,
            "syncs before the end already write the data out",
        );
    }
    Ok(())
}

/// Records arrive at one thread, because several would share the arrivals.
fn arrivals(_: &Case, _: Method, axes: &Axes) -> Result<(), Contradiction> {
    match axes.records_per_s {
        Some(_) if !axes.sync.is_on_the_way() => refuse(
            Axis::Rate,
            "only durable records have a latency. Set sync=fdatasync/1",
        ),
        Some(_) if axes.threads > 1 || axes.ranks > 1 => {
            refuse(Axis::Rate, "one thread takes the records")
        }
        _ => Ok(()),
    }
}

/// Direct I/O needs whole sectors (open(2), `O_DIRECT`). Data in unaligned memory is copied first.
fn direct(case: &Case, _: Method, axes: &Axes) -> Result<(), Contradiction> {
    const SECTOR: u64 = Case::SECTOR_BYTES;
    if axes.cache != Cache::Direct {
        return Ok(());
    }
    for (axis, bytes) in [
        (Axis::Chunk, axes.chunk_size_bytes),
        (Axis::Size, axes.size_bytes),
    ] {
        if bytes != Axes::WHOLE && !bytes.is_multiple_of(SECTOR) {
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

/// A set has at least a file for each thread, and its files get their names in a way that the method supports.
fn file_set(case: &Case, method: Method, axes: &Axes) -> Result<(), Contradiction> {
    if !method.writes_set() {
        return Ok(());
    }
    if axes.size_bytes == 0 {
        return refuse(Axis::Size, "a set of files needs at least one byte");
    }
    let files = axes.file_size.count(axes.size_bytes);
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
        linked_operations(axes)?;
    }
    if axes.naming == Naming::ExchangeBackground && axes.file_size != FileSize::Whole {
        return refuse(
            Axis::Naming,
            "a second thread removes one old file. Set file-size=whole",
        );
    }
    match (axes.naming, axes.prepare) {
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
fn linked_operations(axes: &Axes) -> Result<(), Contradiction> {
    let largest = match axes.file_size {
        FileSize::Each(bytes) | FileSize::Between { most: bytes, .. } => bytes.min(axes.size_bytes),
        FileSize::Whole => axes.size_bytes,
    };
    if largest > axes.chunk_size_bytes {
        let chunk = axes.get(Axis::Chunk);
        return refuse(
            Axis::FileSize,
            format!("one write has a whole file, and chunk={chunk} is smaller"),
        );
    }
    if matches!(axes.registered, Registered::Files | Registered::Both) {
        return refuse(
            Axis::Registered,
            "the ring has all files registered. Use none or buffers",
        );
    }
    if !matches!(axes.naming, Naming::Direct | Naming::Rename) {
        return refuse(
            Axis::Naming,
            "no operation of io_uring is linked for it. Use direct or rename",
        );
    }
    Ok(())
}
