//! What the filesystem does with files: some are made as cases make theirs, and looked at.

use std::collections::HashMap;
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

use crate::call::{CallError, retry};
use crate::crew::start_thread;
use crate::file::{self, Target};
use crate::machine::device_bytes;
use crate::methods::map::{Access, Map};
use crate::seat::{self, Seat};
use crate::source::SourceBuffer;
use crate::{job, methods, settle, sync};

/// Learns them from a file for each state, and then from those that are written with `O_DIRECT`.
pub(crate) fn properties(
    source: &mut SourceBuffer,
    directory: BorrowedFd<'_>,
    request: &PropertiesRequest,
    progress: &mut dyn FnMut(Phase),
) -> Properties {
    let block_size_bytes = match retry("statvfs", || rustix::fs::fstatvfs(directory)) {
        Ok(found) => Learnt::Known(found.f_frsize),
        Err(error) => error.learnt(Phase::Settle, None),
    };
    let mut place = Place { directory, request, progress };
    let prepared = Prepare::ALL.iter().map(|&prepare| place.prepared(source, prepare)).collect();
    let direct_states = [Prepare::Create, Prepare::SetLen, Prepare::Overwrite];
    let direct_io =
        direct_states.map(|prepare| DirectIo { prepare, found: place.direct(source, prepare) }).into();
    Properties { block_size_bytes, file_size_bytes: request.file_size_bytes, prepared, direct_io }
}

/// Which ways `O_DIRECT` has been found to go, by target and state, so that each is looked at once.
#[derive(Default)]
pub(crate) struct DirectWays(HashMap<(usize, Prepare), Learnt<DirectWrite>>);

impl DirectWays {
    /// Which way data goes on that target into a file in that state, found out with a file of its own.
    pub(crate) fn of(
        &mut self,
        source: &mut SourceBuffer,
        directory: BorrowedFd<'_>,
        sample: &SampleRequest,
        prepare: Prepare,
        progress: &mut dyn FnMut(Phase),
    ) -> &Learnt<DirectWrite> {
        self.0.entry((sample.target, prepare)).or_insert_with(|| {
            let request = PropertiesRequest {
                target: sample.target,
                file_stem: format!("{}-direct", sample.file_stem),
                file_size_bytes: DIRECT_CHECK_FILE_BYTES,
                data_seed: sample.data_seed,
                device_number: None,
            };
            Place { directory, request: &request, progress }.direct(source, prepare)
        })
    }
}

type PhaseError = (Phase, CallError);

/// What is done in a place with an open file of that name.
type Work<P, T> = fn(&mut P, Seat<'_>, &str) -> Result<T, PhaseError>;

/// Where files are made, one after the other.
struct Place<'p> {
    directory: BorrowedFd<'p>,
    request: &'p PropertiesRequest,
    progress: &'p mut dyn FnMut(Phase),
}

impl Place<'_> {
    /// Others who write to the device can only add to what it was given, so what contradicts the filesystem is
    /// looked at again.
    fn prepared(&mut self, source: &mut SourceBuffer, prepare: Prepare) -> Prepared {
        const TRIES: u32 = 3;
        let is_contradicted = |found: &Found| {
            matches!(found.zeros, Some(Zeros::Unknown { .. })) && found.prepare_device_bytes.is_some()
        };
        let mut found = self.with_file(source, prepare, "", Self::found);
        for _ in 1..TRIES {
            if found.known().is_some_and(is_contradicted) {
                found = self.with_file(source, prepare, "", Self::found);
            }
        }
        Prepared { prepare, found }
    }

    /// All of it in one call, so that all of it is in the page cache at once if it goes that way. Who looks can miss
    /// pages on a busy machine, and see none that are not there: so seeing none is tried again.
    fn direct(&mut self, source: &mut SourceBuffer, prepare: Prepare) -> Learnt<DirectWrite> {
        let mut once = || self.with_file(source, prepare, ",chunk=whole,cache=direct", Self::direct_write);
        let mut found = once();
        for _ in 1..DIRECT_CHECK_TRIES {
            if found.known() == Some(&DirectWrite::Direct) {
                found = once();
            }
        }
        found
    }

    /// Makes a file for a case that writes all of it, and removes it afterwards.
    fn with_file<T>(
        &mut self,
        source: &mut SourceBuffer,
        prepare: Prepare,
        axes: &str,
        work: Work<Self, T>,
    ) -> Learnt<T> {
        let name = format!("{}-{prepare}", self.request.file_stem);
        let size = Bytes(self.request.file_size_bytes);
        let case = format!("pwrite,size={size},prepare={prepare}{axes}");
        let case = match Case::parse(&case, &methods::infos()) {
            Ok(case) => case,
            Err(error) => {
                return CallError::other("case", error.to_string()).learnt(Phase::Settle, Some(&name));
            }
        };
        let learnt = match self.opened(source, &case, &name, work) {
            Ok(value) => Learnt::Known(value),
            Err((phase, error)) => error.learnt(phase, Some(&name)),
        };
        if learnt.failure().is_some_and(|it| it.errno == Some(Errno::EXIST.raw_os_error())) {
            // It was there before, and is not ours to remove.
            return learnt;
        }
        (self.progress)(Phase::Clean);
        match file::remove(Target::Directory(self.directory), &name) {
            Err(error) if learnt.known().is_some() => error.learnt(Phase::Clean, Some(&name)),
            _ => learnt,
        }
    }

    /// As in a sample, up to the open file.
    fn opened<T>(
        &mut self,
        source: &mut SourceBuffer,
        case: &Case,
        name: &str,
        work: Work<Self, T>,
    ) -> Result<T, PhaseError> {
        /// So that what others left to be written is not counted as ours; it is no error if they go on.
        const QUIET_LIMIT: Duration = Duration::from_millis(500);
        let (directory, request) = (self.directory, self.request);
        let (target, seed) = (Target::Directory(directory), request.data_seed);
        self.phase(Phase::Settle, || {
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
        self.phase(Phase::Open, || seat.open())?;
        work(self, seat, name)
    }

    fn found(&mut self, mut seat: Seat<'_>, name: &str) -> Result<Found, PhaseError> {
        let request = self.request;
        let size_bytes = request.file_size_bytes;
        let device_bytes = || request.device_number.as_deref().and_then(device_bytes);
        let prepare = seat.case().axes().prepare;
        let file = self.open_to_read(name)?;
        let before = device_bytes();
        self.phase(Phase::Prepare, || seat.prepare())?;
        // Filesystems choose blocks when data is written back.
        self.phase(Phase::Sync, || sync::sync(file.as_fd(), SyncCall::Fsync))?;
        let prepare_device_bytes =
            device_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        let after_prepare = self.phase(Phase::Verify, || allocation(file.as_fd(), size_bytes, name))?;
        drop(file);
        let reserves = prepare.call().is_some_and(AllocateCall::gives_blocks);
        let zeros = reserves.then(|| Zeros::of(size_bytes, &after_prepare, prepare_device_bytes));
        let after_write = match self.written(seat, name) {
            Ok(allocation) => Learnt::Known(allocation),
            Err((phase, error)) => error.learnt(phase, Some(name)),
        };
        Ok(Found { after_prepare, prepare_device_bytes, zeros, after_write })
    }

    /// What a file has when all of it is written and durable, and its writer gone.
    fn written(&mut self, mut seat: Seat<'_>, name: &str) -> Result<Allocation, PhaseError> {
        let size_bytes = self.request.file_size_bytes;
        self.phase(Phase::Write, || seat.write())?;
        self.phase(Phase::Close, || seat.close())?;
        let file = self.open_to_read(name)?;
        self.phase(Phase::Sync, || sync::sync(file.as_fd(), SyncCall::Fsync))?;
        self.phase(Phase::Verify, || allocation(file.as_fd(), size_bytes, name))
    }

    /// Which way it goes: looked at while it goes, because a filesystem that goes through the page cache (btrfs
    /// for its checksums, ext4 in a hole of a file without extents) cleans up behind itself.
    fn direct_write(&mut self, mut seat: Seat<'_>, name: &str) -> Result<DirectWrite, PhaseError> {
        /// Of all pages: they come one after the other, and go so, too.
        const MUCH: u64 = 8;
        let size_bytes = self.request.file_size_bytes;
        self.phase(Phase::Prepare, || seat.prepare())?;
        let file = self.open_to_read(name)?;
        // Old content is synced, so that all of it goes.
        let let_go = || retry("posix_fadvise", || rustix::fs::fadvise(&file, 0, None, Advice::DontNeed));
        self.phase(Phase::Prepare, let_go)?;
        let map = self.phase(Phase::Open, || Map::new(file.as_fd(), 0, size_bytes, Access::Read))?;
        let (written, most_bytes) = self.phase(Phase::Write, || most_resident_bytes(&map, || seat.write()))?;
        written.map_err(|error| (Phase::Write, error))?;
        let most_bytes = most_bytes.map_err(|error| (Phase::Verify, error))?;
        self.phase(Phase::Close, || seat.close())?;
        Ok(if most_bytes > size_bytes / MUCH { DirectWrite::PageCache } else { DirectWrite::Direct })
    }

    fn open_to_read(&mut self, name: &str) -> Result<OwnedFd, PhaseError> {
        let target = Target::Directory(self.directory);
        self.phase(Phase::Open, || file::open_to_read(target, name))
    }

    fn phase<T>(&mut self, phase: Phase, work: impl FnOnce() -> Result<T, CallError>) -> Result<T, PhaseError> {
        (self.progress)(phase);
        work().map_err(|error| (phase, error))
    }
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

/// Of a file whose data has been written back, and that is to have this size in the end.
fn allocation(file: BorrowedFd<'_>, size_bytes: u64, name: &str) -> Result<Allocation, CallError> {
    let stat = retry("fstat", || rustix::fs::fstat(file))?;
    let allocated_bytes = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
    let extents = match extents(file, size_bytes) {
        Ok(extents) => Learnt::Known(extents),
        Err(errno) => CallError::new("ioctl FS_IOC_FIEMAP", errno).learnt(Phase::Verify, Some(name)),
    };
    Ok(Allocation { allocated_bytes, extents })
}

fn extents(file: BorrowedFd<'_>, size_bytes: u64) -> Result<Extents, Errno> {
    let mut extents = Extents::default();
    for extent in Fiemap::new(file) {
        let extent = extent.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let inside_bytes = extent.fe_length.min(size_bytes.saturating_sub(extent.fe_logical));
        extents.beyond_bytes += extent.fe_length - inside_bytes;
        extents.count += u32::from(inside_bytes > 0);
        if extent.fe_flags.contains(FiemapExtentFlags::UNWRITTEN) {
            extents.unwritten_bytes += inside_bytes;
        }
    }
    Ok(extents)
}
