use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use writebench_model::{
    Bytes, Case, CaseRecord, RecordedCase, RunEvent, RunRecord, RunStatus, Sample, Settings,
};
use writebench_report::formats::terminal::Detail;
use writebench_report::{Report, formats};
use writebench_runner::{
    AgentCommand, Coordinator, End, Hardware, LostWorkers, PlannedCase, SampleSummary,
    SamplingPlan, Workers, Written,
};
use writebench_stats::FEWEST_FOR_INTERVAL;

use super::cost::rounded;
use super::longest_step::LongestStep;
use super::observer::{Observer, TimeLimit};
use super::progress;
use super::recorder::Recorder;
use super::scheduled::ScheduledCases;
use super::target::Target;
use super::workspaces::Workspaces;
use crate::database;
use crate::exit::Exit;
use crate::export::{self, Export};
use crate::file_copy::FileCopy;
use crate::gate;
use crate::output::{self, Output};
use crate::require;
use crate::signals::{is_stopped, stop, stop_on_signals};

/// Extra measurements of the limits if a sample exceeded them.
const MORE_LIMITS: usize = 2;

/// A run that is measured.
pub(super) struct Session<'s> {
    workspaces: Workspaces<'s>,
    /// The settings of these samples, see [`super::plan::Plan`].
    settings: Settings,
    scheduled: ScheduledCases,
    copied: Option<FileCopy>,
    /// Cases whose hardware limits are measured.
    limits_for: Vec<Case>,
    recorder: Recorder<'s>,
    pub(super) written: Written,
    /// See [`RunRecord::cpu_wait_ppm`].
    cpu_wait_ppm: Option<u32>,
    lost_workers: LostWorkers,
    longest_step: LongestStep,
}

impl<'s> Session<'s> {
    /// `run` has the earlier samples of a resumed run.
    pub(super) fn new(
        workspaces: Workspaces<'s>,
        run: RunRecord,
        settings: Settings,
        scheduled: ScheduledCases,
        copied: Option<FileCopy>,
        limits_for: Vec<Case>,
    ) -> Self {
        let recorder = Recorder::new(&workspaces, run);
        let run = recorder.run.so_far();
        let mut written = Written::new(settings.max_bytes, copied.is_some());
        written.add(copied.as_ref().map_or(0, FileCopy::copy_bytes));
        // The supervisor counts the bytes of earlier samples.
        let of_samples = run
            .cases
            .iter()
            .map(CaseRecord::sample_bytes)
            .fold(0, u64::saturating_add);
        let before = run.written_bytes.unwrap_or(0);
        written.add(before.saturating_sub(of_samples));
        if run.written_bytes.is_some() {
            written.find(of_samples.saturating_sub(before));
        }
        let cpu_wait_ppm = None;
        let lost_workers = LostWorkers::default();
        Self {
            workspaces,
            settings,
            scheduled,
            copied,
            limits_for,
            recorder,
            written,
            cpu_wait_ppm,
            lost_workers,
            longest_step: LongestStep::default(),
        }
    }

    /// Measures, reports, and removes the run's directories however that ends.
    pub(super) fn measure(mut self, exports: &[Export]) -> Result<Exit> {
        stop_on_signals()?;
        self.workspaces.remove_leftovers()?;
        let result = self.measure_and_report(exports);
        let ended = Instant::now();
        let removed = self.workspaces.remove(&mut self.lost_workers);
        self.note_removal(ended.elapsed());
        output::after_tidying(result, removed)
    }

    /// A run with a budget should have ended by then.
    fn note_removal(&self, took: Duration) {
        const QUIET: Duration = Duration::from_secs(2);
        if took > QUIET && self.budget().is_some() {
            let took = rounded(took.as_secs_f64());
            self.workspaces.global.output.note(&format!(
                "Removing the run's files took {took} more, which is not interrupted."
            ));
        }
    }

    fn measure_and_report(&mut self, exports: &[Export]) -> Result<Exit> {
        if let Err(error) = self.recorder.begin_streams(exports) {
            self.record_unfinished()?;
            return self.interrupted(error);
        }
        let began = Instant::now();
        let end = match self.take_samples_and_limits(began) {
            Ok(end) => end,
            Err(error) => {
                // The first error is more useful than one of recording.
                let _ = self.recorder.finish(self.unfinished(), self.totals());
                return self.interrupted(error);
            }
        };
        let copy = self.copy(end);
        let status = match (end, &copy) {
            (_, Err(_)) => self.unfinished(),
            (End::Complete, Ok(_)) => RunStatus::Complete,
            (End::Budget | End::MaxBytes, Ok(_)) => RunStatus::Limited,
            (End::Stopped, Ok(_)) => RunStatus::Interrupted,
        };
        let recorded = self.recorder.finish(status, self.totals());
        let report = Report::from_run(Some(self.workspaces.run), self.recorder.run.finish());
        let shown = self.show(&report, exports);
        let output = &self.workspaces.global.output;
        match copy {
            Ok(Some(copy)) => output.note(&format!(
                "{} is a copy, verified byte by byte.",
                copy.display()
            )),
            Ok(None) => {}
            Err(error) => return self.interrupted(error),
        }
        recorded?;
        self.note_end(&report, end, began.elapsed());
        match output::all_ok(shown) {
            Err(error) if end == End::Stopped => output::print_error(&error),
            all => all?,
        }
        exit_for(&report, end, output)
    }

    /// Prints the tables unless an export takes standard output, and writes the exports.
    fn show(&mut self, report: &Report, exports: &[Export]) -> [Result<()>; 3] {
        let output = &self.workspaces.global.output;
        let printed = if exports.iter().any(Export::is_to_stdout) {
            Ok(())
        } else {
            let text = formats::terminal::report(report, Detail::Usual, output.width());
            output.results(&text).map(drop)
        };
        let streamed = self.recorder.streams.end();
        [
            printed,
            streamed,
            export::write_all(exports, report, output),
        ]
    }

    /// Says what the run cost, and what to do next.
    fn note_end(&self, report: &Report, end: End, run_took: Duration) {
        let Workspaces {
            store,
            run: number,
            global,
            ..
        } = self.workspaces;
        let output = &global.output;
        let took = rounded(run_took.as_secs_f64());
        let wrote = Bytes(self.written.bytes()).approximate();
        output.note(&format!("Run {number} took {took} and wrote {wrote}."));
        let why = self
            .budget()
            .and_then(|budget| self.longest_step.why_longer(run_took, budget));
        why.iter().for_each(|why| output.note(why));
        database::note_next_commands(output, store, report, None);
        let can_continue =
            !report.is_search() && !report.is_brief() && !report.run.has_made_filesystems();
        if end == End::MaxBytes && can_continue {
            output.note(
                "The run reached --max-bytes. To continue it: writebench run --resume --max-bytes MORE",
            );
        }
    }

    fn record_unfinished(&self) -> Result<()> {
        let Workspaces { store, run, .. } = self.workspaces;
        let status = RunEvent::Status(self.unfinished());
        store.unless_stopped(stop(), || store.record(run, &status))?;
        Ok(())
    }

    fn totals(&self) -> RunEvent {
        RunEvent::Totals {
            written_bytes: self.written.bytes(),
            cpu_wait_ppm: self.cpu_wait_ppm,
        }
    }

    /// The status after an error, which a signal may have caused.
    fn unfinished(&self) -> RunStatus {
        if is_stopped() {
            RunStatus::Interrupted
        } else {
            RunStatus::Failed
        }
    }

    /// After a signal, the error is printed, and the exit code is that of the signal.
    fn interrupted(&self, error: anyhow::Error) -> Result<Exit> {
        if !is_stopped() {
            return Err(error);
        }
        output::print_error(&error);
        Ok(Exit::Interrupted)
    }

    /// Makes the final copy, also after a limit.
    fn copy(&mut self, end: End) -> Result<Option<PathBuf>> {
        let copied = self.copied.as_ref().filter(|_| end != End::Stopped);
        let agent = self
            .workspaces
            .targets
            .first_mut()
            .and_then(|target| target.agent.as_mut());
        copied
            .zip(agent)
            .map_or(Ok(None), |(copied, agent)| copied.finish(agent))
    }

    /// Measures the limits of the hardware before the samples and after them. Returns why the samples ended.
    fn take_samples_and_limits(&mut self, began: Instant) -> Result<End> {
        let global = self.workspaces.global;
        self.workspaces.make(&mut self.written)?;
        self.longest_step
            .see(began.elapsed(), || "making the run's directory".to_owned());
        let source = self.copied.as_ref().map(|copied| &copied.source);
        let worker = self.workspaces.worker(source)?;
        let mut leader = global.leader.as_ref().map(RefCell::borrow_mut);
        if let Some(leader) = &mut leader {
            let paths = self.workspaces.directories().map(|(path, _)| path);
            leader.work_in(paths.collect())?;
        }
        // A `Leader` is a `Coordinator`, which is all that the samples need.
        let coordinator = leader
            .as_mut()
            .map(|leader| -> &mut dyn Coordinator { &mut ***leader });
        let mut hardware = self.hardware()?;
        self.measure_limits(&mut hardware, &worker)?;
        let (end, is_limit_exceeded) = self.take_samples(began, &worker, coordinator, &hardware)?;
        // The best result counts.
        for _ in 0..MORE_LIMITS {
            if !is_limit_exceeded || !self.has_time(began) {
                break;
            }
            hardware.measure(Workers::new(&worker, stop(), &mut self.lost_workers), false)?;
        }
        self.measure_limits(&mut hardware, &worker)?;
        Ok(end)
    }

    /// Returns why the samples ended, and whether one was faster than the hardware's limit.
    fn take_samples(
        &mut self,
        began: Instant,
        worker: &AgentCommand,
        coordinator: Option<&mut dyn Coordinator>,
        hardware: &Hardware,
    ) -> Result<(End, bool)> {
        let output = &self.workspaces.global.output;
        // The second measurement of the limits takes as long as the first.
        let set_aside = Duration::from_nanos(hardware.time_ns() / 2);
        let time = TimeLimit {
            began,
            set_aside,
            budget: self.budget().filter(|_| self.scheduled.is_timed),
        };
        let plan = self.plan(began, set_aside);
        let bar = progress::bar(output)?;
        let cpu_waits = CpuWaits::begin();
        let mut observer = Observer {
            recorder: &mut self.recorder,
            deferred: &mut self.scheduled.deferred,
            settings: &self.settings,
            hardware,
            output,
            bar: &bar,
            time,
            longest: &mut self.longest_step,
            sample_began: Instant::now(),
            is_limit_exceeded: false,
        };
        // An `Option` does not shorten the lifetime within `dyn`, so the closure does.
        let coordinator = coordinator.map(|leader| -> &mut dyn Coordinator { leader });
        let workers = Workers::new(worker, stop(), &mut self.lost_workers).leading(coordinator);
        let end = writebench_runner::supervise(
            plan,
            &mut *self.scheduled.schedule,
            workers,
            &mut self.written,
            &mut observer,
        );
        let is_limit_exceeded = observer.is_limit_exceeded;
        bar.finish_and_clear();
        if matches!(end, Ok(End::Budget | End::MaxBytes)) {
            observer.record_rows_without_samples()?;
        }
        self.cpu_wait_ppm = cpu_waits.share_ppm();
        Ok((end?, is_limit_exceeded))
    }

    /// A resumed run has a new budget. The settings of a search's samples have none, because its contest watches it.
    fn budget(&self) -> Option<Duration> {
        let run = self.recorder.run.so_far();
        let settings = if run.is_search() {
            &run.settings
        } else {
            &self.settings
        };
        settings.budget_ns.map(Duration::from_nanos)
    }

    fn has_time(&self, began: Instant) -> bool {
        self.budget().is_none_or(|budget| began.elapsed() < budget)
    }

    fn hardware(&mut self) -> Result<Hardware> {
        let spaces: Vec<_> = self.workspaces.targets.iter().map(Target::space).collect();
        let settings = Settings {
            max_bytes: self.written.left_bytes(),
            ..self.settings.clone()
        };
        let hardware = Hardware::for_cases(&self.limits_for, &settings, &spaces)?;
        self.written.add(hardware.bytes());
        Ok(hardware)
    }

    /// Called before the samples and after them. The best result counts.
    fn measure_limits(&mut self, hardware: &mut Hardware, worker: &AgentCommand) -> Result<()> {
        if self.limits_for.is_empty() {
            return Ok(());
        }
        hardware.measure(Workers::new(worker, stop(), &mut self.lost_workers), true)?;
        (0..hardware.target_count()).try_for_each(|target| {
            self.recorder.record(RunEvent::Limits {
                target,
                limits: hardware.limits(target),
            })
        })
    }

    /// Every case on every target, with its earlier samples. Moves the cases, of which there may be ten thousand.
    fn plan(&mut self, began: Instant, set_aside: Duration) -> SamplingPlan {
        let run = &self.recorder.run;
        let mut planned = Vec::new();
        let mut taken = Vec::new();
        let mut probes_ns = Vec::new();
        for case in std::mem::take(&mut self.scheduled.cases) {
            let recorded = RecordedCase::from(case.clone());
            for target in 0..run.so_far().targets.len() {
                planned.push(PlannedCase {
                    target,
                    case: case.clone(),
                });
                let before = run.samples(target, &recorded).unwrap_or_default();
                let workload = case.workload();
                let summary =
                    |sample| SampleSummary::new(sample, &workload, self.settings.objective);
                taken.push(before.iter().map(summary).collect());
                probes_ns.extend(before.iter().flat_map(|sample| sample.probe_ns));
            }
        }
        let targets = self
            .workspaces
            .targets
            .iter()
            .map(Target::planned)
            .collect();
        let settings = self.settings.clone();
        SamplingPlan {
            cases: planned,
            taken,
            probes_ns,
            settings,
            targets,
            began,
            set_aside,
        }
    }
}

/// How long tasks wait for a CPU while samples are taken.
struct CpuWaits {
    began: Instant,
    /// None if the kernel does not tell.
    before: Option<Duration>,
}

impl CpuWaits {
    fn begin() -> Self {
        Self {
            before: writebench_probe::cpu_wait(),
            began: Instant::now(),
        }
    }

    /// See [`RunRecord::cpu_wait_ppm`].
    fn share_ppm(&self) -> Option<u32> {
        let waited = writebench_probe::cpu_wait()?.saturating_sub(self.before?);
        let took = self.began.elapsed();
        let share = waited.as_micros().saturating_mul(1_000_000) / took.as_micros().max(1);
        Some(u32::try_from(share.min(1_000_000)).unwrap_or(1_000_000))
    }
}

fn exit_for(report: &Report, end: End, output: &Output) -> Result<Exit> {
    let samples = || report.cases.iter().flat_map(|case| &case.record.samples);
    match end {
        End::Stopped => Ok(Exit::Interrupted),
        // Faults of other methods of the goal change nothing.
        _ if require::is_judged(report) => Ok(require::exit_for_run(report)),
        // A search needs one method that works.
        _ if report.advice.is_some() => Ok(Exit::Ok),
        _ if report.is_search() && samples().any(|sample| sample.outcome.is_ok()) => {
            Ok(Exit::NoAnswer)
        }
        _ if report
            .cases
            .iter()
            .any(|case| ends_with_fault(&case.record.samples)) =>
        {
            Ok(Exit::CasesFailed)
        }
        // The target supports none of the cases.
        _ if samples().next().is_some() && !samples().any(|sample| sample.outcome.is_ok()) => {
            output.note("Nothing was measured: no case has a result.");
            Ok(Exit::CasesFailed)
        }
        _ if !report.required.is_empty() => Ok(require::exit_for_run(report)),
        _ if lacks_answers(report) => Ok(Exit::NoAnswer),
        _ => gate::exit_for_run(report, output),
    }
}

/// Whether a fault ended the case of these samples. After the death of its worker, it may have continued.
fn ends_with_fault(samples: &[Sample]) -> bool {
    samples
        .last()
        .is_some_and(|sample| sample.outcome.is_fault())
}

/// Whether a search, or a run that was to answer goals, has no answer. Fewer samples than those of an interval were not
/// meant to answer.
fn lacks_answers(report: &Report) -> bool {
    let answers_goals = report.is_of_goals()
        && !report.cases.is_empty()
        && report.run.settings.samples >= FEWEST_FOR_INTERVAL;
    let mut answers = report.answers.iter();
    let has_none = answers.all(|answer| answer.finding.case.is_none());
    report.is_search() || answers_goals && has_none
}
