//! A run in the database: measured, shown, exported.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use writebench_model::{
    Bytes, Case, CaseRecord, Making, Reserve, RunRecord, RunStatus, Sample, Settings, TargetRecord,
};
use writebench_report::{Report, formats};
use writebench_runner::{
    Books, Casualties, EachCase, End, Event, Plan, Planned, PlannedTarget, Schedule, Taken, WorkerCommand,
    Written,
};
use writebench_store::Store;

use crate::database;
use crate::exit::Exit;
use crate::export::{self, Export};
use crate::keeper::this_program;
use crate::output::Output;
use crate::selection;
use crate::session::copied::Copied;
use crate::session::hardware::HardwareOfRun;
use crate::session::place::Claimed;
use crate::session::progress::Progress;
use crate::session::properties::FilesystemsOfRun;
use crate::session::recorder::Recorder;
use crate::session::streams::Streams;
use crate::session::workspaces::{self, Waiting};

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
    /// Bytes that have been written for the run already: images.
    pub bytes_before: u64,
    /// How long a target has to answer, where the user has said it.
    pub patience: Option<Duration>,
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
            bytes_before: 0,
            patience: None,
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
        path: target.path.clone().into(),
        device_number: device.or_else(|| target.making.as_ref().and_then(device_below)),
        reserve: if target.making.is_some() { Reserve::NONE } else { reserve },
        sync_all: target.making.as_ref().is_some_and(is_ours_on_fuse),
    }
}

/// A search may have been broken off before it had a case.
pub fn is_search(run: &RunRecord) -> bool {
    run.cases.iter().any(|case| case.origin.is_search())
        || run.arguments.iter().skip(1).any(|it| it == "advise")
}

/// Measures, shows and exports; then tidies up, on which no result depends.
pub fn measure(mut job: Job<'_>, exports: &[Export], output: &Output, stop: &Arc<AtomicBool>) -> Result<Exit> {
    let store = job.store;
    let directories = job.places.iter().filter_map(Claimed::directory);
    workspaces::remove_left_overs(store, directories, stop, output)?;
    let mut written = Written::new(job.run.settings.max_bytes, job.copied.is_some());
    written.add(job.bytes_before.saturating_add(job.copied.as_ref().map_or(0, Copied::copy_bytes)));
    let mut casualties = Casualties::default();
    let mut books = Books { written: &mut written, casualties: &mut casualties };
    let result = measured(&mut job, exports, &mut books, (output, stop));
    let waiting = Waiting { limit: job.patience, stop };
    let removed = workspaces::remove_all(store, &mut job.places, &mut casualties, (waiting, output));
    match (result, removed) {
        (Err(error), Err(left)) => {
            output.error(&left);
            Err(error)
        }
        (Err(error), Ok(())) => Err(error),
        (Ok(_), Err(left)) => Err(left),
        (Ok(exit), Ok(())) => Ok(exit),
    }
}

/// Measures, shows, exports and makes the copy that stays. The run is complete once all of that is done.
fn measured(
    job: &mut Job<'_>,
    exports: &[Export],
    books: &mut Books<'_>,
    (output, stop): (&Output, &Arc<AtomicBool>),
) -> Result<Exit> {
    let (store, number) = (job.store, job.number);
    let tables = !exports.iter().any(Export::is_to_stdout);
    let printed_head = if tables { print_head(job, output) } else { Ok(()) };
    let streams = match Streams::begin(exports, number, &job.run, stop, output) {
        Ok(streams) => streams,
        Err(error) => return not_begun(store, number, error, (stop, output)),
    };
    let mut recorder = Recorder::new(store, number, streams, output);
    let end = supervise(job, &mut recorder, books, (stop, output));
    if end.is_err() {
        // Why the run failed says more than why that could not be recorded.
        let _ = recorder.finish(RunStatus::Failed, stop);
    }
    let end = end?;
    // It is complete when its copy is.
    let copied = copy(job, &end, stop);
    let status = match (&end, &copied) {
        (_, Err(_)) if stop.load(Ordering::Relaxed) => RunStatus::Interrupted,
        (_, Err(_)) => RunStatus::Failed,
        (End::Complete, Ok(_)) => RunStatus::Complete,
        (End::Budget | End::MaxBytes, Ok(_)) => RunStatus::Limited,
        (End::Stopped, Ok(_)) => RunStatus::Interrupted,
    };
    let recorded = recorder.finish(status, stop);
    let is_search = is_search(&job.run);
    // Ten thousand cases are held once: as they are read again, with their samples.
    (job.run.cases, job.cases, job.limits_for, job.later) = Default::default();
    let report = Report::of(Some(number), recorder.run()?);
    hints(&report, &end, is_search, output);
    output.note(&format!("Written: {}.", Bytes(books.written.bytes()).approximate()));
    let body = tables.then(|| formats::terminal::body(&report, output.width()));
    let printed = printed_head.and_then(|()| body.map_or(Ok(()), |body| output.results(&body)));
    let streamed = recorder.end_streams(&report.run);
    let exported = export::write_all(exports, &report, stop, output);
    match copied {
        Ok(Some(copy)) => output.note(&format!("{} is a copy, compared byte by byte.", copy.display())),
        Ok(None) => {}
        Err(error) if stop.load(Ordering::Relaxed) => {
            output.error(&error);
            return Ok(Exit::Interrupted);
        }
        Err(error) => return Err(error),
    }
    recorded?;
    output.note(&format!("Run {number} is in {}; {}", store.path().display(), database::show(store, number)));
    output.note(&database::page(store, number, None));
    match output.all_ok([printed, streamed, exported]) {
        Err(error) if end == End::Stopped => output.error(&error),
        all => all?,
    }
    let records = || report.cases.iter().map(|case| &case.record);
    let samples = || records().flat_map(|case| &case.samples);
    let failed = samples().any(|sample| sample.outcome.is_fault());
    Ok(match end {
        End::Stopped => Exit::Interrupted,
        // A search is for what works, if anything does.
        _ if is_search && samples().any(|sample| sample.outcome.is_ok()) => Exit::Ok,
        _ if failed => Exit::CasesFailed,
        _ => Exit::Ok,
    })
}

/// Prints what is measured on. Where it cannot be printed, the run goes on: its samples are in the database, and its
/// exports are written.
fn print_head(job: &Job<'_>, output: &Output) -> Result<()> {
    let printed = output.results(&formats::terminal::head(Some(job.number), &job.run, output.width()));
    if let Err(error) = &printed {
        output.note(&format!("{error:#}. The run goes on."));
    }
    printed
}

/// The end of a run that has an export which cannot be begun, or waited for a reader of it until a signal came.
fn not_begun(
    store: &Store,
    number: i64,
    error: anyhow::Error,
    (stop, output): (&AtomicBool, &Output),
) -> Result<Exit> {
    if stop.load(Ordering::Relaxed) {
        store.set_status(number, RunStatus::Interrupted)?;
        output.error(&error);
        return Ok(Exit::Interrupted);
    }
    store.set_status(number, RunStatus::Failed)?;
    Err(error)
}

/// Makes the copy that stays, once all samples are there or a limit has come. Where it is; none if none was asked for.
fn copy(job: &mut Job<'_>, end: &End, stop: &AtomicBool) -> Result<Option<PathBuf>> {
    let Some(copied) = job.copied.as_ref().filter(|_| *end != End::Stopped) else { return Ok(None) };
    let Some(Claimed::Directory(directory)) = job.places.first_mut() else { return Ok(None) };
    copied.finish(&mut directory.keeper, stop)
}

/// What could be run next. Before the results, whose end is what matters.
fn hints(report: &Report, end: &End, is_search: bool, output: &Output) {
    let run = &report.run;
    let mut cases = report.cases.iter().peekable();
    if cases.peek().is_some() && cases.all(|case| case.record.origin.suite() == selection::FIRST_LOOK) {
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
    books: &mut Books<'_>,
    (stop, output): (&AtomicBool, &Output),
) -> Result<End> {
    let (store, number) = (job.store, job.number);
    let waiting = Waiting { limit: job.patience, stop };
    workspaces::make_all((store, number), &mut job.places, books.written, waiting)?;
    let worker = worker_command(&job.places, job.copied.as_ref())?;
    let mut settings = job.run.settings.clone();
    if job.properties {
        let learnt = FilesystemsOfRun { worker: &worker, stop, output };
        let start = Instant::now();
        learnt.learn(recorder, &job.run, &job.targets, &settings, books)?;
        let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        settings.budget_ns = settings.budget_ns.map(|budget| budget.saturating_sub(elapsed_ns));
    }
    let mut hardware = None;
    if !job.limits_for.is_empty() {
        let spaces: Vec<_> = job.places.iter().map(Claimed::space).collect();
        let by = (&worker, &mut *books, stop);
        let measured = HardwareOfRun::before(recorder, &job.limits_for, &settings, &spaces, by)?;
        settings = measured.rest_of(&settings);
        hardware = Some(measured);
    }
    let progress = Progress::new(output)?;
    let plan = plan(job, settings);
    // The plan has them now; at the end all are read again.
    job.run.cases.iter_mut().for_each(|case| case.samples = Vec::new());
    let (schedule, later, targets) = (job.schedule.as_mut(), &mut job.later, &job.run.targets);
    let end = writebench_runner::supervise(plan, schedule, books, &worker, stop, &mut |event| {
        match event {
            Event::Started { planned, left, bytes_written, .. } => {
                if let Some(row) = later.remove(&planned.case.to_string()) {
                    recorder.row(row)?;
                }
                progress.started(&planned.case, left, bytes_written);
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
        hardware.measure(recorder, &worker, books, stop)?;
    }
    Ok(end)
}

/// Every case on every target, with what was taken of it before.
fn plan(job: &Job<'_>, settings: Settings) -> Plan {
    let samples: HashMap<(&str, &str), &Vec<Sample>> =
        job.run.cases.iter().map(|row| ((row.target.as_str(), row.case.name()), &row.samples)).collect();
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

fn worker_command(places: &[Claimed], copied: Option<&Copied>) -> Result<WorkerCommand> {
    let mut arguments: Vec<OsString> = vec!["worker".into()];
    for place in places {
        match place {
            Claimed::Directory(directory) => {
                let Some(workspace) = directory.keeper.workspace() else { continue };
                arguments.extend(["--directory".into(), workspace.path.as_os_str().to_os_string()]);
                arguments.push("--identity".into());
                arguments.extend(workspace.identity.map(|number| number.to_string().into()));
            }
            Claimed::Device(device) => {
                arguments.extend(["--device".into(), device.as_fd().as_raw_fd().to_string().into()]);
            }
        }
    }
    if let Some(source) = copied.map(Copied::source) {
        arguments.extend(["--copy-from".into(), source.name.as_os_str().to_os_string()]);
        arguments.push("--copy-identity".into());
        arguments.extend(source.identity.map(|number| number.to_string().into()));
    }
    Ok(WorkerCommand { program: this_program()?, arguments })
}

/// A worker in one directory of ours.
pub fn worker_in(place: &Claimed) -> Result<WorkerCommand> {
    worker_command(std::slice::from_ref(place), None)
}
