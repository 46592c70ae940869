//! What the filesystem does with files: some are made as cases make theirs, and looked at.

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
use crate::crew::start_thread;
use crate::file::{self, Target};
use crate::machine::device_bytes;
use crate::methods::map::{Access, Map};
use crate::progress::Progress;
use crate::seat::{self, Seat};
use crate::source::SourceBuffer;
use crate::{job, methods, settle, sync};

/// Learns them from a file for each state, and then from those that are written with `O_DIRECT`.
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

/// Which way data goes on a sample's target into a file in that state, found out with a file of its own.
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

/// Where files are made, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    pub directory: BorrowedFd<'p>,
    pub request: &'p PropertiesRequest,
    pub progress: Progress<'p>,
}

impl Place<'_> {
    /// Others who write to the device can only add to what it was given, so what contradicts the filesystem is
    /// looked at again.
    fn prepared(self, source: &mut SourceBuffer, prepare: Prepare) -> Prepared {
        const TRIES: u64 = 3;
        let is_contradicted = |found: &Found| {
            matches!(found.zeros, Some(Zeros::Unknown { .. })) && found.prepare_device_bytes.is_some()
        };
        let once = || self.with_file(source, prepare, "", |seat, name| self.found(seat, name));
        Prepared { prepare, found: found_in(TRIES, once, is_contradicted) }
    }

    /// All of it in one call, so that all of it is in the page cache at once if it goes that way. Who looks can miss
    /// pages on a busy machine, and see none that are not there: so seeing none is tried again.
    fn direct(self, source: &mut SourceBuffer, prepare: Prepare) -> Learnt<DirectWrite> {
        let axes = ",chunk=whole,cache=direct";
        let once = || self.with_file(source, prepare, axes, |seat, name| self.direct_write(seat, name));
        found_in(DIRECT_CHECK_TRIES, once, |way| *way == DirectWrite::Direct)
    }

    /// Makes a file for a case that writes all of it, and removes it afterwards.
    fn with_file<T>(
        self,
        source: &mut SourceBuffer,
        prepare: Prepare,
        axes: &str,
        work: impl FnOnce(Seat<'_>, &str) -> Result<T, PhaseError>,
    ) -> Learnt<T> {
        let name = format!("{}-{prepare}", self.request.file_stem);
        let size = Bytes(self.request.file_size_bytes);
        let case = format!("pwrite,size={size},prepare={prepare}{axes}");
        let case = match Case::parse(&case, &methods::infos()) {
            Ok(case) => case,
            Err(error) => {
                let error = CallError::other("case", error.to_string());
                return learnt(Err((Phase::Settle, error)), Some(&name));
            }
        };
        let found = learnt(self.opened(source, &case, &name, work), Some(&name));
        if found.failure().is_some_and(|it| it.errno == Some(Errno::EXIST.raw_os_error())) {
            // It was there before, and is not ours to remove.
            return found;
        }
        let remove = || file::remove(Target::Directory(self.directory), &name);
        match self.progress.phase(Phase::Clean, remove) {
            Err(error) if found.known().is_some() => learnt(Err(error), Some(&name)),
            _ => found,
        }
    }

    /// As in a sample, up to the open file.
    fn opened<T>(
        self,
        source: &mut SourceBuffer,
        case: &Case,
        name: &str,
        work: impl FnOnce(Seat<'_>, &str) -> Result<T, PhaseError>,
    ) -> Result<T, PhaseError> {
        /// So that what others left to be written is not counted as ours; it is no error if they go on.
        const QUIET_LIMIT: Duration = Duration::from_millis(500);
        let (directory, request) = (self.directory, self.request);
        let (target, seed) = (Target::Directory(directory), request.data_seed);
        self.progress.phase(Phase::Settle, || {
            source.make(case, seed)?;
            if case.axes().prepare.needs_old_content() {
                settle::old_content(directory, name, request.file_size_bytes, seed)?;
            }
            Ok(())
        })?;
        let _ = settle::quiet(target, false, QUIET_LIMIT);
        let names = [name.to_owned()];
        let parts = job::parts(case, source.bytes(), None);
        let mut seat = seat::seats(target, case, &names, &parts, None).remove(0);
        self.progress.phase(Phase::Open, || seat.open())?;
        work(seat, name)
    }

    fn found(self, mut seat: Seat<'_>, name: &str) -> Result<Found, PhaseError> {
        let Self { request, progress, .. } = self;
        let device_bytes = || request.device_number.as_deref().and_then(device_bytes);
        let prepare = seat.case.axes().prepare;
        let file = self.open_to_read(name)?;
        let before = device_bytes();
        progress.phase(Phase::Prepare, || seat.prepare())?;
        // Filesystems choose blocks when data is written back.
        progress.phase(Phase::Sync, || sync::sync(file.as_fd(), SyncCall::Fsync))?;
        let prepare_device_bytes =
            device_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        let after_prepare = progress.phase(Phase::Verify, || self.allocation(file.as_fd(), name))?;
        drop(file);
        let reserves = prepare.call().is_some_and(AllocateCall::gives_blocks);
        let zeros = reserves.then(|| Zeros::of(request.file_size_bytes, &after_prepare, prepare_device_bytes));
        let after_write = learnt(self.written(seat, name), Some(name));
        Ok(Found { after_prepare, prepare_device_bytes, zeros, after_write })
    }

    /// What a file has when all of it is written and durable, and its writer gone.
    fn written(self, mut seat: Seat<'_>, name: &str) -> Result<Allocation, PhaseError> {
        self.progress.phase(Phase::Write, || seat.write())?;
        self.progress.phase(Phase::Close, || seat.close())?;
        let file = self.open_to_read(name)?;
        self.progress.phase(Phase::Sync, || sync::sync(file.as_fd(), SyncCall::Fsync))?;
        self.progress.phase(Phase::Verify, || self.allocation(file.as_fd(), name))
    }

    /// The blocks of a file whose data has been written back.
    fn allocation(self, file: BorrowedFd<'_>, name: &str) -> Result<Allocation, CallError> {
        let stat = retry("fstat", || rustix::fs::fstat(file))?;
        let allocated_bytes = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        let extents = extents(file, self.request.file_size_bytes)
            .map_err(|error| (Phase::Verify, CallError::of_io("ioctl FS_IOC_FIEMAP", &error)));
        Ok(Allocation { allocated_bytes, extents: learnt(extents, Some(name)) })
    }

    /// Which way it goes: looked at while it goes, because a filesystem that goes through the page cache (btrfs
    /// for its checksums, ext4 in a hole of a file without extents) cleans up behind itself.
    fn direct_write(self, mut seat: Seat<'_>, name: &str) -> Result<DirectWrite, PhaseError> {
        /// Of all pages: they come one after the other, and go so, too.
        const MUCH: u64 = 8;
        let Self { progress, request: PropertiesRequest { file_size_bytes, .. }, .. } = self;
        progress.phase(Phase::Prepare, || seat.prepare())?;
        let file = self.open_to_read(name)?;
        // Old content is synced, so that all of it goes.
        let let_go = || retry("posix_fadvise", || rustix::fs::fadvise(&file, 0, None, Advice::DontNeed));
        progress.phase(Phase::Prepare, let_go)?;
        let map = progress.phase(Phase::Open, || Map::new(file.as_fd(), 0, *file_size_bytes, Access::Read))?;
        let (written, most_bytes) =
            progress.phase(Phase::Write, || most_resident_bytes(&map, || seat.write()))?;
        written.map_err(|error| (Phase::Write, error))?;
        let most_bytes = most_bytes.map_err(|error| (Phase::Verify, error))?;
        progress.phase(Phase::Close, || seat.close())?;
        Ok(if most_bytes > file_size_bytes / MUCH { DirectWrite::PageCache } else { DirectWrite::Direct })
    }

    fn open_to_read(self, name: &str) -> Result<OwnedFd, PhaseError> {
        let target = Target::Directory(self.directory);
        self.progress.phase(Phase::Open, || file::open_to_read(target, name))
    }
}

/// Looks again while the answer is in doubt, so many times at most.
fn found_in<T>(tries: u64, mut once: impl FnMut() -> Learnt<T>, is_in_doubt: impl Fn(&T) -> bool) -> Learnt<T> {
    let mut found = once();
    for _ in 1..tries {
        if found.known().is_some_and(&is_in_doubt) {
            found = once();
        }
    }
    found
}

/// Does the work, and says how much of the file was in the page cache at most, meanwhile and right after.
fn most_resident_bytes<T>(
    map: &Map,
    work: impl FnOnce() -> T,
) -> Result<(T, Result<u64, CallError>), CallError> {
    /// Much shorter than any device takes for what would be there.
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
