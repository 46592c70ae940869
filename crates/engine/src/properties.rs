//! Properties of the filesystem, found by making files as cases do.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fiemap::{Fiemap, FiemapExtentFlags};
use rustix::fs::Advice;
use rustix::io::Errno;
use writebench_model::protocol::{
    DIRECT_CHECK_FILE_BYTES, DIRECT_CHECK_TRIES, PropertiesRequest, SampleRequest,
};
use writebench_model::{
    AllocateCall, Allocation, Bytes, Case, DirectIo, DirectWrite, Extents, Found, Learnt, Phase, Prepare,
    Prepared, Properties, SyncCall, Zeros,
};

use crate::call::{CallError, PhaseError, learnt, retry};
use crate::file::{self, Target};
use crate::machine::device_bytes;
use crate::methods::map::{Map, Mapping};
use crate::progress::Progress;
use crate::source::SourceBuffer;
use crate::thread_state::{self, ThreadState};
use crate::threads::start_thread;
use crate::{job, settle, sync};

/// Learns the properties from a file in each state, and then from `O_DIRECT` writes.
pub(crate) fn properties(place: Place<'_>, source: &mut SourceBuffer) -> Properties {
    let status = retry("statvfs", || rustix::fs::fstatvfs(place.directory));
    let block_size_bytes = status.map(|found| found.f_frsize).map_err(|error| (Phase::Settle, error));
    let prepared = Prepare::ALL.iter().map(|&prepare| place.prepared(source, prepare)).collect();
    let direct_states = [Prepare::Create, Prepare::SetLen, Prepare::Overwrite];
    let direct_io =
        direct_states.map(|prepare| DirectIo { prepare, found: place.direct(source, prepare) }).into();
    Properties {
        block_size_bytes: learnt(block_size_bytes, None),
        file_size_bytes: place.request.file_size_bytes,
        prepared,
        direct_io,
    }
}

/// The path of `O_DIRECT` writes on a sample's target into a file in that state, found with a separate file.
pub(crate) fn direct_way(
    directory: BorrowedFd<'_>,
    sample: &SampleRequest,
    prepare: Prepare,
    source: &mut SourceBuffer,
    progress: Progress<'_>,
) -> Learnt<DirectWrite> {
    let request = PropertiesRequest {
        target: sample.target,
        file_stem: format!("{}-direct", sample.file_stem),
        file_size_bytes: DIRECT_CHECK_FILE_BYTES,
        data_seed: sample.data_seed,
        device_number: None,
    };
    Place { directory, request: &request, progress }.direct(source, prepare)
}

/// The place for these files, which are made one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    pub directory: BorrowedFd<'p>,
    pub request: &'p PropertiesRequest,
    pub progress: Progress<'p>,
}

impl Place<'_> {
    /// Other writers can only add to the device's counter, so a result that contradicts the filesystem is
    /// checked again.
    fn prepared(self, source: &mut SourceBuffer, prepare: Prepare) -> Prepared {
        const TRIES: u64 = 3;
        let is_contradicted = |found: &Found| {
            matches!(found.zeros, Some(Zeros::Unknown { .. })) && found.prepare_device_bytes.is_some()
        };
        let once = || self.with_file(source, prepare, "", |state, name| self.found(state, name));
        Prepared { prepare, found: found_in(TRIES, once, is_contradicted) }
    }

    /// The data is written in one call, so that the page cache would hold all of it at once. On a busy
    /// machine the observer can miss pages but cannot see pages that do not exist, so a result without pages
    /// is checked again.
    fn direct(self, source: &mut SourceBuffer, prepare: Prepare) -> Learnt<DirectWrite> {
        let axes = ",chunk=whole,cache=direct,memory=page-aligned";
        let once = || self.with_file(source, prepare, axes, |state, name| self.direct_write(state, name));
        found_in(DIRECT_CHECK_TRIES, once, |way| *way == DirectWrite::Direct)
    }

    /// Makes a file for a case that writes all of it, and removes it afterwards.
    fn with_file<T>(
        self,
        source: &mut SourceBuffer,
        prepare: Prepare,
        axes: &str,
        work: impl FnOnce(ThreadState<'_>, &str) -> Result<T, PhaseError>,
    ) -> Learnt<T> {
        let name = format!("{}-{prepare}", self.request.file_stem);
        let size = Bytes(self.request.file_size_bytes);
        let case = format!("pwrite,size={size},prepare={prepare}{axes}");
        let case = match Case::parse(&case) {
            Ok(case) => case,
            Err(error) => {
                let error = CallError::other("case", error.to_string());
                return learnt(Err((Phase::Settle, error)), Some(&name));
            }
        };
        let found = learnt(self.opened(source, &case, &name, work), Some(&name));
        if found.failure().is_some_and(|it| it.errno == Some(Errno::EXIST.raw_os_error())) {
            // The file existed before, and is not ours to remove.
            return found;
        }
        let remove = || file::remove(Target::Directory(self.directory), &name);
        match self.progress.phase(Phase::Clean, remove) {
            Err(error) if found.known().is_some() => learnt(Err(error), Some(&name)),
            _ => found,
        }
    }

    /// Proceeds as a sample does, up to the open file.
    fn opened<T>(
        self,
        source: &mut SourceBuffer,
        case: &Case,
        name: &str,
        work: impl FnOnce(ThreadState<'_>, &str) -> Result<T, PhaseError>,
    ) -> Result<T, PhaseError> {
        /// Waits so that the data of others is not counted as ours; it is no error if they go on writing.
        const QUIET_LIMIT: Duration = Duration::from_millis(500);
        let (directory, request) = (self.directory, self.request);
        let (target, seed) = (Target::Directory(directory), request.data_seed);
        self.progress.phase(Phase::Settle, || {
            source.make(case, 0, seed)?;
            if case.axes().prepare.needs_old_content() {
                settle::old_content(directory, name, request.file_size_bytes, seed, case.axes().cache)?;
            }
            Ok(())
        })?;
        let _ = settle::quiet(target, false, QUIET_LIMIT);
        let names = [name.to_owned()];
        let parts = job::parts(case, 0, source.bytes(), None);
        let mut state = thread_state::thread_states(target, case, &names, &parts, None).remove(0);
        self.progress.phase(Phase::Open, || state.open())?;
        work(state, name)
    }

    fn found(self, mut state: ThreadState<'_>, name: &str) -> Result<Found, PhaseError> {
        let Self { request, progress, .. } = self;
        let device_bytes = || request.device_number.as_deref().and_then(device_bytes);
        let prepare = state.case.axes().prepare;
        let file = self.open_to_read(name)?;
        let before = device_bytes();
        progress.phase(Phase::Prepare, || state.prepare())?;
        // Filesystems choose blocks at write-back.
        progress.phase(Phase::Sync, || sync::sync(file.as_fd(), SyncCall::Fsync))?;
        let prepare_device_bytes =
            device_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        let after_prepare = progress.phase(Phase::Verify, || self.allocation(file.as_fd(), name))?;
        drop(file);
        let reserves = prepare.call().is_some_and(AllocateCall::gives_blocks);
        let zeros = reserves.then(|| Zeros::of(request.file_size_bytes, &after_prepare, prepare_device_bytes));
        let after_write = learnt(self.written(state, name), Some(name));
        Ok(Found { after_prepare, prepare_device_bytes, zeros, after_write })
    }

    /// The allocation of a file that has been written, made durable and closed.
    fn written(self, mut state: ThreadState<'_>, name: &str) -> Result<Allocation, PhaseError> {
        self.progress.phase(Phase::Write, || state.write())?;
        self.progress.phase(Phase::Close, || state.close())?;
        let file = self.open_to_read(name)?;
        self.progress.phase(Phase::Sync, || sync::sync(file.as_fd(), SyncCall::Fsync))?;
        self.progress.phase(Phase::Verify, || self.allocation(file.as_fd(), name))
    }

    /// The blocks of a file after write-back.
    fn allocation(self, file: BorrowedFd<'_>, name: &str) -> Result<Allocation, CallError> {
        let stat = retry("fstat", || rustix::fs::fstat(file))?;
        let allocated_bytes = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        let extents = extents(file, self.request.file_size_bytes)
            .map_err(|error| (Phase::Verify, CallError::of_io("ioctl FS_IOC_FIEMAP", &error)));
        Ok(Allocation { allocated_bytes, extents: learnt(extents, Some(name)) })
    }

    /// The path of the write, observed during the write, because a filesystem that uses the page cache (btrfs
    /// for its checksums, ext4 in a hole of a file without extents) drops the pages afterwards.
    fn direct_write(self, mut state: ThreadState<'_>, name: &str) -> Result<DirectWrite, PhaseError> {
        /// The share of all pages that counts as the page cache: pages appear and disappear one after the
        /// other.
        const MUCH: u64 = 8;
        let Self { progress, request: PropertiesRequest { file_size_bytes, .. }, .. } = self;
        progress.phase(Phase::Prepare, || state.prepare())?;
        let file = self.open_to_read(name)?;
        // Old content is synced first, so that all of its pages can be dropped.
        let let_go = || retry("posix_fadvise", || rustix::fs::fadvise(&file, 0, None, Advice::DontNeed));
        progress.phase(Phase::Prepare, let_go)?;
        let map = progress.phase(Phase::Open, || Map::reading(file.as_fd(), 0, *file_size_bytes))?;
        let (written, most_bytes) =
            progress.phase(Phase::Write, || most_resident_bytes(&map, || state.write()))?;
        written.map_err(|error| (Phase::Write, error))?;
        let most_bytes = most_bytes.map_err(|error| (Phase::Verify, error))?;
        progress.phase(Phase::Close, || state.close())?;
        Ok(if most_bytes > file_size_bytes / MUCH { DirectWrite::PageCache } else { DirectWrite::Direct })
    }

    fn open_to_read(self, name: &str) -> Result<OwnedFd, PhaseError> {
        let target = Target::Directory(self.directory);
        self.progress.phase(Phase::Open, || file::open_to_read(target, name))
    }
}

/// Repeats an inquiry while its answer is in doubt, at most `tries` times.
fn found_in<T>(tries: u64, mut once: impl FnMut() -> Learnt<T>, is_in_doubt: impl Fn(&T) -> bool) -> Learnt<T> {
    let mut found = once();
    for _ in 1..tries {
        if found.known().is_some_and(&is_in_doubt) {
            found = once();
        }
    }
    found
}

/// Does the work and returns the most bytes of the file that were in the page cache, during the work and
/// right after it.
fn most_resident_bytes<T>(
    map: &Mapping,
    work: impl FnOnce() -> T,
) -> Result<(T, Result<u64, CallError>), CallError> {
    /// Much shorter than any device takes to write the expected pages.
    const LOOK_AGAIN: Duration = Duration::from_micros(50);
    let (is_done, begun) = (AtomicBool::new(false), Barrier::new(2));
    let look = || {
        begun.wait();
        let mut most_bytes = 0;
        loop {
            let is_last = is_done.load(Ordering::Acquire);
            most_bytes = map.resident_bytes()?.max(most_bytes);
            if is_last {
                return Ok(most_bytes);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    };
    std::thread::scope(|scope| {
        let looker = start_thread(scope, look)?;
        begun.wait();
        let done = work();
        is_done.store(true, Ordering::Release);
        let panicked = |_| Err(CallError::other("mincore", "the thread that looked is gone".to_owned()));
        Ok((done, looker.join().unwrap_or_else(panicked)))
    })
}

fn extents(file: BorrowedFd<'_>, size_bytes: u64) -> io::Result<Extents> {
    let mut extents = Extents::default();
    for extent in Fiemap::new(file) {
        let extent = extent?;
        let inside_bytes = extent.fe_length.min(size_bytes.saturating_sub(extent.fe_logical));
        extents.beyond_bytes += extent.fe_length - inside_bytes;
        extents.count += u32::from(inside_bytes > 0);
        if extent.fe_flags.contains(FiemapExtentFlags::UNWRITTEN) {
            extents.unwritten_bytes += inside_bytes;
        }
    }
    Ok(extents)
}
