//! The order of the phases, and the only clock.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::resource::UsageWho;
use writebench_model::protocol::{RankSample, SampleRequest};
use writebench_model::{
    Cache, Checksums, Choices, Descriptor, Durability, Extent, Failure, Files, MapSharing, Outcome,
    Phase, PhasesNs, Prepare, ProgramCommands, ReadBack, Sample, SyncCall, SyncFiles, nanoseconds,
};

use crate::barrier::{RankBarrier, Ranks};
use crate::call::{CallError, PhaseError, Result};
use crate::copy_source::{self, CopySources};
use crate::file::{COPIED, Target};
use crate::file_tree::SetDirectory;
use crate::journal::Journal;
use crate::kernel_threads::ThreadCounters;
use crate::machine::Usage;
use crate::old_file::OldFile;
use crate::page_writes::PageWrites;
use crate::program::Program;
use crate::region::{self, Region};
use crate::source::SourceBuffer;
use crate::thread_state::{self, ThreadState};
use crate::threads::{Shared, Threads};
use crate::timeline::{self, ProgressCurve};
use crate::verify::WrittenFiles;
use crate::verify_set::verify_set;
use crate::warm_memory::WarmMemory;
use crate::watch::Watcher;
use crate::write_loop::WriteLoop;
use crate::{direct_path, dirty_pages, file, file_tree, read_back, settle};

/// Returns the bytes of available memory, or the reason why they are unknown. The caller supplies it, because this
/// crate does not know the control groups.
pub type AvailableMemory = fn() -> Result<u64, String>;

/// Takes samples. It keeps what later samples can use again: the data in memory, the sources of copies, a file to
/// overwrite, and warm memory.
pub struct Engine<'p> {
    progress: &'p dyn Fn(Phase),
    source: SourceBuffer,
    copy_sources: CopySources,
    old_file: OldFile,
    memory: WarmMemory,
    available_memory: AvailableMemory,
    // Whether direct I/O uses the page cache is tried once for each target and kind of file.
    uses_page_cache: HashMap<(usize, (Prepare, Checksums)), bool>,
}

impl<'p> Engine<'p> {
    /// `copy_from` is the source of copies. Without it the engine makes its own source in the target. `progress` is
    /// called before each phase, outside the clock.
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
            old_file: OldFile::default(),
            memory: WarmMemory::new(),
            available_memory,
            uses_page_cache: HashMap::new(),
        }
    }

    /// Takes a sample in the engine's own directory, or on a device. No file of the sample remains but a source for
    /// copies, and the file that it has overwritten in place, until the engine is dropped.
    pub fn sample(&mut self, target: Target<'_>, request: &SampleRequest) -> Sample {
        self.rank_sample(target, request, None).sample
    }

    /// Removes the file that the next sample could overwrite, to make room for another.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove_old_file(&mut self) -> Result<(), Outcome> {
        let removed = self.old_file.remove();
        removed.map_err(|error| error.outcome(Phase::Settle, None))
    }

    /// Takes a rank's part of a sample. Each rank calls this with its own role, and waits for the other ranks between
    /// phases.
    pub fn rank_sample(
        &mut self,
        target: Target<'_>,
        request: &SampleRequest,
        barrier: Option<&mut dyn RankBarrier>,
    ) -> RankSample {
        let mut ranks = Ranks::new(barrier);
        let request = &self.old_file.with_other_data(request);
        let names = file::names(request, request.role.rank);
        let run = RankRun {
            target,
            names: &names,
            request,
        };
        let mut result = run
            .through_all_phases(self, &mut ranks)
            .map_err(|(phase, error)| error.outcome(phase, names.first().map(String::as_str)));
        (self.progress)(Phase::Clean);
        let written_bytes = result.as_ref().map_or(0, |sample| sample.bytes);
        if !self.old_file.keep(request, written_bytes) {
            for name in run.own_names() {
                if let Err(error) = file::remove(target, name) {
                    result = result.and(Err(error.outcome(Phase::Clean, Some(name))));
                }
            }
        }
        // After the write-out, an error is certainly this sample's.
        let written_out = settle::write_out(target, request.sync_all);
        let mut sample =
            result.unwrap_or_else(|outcome| Sample::without_figures(request.round, outcome));
        if let Err(error) = written_out
            && sample.outcome.is_ok()
        {
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
            found_bytes: self.old_file.take_found_bytes(),
        }
    }
}

/// One sample of one rank.
struct RankRun<'r> {
    target: Target<'r>,
    names: &'r [String],
    request: &'r SampleRequest,
}

impl RankRun<'_> {
    /// The files that this rank makes and removes. The first rank does so with shared files, for all.
    fn own_names(&self) -> &[String] {
        let is_shared = self.request.case.choices().files == Files::Shared;
        if is_shared && self.request.role.rank > 0 {
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
        let mut sample = Sample::without_figures(self.request.round, Outcome::Ok);
        ranks.wait(in_phase(engine.progress, Phase::Settle, || {
            self.settle(engine, &mut sample)
        }))?;
        if self.request.case.method().is_program() {
            self.run_program(engine, &mut sample)?;
        } else {
            self.run_method(engine, &mut sample, ranks)?;
        }
        Ok(sample)
    }

    /// Runs the user's program and checks its file.
    fn run_program(&self, engine: &mut Engine<'_>, sample: &mut Sample) -> Result<(), PhaseError> {
        let commands = self.request.program.clone().unwrap_or_default();
        let program = Program {
            target: self.target,
            name: self.names.first().map(String::as_str).unwrap_or_default(),
            source: engine
                .copy_sources
                .get(&self.request.case, self.request.target),
        };
        let context = ProgramContext {
            progress: engine.progress,
            memory: &mut engine.memory,
            data: engine.source.bytes(),
        };
        let measured = self.measure_program(&program, &commands, context, sample);
        // The cleanup also follows a failure, because the setup may need it.
        let cleaned = in_phase(engine.progress, Phase::Clean, || {
            program.run_beside("cleanup", &commands.cleanup)
        });
        measured.and(cleaned)
    }

    fn measure_program(
        &self,
        program: &Program<'_>,
        commands: &ProgramCommands,
        context: ProgramContext<'_>,
        sample: &mut Sample,
    ) -> Result<(), PhaseError> {
        let case = &self.request.case;
        let ProgramContext {
            progress,
            memory,
            data,
        } = context;
        in_phase(progress, Phase::Settle, || {
            program.run_beside("setup", &commands.setup)
        })?;
        let watcher = self.watch();
        in_phase(progress, Phase::Write, || {
            program.run(&commands.program, case, sample)
        })?;
        note_end(watcher, memory, sample);
        // Nothing else may read or sync the file before this check.
        in_phase(progress, Phase::Verify, || {
            self.check_program_synced(program.name)
        })?;
        let regions = region::split(case, self.request.role.rank, data, program.source);
        in_phase(progress, Phase::Verify, || {
            self.verify(&regions, vec![sample.bytes], sample)
        })
    }

    fn check_program_synced(&self, name: &str) -> Result<()> {
        let Target::Directory(directory) = self.target else {
            return Ok(());
        };
        let case = &self.request.case;
        if case.workload().durability != Durability::Durable {
            return Ok(());
        }
        dirty_pages::check(directory, name, case.given().size_bytes)
    }

    /// Runs the engine's own method and checks its files.
    fn run_method(
        &self,
        engine: &mut Engine<'_>,
        sample: &mut Sample,
        ranks: &mut Ranks<'_>,
    ) -> Result<(), PhaseError> {
        let request = self.request;
        let case = &request.case;
        let progress = engine.progress;
        let copy_from = engine.copy_sources.get(case, request.target);
        let pages = PageWrites::of(request);
        let journal = Journal::make(self.target, &request.file_stem, case)
            .map_err(|error| (Phase::Settle, error))?;
        let regions: Vec<Region<'_>> = region::split(
            case,
            self.request.role.rank,
            engine.source.bytes(),
            copy_from,
        )
        .into_iter()
        .map(|region| region.with_pages(pages.as_ref(), journal.as_ref().map(Journal::file)))
        .collect();
        let watcher = self.watch();
        let limit = request.write_limit_ns.map(Duration::from_nanos);
        let states = thread_state::thread_states(self.target, case, self.names, &regions, limit);
        // A rank that has waited long polls seldom: the second barrier begins the clock for all.
        ranks.wait(Ok(()))?;
        let written = self.timed_phases(states, progress, sample, ranks)?;
        note_end(watcher, &engine.memory, sample);
        sample.latency = written.latencies.latency().map(Box::new);
        let hand_overs = timeline::hand_overs(case, &regions);
        sample.timeline =
            timeline::timeline(&written.curves, sample.phases_ns.write, hand_overs).map(Box::new);
        let mut verified = in_phase(progress, Phase::Verify, || {
            self.verify(&regions, written.bytes, sample)
        });
        let checks_path = request.read_back.is_some()
            && case.choices().cache == Cache::Direct
            && self.request.role.rank == 0;
        if checks_path && verified.is_ok() {
            verified = in_phase(progress, Phase::Verify, || self.check_direct_path(engine));
        }
        // All ranks must read the files before their removal.
        ranks.wait_at(verified, true)
    }

    fn watch(&self) -> Watcher<'_> {
        Watcher::begin(
            &self.request.cpu_stats,
            self.request.device_number.as_deref(),
        )
    }

    /// Filesystems that write through the page cache and drop the pages afterwards (btrfs for its checksums,
    /// ext2 and ext3 in a hole) can be detected only during the write. An unknown path is not a reason to doubt
    /// the sample.
    fn check_direct_path(&self, engine: &mut Engine<'_>) -> Result<()> {
        let Target::Directory(directory) = self.target else {
            return Ok(());
        };
        let choices = self.request.case.choices();
        if self.request.case.given().size_bytes == 0 {
            return Ok(());
        }
        let kind_of_file = (choices.prepare, self.request.case.given().checksums);
        let uses_page_cache = *engine
            .uses_page_cache
            .entry((self.request.target, kind_of_file))
            .or_insert_with(|| {
                let source = &mut engine.source;
                direct_path::uses_page_cache(directory, self.request, kind_of_file, source)
                    .unwrap_or(false)
            });
        if uses_page_cache {
            let message = format!(
                "O_DIRECT was accepted, but with prepare={} this filesystem uses the page cache",
                choices.prepare
            );
            return Err(CallError::unsupported(
                Failure::DIRECT_IN_PAGE_CACHE,
                message,
            ));
        }
        Ok(())
    }

    /// Brings the target and the memory into the state in which the case begins.
    fn settle(&self, engine: &mut Engine<'_>, sample: &mut Sample) -> Result<()> {
        let request = self.request;
        let case = &request.case;
        if !engine.old_file.fits(request) {
            engine.old_file.remove()?;
            // A leftover file has already failed its own sample.
            for name in self.own_names() {
                file::remove(self.target, name)?;
            }
        }
        if case.method().has_source_file() {
            let bytes = case.given().size_bytes;
            engine
                .copy_sources
                .make(request.target, self.target, bytes, request.data_seed)?;
        } else {
            engine
                .source
                .make(case, self.request.role.rank, request.data_seed)?;
        }
        self.make_old_files(&mut engine.old_file)?;
        self.wait_until_quiet(sample)?;
        engine.source.touch();
        if request.warm {
            self.warm_memory(engine, sample)?;
        }
        if let Some(source) = engine.copy_sources.get(case, request.target) {
            let doubt =
                copy_source::settle(source, case).map_err(|error| error.with_path(COPIED))?;
            sample.disturbed = sample.disturbed.take().or(doubt);
        }
        Ok(())
    }

    /// Makes the files that the case finds: the directory of a set, and old content to be overwritten.
    fn make_old_files(&self, old_file: &mut OldFile) -> Result<()> {
        let case = &self.request.case;
        if case.method().writes_set() {
            return self.make_set();
        }
        if !case.choices().prepare.needs_old_content() {
            return Ok(());
        }
        let Target::Directory(directory) = self.target else {
            old_file.find(case.given().size_bytes);
            return Ok(());
        };
        let regions = region::split(case, self.request.role.rank, &[], None);
        for (name, region) in self.own_names().iter().zip(regions) {
            old_file.make(directory, name, region.file_length, self.request)?;
        }
        Ok(())
    }

    fn wait_until_quiet(&self, sample: &mut Sample) -> Result<()> {
        let start = Instant::now();
        let limit = Duration::from_nanos(self.request.settle_limit_ns);
        match settle::quiet(self.target, self.request.sync_all, limit) {
            Ok(doubt) => sample.disturbed = doubt,
            Err(error) => note_lost_data(sample, "before it", error, Phase::Settle),
        }
        if self.request.case.choices().prepare.needs_old_content() {
            self.drop_old_content()?;
        }
        sample.settle_ns = nanoseconds(start.elapsed());
        Ok(())
    }

    /// Warms at most half of the available memory, so that no other data is evicted. The present source is not counted
    /// as available.
    fn warm_memory(&self, engine: &mut Engine<'_>, sample: &mut Sample) -> Result<()> {
        let case = &self.request.case;
        let mut warm_bytes =
            settle::page_cache_bytes(self.target, case) / u64::from(case.choices().ranks);
        if case.method().is_program() {
            // A program may take as much memory for its data, before the file's pages are taken.
            warm_bytes = warm_bytes.saturating_mul(2);
        }
        let available_bytes =
            (engine.available_memory)().map_err(|why| CallError::other("available memory", why))?;
        let most_bytes = available_bytes / 2 / u64::from(self.request.role.ranks_beside.max(1));
        sample.probe_ns[0] = engine.memory.prepare(warm_bytes, most_bytes);
        Ok(())
    }

    /// Drops old content from the page cache. That of a single file was dropped when the file was made: see
    /// [`settle::old_content`].
    fn drop_old_content(&self) -> Result<()> {
        match self.target {
            // The old content of a device is another sample's data.
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

    /// The directories of all ranks.
    fn set_directories(&self) -> Vec<SetDirectory<'_>> {
        let case = &self.request.case;
        (0..case.choices().ranks)
            .flat_map(|rank| region::split(case, rank, &[], None))
            .flat_map(|region| file_tree::directories(&region))
            .collect()
    }

    /// The first rank makes the set for all.
    fn make_set(&self) -> Result<()> {
        let Target::Directory(directory) = self.target else {
            return Ok(());
        };
        let Some(name) = self.own_names().first() else {
            return Ok(());
        };
        file_tree::make_set(directory, name)?;
        if !self.request.case.choices().prepare.needs_old_content() {
            return Ok(());
        }
        let set = file_tree::open_directory(directory, name)?;
        file_tree::fill_with_old_content(
            set.as_fd(),
            &self.set_directories(),
            self.request.data_seed,
        )
    }

    /// Takes all threads through the phases that are measured. All threads close their files, also after an error:
    /// otherwise the C library would flush an open stream at exit, into any file with the same number.
    fn timed_phases(
        &self,
        states: Vec<ThreadState<'_>>,
        progress: &dyn Fn(Phase),
        sample: &mut Sample,
        ranks: &mut Ranks<'_>,
    ) -> Result<WrittenByThreads, PhaseError> {
        let attaches = states.iter().any(ThreadState::attaches);
        let mut written = WrittenByThreads {
            latencies: WriteLoop::new(&self.request.case, 0, None),
            curves: Vec::new(),
            bytes: Vec::new(),
        };
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
            let result = self.timed_steps(&threads, attaches, clock);
            // This work is after the clock, but within the CPU time.
            let finished = threads
                .in_turn(ThreadState::finish)
                .map_err(|error| (Phase::Close, error));
            let result = result.and_then(|began| finished.map(|()| began));
            let used = Usage::read(UsageWho::RUSAGE_SELF).since(before);
            let began = result.as_ref().ok();
            let counters = began.and_then(|began| began.counters.as_ref());
            let reading = counters.map_or(Usage::default(), ThreadCounters::cost);
            used.since(reading).write(sample);
            sample.kernel_threads = counters.and_then(ThreadCounters::so_far).map(Box::new);
            // The result is decided, and an error must not keep the next thread from closing.
            let _ = threads.in_turn(|state| {
                match &result {
                    Ok(began) => written.add(state, began.at, sample.phases_ns.write),
                    Err(_) => drop(state.close()),
                }
                Ok(())
            });
            // A rank syncs right after its write, as programs do.
            ranks.wait(result)
        })?;
        Ok(written)
    }

    /// Returns the start of phase write.
    fn timed_steps(
        &self,
        threads: &Threads<'_, ThreadState<'_>>,
        attaches: bool,
        mut clock: PhaseClock<'_, '_>,
    ) -> Result<WriteBegin, PhaseError> {
        let choices = self.request.case.choices();
        let own_files = choices.files == Files::PerThread;
        let mut so_far = self.open_and_prepare(threads, &mut clock);
        if attaches {
            clock.ranks.wait(so_far)?;
            so_far = clock.time(Phase::Open, || threads.together(ThreadState::attach));
        }
        let has_ring = self.request.case.method().has_ring();
        let counters = has_ring.then(ThreadCounters::read).flatten();
        clock.ranks.wait(so_far)?;
        let began = WriteBegin {
            at: Instant::now(),
            counters,
        };
        clock.time(Phase::Write, || threads.together(ThreadState::write))?;
        if choices.sync.is_at_end() || choices.sync_files != SyncFiles::None {
            let each = own_files
                || self.request.case.method().writes_set()
                || (choices.sync.call == SyncCall::Msync && choices.map == MapSharing::PerThread);
            clock.time(Phase::Sync, || {
                threads.together_or_first(each, ThreadState::sync)
            })?;
        }
        if self.syncs_name() && choices.sync.is_at_end() {
            clock.time(Phase::Sync, || {
                threads.together_or_first(own_files, ThreadState::sync_directory)
            })?;
        }
        let own_descriptors = choices.descriptor == Descriptor::PerThread;
        clock.time(Phase::Close, || {
            if own_files || own_descriptors || attaches {
                threads.together(ThreadState::close)
            } else {
                threads.in_turn(ThreadState::close)
            }
        })?;
        Ok(began)
    }

    fn open_and_prepare(
        &self,
        threads: &Threads<'_, ThreadState<'_>>,
        clock: &mut PhaseClock<'_, '_>,
    ) -> Result<(), PhaseError> {
        let choices = self.request.case.choices();
        let own_files = choices.files == Files::PerThread;
        clock.time(Phase::Open, || open_files(choices, threads))?;
        // The first rank gives a shared file its length for all.
        if self.request.case.has_preparing_step()
            && (choices.files != Files::Shared || self.request.role.rank == 0)
        {
            clock.time(Phase::Prepare, || {
                threads.together_or_first(own_files, ThreadState::prepare)
            })?;
        }
        // A log makes its name durable first, so each record is durable with its own sync.
        if self.syncs_name() && choices.sync.is_on_the_way() {
            clock.time(Phase::Sync, || {
                threads.together_or_first(own_files, ThreadState::sync_directory)
            })?;
        }
        Ok(())
    }

    /// The first rank makes a shared file's name durable for all.
    fn syncs_name(&self) -> bool {
        let own_files = self.request.case.choices().files == Files::PerThread;
        self.request.case.makes_durable_name() && (own_files || !self.own_names().is_empty())
    }

    fn verify(
        &self,
        regions: &[Region<'_>],
        handed_over_bytes: Vec<u64>,
        sample: &mut Sample,
    ) -> Result<()> {
        let case = &self.request.case;
        if case.method().writes_set()
            && let Target::Directory(directory) = self.target
        {
            sample.bytes = handed_over_bytes.iter().sum();
            sample.read_back = self.verify_set(directory)?;
            return Ok(());
        }
        let files = WrittenFiles {
            target: self.target,
            names: self.names,
            case,
            regions,
            handed_over_bytes,
            is_of_another_rank: false,
        };
        sample.bytes = files.check_sizes()?;
        (sample.hole_bytes, sample.shares_blocks) = files.blocks_not_its_own()?;
        files.check_page_cache()?;
        files.check_zeros()?;
        if let Some(extent) = self.request.read_back
            && case.method().writes_data()
            && self.knows_content()
        {
            sample.read_back = Some(self.read_back(files, extent)?);
        }
        Ok(())
    }

    fn verify_set(&self, directory: BorrowedFd<'_>) -> Result<Option<ReadBack>> {
        let set = file_tree::open_directory(directory, &self.names[0])?;
        let is_of_another_rank = self.request.role.verifies != self.request.role.rank;
        let regions = region::split(&self.request.case, self.request.role.verifies, &[], None);
        verify_set(set.as_fd(), self.request, &regions, is_of_another_rank)
    }

    /// The content of a program's file is known if the program is given its data.
    fn knows_content(&self) -> bool {
        match &self.request.program {
            Some(commands) => Program::is_given_its_data(&commands.program),
            None => true,
        }
    }

    /// Compares the content of the rank's own files, or of those of another rank. On several nodes, another node sent
    /// that rank's data to the filesystem.
    fn read_back(&self, own: WrittenFiles<'_, '_>, extent: Extent) -> Result<ReadBack> {
        if self.request.role.verifies == self.request.role.rank {
            return read_back::read_back(&own, self.request, extent);
        }
        let names = file::names(self.request, self.request.role.verifies);
        let regions = region::split(&self.request.case, self.request.role.verifies, &[], None);
        let others = WrittenFiles {
            names: &names,
            handed_over_bytes: regions.iter().map(|region| region.range.length).collect(),
            regions: &regions,
            is_of_another_rank: true,
            ..own
        };
        read_back::read_back(&others, self.request, extent)
    }
}

/// The parts of the engine that the run of a program uses beside its source.
struct ProgramContext<'c> {
    progress: &'c dyn Fn(Phase),
    memory: &'c mut WarmMemory,
    data: &'c [u8],
}

/// The start of phase write.
struct WriteBegin {
    at: Instant,
    /// Those right before it. Only a ring has work for threads of the kernel.
    counters: Option<ThreadCounters>,
}

/// What the threads of a rank have written.
struct WrittenByThreads {
    /// The latencies of all threads together.
    latencies: WriteLoop,
    /// Each thread's progress.
    curves: Vec<ProgressCurve>,
    /// Each thread's bytes.
    bytes: Vec<u64>,
}

impl WrittenByThreads {
    fn add(&mut self, state: &ThreadState<'_>, write_began: Instant, write_ns: u64) {
        let bytes = state.write_loop.handed_over_bytes;
        let curve = state.write_loop.sampler.curve(write_began, write_ns, bytes);
        self.curves.push(curve);
        self.bytes.push(bytes);
        self.latencies.merge_latencies(&state.write_loop);
    }
}

fn open_files(choices: &Choices, threads: &Threads<'_, ThreadState<'_>>) -> Result<()> {
    if choices.files == Files::PerThread {
        return threads.together(ThreadState::open);
    }
    threads.first(ThreadState::open)?;
    if choices.descriptor == Descriptor::PerThread {
        return threads.together(ThreadState::open_own);
    }
    let mut first = None;
    threads.in_turn(|state| {
        // All threads use the first one's descriptor.
        first = first.take().or_else(|| state.file.clone());
        state.file.clone_from(&first);
        Ok(())
    })
}

/// Times the phases. The progress record is written between two phases, outside the clock.
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

/// The kernel reports a failed write-back once, so the sample must carry the report.
fn note_lost_data(sample: &mut Sample, what: &str, error: CallError, phase: Phase) {
    let failure = error.failure(phase, None);
    sample
        .disturbed
        .get_or_insert_with(|| format!("{what}: {failure}"));
    sample.write_back_failure = Some(Box::new(failure));
}

fn note_end(watcher: Watcher<'_>, memory: &WarmMemory, sample: &mut Sample) {
    let watched = watcher.end();
    sample.system_state = watched.state;
    sample.steal_ns = watched.steal_ns;
    sample.device_bytes = watched.device_bytes;
    sample.system_state.returned_memory_bytes = memory.given_back_bytes();
}
