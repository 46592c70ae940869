//! `writebench run`: arguments → cases → runner → database → report.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use model::{Bytes, Case, CaseRecord, Environment, RunRecord, RunStatus, Settings};
use report::advice::ADVISE;
use report::{Report, counted, formats};
use runner::{EachCase, End, Event, Hardware, LeftOver, Plan, Schedule, WorkerCommand, Workspace};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use store::{Store, WorkspaceRecord};

use crate::arguments::RunCommand;
use crate::copied::Copied;
use crate::exit::{self, Exit};
use crate::export::Export;
use crate::hardware::HardwareOfRun;
use crate::output::Output;
use crate::place::{Claimed, Place};
use crate::progress::Progress;
use crate::{database, selection};

/// What a run records of the program that made it.
pub const VERSION: &str = if cfg!(feature = "deliberate-delay") {
    concat!(env!("CARGO_PKG_VERSION"), "+deliberate-delay")
} else {
    env!("CARGO_PKG_VERSION")
};

/// Budget of the first look, which promises an answer in half a minute.
const FIRST_LOOK_BUDGET_NS: u64 = 20_000_000_000;

/// Runs what was asked for.
pub fn run(command: &RunCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    for export in &command.export {
        export.check()?;
    }
    if command.resume.is_some() {
        return resume(command, db, output);
    }
    let copied = Copied::of(command)?;
    let on_stderr = output.with_results_on_stderr();
    let output = if copied.as_ref().is_some_and(Copied::takes_stdout) { &on_stderr } else { output };
    let place = Place::find(command, copied.as_ref())?;
    let environment = probe::environment(place.path())?;
    let block_size_bytes = environment.filesystem.block_size_bytes;
    let selected = selection::rows(command, &engine::method_infos(), copied.as_ref(), block_size_bytes)?;
    for note in &selected.notes {
        output.note(note);
    }
    let run = RunRecord {
        id: uuid::Uuid::new_v4().simple().to_string(),
        label: command.label.as_ref().map(ToString::to_string),
        status: RunStatus::Running,
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        version: VERSION.to_owned(),
        arguments: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        target: place.path().display().to_string(),
        settings: settings(command, copied.as_ref(), selected.samples),
        environment,
        limits: Vec::new(),
        cases: selected.rows.iter().map(selection::record).collect(),
    };
    let cases = selection::different_cases(&run.cases, &engine::method_infos())?;
    if command.dry_run {
        return dry_run(&run, &cases, &place, !command.no_limits, output);
    }
    check_limits(&place, &run.environment, &cases, copied.as_ref())?;
    let place = place.claim(command.destroy_data, output)?;
    let mut store = database::open(db)?;
    let number = store.begin_run(&run)?;
    let device_number = run.environment.device.as_ref().map(|device| device.number.clone());
    let schedule = Box::new(EachCase::of(&run.settings));
    let (later, limits_for) = (HashMap::new(), if command.no_limits { Vec::new() } else { cases.clone() });
    let job =
        Job { store: &store, number, run, place, copied, cases, schedule, later, device_number, limits_for };
    measure(job, &command.export, output)
}

fn settings(command: &RunCommand, copied: Option<&Copied>, samples: u32) -> Settings {
    let first_look = command.suite.is_empty() && command.case.is_empty() && copied.is_none();
    let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Settings {
        samples,
        precision_ppm: command.precision,
        budget_ns: command.budget.map(nanoseconds).or(first_look.then_some(FIRST_LOOK_BUDGET_NS)),
        max_bytes: command.max_bytes.map(|bytes| bytes.0),
        // Within 53 bits, so that every reader of JSON gets it whole.
        seed: command.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0 >> 11),
        verify: command.verify,
        timeout_ns: command.timeout.map(nanoseconds),
        copy_from: copied.map(Copied::source_path),
        copy_to: copied.and_then(Copied::copy_path),
    }
}

/// A search may have been broken off before it had a case.
fn is_search(run: &RunRecord) -> bool {
    run.cases.iter().any(|case| case.suite == ADVISE) || run.arguments.iter().skip(1).any(|it| it == "advise")
}

/// Of the runs that can go on.
fn newest_unfinished(store: &Store) -> Result<Option<i64>> {
    for summary in store.runs()?.iter().rev().filter(|run| run.status != RunStatus::Complete.name()) {
        if !is_search(&store.run(summary.number)?) {
            return Ok(Some(summary.number));
        }
    }
    Ok(None)
}

fn resume(command: &RunCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let store = database::open(db)?;
    let number = match command.resume {
        Some(number) if number > 0 => number,
        _ => newest_unfinished(&store)?.ok_or_else(|| exit::usage("there is no unfinished run to resume"))?,
    };
    let mut run = store.run(number)?;
    if is_search(&run) {
        return Err(exit::usage(format!(
            "run {number} is a search of `advise`, which cannot go on; start it again"
        )));
    }
    if store.workspaces()?.iter().any(|it| it.run == number && runner::is_in_use(&it.path)) {
        return Err(exit::usage(format!("run {number} is still under way")));
    }
    let copied = Copied::of_run(&run)?;
    let place = Place::find_again(Path::new(&run.target), command.destroy.as_deref())?;
    let now = probe::environment(place.path())?;
    let facts = |it: &Environment| {
        let filesystem = &it.filesystem;
        (
            it.system.clone(),
            filesystem.kind.clone(),
            filesystem.source.clone(),
            filesystem.mount_options.clone(),
            it.device.as_ref().map(|it| (it.model.clone(), it.size_bytes, it.logical_sector_bytes)),
        )
    };
    if facts(&now) != facts(&run.environment) || run.version != VERSION {
        return Err(exit::usage(format!(
            "run {number} was made by another writebench, or on another kernel, filesystem, mount or device; \
             its samples cannot be mixed with new ones"
        )));
    }
    // Numbers of devices change when a machine starts.
    let device_number = now.device.as_ref().map(|device| device.number.clone());
    let given = settings(command, copied.as_ref(), run.settings.samples);
    run.settings.budget_ns = command.budget.and(given.budget_ns);
    run.settings.timeout_ns = given.timeout_ns.or(run.settings.timeout_ns);
    run.settings.max_bytes = command.max_bytes.map_or(run.settings.max_bytes, |bytes| Some(bytes.0));
    let cases = selection::different_cases(&run.cases, &engine::method_infos())?;
    if let (Some(copied), Some(case)) = (&copied, cases.iter().find(|case| case.method().copies()))
        && (case.axes().size_bytes > copied.size_bytes()
            || (copied.copy_path().is_some() && case.axes().size_bytes < copied.size_bytes()))
    {
        return Err(exit::usage(format!("{} has changed since the run began", copied.source_path())));
    }
    check_limits(&place, &now, &cases, copied.as_ref())?;
    let place = place.claim(command.destroy_data, output)?;
    store.set_status(number, RunStatus::Running)?;
    let schedule = Box::new(EachCase::of(&run.settings));
    // The limits were measured when the run began, if they were wanted.
    let (later, limits_for) = (HashMap::new(), Vec::new());
    let job =
        Job { store: &store, number, run, place, copied, cases, schedule, later, device_number, limits_for };
    measure(job, &command.export, output)
}

/// Whether the target, the device and the memory are enough for the cases.
pub fn check_limits(
    place: &Place,
    environment: &Environment,
    cases: &[Case],
    copied: Option<&Copied>,
) -> Result<()> {
    let own = cases.iter().filter(|case| case.method().copies()).map(|case| case.axes().size_bytes).max();
    let beside_bytes = copied.map_or(own.unwrap_or(0), Copied::copy_bytes);
    match place {
        Place::Device(path) => {
            runner::check_device(path, environment.filesystem.total_bytes, cases)?;
        }
        Place::Directory(path) => {
            runner::check_space(path, cases, beside_bytes)?;
        }
    }
    runner::check_sectors(environment, cases)?;
    runner::check_memory(environment, cases, beside_bytes)?;
    Ok(())
}

/// What would be run, in the order of the tables.
fn dry_run(run: &RunRecord, cases: &[Case], place: &Place, limits: bool, output: &Output) -> Result<Exit> {
    let round: u64 = cases.iter().map(Case::bytes_written).sum();
    let most_at_once = cases.iter().map(|case| case.axes().size_bytes).max().unwrap_or(0);
    let mut text = String::new();
    for case in cases {
        text += &format!("{case}\n");
    }
    let samples = run.settings.samples;
    text += &format!(
        "{} × {} into {}: {} to be written ({} in a round), at most {} at once. Nothing was written.\n",
        counted(cases.len(), "case"),
        counted(samples as usize, "sample"),
        place.path().display(),
        Bytes(round.saturating_mul(u64::from(samples))).approximate(),
        Bytes(round).approximate(),
        Bytes(most_at_once).approximate(),
    );
    text += "Disturbed samples are taken again, up to as many more.\n";
    let directory = matches!(place, Place::Directory(_)).then(|| place.path());
    let for_limits = Hardware::of(cases, &run.settings, directory)?.bytes();
    if limits && for_limits > 0 {
        let bytes = Bytes(for_limits).approximate();
        text += &format!("Up to {bytes} more show what the device can do at most, without --no-limits.\n");
    }
    output.results(&text)?;
    Ok(Exit::Ok)
}

/// A run in the database, about to be measured.
pub struct Job<'s> {
    /// Where it is.
    pub store: &'s Store,
    /// Its number there.
    pub number: i64,
    /// The run, with what was measured of it before.
    pub run: RunRecord,
    /// Where it writes to.
    pub place: Claimed,
    /// What it copies, where that was given.
    pub copied: Option<Copied>,
    /// Its different cases.
    pub cases: Vec<Case>,
    /// Who wants how many samples.
    pub schedule: Box<dyn Schedule>,
    /// Rows that come into the database when their case has its first turn.
    pub later: HashMap<String, CaseRecord>,
    /// The device whose written sectors are counted.
    pub device_number: Option<String>,
    /// Cases that the hardware's limits are measured for; none to measure no limits.
    pub limits_for: Vec<Case>,
}

/// Measures, shows and exports.
pub fn measure(mut job: Job<'_>, exports: &[Export], output: &Output) -> Result<Exit> {
    let (store, number) = (job.store, job.number);
    let suites: Vec<String> = job.run.cases.iter().map(|case| case.suite.clone()).collect();
    let tables = !exports.iter().any(Export::is_to_stdout);
    if tables {
        output.results(&formats::terminal::head(&Report::of(Some(number), job.run.clone())))?;
    }
    remove_left_overs(store, output)?;
    let stop = stop_on_signals()?;
    let end = supervise(&mut job, &stop, output);
    let status = match &end {
        Ok(End::Complete) => RunStatus::Complete,
        Ok(End::Budget | End::MaxBytes) => RunStatus::Limited,
        Ok(End::Stopped) => RunStatus::Interrupted,
        Err(_) => RunStatus::Failed,
    };
    let recorded = store.set_status(number, status);
    let end = end?;
    recorded?;
    let report = Report::of(Some(number), store.run(number)?);
    if tables {
        output.results(&formats::terminal::body(&report, output.width()))?;
    }
    for export in exports {
        export.write(&report, output)?;
    }
    if let Some(copied) = job.copied.take().filter(|_| end != End::Stopped) {
        match copied.finish(&stop) {
            Ok(Some(copy)) => output.note(&format!("{} is a copy, compared byte by byte.", copy.display())),
            Ok(None) => {}
            Err(error) if stop.load(Ordering::Relaxed) => {
                output.error(&error);
                return Ok(Exit::Interrupted);
            }
            Err(error) => return Err(error),
        }
    }
    output.note(&format!(
        "Run {number} is in {}; `writebench show {number}` shows it again.",
        store.path().display()
    ));
    if !suites.is_empty() && suites.iter().all(|suite| suite == selection::FIRST_LOOK) {
        output.note(
            "This was a first look. `writebench list` names the suites that go deeper: `writebench run --suite write`.",
        );
    }
    let is_search = is_search(&report.run);
    if end == End::MaxBytes && !is_search {
        output.note("The limit on bytes was reached: `writebench run --resume --max-bytes MORE` goes on.");
    }
    let failed = report.run.cases.iter().flat_map(|case| &case.samples).any(|sample| sample.outcome.is_fault());
    Ok(match end {
        End::Stopped => Exit::Interrupted,
        // A search is for what works.
        _ if is_search => Exit::Ok,
        _ if failed => Exit::CasesFailed,
        _ => Exit::Ok,
    })
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

fn supervise(job: &mut Job<'_>, stop: &AtomicBool, output: &Output) -> Result<End> {
    let (store, number) = (job.store, job.number);
    let workspace = match &job.place {
        Claimed::Directory(target) => Some(make_workspace(store, number, target)?),
        Claimed::Device(_) => None,
    };
    let path = workspace.as_ref().map(|workspace| workspace.path().to_path_buf());
    let result = worker_command(job, workspace.as_ref()).and_then(|worker| {
        let directory = match &job.place {
            Claimed::Directory(path) => Some(path.as_path()),
            Claimed::Device(_) => None,
        };
        let (run, worker_and_stop) = ((store, number), (&worker, stop));
        let settings = &job.run.settings;
        let measure = || HardwareOfRun::before(run, &job.limits_for, settings, directory, worker_and_stop);
        let mut hardware = (!job.limits_for.is_empty()).then(measure).transpose()?;
        let progress = Progress::new(output);
        let samples = |case: &Case| {
            let name = case.to_string();
            let row = job.run.cases.iter().find(|row| row.case == name);
            row.map(|row| row.samples.clone()).unwrap_or_default()
        };
        let plan = Plan {
            taken: job.cases.iter().map(samples).collect(),
            cases: job.cases.clone(),
            settings: hardware.as_ref().map_or_else(|| settings.clone(), |it| it.rest_of(settings)),
            device_number: job.device_number.clone(),
        };
        let (schedule, later) = (job.schedule.as_mut(), &mut job.later);
        let end = runner::supervise(&plan, schedule, workspace.as_ref(), &worker, stop, &mut |event| {
            match event {
                Event::Started { case, left, .. } => {
                    if let Some(row) = later.remove(&case.to_string()) {
                        store.add_cases(number, &[row])?;
                    }
                    progress.started(case, left);
                }
                Event::Taken { case, sample } => {
                    store.add_sample(number, &case.to_string(), sample)?;
                    progress.taken();
                }
            }
            Ok(())
        });
        progress.finish();
        let end = end?;
        if let Some(hardware) = &mut hardware {
            hardware.measure(&worker, stop)?;
        }
        Ok(end)
    });
    let removed = workspace.map_or(Ok(()), Workspace::remove);
    let end = result?;
    removed?;
    if let Some(path) = path {
        store.forget_workspace(&path)?;
    }
    Ok(end)
}

/// Whether this process was started with that signal ignored: `SigIgn` of proc_pid_status(5).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Makes the run's directory. It is recorded before, so that there is no moment at which it is there and
/// nobody knows of it.
pub fn make_workspace(store: &Store, run: i64, target: &Path) -> Result<Workspace> {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let path = Workspace::path_in(target, &id);
    store.add_workspace(&WorkspaceRecord { path: path.clone(), run })?;
    let made = Workspace::create(target, &id);
    if made.is_err() {
        store.forget_workspace(&path)?;
    }
    Ok(made?)
}

fn worker_command(job: &Job<'_>, workspace: Option<&Workspace>) -> Result<WorkerCommand> {
    let mut arguments = match (workspace, &job.place) {
        (Some(workspace), _) => in_workspace(workspace)?,
        (None, Claimed::Device(device)) => {
            vec!["worker".into(), "--device".into(), device.as_fd().as_raw_fd().to_string().into()]
        }
        (None, Claimed::Directory(_)) => vec!["worker".into()],
    };
    if let Some(copied) = &job.copied {
        arguments.push("--copy-from".into());
        arguments.push(copied.file().as_raw_fd().to_string().into());
    }
    this_program(arguments)
}

/// A worker in a directory of ours.
pub fn worker_in(workspace: &Workspace) -> Result<WorkerCommand> {
    this_program(in_workspace(workspace)?)
}

fn in_workspace(workspace: &Workspace) -> Result<Vec<OsString>> {
    let (device, inode) = workspace.identity()?;
    let path = workspace.path().as_os_str().to_os_string();
    let (device, inode) = (device.to_string().into(), inode.to_string().into());
    Ok(vec!["worker".into(), "--directory".into(), path, "--identity".into(), device, inode])
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
        match runner::remove_left_over(&left.path) {
            Ok(LeftOver::InUse) => continue,
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
