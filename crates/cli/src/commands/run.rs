//! `writebench run`: arguments → cases → runner → database → report.

use std::path::Path;

use anyhow::Result;
use writebench_model::{Case, Environment, Reserve, Row, RunRecord, RunStatus, Settings, TargetRecord, Verify};
use writebench_runner::Hardware;
use writebench_store::{RunSummary, Store};

use crate::arguments::{MeasuringArguments, RunCommand};
use crate::exit::{self, Exit};
use crate::output::Output;
use crate::output_file::Kept;
use crate::session::copied::Copied;
use crate::session::dry_run::DryRun;
use crate::session::measure::{self, Job, is_search, stop_on_signals};
use crate::session::place::{Claimed, Place};
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
    let measuring = &command.measuring;
    if command.resume.is_some() {
        return resume(command, db, output);
    }
    let copied = Copied::of(command)?;
    let exports = measuring.exports.find(kept(copied.as_ref(), db))?;
    let on_stderr = output.with_results_on_stderr();
    let output = if copied.as_ref().is_some_and(Copied::takes_stdout) { &on_stderr } else { output };
    let places = Place::find_all(command, copied.as_ref())?;
    let targets: Vec<TargetRecord> = places.iter().map(Place::record).collect();
    let selection = &command.selection;
    let (methods, block_bytes) = (writebench_engine::method_infos(), largest_block(&targets));
    let selected = selection::rows(selection, command.cold, &methods, copied.as_ref(), block_bytes)?;
    for note in &selected.notes {
        output.note(note);
    }
    let first_looks = if selection.is_empty() && copied.is_none() { 1 } else { 0 };
    let settings = Settings {
        copy_from: copied.as_ref().map(Copied::source_path),
        copy_to: copied.as_ref().and_then(Copied::copy_path),
        ..settings(measuring, first_looks, selected.samples)
    };
    let run = new_run(measuring, settings, selected.rows.as_slice(), targets);
    let cases = selection::different_cases(&run.cases)?;
    if measuring.dry_run {
        return dry_run(&run, &cases, &places, (measuring, copied.as_ref()), output);
    }
    let places = check_and_claim(places, &run.targets, &cases, copied.as_ref(), command, output)?;
    let mut store = database::open(db)?;
    let number = store.begin_run(&run)?;
    let job = Job {
        copied,
        limits_for: if measuring.no_limits { Vec::new() } else { cases.clone() },
        properties: run.is_side_by_side() && !measuring.no_properties,
        patience: measuring.timeout,
        ..Job::new(&store, number, run, (places, measuring.reserve), cases)
    };
    measure::measure(job, &exports, output, &stop_on_signals()?)
}

/// Files that no export may replace: the database, the file that is copied, and its copy.
fn kept(copied: Option<&Copied>, db: Option<&Path>) -> Kept {
    copied.into_iter().fold(Kept::database(db), |kept, copied| copied.keep(kept))
}

/// A run that has not begun.
pub fn new_run(
    measuring: &MeasuringArguments,
    settings: Settings,
    rows: &[Row],
    targets: Vec<TargetRecord>,
) -> RunRecord {
    RunRecord {
        id: uuid::Uuid::new_v4().simple().to_string(),
        label: measuring.label.as_ref().map(ToString::to_string),
        status: RunStatus::Running,
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        version: VERSION.to_owned(),
        arguments: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        settings,
        cases: selection::records(rows, &targets),
        targets,
        missing: Vec::new(),
    }
}

/// What was asked for. So many first looks have a budget of their own.
pub fn settings(measuring: &MeasuringArguments, first_looks: u64, samples: u32) -> Settings {
    let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let first_look_budget_ns = (first_looks > 0).then_some(FIRST_LOOK_BUDGET_NS * first_looks);
    Settings {
        samples: measuring.samples.unwrap_or(samples),
        precision_ppm: measuring.precision,
        budget_ns: measuring.budget.map(nanoseconds).or(first_look_budget_ns),
        max_bytes: measuring.max_bytes.map(|bytes| bytes.0),
        // Within 53 bits, so that every reader of JSON gets it whole.
        seed: measuring.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0 >> 11),
        verify: measuring.verify,
        timeout_ns: measuring.timeout.map(nanoseconds),
        copy_from: None,
        copy_to: None,
    }
}

/// Of the runs that can go on.
fn newest_unfinished(store: &Store) -> Result<Option<i64>> {
    let unfinished = |run: &&RunSummary| run.status != RunStatus::Complete.name() && !run.imported;
    for summary in store.runs()?.iter().rev().filter(unfinished) {
        let run = store.run(summary.number)?;
        if !is_search(&run) && !run.has_made_filesystems() {
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
    if run.has_made_filesystems() {
        return Err(exit::usage(format!(
            "run {number} made its filesystems itself, and they are gone with it; start it again"
        )));
    }
    if store.is_imported(number)? {
        return Err(exit::usage(format!(
            "run {number} was imported: what a document says about files and targets is not followed; start a run of \
             your own"
        )));
    }
    if !store.hold_run(number)? {
        return Err(exit::usage(format!("run {number} is still under way")));
    }
    let limit = command.measuring.timeout;
    let copied = Copied::of_run(&run, command)?;
    let exports = command.measuring.exports.find(kept(copied.as_ref(), db))?;
    let find =
        |target: &TargetRecord| Place::find_again(Path::new(&target.path), command.destroy.as_deref(), limit);
    let places = run.targets.iter().map(find).collect::<Result<Vec<Place>>>()?;
    let now: Vec<TargetRecord> = places.iter().map(Place::record).collect();
    let is_as_before = |(now, then): (&TargetRecord, &TargetRecord)| {
        lasting_facts(&now.environment) == lasting_facts(&then.environment)
    };
    if !now.iter().zip(&run.targets).all(is_as_before) || run.version != VERSION {
        return Err(exit::usage(format!(
            "run {number} was made by another writebench, or on another kernel, filesystem, mount or device; \
             its samples cannot be mixed with new ones"
        )));
    }
    // Numbers of devices change when a machine starts.
    let targets = now.iter().map(|target| measure::planned_target(target, command.measuring.reserve)).collect();
    let given = settings(&command.measuring, 0, run.settings.samples);
    run.settings.budget_ns = given.budget_ns;
    run.settings.timeout_ns = given.timeout_ns.or(run.settings.timeout_ns);
    run.settings.max_bytes = given.max_bytes.or(run.settings.max_bytes);
    let cases = selection::different_cases(&run.cases)?;
    if let (Some(copied), Some(case)) = (&copied, cases.iter().find(|case| case.method().copies()))
        && (case.axes().size_bytes > copied.size_bytes()
            || (copied.copy_path().is_some() && case.axes().size_bytes < copied.size_bytes()))
    {
        return Err(exit::usage(format!("{} has changed since the run began", copied.source_path())));
    }
    let places = check_and_claim(places, &now, &cases, copied.as_ref(), command, output)?;
    store.set_status(number, RunStatus::Running)?;
    // The limits were measured when the run began, if they were wanted, and so were the properties.
    let job = Job {
        copied,
        targets,
        patience: limit,
        ..Job::new(&store, number, run, (places, command.measuring.reserve), cases)
    };
    measure::measure(job, &exports, output, &stop_on_signals()?)
}

/// What must not have changed when a run goes on.
fn lasting_facts(environment: &Environment) -> impl PartialEq + use<> {
    let filesystem = &environment.filesystem;
    (
        environment.system.clone(),
        filesystem.kind.clone(),
        filesystem.source.clone(),
        filesystem.mount_options.clone(),
        environment.device.as_ref().map(|it| (it.model.clone(), it.size_bytes, it.logical_sector_bytes)),
    )
}

/// Suites may count in blocks: what is whole blocks of the largest is whole blocks of all.
pub fn largest_block<'t>(targets: impl IntoIterator<Item = &'t TargetRecord>) -> u64 {
    targets.into_iter().map(|target| target.environment.filesystem.block_size_bytes).max().unwrap_or(1)
}

fn check_and_claim(
    places: Vec<Place>,
    targets: &[TargetRecord],
    cases: &[Case],
    copied: Option<&Copied>,
    command: &RunCommand,
    output: &Output,
) -> Result<Vec<Claimed>> {
    for (index, (place, target)) in places.iter().zip(targets).enumerate() {
        let others: Vec<&Place> =
            places.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other).collect();
        check_limits(place, &target.environment, cases, (copied, command.measuring.reserve), &others)?;
    }
    places.into_iter().map(|place| place.claim(command.destroy_data, output)).collect()
}

/// Whether the target, the device and the memory are enough for the cases. On others that share its filesystem, files
/// to be copied stand at the same time.
pub fn check_limits(
    place: &Place,
    environment: &Environment,
    cases: &[Case],
    (copied, reserve): (Option<&Copied>, Reserve),
    others: &[&Place],
) -> Result<()> {
    let own = cases.iter().filter(|case| case.method().copies()).map(|case| case.axes().size_bytes).max();
    let sharing = others.iter().filter(|other| other.shares_filesystem_with(place)).count() as u64;
    let beside_bytes = match copied {
        Some(copied) => copied.copy_bytes(),
        None => own.unwrap_or(0).saturating_mul(sharing + 1),
    };
    if place.is_device() {
        writebench_runner::check_device(place.path(), environment.filesystem.total_bytes, cases)?;
    } else if let Some(space) = place.space() {
        writebench_runner::check_space(place.path(), &space, cases, beside_bytes, reserve)?;
    }
    writebench_runner::check_sectors(environment, cases)?;
    writebench_runner::check_memory(environment, cases, beside_bytes)?;
    Ok(())
}

/// What would be run, in the order of the tables.
fn dry_run(
    run: &RunRecord,
    cases: &[Case],
    places: &[Place],
    (measuring, copied): (&MeasuringArguments, Option<&Copied>),
    output: &Output,
) -> Result<Exit> {
    let spaces: Vec<_> = places.iter().map(Place::space).collect();
    let for_limits = Hardware::of(cases, &run.settings, &spaces)?.bytes();
    let dry_run = DryRun {
        cases,
        copied: run.settings.copy_from.is_some(),
        copy_bytes: copied.map_or(0, Copied::copy_bytes),
        samples: run.settings.samples,
        targets: places.iter().map(|place| place.path().display().to_string()).collect(),
        image_bytes: 0,
        limit_bytes: if measuring.no_limits { 0 } else { for_limits },
        properties: run.is_side_by_side() && !measuring.no_properties,
        is_read_back: run.settings.verify != Verify::Never,
    };
    output.results(&dry_run.text())?;
    Ok(Exit::Ok)
}
