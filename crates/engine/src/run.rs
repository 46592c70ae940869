//! The order of the phases, and the only clock.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::resource::UsageWho;
use writebench_model::protocol::{RankRole, RankSample, SampleRequest};
use writebench_model::{
    Axes, Cache, Checksums, Descriptor, Durability, Failure, Files, MapSharing, Outcome, Phase,
    PhasesNs, Prepare, ProgramCommands, Sample, SyncCall, SyncFiles, nanoseconds,
};

use crate::barrier::{RankBarrier, Ranks};
use crate::call::{CallError, PhaseError, Result};
use crate::copy_source::{self, CopySources};
use crate::file::{COPIED, Target};
use crate::file_tree::SetDirectory;
use crate::machine::Usage;
use crate::program::Program;
use crate::records::Records;
use crate::region::{self, Region};
use crate::source::SourceBuffer;
use crate::thread_state::{self, ThreadState};
use crate::threads::{Shared, Threads};
use crate::timeline::{self, ProgressCurve};
use crate::verify::Written;
use crate::verify_set::verify_set;
use crate::warm_memory::WarmMemory;
use crate::watch::Watcher;
use crate::{direct_path, dirty_pages, file, file_tree, read_back, settle};

/// Or the reason why it is unknown. This crate does not know the control groups.
pub type AvailableMemory = fn() -> Result<u64, String>;

pub struct Engine<'p> {
    progress: &'p dyn Fn(Phase),
    source: SourceBuffer,
    copy_sources: CopySources,
    memory: WarmMemory,
    available_memory: AvailableMemory,
    // Each is tried once.
    uses_page_cache: HashMap<(usize, (Prepare, Checksums)), bool>,
}

impl<'p> Engine<'p> {
    /// Without `copy_from` the engine makes its own source in the target. `progress` is called before each
    /// phase, outside the clock.
    #[must_use]
    pub fn new(
        copy_from: Option<OwnedFd>,
        available_memory: AvailableMemory,
        progress: &'p dyn Fn(Phase),
    ) -> Self {
        Self {
            progress,
            source: SourceBuffer::default(),
            copy_sources: CopySources::new(copy_from),
            memory: WarmMemory::new(),
            available_memory,
            uses_page_cache: HashMap::new(),
        }
    }

    /// In the engine's own directory, or on a device. No file of the sample remains, only a source for later
    /// samples.
    pub fn sample(&mut self, target: Target<'_>, request: &SampleRequest) -> Sample {
        self.rank_sample(target, request, RankRole::ALONE, None)
            .sample
    }

    /// Each rank calls this with its own role, and waits for the other ranks between phases.
    pub fn rank_sample(
        &mut self,
        target: Target<'_>,
        request: &SampleRequest,
        role: RankRole,
        barrier: Option<&mut dyn RankBarrier>,
    ) -> RankSample {
        let mut ranks = Ranks::new(barrier);
        let names = file::names(request, role.rank);
        let run = Run {
            target,
            names: &names,
            request,
            role,
        };
        let mut result = run
            .through_all_phases(self, &mut ranks)
            .map_err(|(phase, error)| error.outcome(phase, names.first().map(String::as_str)));
        (self.progress)(Phase::Clean);
        for name in run.own_names() {
            if let Err(error) = file::remove(target, name) {
                result = result.and(Err(error.outcome(Phase::Clean, Some(name))));
            }
        }
        // Written out now, so an error is certainly this sample's.
        let written_out = settle::write_out(target, request.sync_all);
        let mut sample =
            result.unwrap_or_else(|outcome| Sample::without_figures(request.round, outcome));
        if let (Err(error), true) = (written_out, sample.outcome.is_ok()) {
            note_lost_data(
                &mut sample,
                "its data was lost at write-back",
                error,
                Phase::Clean,
            );
        }
        RankSample {
            sample,
            timestamps: ranks.timestamps,
            is_abandoned: ranks.is_abandoned,
        }
    }
}

struct Run<'r> {
    target: Target<'r>,
    names: &'r [String],
    request: &'r SampleRequest,
    role: RankRole,
}

impl Run<'_> {
    /// The first rank makes and removes shared files for all.
    fn own_names(&self) -> &[String] {
        let is_shared = self.request.case.axes().files == Files::Shared;
        if is_shared && self.role.rank > 0 {
            &[]
        } else {
            self.names
        }
    }

    fn through_all_phases(
        &self,
        engine: &mut Engine<'_>,
        ranks: &mut Ranks<'_>,
    ) -> Result<Sample, PhaseError> {
        let (case, request, progress) = (&self.request.case, self.request, engine.progress);
        let mut sample = Sample::without_figures(request.round, Outcome::Ok);
        ranks.wait(in_phase(progress, Phase::Settle, || {
            self.settle(engine, &mut sample)
        }))?;
        let copy_from = engine.copy_sources.get(case, request.target);
        let regions = region::split(case, self.role.rank, engine.source.bytes(), copy_from);
        if case.method().is_program() {
            let commands = request.program.clone().unwrap_or_default();
            let name = self.names.first().map(String::as_str).unwrap_or_default();
            let program = Program {
                target: self.target,
                name,
                source: copy_from,
            };
            let mut measured = || {
                in_phase(progress, Phase::Settle, || {
                    program.run_beside("setup", &commands.setup)
                })?;
                let watcher = Watcher::begin(&request.cpu_stats, request.device_number.as_deref());
                in_phase(progress, Phase::Write, || {
                    program.run(&commands.program, case, &mut sample)
                })?;
                note_end(watcher, &mut engine.memory, &mut sample);
                in_phase(progress, Phase::Verify, || self.check_program_synced(name))?;
                in_phase(progress, Phase::Verify, || {
                    self.verify(&regions, vec![sample.bytes], &mut sample)
                })
            };
            let measured = measured();
            // Also after a failure, because the setup may need it.
            let cleaned = in_phase(progress, Phase::Clean, || {
                program.run_beside("cleanup", &commands.cleanup)
            });
            return measured.and(cleaned).map(|()| sample);
        }
        let watcher = Watcher::begin(&request.cpu_stats, request.device_number.as_deref());
        let limit = request.write_limit_ns.map(Duration::from_nanos);
        let states = thread_state::thread_states(self.target, case, self.names, &regions, limit);
        // A rank that has waited long polls seldom: the second barrier begins the clock for all.
        ranks.wait(Ok(()))?;
        let (records, curves, handed_over_bytes) =
            self.timed_phases(states, progress, &mut sample, ranks)?;
        note_end(watcher, &mut engine.memory, &mut sample);
        sample.latency = records.latency().map(Box::new);
        let hand_overs = timeline::hand_overs(case, &regions);
        let timeline = timeline::timeline(&curves, sample.phases_ns.write, hand_overs);
        sample.timeline = timeline.map(Box::new);

        let mut verified = in_phase(progress, Phase::Verify, || {
            self.verify(&regions, handed_over_bytes, &mut sample)
        });
        let checks_path = request.read_back.is_some()
            && case.axes().cache == Cache::Direct
            && self.role.rank == 0;
        if checks_path && verified.is_ok() {
            verified = in_phase(progress, Phase::Verify, || self.check_direct_path(engine));
        }
        // All ranks must read the files before their removal.
        ranks.wait_at(verified, true)?;
        Ok(sample)
    }

    /// Before anything else reads or syncs the file.
    fn check_program_synced(&self, name: &str) -> Result<()> {
        let (case, Target::Directory(directory)) = (&self.request.case, self.target) else {
            return Ok(());
        };
        if case.contract().durability != Durability::Durable {
            return Ok(());
        }
        dirty_pages::check(directory, name, case.axes().size_bytes)
    }

    /// Filesystems that write through the page cache and drop the pages afterwards (btrfs for its checksums,
    /// ext2 and ext3 in a hole) can be detected only during the write. An unknown path is not a reason to doubt
    /// the sample.
    fn check_direct_path(&self, engine: &mut Engine<'_>) -> Result<()> {
        let (Target::Directory(directory), 1..) =
            (self.target, self.request.case.axes().size_bytes)
        else {
            return Ok(());
        };
        let &Axes {
            prepare, checksums, ..
        } = self.request.case.axes();
        let file = (prepare, checksums);
        let Engine {
            uses_page_cache,
            source,
            ..
        } = engine;
        let find_out =
            || direct_path::uses_page_cache(directory, self.request, file, source).unwrap_or(false);
        if *uses_page_cache
            .entry((self.request.target, file))
            .or_insert_with(find_out)
        {
            let message = format!(
                "O_DIRECT was accepted, but with prepare={prepare} this filesystem uses the page cache"
            );
            return Err(CallError::unsupported(
                Failure::DIRECT_IN_PAGE_CACHE,
                message,
            ));
        }
        Ok(())
    }

    fn settle(&self, engine: &mut Engine<'_>, sample: &mut Sample) -> Result<()> {
        let (case, request) = (&self.request.case, self.request);
        // A leftover file has already failed its own sample.
        for name in self.own_names() {
            file::remove(self.target, name)?;
        }
        if case.method().has_source_file() {
            let bytes = case.axes().size_bytes;
            engine
                .copy_sources
                .make(request.target, self.target, bytes, request.data_seed)?;
        } else {
            engine
                .source
                .make(case, self.role.rank, request.data_seed)?;
        }
        if case.method().writes_set() {
            self.make_set()?;
        } else if let (Target::Directory(directory), true) =
            (self.target, case.axes().prepare.needs_old_content())
        {
            for (name, region) in
                self.own_names()
                    .iter()
                    .zip(region::split(case, self.role.rank, &[], None))
            {
                settle::old_content(
                    directory,
                    name,
                    region.file_length,
                    request.data_seed,
                    case.axes().checksums,
                )?;
            }
        }
        let start = Instant::now();
        match settle::quiet(
            self.target,
            request.sync_all,
            Duration::from_nanos(request.settle_limit_ns),
        ) {
            Ok(doubt) => sample.disturbed = doubt,
            Err(error) => note_lost_data(sample, "before it", error, Phase::Settle),
        }
        if case.axes().prepare.needs_old_content() {
            self.drop_old_content()?;
        }
        sample.settle_ns = nanoseconds(start.elapsed());
        engine.source.touch();
        if request.warm {
            let mut warm_bytes =
                settle::page_cache_bytes(self.target, case) / u64::from(case.axes().ranks);
            if case.method().is_program() {
                // A program may take as much memory for its data, before the file's pages are taken.
                warm_bytes = warm_bytes.saturating_mul(2);
            }
            // At most half of the available memory, so no other data is evicted. The present source is not counted
            // as available.
            let available = (engine.available_memory)()
                .map_err(|why| CallError::other("available memory", why))?;
            let most_bytes = available / 2 / u64::from(self.role.ranks_beside.max(1));
            sample.probe_ns[0] = engine.memory.prepare(warm_bytes, most_bytes);
        }
        if let Some(source) = engine.copy_sources.get(case, request.target) {
            let doubt =
                copy_source::settle(source, case).map_err(|error| error.with_path(COPIED))?;
            sample.disturbed = sample.disturbed.take().or(doubt);
        }
        Ok(())
    }

    /// The content of one file was dropped when it was made: see [`settle::old_content`].
    fn drop_old_content(&self) -> Result<()> {
        match self.target {
            // Another sample's data is its old content.
            Target::Device(device) => settle::drop_pages(device),
            Target::Directory(directory) if self.request.case.method().writes_set() => {
                let Some(name) = self.own_names().first() else {
                    return Ok(());
                };
                let set = file_tree::open_directory(directory, name)?;
                file_tree::drop_pages(set.as_fd(), &self.set_directories())
            }
            Target::Directory(_) => Ok(()),
        }
    }

    /// Of all ranks.
    fn set_directories(&self) -> Vec<SetDirectory<'_>> {
        let case = &self.request.case;
        let regions = (0..case.axes().ranks).flat_map(|rank| region::split(case, rank, &[], None));
        regions
            .flat_map(|region| file_tree::directories(&region))
            .collect()
    }

    /// The first rank does it for all.
    fn make_set(&self) -> Result<()> {
        let (case, Target::Directory(directory)) = (&self.request.case, self.target) else {
            return Ok(());
        };
        let Some(name) = self.own_names().first() else {
            return Ok(());
        };
        file_tree::make_set(directory, name)?;
        if !case.axes().prepare.needs_old_content() {
            return Ok(());
        }
        let set = file_tree::open_directory(directory, name)?;
        file_tree::fill_with_old_content(
            set.as_fd(),
            &self.set_directories(),
            self.request.data_seed,
        )
    }

    /// Returns the records of all threads together, then each thread's curve and bytes. All threads close their
    /// files: otherwise the C library would flush an open stream at exit, into any file with the same number.
    fn timed_phases(
        &self,
        states: Vec<ThreadState<'_>>,
        progress: &dyn Fn(Phase),
        sample: &mut Sample,
        ranks: &mut Ranks<'_>,
    ) -> Result<(Records, Vec<ProgressCurve>, Vec<u64>), PhaseError> {
        let attaches = states.iter().any(ThreadState::attaches);
        let mut records = Records::new(&self.request.case, 0, None);
        let (mut curves, mut handed_over_bytes) = (Vec::new(), Vec::new());
        let states = Shared::new(states);
        std::thread::scope(|scope| {
            let threads = match Threads::start(scope, &states) {
                Ok(threads) => threads,
                Err(error) => return ranks.wait(Err((Phase::Settle, error))),
            };
            let before = Usage::read(UsageWho::RUSAGE_SELF);
            let clock = PhaseClock {
                phases: &mut sample.phases_ns,
                progress,
                ranks: &mut *ranks,
            };
            let result = self.steps(&threads, attaches, clock);
            // After the clock, but within the CPU time.
            let finished = threads
                .in_turn(ThreadState::finish)
                .map_err(|error| (Phase::Close, error));
            let result = result.and_then(|began| finished.map(|()| began));
            Usage::read(UsageWho::RUSAGE_SELF)
                .since(before)
                .write(sample);
            // The result is decided, and an error must not keep the next thread from closing.
            let _ = threads.in_turn(|state| {
                let (bytes, write_ns) = (state.records.handed_over_bytes, sample.phases_ns.write);
                handed_over_bytes.push(bytes);
                records.merge(&state.records);
                match &result {
                    Ok(began) => curves.push(state.records.sampler.curve(*began, write_ns, bytes)),
                    Err(_) => drop(state.close()),
                }
                Ok(())
            });
            // A rank syncs right after its write, as programs do.
            ranks.wait(result)
        })?;
        Ok((records, curves, handed_over_bytes))
    }

    /// Returns the start of phase write.
    fn steps(
        &self,
        threads: &Threads<'_, ThreadState<'_>>,
        attaches: bool,
        mut clock: PhaseClock<'_, '_>,
    ) -> Result<Instant, PhaseError> {
        let axes = self.request.case.axes();
        let by = |each: bool, step| {
            if each {
                threads.together(step)
            } else {
                threads.first(step)
            }
        };
        let own_files = axes.files == Files::PerThread;
        let own_descriptors = axes.descriptor == Descriptor::PerThread;
        let mut so_far = clock.time(Phase::Open, || {
            if own_files {
                return threads.together(ThreadState::open);
            }
            threads.first(ThreadState::open)?;
            if own_descriptors {
                return threads.together(ThreadState::open_own);
            }
            let mut first = None;
            threads.in_turn(|state| {
                // All threads use the first one's descriptor.
                first = first.take().or_else(|| state.file.clone());
                state.file.clone_from(&first);
                Ok(())
            })
        });
        // The first rank gives a shared file its length for all.
        let prepares =
            axes.prepare.has_step() && (axes.files != Files::Shared || self.role.rank == 0);
        if prepares && so_far.is_ok() {
            so_far = clock.time(Phase::Prepare, || by(own_files, ThreadState::prepare));
        }
        // The first rank makes a shared file's name durable for all.
        let syncs_name =
            self.request.case.makes_durable_name() && (own_files || !self.own_names().is_empty());
        // As a log does, so each record is durable with its own sync.
        if syncs_name && axes.sync.is_on_the_way() && so_far.is_ok() {
            so_far = clock.time(Phase::Sync, || by(own_files, ThreadState::sync_directory));
        }
        if attaches {
            clock.ranks.wait(so_far)?;
            so_far = clock.time(Phase::Open, || threads.together(ThreadState::attach));
        }
        clock.ranks.wait(so_far)?;
        let write_began = Instant::now();
        clock.time(Phase::Write, || threads.together(ThreadState::write))?;
        if axes.sync.is_at_end() || axes.sync_files != SyncFiles::None {
            let each = own_files
                || self.request.case.method().writes_set()
                || (axes.sync.call == SyncCall::Msync && axes.map == MapSharing::PerThread);
            clock.time(Phase::Sync, || by(each, ThreadState::sync))?;
        }
        if syncs_name && axes.sync.is_at_end() {
            clock.time(Phase::Sync, || by(own_files, ThreadState::sync_directory))?;
        }
        let each = own_files || own_descriptors || attaches;
        clock.time(Phase::Close, || {
            if each {
                threads.together(ThreadState::close)
            } else {
                threads.in_turn(ThreadState::close)
            }
        })?;
        Ok(write_began)
    }

    fn verify(
        &self,
        regions: &[Region<'_>],
        handed_over_bytes: Vec<u64>,
        sample: &mut Sample,
    ) -> Result<()> {
        let (case, request) = (&self.request.case, self.request);
        let (target, names) = (self.target, self.names);
        if let (Target::Directory(directory), true) = (target, case.method().writes_set()) {
            sample.bytes = handed_over_bytes.iter().sum();
            let set = file_tree::open_directory(directory, &names[0])?;
            let is_of_another_rank = self.role.verifies != self.role.rank;
            let verified = region::split(case, self.role.verifies, &[], None);
            sample.read_back = verify_set(set.as_fd(), request, &verified, is_of_another_rank)?;
            return Ok(());
        }
        let all = Written {
            target,
            names,
            case,
            regions,
            handed_over_bytes,
            is_of_another_rank: false,
        };
        sample.bytes = all.check_sizes()?;
        (sample.hole_bytes, sample.shares_blocks) = all.blocks_not_its_own()?;
        all.check_page_cache()?;
        all.check_zeros()?;
        let is_given = |commands: &ProgramCommands| Program::is_given_its_data(&commands.program);
        let is_known = request.program.as_ref().is_none_or(is_given);
        let wanted = request
            .read_back
            .filter(|_| case.method().writes_data() && is_known);
        let Some(extent) = wanted else { return Ok(()) };
        let (names, regions);
        let written = if self.role.verifies == self.role.rank {
            all
        } else {
            // On several nodes, another node sent the data to the filesystem.
            names = file::names(request, self.role.verifies);
            regions = region::split(case, self.role.verifies, &[], None);
            let handed_over_bytes = regions.iter().map(|region| region.range.length).collect();
            Written {
                names: &names,
                regions: &regions,
                handed_over_bytes,
                is_of_another_rank: true,
                ..all
            }
        };
        sample.read_back = Some(read_back::read_back(&written, request, extent)?);
        Ok(())
    }
}

/// The progress record is written between two phases, outside the clock.
struct PhaseClock<'c, 'm> {
    phases: &'c mut PhasesNs,
    progress: &'c dyn Fn(Phase),
    ranks: &'c mut Ranks<'m>,
}

impl PhaseClock<'_, '_> {
    fn time(&mut self, phase: Phase, work: impl FnOnce() -> Result<()>) -> Result<(), PhaseError> {
        in_phase(self.progress, phase, || {
            let start = Instant::now();
            let result = work();
            let elapsed_ns = nanoseconds(start.elapsed());
            self.ranks.mark(phase, start, elapsed_ns);
            if let Some(total_ns) = self.phases.get_mut(phase) {
                *total_ns += elapsed_ns;
            }
            result
        })
    }
}

fn in_phase<T>(
    progress: &dyn Fn(Phase),
    phase: Phase,
    work: impl FnOnce() -> Result<T>,
) -> Result<T, PhaseError> {
    progress(phase);
    work().map_err(|error| (phase, error))
}

/// The kernel reports a failed write-back once.
fn note_lost_data(sample: &mut Sample, what: &str, error: CallError, phase: Phase) {
    let failure = error.failure(phase, None);
    sample
        .disturbed
        .get_or_insert_with(|| format!("{what}: {failure}"));
    sample.write_back_failure = Some(Box::new(failure));
}

fn note_end(watcher: Watcher<'_>, memory: &mut WarmMemory, sample: &mut Sample) {
    (sample.system_state, sample.steal_ns, sample.device_bytes) = watcher.end();
    sample.system_state.returned_memory_bytes = memory.given_back_bytes();
    if sample.probe_ns[0] > 0 {
        sample.probe_ns[1] = memory.probe_ns();
    }
}
