//! The order of the phases, and the only clock.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use writebench_model::protocol::{PropertiesRequest, SampleRequest};
use writebench_model::{
    Cache, Case, Descriptor, DirectWrite, Files, MapSharing, Outcome, Phase, PhasesNs, Properties, Sample,
    SyncCall, nanoseconds,
};

use crate::call::CallError;
use crate::copy_source::{CopySource, CopySources};
use crate::crew::{Crew, Shared};
use crate::file::Target;
use crate::job;
use crate::machine::{MemoryProbe, Usage};
use crate::properties::DirectWays;
use crate::records::Records;
use crate::seat::{self, Seat};
use crate::source::SourceBuffer;
use crate::timeline::{self, Course};
use crate::watch::Watcher;
use crate::{file, properties, read_back, settle, verify};

/// Bytes of memory that may be taken at the moment, or why that cannot be told: the control groups around the process
/// are no business of this crate.
pub type AvailableMemory = fn() -> Result<u64, String>;

/// Takes samples in this process, one after the other.
pub struct Engine {
    source: SourceBuffer,
    copy_sources: CopySources,
    probe: MemoryProbe,
    available_memory: AvailableMemory,
    direct_ways: DirectWays,
    // Where the sample before was taken, and whether all had to be synced before it.
    last: Option<(OwnedFd, bool)>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new(None, || Ok(0))
    }
}

impl Engine {
    /// An engine whose copying cases copy that file; without one, they make one beside their samples.
    #[must_use]
    pub fn new(copy_from: Option<OwnedFd>, available_memory: AvailableMemory) -> Self {
        Self {
            source: SourceBuffer::default(),
            copy_sources: CopySources::new(copy_from),
            probe: MemoryProbe::new(),
            available_memory,
            direct_ways: DirectWays::default(),
            last: None,
        }
    }

    /// Takes one sample of `case` in a directory that must be ours alone, or on a device. `progress` hears of
    /// each phase before it begins, outside the clock. No file of the sample is left behind; one that was made
    /// to be copied stays for the next.
    pub fn sample(
        &mut self,
        target: Target<'_>,
        case: &Case,
        request: &SampleRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> Sample {
        let mut sample = Sample::without_figures(request.round, Outcome::Ok);
        let names: Vec<String> =
            (0..case.file_count() as usize).map(|index| file::name(&request.file_stem, case, index)).collect();
        let mut run = Run { target, case, names: &names, request, progress };
        if let Err(outcome) = run.through_all_phases(self, &mut sample) {
            sample = Sample::without_figures(request.round, outcome);
        }
        (run.progress)(Phase::Clean);
        for name in &names {
            if let Err(error) = file::remove(target, name)
                && sample.outcome.is_ok()
            {
                let outcome = error.outcome(Phase::Clean, Some(name));
                sample = Sample::without_figures(request.round, outcome);
            }
        }
        sample
    }

    /// Finds out what the filesystem does with files, by making some in a directory that must be ours alone. None of
    /// them is left behind. What cannot be found out is in its place; the rest goes on.
    pub fn properties(
        &mut self,
        directory: BorrowedFd<'_>,
        request: &PropertiesRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> Properties {
        properties::properties(&mut self.source, directory, request, progress)
    }
}

struct Run<'r> {
    target: Target<'r>,
    case: &'r Case,
    names: &'r [String],
    request: &'r SampleRequest,
    progress: &'r mut dyn FnMut(Phase),
}

impl Run<'_> {
    fn through_all_phases(&mut self, engine: &mut Engine, sample: &mut Sample) -> Result<(), Outcome> {
        let (case, request) = (self.case, self.request);
        (self.progress)(Phase::Settle);
        self.settle(engine, sample).map_err(|error| self.outcome(Phase::Settle, error))?;
        let copy_from = engine.copy_sources.of(request.target).filter(|_| case.method().copies());
        let parts = job::parts(case, engine.source.bytes(), copy_from.map(CopySource::file));
        engine.source.touch();
        let warm_bytes = settle::page_cache_bytes(self.target, case);
        // The source is there by now, and is not counted as available.
        let most_bytes = self.most_to_warm(engine.available_memory)?;
        sample.probe_ns[0] = settle::warm(&mut engine.probe, warm_bytes, most_bytes);
        if let Some(source) = copy_from {
            let doubt = source.settle(case).map_err(|error| self.outcome(Phase::Settle, error))?;
            sample.disturbed = sample.disturbed.take().or(doubt);
        }
        let watcher = Watcher::begin(&request.cpu_stats, request.device_number.as_deref());
        let mut clock = Clock {
            phases: PhasesNs::default(),
            write_began: None,
            usage: Usage::default(),
            progress: self.progress,
        };
        let limit = request.write_limit_ns.map(Duration::from_nanos);
        let seats = seat::seats(self.target, case, self.names, &parts, limit);
        let (result, records) = timed_phases(seats, case, &mut clock);
        let Clock { phases, usage, .. } = clock;
        result.map_err(|(phase, error)| self.outcome(phase, error))?;
        let watched = watcher.end();
        (sample.watch, sample.steal_ns, sample.device_bytes) =
            (watched.watch, watched.steal_ns, watched.device_bytes);
        usage.write_into(sample);
        sample.probe_ns[1] = engine.probe.copy_ns();
        sample.latency = records.merged.latency().map(Box::new);
        let timeline = timeline::timeline(&records.courses, phases.write, timeline::hand_overs(case, &parts));
        sample.timeline = timeline.map(Box::new);
        sample.phases_ns = phases;

        (self.progress)(Phase::Verify);
        self.verify(&parts, records.handed_over_bytes, sample)
            .map_err(|error| self.outcome(Phase::Verify, error))?;
        if request.read_back.is_some() && case.axes().cache == Cache::Direct {
            self.goes_direct(engine).map_err(|error| self.outcome(Phase::Verify, error))?;
        }
        Ok(())
    }

    /// Filesystems that write through the page cache and clean up behind themselves (btrfs for its checksums, ext2 and
    /// ext3 in a hole) can only be caught while they do. What cannot be found out is no reason to doubt the sample.
    fn goes_direct(&mut self, engine: &mut Engine) -> Result<(), CallError> {
        // Nothing goes no way.
        let (Target::Directory(directory), 1..) = (self.target, self.case.axes().size_bytes) else {
            return Ok(());
        };
        let prepare = self.case.axes().prepare;
        let way = engine.direct_ways.of(&mut engine.source, directory, self.request, prepare, self.progress);
        match way.known() {
            Some(DirectWrite::PageCache) => Err(CallError::unsupported(
                "cache=direct",
                format!(
                    "O_DIRECT was accepted, but with prepare={prepare} data goes through the page cache here"
                ),
            )),
            Some(DirectWrite::Direct) | None => Ok(()),
        }
    }

    /// Half of the memory that is there at the moment, so that nothing is pushed out; none where none is to be warmed.
    fn most_to_warm(&self, available: AvailableMemory) -> Result<u64, Outcome> {
        let failed = |why| self.outcome(Phase::Settle, CallError::other("available memory", why));
        if self.request.warm { available().map(|bytes| bytes / 2).map_err(failed) } else { Ok(0) }
    }

    fn settle(&self, engine: &mut Engine, sample: &mut Sample) -> Result<(), CallError> {
        let (case, seed) = (self.case, self.request.data_seed);
        // A file that could not be removed cost its own sample.
        for name in self.names {
            file::remove(self.target, name)?;
        }
        if case.method().copies() {
            let bytes = case.axes().size_bytes;
            engine.copy_sources.make(self.request.target, self.target, bytes, seed)?;
        } else {
            engine.source.make(case, seed)?;
        }
        if let (Target::Directory(directory), true) = (self.target, case.axes().prepare.needs_old_content()) {
            for (name, part) in self.names.iter().zip(job::parts(case, &[], None)) {
                settle::old_content(directory, name, part.file_length, seed)?;
            }
        }
        let start = Instant::now();
        let sync_all = self.request.sync_all || engine.last.as_ref().is_some_and(|(_, sync_all)| *sync_all);
        if let Some((last, _)) = engine.last.take() {
            settle::write_out(last.as_fd());
        }
        if let Target::Directory(directory) = self.target {
            engine.last = directory.try_clone_to_owned().ok().map(|own| (own, self.request.sync_all));
        }
        sample.disturbed =
            settle::quiet(self.target, sync_all, Duration::from_nanos(self.request.settle_limit_ns)).err();
        sample.settle_ns = nanoseconds(start.elapsed());
        Ok(())
    }

    /// Whether everything is in the file, and came there the way that the case says.
    fn verify(
        &self,
        parts: &[job::Part<'_>],
        handed_over_bytes: Vec<u64>,
        sample: &mut Sample,
    ) -> Result<(), CallError> {
        let (case, request) = (self.case, self.request);
        let all = verify::Written { target: self.target, names: self.names, case, parts, handed_over_bytes };
        sample.bytes = all.sizes()?;
        if case.axes().cache == Cache::Direct {
            all.past_the_page_cache()?;
        }
        if let Some(extent) = request.read_back
            && case.method().writes_data()
        {
            sample.read_back = Some(read_back::read_back(&all, request, extent)?);
        }
        Ok(())
    }

    fn outcome(&self, phase: Phase, error: CallError) -> Outcome {
        error.outcome(phase, self.names.first().map(String::as_str))
    }
}

/// Adds up time by phase. Between two phases the progress record is written, outside the clock.
struct Clock<'p> {
    phases: PhasesNs,
    write_began: Option<Instant>,
    usage: Usage,
    progress: &'p mut dyn FnMut(Phase),
}

type PhaseError = (Phase, CallError);

impl Clock<'_> {
    fn time(&mut self, phase: Phase, work: impl FnOnce() -> Result<(), CallError>) -> Result<(), PhaseError> {
        (self.progress)(phase);
        let start = Instant::now();
        let result = work();
        #[cfg(feature = "deliberate-delay")]
        crate::deliberate_delay::lengthen(start);
        let elapsed_ns = nanoseconds(start.elapsed());
        match phase {
            Phase::Open => self.phases.open += elapsed_ns,
            Phase::Prepare => self.phases.prepare += elapsed_ns,
            Phase::Write => self.phases.write += elapsed_ns,
            Phase::Sync => self.phases.sync += elapsed_ns,
            Phase::Close => self.phases.close += elapsed_ns,
            Phase::Settle | Phase::Verify | Phase::Clean => {}
        }
        result.map_err(|error| (phase, error))
    }
}

/// What all seats handed over.
struct AllRecords {
    merged: Records,
    handed_over_bytes: Vec<u64>,
    courses: Vec<Course>,
}

/// The phases with a figure. Whatever happens, every descriptor is closed in the end: a stream of the C
/// library that stayed open would be flushed at exit, into whatever file has its number by then.
fn timed_phases(
    seats: Vec<Seat<'_>>,
    case: &Case,
    clock: &mut Clock<'_>,
) -> (Result<(), PhaseError>, AllRecords) {
    let attaches = seats.iter().any(Seat::attaches);
    let mut merged = Records::new(case.axes().sync, 0, None);
    let mut handed_over_bytes = Vec::new();
    let mut courses = Vec::new();
    let crew_seats = Shared::new(seats);
    let result = std::thread::scope(|scope| {
        let crew = Crew::start(scope, &crew_seats).map_err(|error| (Phase::Settle, error))?;
        let before = Usage::now();
        let result = steps(&crew, case, attaches, clock);
        clock.usage = Usage::now().since(&before);
        // Errors change nothing any more, and must not keep the next seat from closing.
        let _ = crew.in_turn(|seat| {
            handed_over_bytes.push(seat.records().handed_over_bytes());
            merged.merge(seat.records());
            if let Some(began) = clock.write_began {
                courses.push(seat.records().course(began, clock.phases.write));
            }
            if result.is_err() {
                let _ = seat.close();
            }
            Ok(())
        });
        result
    });
    (result, AllRecords { merged, handed_over_bytes, courses })
}

fn steps(
    crew: &Crew<'_, Seat<'_>>,
    case: &Case,
    attaches: bool,
    clock: &mut Clock<'_>,
) -> Result<(), PhaseError> {
    let axes = case.axes();
    let own_files = axes.files == Files::PerThread;
    let own_descriptors = axes.descriptor == Descriptor::PerThread;
    clock.time(Phase::Open, || {
        if own_files {
            return crew.together(Seat::open);
        }
        crew.first(Seat::open)?;
        if own_descriptors {
            return crew.together(Seat::open_own);
        }
        let mut first = None;
        crew.in_turn(|seat| {
            seat.open_shared(&mut first);
            Ok(())
        })
    })?;
    if axes.prepare.has_step() {
        clock.time(Phase::Prepare, || {
            if own_files { crew.together(Seat::prepare) } else { crew.first(Seat::prepare) }
        })?;
    }
    if attaches {
        clock.time(Phase::Open, || crew.together(Seat::attach))?;
    }
    clock.write_began = Some(Instant::now());
    clock.time(Phase::Write, || crew.together(Seat::write))?;
    if axes.sync.is_at_end() {
        let each = own_files || (axes.sync.call == SyncCall::Msync && axes.map == MapSharing::PerThread);
        clock.time(Phase::Sync, || if each { crew.together(Seat::sync) } else { crew.first(Seat::sync) })?;
    }
    let each = own_files || own_descriptors || attaches;
    clock.time(Phase::Close, || if each { crew.together(Seat::close) } else { crew.in_turn(Seat::close) })
}
