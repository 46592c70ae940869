//! The order of the phases, and the only clock.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use model::protocol::SampleRequest;
use model::{Case, Descriptor, Files, MapSharing, Outcome, Phase, PhasesNs, Sample, Sync};

use crate::call::{CallError, hand_over};
use crate::crew::{Crew, Shared};
use crate::job;
use crate::machine::{Counters, MemoryProbe, Usage};
use crate::seat::{self, Seat};
use crate::source::SourceBuffer;
use crate::{file, pattern, settle, sync, verify};

/// Takes samples in this process, one after the other.
pub struct Engine {
    source: SourceBuffer,
    probe: MemoryProbe,
}

impl Default for Engine {
    fn default() -> Self {
        Self { source: SourceBuffer::default(), probe: MemoryProbe::new() }
    }
}

impl Engine {
    /// Takes one sample of `case` in `directory`, which must be ours alone. `progress` hears of each
    /// phase before it begins, outside the clock. No file is left behind.
    pub fn sample(
        &mut self,
        directory: BorrowedFd<'_>,
        case: &Case,
        request: &SampleRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> Sample {
        let mut sample = Sample::without_figures(request.round, Outcome::Ok);
        let names: Vec<String> =
            (0..case.file_count() as usize).map(|index| file::name(&request.file_stem, case, index)).collect();
        let mut run = Run { directory, case, names: &names, request, progress };
        if let Err(outcome) = run.through_all_phases(self, &mut sample) {
            sample = Sample::without_figures(request.round, outcome);
        }
        (run.progress)(Phase::Clean);
        for name in &names {
            if let Err(error) = file::remove(directory, name)
                && sample.outcome.is_ok()
            {
                let outcome = error.outcome(Phase::Clean, Some(name));
                sample = Sample::without_figures(request.round, outcome);
            }
        }
        sample
    }
}

struct Run<'r> {
    directory: BorrowedFd<'r>,
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
        let parts = job::parts(case, engine.source.bytes());
        engine.source.touch();
        sample.probe_ns[0] = settle::warm(&mut engine.probe, case.axes().size_bytes, request.warm_limit_bytes);
        let before = Counters::read(request.device_number.as_deref());
        let mut clock = Clock { phases: PhasesNs::default(), usage: Usage::default(), progress: self.progress };
        let result = timed_phases(seat::seats(self.directory, case, self.names, &parts), case, &mut clock);
        let Clock { phases, usage, .. } = clock;
        result.map_err(|(phase, error)| self.outcome(phase, error))?;
        Counters::read(request.device_number.as_deref()).since(&before, sample);
        usage.write_into(sample);
        sample.probe_ns[1] = engine.probe.copy_ns();

        (self.progress)(Phase::Verify);
        let bytes = verify::sizes(self.directory, self.names, case, &parts);
        sample.bytes = bytes.map_err(|error| self.outcome(Phase::Verify, error))?;
        if request.verify && case.method().writes_data() {
            verify::content(self.directory, self.names, case, &parts, request.data_seed)
                .map_err(|error| self.outcome(Phase::Verify, error))?;
            sample.verified = Some(true);
        }
        sample.phases_ns = phases;
        Ok(())
    }

    fn settle(&self, engine: &mut Engine, sample: &mut Sample) -> Result<(), CallError> {
        let case = self.case;
        engine.source.make(case, self.request.data_seed)?;
        if case.axes().prepare.needs_old_content() {
            for (name, part) in self.names.iter().zip(job::parts(case, engine.source.bytes())) {
                old_content(self.directory, name, part.file_length, self.request.data_seed)?;
            }
        }
        let start = Instant::now();
        sample.disturbed =
            settle::quiet(self.directory, Duration::from_nanos(self.request.settle_limit_ns)).err();
        sample.settle_ns = nanoseconds(start.elapsed());
        Ok(())
    }

    fn outcome(&self, phase: Phase, error: CallError) -> Outcome {
        error.outcome(phase, self.names.first().map(String::as_str))
    }
}

/// A file as an earlier program would have left it: written, synced, closed; other bytes than ours.
fn old_content(directory: BorrowedFd<'_>, name: &str, length: u64, seed: u64) -> Result<(), CallError> {
    let file = file::create(directory, name)?;
    let mut block = vec![0; 1 << 20];
    pattern::fill(!seed, 0, &mut block);
    let mut at = 0;
    while at < length {
        let piece = &block[..usize::try_from(length - at).unwrap_or(usize::MAX).min(block.len())];
        hand_over("write", piece, at, |bytes, _| rustix::io::write(&file, bytes))?;
        at += piece.len() as u64;
    }
    sync::sync(file.as_fd(), Sync::Fsync)?;
    file::close(file)
}

/// Adds up time by phase. Between two phases the progress record is written, outside the clock.
struct Clock<'p> {
    phases: PhasesNs,
    usage: Usage,
    progress: &'p mut dyn FnMut(Phase),
}

type PhaseError = (Phase, CallError);

impl Clock<'_> {
    fn time(&mut self, phase: Phase, work: impl FnOnce() -> Result<(), CallError>) -> Result<(), PhaseError> {
        (self.progress)(phase);
        let start = Instant::now();
        let result = work();
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

/// The phases with a figure. Whatever happens, every descriptor is closed in the end: a stream of the C
/// library that stayed open would be flushed at exit, into whatever file has its number by then.
fn timed_phases(seats: Vec<Seat<'_>>, case: &Case, clock: &mut Clock<'_>) -> Result<(), PhaseError> {
    let attaches = seats.iter().any(Seat::attaches);
    let crew_seats = Shared::new(seats);
    std::thread::scope(|scope| {
        let crew = Crew::start(scope, &crew_seats).map_err(|error| (Phase::Settle, error))?;
        let before = Usage::now();
        let result = steps(&crew, case, attaches, clock);
        clock.usage = Usage::now().since(&before);
        if result.is_err() {
            // Errors change nothing any more, and must not keep the next seat from closing.
            let _ = crew.in_turn(|seat| {
                let _ = seat.close();
                Ok(())
            });
        }
        result
    })
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
    if axes.prepare.call().is_some() {
        clock.time(Phase::Prepare, || {
            if own_files { crew.together(Seat::prepare) } else { crew.first(Seat::prepare) }
        })?;
    }
    if attaches {
        clock.time(Phase::Open, || crew.together(Seat::attach))?;
    }
    clock.time(Phase::Write, || crew.together(Seat::write))?;
    if axes.sync != Sync::None {
        let each = own_files || (axes.sync == Sync::Msync && axes.map == MapSharing::PerThread);
        clock.time(Phase::Sync, || if each { crew.together(Seat::sync) } else { crew.first(Seat::sync) })?;
    }
    let each = own_files || own_descriptors || attaches;
    clock.time(Phase::Close, || if each { crew.together(Seat::close) } else { crew.in_turn(Seat::close) })
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
