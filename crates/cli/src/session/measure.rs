use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use writebench_model::{
    Bytes, Case, CaseRecord, RunEvent, RunRecord, RunStatus, Settings, distinct_rows,
};
use writebench_report::formats::terminal::Detail;
use writebench_report::{Report, formats};
use writebench_runner::{
    Coordinator, End, Hardware, LostWorkers, Plan, PlannedCase, SampleSummary, WorkerCommand,
    Workers, Written,
};

use super::cost::rounded;
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
use crate::signals::{is_stopped, stop, stop_on_signals};

/// Extra measurements of the limits if a sample exceeded them.
const MORE_LIMITS: usize = 2;

/// A run whose options a command has validated.
pub(crate) struct Session<'s> {
    workspaces: Workspaces<'s>,
    /// With the rest of the budget.
    settings: Settings,
    plan: ScheduledCases,
    copied: Option<FileCopy>,
    /// Cases whose hardware limits are measured.
    limits_for: Vec<Case>,
    recorder: Recorder<'s>,
    pub written: Written,
    /// See [`RunRecord::cpu_wait_ppm`].
    cpu_wait_ppm: Option<u32>,
    lost_workers: LostWorkers,
}

impl<'s> Session<'s> {
    /// `run` has the earlier samples of a resumed run.
    pub(crate) fn new(
        workspaces: Workspaces<'s>,
        run: RunRecord,
        settings: Settings,
        plan: ScheduledCases,
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
        written.add(run.written_bytes.unwrap_or(0).saturating_sub(of_samples));
        let (cpu_wait_ppm, lost_workers) = (None, LostWorkers::default());
        Self {
            workspaces,
            settings,
            plan,
            copied,
            limits_for,
            recorder,
            written,
            cpu_wait_ppm,
            lost_workers,
        }
    }

    pub(crate) fn measure(mut self, exports: &[Export]) -> Result<Exit> {
        stop_on_signals()?;
        self.workspaces.remove_leftovers()?;
        let result = self.run(exports);
        let removed = self.workspaces.remove(&mut self.lost_workers);
        output::after_tidying(result, removed)
    }

    fn run(&mut self, exports: &[Export]) -> Result<Exit> {
        let Workspaces {
            store,
            run: number,
            global,
            ..
        } = self.workspaces;
        let output = &global.output;
        let shows_tables = !exports.iter().any(Export::is_to_stdout);
        if let Err(error) = self.recorder.begin_streams(exports) {
            let status = RunEvent::Status(self.unfinished());
            store.unless_stopped(stop(), || store.record(number, &status))?;
            return self.interrupted(error);
        }
        let began = Instant::now();
        let end = match self.supervise(began) {
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
        let report = Report::from_run(Some(number), self.recorder.run.finish());
        let text =
            shows_tables.then(|| formats::terminal::report(&report, Detail::Usual, output.width()));
        let printed = text.map_or(Ok(()), |text| output.results(&text).map(drop));
        let streamed = self.recorder.streams.end();
        let exported = export::write_all(exports, &report, output);
        match copy {
            Ok(Some(copy)) => output.note(&format!(
                "{} is a copy, verified byte by byte.",
                copy.display()
            )),
            Ok(None) => {}
            Err(error) => return self.interrupted(error),
        }
        recorded?;
        let (took, wrote) = (
            rounded(began.elapsed().as_secs_f64()),
            Bytes(self.written.bytes()).approximate(),
        );
        output.note(&format!("Run {number} took {took} and wrote {wrote}."));
        database::note_next_commands(output, store, number, None);
        if report.is_of_goals()
            && report
                .answers
                .iter()
                .any(|answer| answer.finding.case.is_some())
        {
            database::note_code(output, store);
        }
        let is_search = report.run.is_search();
        if end == End::MaxBytes
            && !is_search
            && !report.is_brief()
            && !report.run.has_made_filesystems()
        {
            output
                .note("The run reached --max-bytes. To continue it: writebench run --resume --max-bytes MORE");
        }
        match output::all_ok([printed, streamed, exported]) {
            Err(error) if end == End::Stopped => output::print_error(&error),
            all => all?,
        }
        exit_for(&report, end, output)
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
        let helper = self
            .workspaces
            .targets
            .first_mut()
            .and_then(|target| target.helper.as_mut());
        copied
            .zip(helper)
            .map_or(Ok(None), |(copied, helper)| copied.finish(helper))
    }

    fn supervise(&mut self, began: Instant) -> Result<End> {
        let Workspaces { global, .. } = self.workspaces;
        self.workspaces.make(&mut self.written)?;
        let worker = self
            .workspaces
            .worker(self.copied.as_ref().map(|copied| &copied.source))?;
        let mut leader = global.leader.as_ref().map(RefCell::borrow_mut);
        if let Some(leader) = &mut leader {
            leader.work_in(
                self.workspaces
                    .directories()
                    .map(|(path, _)| path)
                    .collect(),
            )?;
        }
        let mut hardware = self.hardware()?;
        self.measure_limits(&mut hardware, &worker)?;
        let bar = progress::bar(&global.output)?;
        let (waited, samples_began) = (writebench_probe::cpu_wait(), Instant::now());
        // The second measurement of the limits takes as long as the first.
        let set_aside = Duration::from_nanos(hardware.time_ns() / 2);
        let plan = self.plan(began, set_aside);
        let is_timed = self.plan.is_timed;
        let budget_ns = self
            .recorder
            .run
            .so_far()
            .settings
            .budget_ns
            .filter(|_| is_timed);
        let left =
            |budget_ns| Duration::from_nanos(budget_ns).saturating_sub(began.elapsed() + set_aside);
        let coordinator = leader
            .as_mut()
            .map(|leader| -> &mut dyn Coordinator { &mut ***leader });
        let workers = Workers::new(&worker, stop(), &mut self.lost_workers).leading(coordinator);
        let mut is_exceeded = false;
        let written = &mut self.written;
        let (recorder, schedule) = (&mut self.recorder, &mut *self.plan.schedule);
        let (deferred, settings) = (&mut self.plan.deferred, &self.settings);
        let end = writebench_runner::supervise(plan, schedule, workers, written, &mut |event| {
            match event {
                RunEvent::Started {
                    target,
                    case,
                    left: samples,
                    written,
                } => {
                    let has_case = |row: &CaseRecord| row.case.known() == Some(&case);
                    if let Some(group) = deferred.iter().position(|rows| rows.iter().any(has_case))
                    {
                        let rows = deferred.swap_remove(group);
                        if settings.search_bytes.is_none() {
                            bar.suspend(|| {
                                global.output.note(&size_line(&rows, settings, written));
                            });
                        }
                        rows.into_iter()
                            .try_for_each(|row| recorder.record(RunEvent::Case(row.into())))?;
                    } else if let Some(row) = recorder.run.row_of_contest(target, &case) {
                        recorder.record(RunEvent::Case(row.into()))?;
                    }
                    progress::started(&bar, &case, samples, budget_ns.map(left));
                }
                RunEvent::Sample {
                    ref case,
                    ref sample,
                    ..
                } => {
                    is_exceeded |= case
                        .known()
                        .is_some_and(|case| hardware.is_exceeded_by(case, sample));
                    recorder.record(event)?;
                    bar.inc(1);
                }
                other => recorder.record(other)?,
            }
            Ok(())
        });
        bar.finish_and_clear();
        let waited = writebench_probe::cpu_wait()
            .zip(waited)
            .map(|(now, then)| now.saturating_sub(then));
        self.cpu_wait_ppm = waited.map(|waited| ppm(waited, samples_began.elapsed()));
        let end = end?;
        // An exceeded limit was measured at a bad time.
        for _ in 0..MORE_LIMITS {
            if !is_exceeded || !self.has_time(began) {
                break;
            }
            hardware.measure(Workers::new(&worker, stop(), &mut self.lost_workers), false)?;
        }
        self.measure_limits(&mut hardware, &worker)?;
        Ok(end)
    }

    fn has_time(&self, began: Instant) -> bool {
        let budget_ns = self.recorder.run.so_far().settings.budget_ns;
        budget_ns.is_none_or(|budget_ns| began.elapsed() < Duration::from_nanos(budget_ns))
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
    fn measure_limits(&mut self, hardware: &mut Hardware, worker: &WorkerCommand) -> Result<()> {
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
    fn plan(&mut self, began: Instant, set_aside: Duration) -> Plan {
        let run = &self.recorder.run;
        let (mut planned, mut taken, mut probes_ns) = (Vec::new(), Vec::new(), Vec::new());
        for case in std::mem::take(&mut self.plan.cases) {
            let recorded = case.clone().into();
            for target in 0..run.so_far().targets.len() {
                planned.push(PlannedCase {
                    target,
                    case: case.clone(),
                });
                let before = run.samples(target, &recorded).unwrap_or_default();
                let contract = case.contract();
                let summary =
                    |sample| SampleSummary::new(sample, &contract, self.settings.objective);
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
        Plan {
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

fn ppm(part: Duration, whole: Duration) -> u32 {
    let share = part.as_micros().saturating_mul(1_000_000) / whole.as_micros().max(1);
    u32::try_from(share.min(1_000_000)).unwrap_or(1_000_000)
}

fn size_line(rows: &[CaseRecord], settings: &Settings, written: u64) -> String {
    let size = rows.iter().map(|row| row.contract.bytes).max().unwrap_or(0);
    let round = distinct_rows(rows)
        .map(|row| row.case.known().map_or(0, Case::bytes_written))
        .sum::<u64>();
    let all = round
        .saturating_mul(settings.samples.into())
        .saturating_add(written);
    let ([size, all], rounds) = (
        [size, all].map(|bytes| Bytes(bytes).approximate()),
        settings.samples,
    );
    format!("Files of {size}: {rounds} rounds fit into the limits. About {all} to write.")
}

fn exit_for(report: &Report, end: End, output: &Output) -> Result<Exit> {
    let samples = || report.cases.iter().flat_map(|case| &case.record.samples);
    match end {
        End::Stopped => Ok(Exit::Interrupted),
        // A search needs one method that works.
        _ if report.advice.is_some() => Ok(Exit::Ok),
        _ if report.run.is_search() && samples().any(|sample| sample.outcome.is_ok()) => {
            Ok(Exit::NoAnswer)
        }
        _ if samples().any(|sample| sample.outcome.is_fault()) => Ok(Exit::CasesFailed),
        // The target supports none of the cases.
        _ if samples().next().is_some() && !samples().any(|sample| sample.outcome.is_ok()) => {
            output.note("Nothing was measured: no case has a result.");
            Ok(Exit::CasesFailed)
        }
        _ if report.is_of_goals()
            && report
                .answers
                .iter()
                .all(|answer| answer.finding.case.is_none()) =>
        {
            Ok(Exit::NoAnswer)
        }
        _ => gate::exit_for_run(report, output),
    }
}
