//! A run in the database: measured, shown, exported.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use model::{Bytes, Case, CaseRecord, Making, Reserve, RunRecord, RunStatus, Sample, Settings, TargetRecord};
use report::advice::ADVISE;
use report::{Report, formats};
use runner::{
    EachCase, End, Event, LeftOver, Plan, Planned, PlannedTarget, Schedule, Taken, WorkerCommand, Workspace,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use store::{Store, WorkspaceRecord};

use crate::copied::Copied;
use crate::database;
use crate::exit::Exit;
use crate::export::Export;
use crate::hardware::HardwareOfRun;
use crate::output::Output;
use crate::place::Claimed;
use crate::progress::Progress;
use crate::properties::FilesystemsOfRun;
use crate::recorder::Recorder;
use crate::selection;
use crate::stream::Streams;

/// A run in the database, about to be measured.
pub struct Job<'s> {
    /// Where it is.
    pub store: &'s Store,
    /// Its number there.
    pub number: i64,
    /// The run, with what was measured of it before.
    pub run: RunRecord,
    /// Where it writes to, as many as the run has targets.
    pub places: Vec<Claimed>,
    /// What it copies, where that was given.
    pub copied: Option<Copied>,
    /// Its different cases, each of which is measured on every target.
    pub cases: Vec<Case>,
    /// Who wants how many samples.
    pub schedule: Box<dyn Schedule>,
    /// Rows that come into the database when their case has its first turn.
    pub later: HashMap<String, CaseRecord>,
    /// What samples need to know of each target.
    pub targets: Vec<PlannedTarget>,
    /// Cases that the hardware's limits are measured for; none to measure no limits.
    pub limits_for: Vec<Case>,
    /// Whether it is looked at what the filesystems do with files.
    pub properties: bool,
    /// What is written for the run beside its samples: images, limits, the copy that stays.
    pub bytes_beside: u64,
    /// What has been written in all, at most: a sample that was cut short counts as whole.
    pub bytes_written: u64,
}

impl<'s> Job<'s> {
    /// As many samples of each case as the run was told, and nothing beside them.
    pub fn new(
        store: &'s Store,
        number: i64,
        run: RunRecord,
        (places, reserve): (Vec<Claimed>, Reserve),
        cases: Vec<Case>,
    ) -> Self {
        Self {
            store,
            number,
            places,
            copied: None,
            cases,
            schedule: Box::new(EachCase::of(&run.settings)),
            later: HashMap::new(),
            targets: run.targets.iter().map(|target| planned_target(target, reserve)).collect(),
            limits_for: Vec::new(),
            properties: false,
            bytes_beside: 0,
            bytes_written: 0,
            run,
        }
    }
}

/// The one device below what a run made, where the mount does not name it: below overlay and FUSE.
fn device_below(making: &Making) -> Option<String> {
    let [image] = making.images.as_slice() else { return None };
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", image.device)).ok()?;
    Some(number.trim_end().to_owned())
}

/// What samples need to know of a target with these facts, of which so much stays free.
pub fn planned_target(target: &TargetRecord, reserve: Reserve) -> PlannedTarget {
    let device = target.environment.device.as_ref().map(|device| device.number.clone());
    // The kernel syncs a FUSE filesystem without asking its server to sync what it has written elsewhere.
    let is_ours_on_fuse = |making: &Making| making.kind.starts_with("fuse:");
    PlannedTarget {
        device_number: device.or_else(|| target.making.as_ref().and_then(device_below)),
        reserve: if target.making.is_some() { Reserve::NONE } else { reserve },
        sync_all: target.making.as_ref().is_some_and(is_ours_on_fuse),
    }
}

/// A search may have been broken off before it had a case.
pub fn is_search(run: &RunRecord) -> bool {
    run.cases.iter().any(|case| case.suite == ADVISE) || run.arguments.iter().skip(1).any(|it| it == "advise")
}

/// Measures, shows and exports.
pub fn measure(mut job: Job<'_>, exports: &[Export], output: &Output, stop: &Arc<AtomicBool>) -> Result<Exit> {
    let (store, number) = (job.store, job.number);
    let tables = !exports.iter().any(Export::is_to_stdout);
    if tables {
        output.results(&formats::terminal::head(Some(number), &job.run, output.width()))?;
    }
    remove_left_overs(store, output)?;
    let streams = Streams::begin(exports, number, &job.run, output)?;
    let mut recorder = Recorder::new(store, number, streams, output);
    let end = supervise(&mut job, &mut recorder, stop, output);
    let status = match &end {
        Ok(End::Complete) => RunStatus::Complete,
        Ok(End::Budget | End::MaxBytes) => RunStatus::Limited,
        Ok(End::Stopped) => RunStatus::Interrupted,
        Err(_) => RunStatus::Failed,
    };
    let recorded = recorder.finish(status, stop);
    let end = end?;
    let is_search = is_search(&job.run);
    // Ten thousand cases are held once: as they are read again, with their samples.
    (job.run.cases, job.cases, job.limits_for, job.later) = Default::default();
    let report = Report::of(Some(number), recorder.run()?);
    hints(&report, &end, is_search, output);
    output.note(&format!("Written: {}.", Bytes(job.bytes_written).approximate()));
    if tables {
        output.results(&formats::terminal::body(&report, output.width()))?;
    }
    let streamed = recorder.end_streams(&report.run);
    for export in exports.iter().filter(|export| !export.is_stream()) {
        export.write(&report, output)?;
    }
    if let Some(copied) = job.copied.take().filter(|_| end != End::Stopped) {
        match copied.finish(stop) {
            Ok(Some(copy)) => output.note(&format!("{} is a copy, compared byte by byte.", copy.display())),
            Ok(None) => {}
            Err(error) if stop.load(Ordering::Relaxed) => {
                output.error(&error);
                return Ok(Exit::Interrupted);
            }
            Err(error) => return Err(error),
        }
    }
    recorded?;
    output.note(&format!("Run {number} is in {}; {}", store.path().display(), database::show(store, number)));
    output.note(&database::page(store, number, None));
    streamed?;
    let records = || report.cases.iter().map(|case| &case.record);
    let failed = records().flat_map(|case| &case.samples).any(|sample| sample.outcome.is_fault());
    Ok(match end {
        End::Stopped => Exit::Interrupted,
        // A search is for what works.
        _ if is_search => Exit::Ok,
        _ if failed => Exit::CasesFailed,
        _ => Exit::Ok,
    })
}

/// What could be run next. Before the results, whose end is what matters.
fn hints(report: &Report, end: &End, is_search: bool, output: &Output) {
    let run = &report.run;
    let mut cases = report.cases.iter().peekable();
    if cases.peek().is_some() && cases.all(|case| case.record.suite == selection::FIRST_LOOK) {
        output.note(
            "This was a first look. `writebench list` names the suites that go deeper: `writebench run --suite write`.",
        );
    }
    if *end == End::MaxBytes && !is_search && !run.has_made_filesystems() {
        output.note("The limit on bytes was reached: `writebench run --resume --max-bytes MORE` goes on.");
    }
}

/// Set by the first signal that asks for an end. A second one ends the program at once; the next run removes
/// what stays.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Whoever started us with nohup wants the run to go on.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, stop.clone())?;
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}

fn supervise(
    job: &mut Job<'_>,
    recorder: &mut Recorder<'_>,
    stop: &AtomicBool,
    output: &Output,
) -> Result<End> {
    let (store, number) = (job.store, job.number);
    let mut workspaces = Vec::new();
    for place in &job.places {
        match place {
            Claimed::Directory(target) => workspaces.push(make_workspace(store, number, target)?),
            // It goes with its filesystem; there is no later run that could find it.
            Claimed::OwnFilesystem(target) => workspaces.push(Workspace::create(target, &new_id())?),
            Claimed::Device(_) => {}
        }
    }
    let result = in_workspaces(job, &workspaces, recorder, stop, output);
    workspaces.retain(|workspace| {
        let is_held = workspace.is_held();
        if is_held {
            let path = workspace.path().display();
            output.note(&format!(
                "{path} stays: a worker hangs there and cannot be killed. A run after its end removes it."
            ));
        }
        !is_held
    });
    let paths: Vec<PathBuf> = workspaces.iter().map(|workspace| workspace.path().to_path_buf()).collect();
    // All of them, also where one cannot be removed.
    let removed: Vec<_> = workspaces.into_iter().map(Workspace::remove).collect();
    let end = result?;
    for (path, removed) in paths.into_iter().zip(removed) {
        removed?;
        recorder.workspace_removed(path)?;
    }
    Ok(end)
}

fn in_workspaces(
    job: &mut Job<'_>,
    workspaces: &[Workspace],
    recorder: &mut Recorder<'_>,
    stop: &AtomicBool,
    output: &Output,
) -> Result<End> {
    let worker = worker_command(job, workspaces)?;
    let mut settings = job.run.settings.clone();
    settings.max_bytes = settings.max_bytes.map(|bytes| bytes.saturating_sub(job.bytes_beside));
    if job.properties {
        let learnt = FilesystemsOfRun { worker: &worker, stop, output };
        let start = Instant::now();
        let written = learnt.learn(recorder, &job.run, &job.targets, workspaces, &settings)?;
        settings.max_bytes = settings.max_bytes.map(|bytes| bytes.saturating_sub(written));
        job.bytes_beside = job.bytes_beside.saturating_add(written);
        let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        settings.budget_ns = settings.budget_ns.map(|budget| budget.saturating_sub(elapsed_ns));
    }
    let directories: Vec<Option<PathBuf>> = job.places.iter().map(Claimed::directory).collect();
    let measure = || HardwareOfRun::before(recorder, &job.limits_for, &settings, &directories, (&worker, stop));
    let mut hardware = (!job.limits_for.is_empty()).then(measure).transpose()?;
    let progress = Progress::new(output);
    let plan = plan(job, hardware.as_ref().map_or_else(|| settings.clone(), |it| it.rest_of(&settings)));
    // The plan has them now; at the end all are read again.
    job.run.cases.iter_mut().for_each(|case| case.samples = Vec::new());
    let (schedule, later, targets) = (job.schedule.as_mut(), &mut job.later, &job.run.targets);
    let beside = job.bytes_beside.saturating_add(hardware.as_ref().map_or(0, HardwareOfRun::bytes));
    // Samples that a run has from before it was resumed are among them.
    let written = &mut job.bytes_written;
    *written = beside;
    let end = runner::supervise(plan, schedule, workspaces, &worker, stop, &mut |event| {
        match event {
            Event::Started { planned, left, bytes: [before, after], .. } => {
                if let Some(row) = later.remove(&planned.case.to_string()) {
                    recorder.row(row)?;
                }
                progress.started(&planned.case, left, beside.saturating_add(before));
                *written = beside.saturating_add(after);
            }
            Event::Taken { planned, sample } => {
                let target = (planned.target, targets[planned.target].name.as_str());
                recorder.sample(target, &planned.case.to_string(), sample)?;
                progress.taken();
            }
        }
        Ok(())
    });
    progress.finish();
    let end = end?;
    if let Some(hardware) = &mut hardware {
        hardware.measure(recorder, &worker, stop)?;
    }
    Ok(end)
}

/// Every case on every target, with what was taken of it before.
fn plan(job: &Job<'_>, settings: Settings) -> Plan {
    let samples: HashMap<(&str, &str), &Vec<Sample>> =
        job.run.cases.iter().map(|row| ((row.target.as_str(), row.case.as_str()), &row.samples)).collect();
    let (mut cases, mut taken, mut probes_ns) = (Vec::new(), Vec::new(), Vec::new());
    for case in &job.cases {
        let name = case.to_string();
        for (number, target) in job.run.targets.iter().enumerate() {
            cases.push(Planned { target: number, case: case.clone() });
            let before = samples.get(&(target.name.as_str(), name.as_str())).map_or(&[][..], |it| it);
            taken.push(before.iter().map(Taken::of).collect());
            probes_ns.extend(before.iter().flat_map(|sample| sample.probe_ns));
        }
    }
    Plan { cases, taken, probes_ns, settings, targets: job.targets.clone() }
}

/// Whether this process was started with that signal ignored: `SigIgn` of proc_pid_status(5).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Makes the run's directory. It is recorded before, so that there is no moment at which it is there and
/// nobody knows of it.
pub fn make_workspace(store: &Store, run: i64, target: &Path) -> Result<Workspace> {
    let id = new_id();
    let path = Workspace::path_in(target, &id);
    store.add_workspace(&WorkspaceRecord { path: path.clone(), run })?;
    let made = Workspace::create(target, &id);
    if made.is_err() {
        store.forget_workspace(&path)?;
    }
    Ok(made?)
}

fn worker_command(job: &Job<'_>, workspaces: &[Workspace]) -> Result<WorkerCommand> {
    let mut arguments = in_workspaces_of(workspaces)?;
    if let [Claimed::Device(device)] = job.places.as_slice() {
        arguments.extend(["--device".into(), device.as_fd().as_raw_fd().to_string().into()]);
    }
    if let Some(copied) = &job.copied {
        arguments.extend(["--copy-from".into(), copied.file().as_raw_fd().to_string().into()]);
    }
    this_program(arguments)
}

/// A worker in a directory of ours.
pub fn worker_in(workspace: &Workspace) -> Result<WorkerCommand> {
    this_program(in_workspaces_of(std::slice::from_ref(workspace))?)
}

fn in_workspaces_of(workspaces: &[Workspace]) -> Result<Vec<OsString>> {
    let mut arguments: Vec<OsString> = vec!["worker".into()];
    for workspace in workspaces {
        let (device, inode) = workspace.identity()?;
        arguments.extend(["--directory".into(), workspace.path().as_os_str().to_os_string()]);
        arguments.extend(["--identity".into(), device.to_string().into(), inode.to_string().into()]);
    }
    Ok(arguments)
}

fn this_program(arguments: Vec<OsString>) -> Result<WorkerCommand> {
    Ok(WorkerCommand {
        // The same file even if it was replaced or removed meanwhile, as an update does.
        program: std::env::current_exe()
            .map(|_| PathBuf::from("/proc/self/exe"))
            .context("find this program")?,
        arguments,
    })
}

/// Removes what runs left that were killed. What cannot be removed is said, and is no reason to stop.
pub fn remove_left_overs(store: &Store, output: &Output) -> Result<()> {
    for left in store.workspaces()? {
        // It may be about to make it.
        if store.is_under_way_elsewhere(left.run)? {
            continue;
        }
        match runner::remove_left_over(&left.path) {
            Ok(LeftOver::InUse) => continue,
            Ok(LeftOver::Held(process)) => {
                let path = left.path.display();
                output.note(&format!(
                    "{path}, left by a run that is gone, stays: process {process} has it open. A run after its end removes it."
                ));
                continue;
            }
            // A disk that is not mounted now may come back with it.
            Ok(LeftOver::NotThere) if !left.path.parent().is_some_and(Path::is_dir) => continue,
            Ok(LeftOver::NotThere) => {}
            Ok(LeftOver::Removed) => {
                output.note(&format!("Removed {}, left by a run that was killed.", left.path.display()));
            }
            Err(error) => {
                output.note(&format!("Could not remove what a killed run left: {error}"));
                continue;
            }
        }
        store.forget_workspace(&left.path)?;
    }
    Ok(())
}
