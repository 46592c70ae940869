//! `writebench run`: arguments → cases → runner → database → report.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use model::{Bytes, Case, Environment, RunRecord, RunStatus, Settings, TargetRecord};
use report::counted;
use runner::{EachCase, Hardware};
use store::Store;

use crate::arguments::RunCommand;
use crate::copied::Copied;
use crate::exit::{self, Exit};
use crate::measure::{self, Job, is_search};
use crate::output::Output;
use crate::place::{Claimed, Place};
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
    let places = Place::find_all(command, copied.as_ref())?;
    let targets = places.iter().map(Place::record).collect::<Result<Vec<TargetRecord>>>()?;
    let block_size_bytes = largest_block(&targets);
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
        settings: settings(command, copied.as_ref(), selected.samples),
        cases: selection::records(&selected.rows, &targets),
        targets,
        missing: Vec::new(),
    };
    let cases = selection::different_cases(&run.cases, &engine::method_infos())?;
    if command.dry_run {
        return dry_run(&run, &cases, &places, !command.no_limits, output);
    }
    let places = check_and_claim(places, &run.targets, &cases, copied.as_ref(), command.destroy_data, output)?;
    let mut store = database::open(db)?;
    let number = store.begin_run(&run)?;
    let device_numbers = device_numbers(run.targets.iter().map(|target| &target.environment));
    let schedule = Box::new(EachCase::of(&run.settings));
    let (later, limits_for) = (HashMap::new(), if command.no_limits { Vec::new() } else { cases.clone() });
    let job =
        Job { store: &store, number, run, places, copied, cases, schedule, later, device_numbers, limits_for };
    measure::measure(job, &command.export, output)
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
    let find = |target: &TargetRecord| Place::find_again(Path::new(&target.path), command.destroy.as_deref());
    let places = run.targets.iter().map(find).collect::<Result<Vec<Place>>>()?;
    let now = places.iter().map(Place::record).collect::<Result<Vec<TargetRecord>>>()?;
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
    let device_numbers = device_numbers(now.iter().map(|target| &target.environment));
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
    let places = check_and_claim(places, &now, &cases, copied.as_ref(), command.destroy_data, output)?;
    store.set_status(number, RunStatus::Running)?;
    let schedule = Box::new(EachCase::of(&run.settings));
    // The limits were measured when the run began, if they were wanted.
    let (later, limits_for) = (HashMap::new(), Vec::new());
    let job =
        Job { store: &store, number, run, places, copied, cases, schedule, later, device_numbers, limits_for };
    measure::measure(job, &command.export, output)
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
pub fn largest_block(targets: &[TargetRecord]) -> u64 {
    targets.iter().map(|target| target.environment.filesystem.block_size_bytes).max().unwrap_or(1)
}

/// For each target the device whose written sectors are counted.
pub fn device_numbers<'e>(environments: impl Iterator<Item = &'e Environment>) -> Vec<Option<String>> {
    environments.map(|it| it.device.as_ref().map(|device| device.number.clone())).collect()
}

fn check_and_claim(
    places: Vec<Place>,
    targets: &[TargetRecord],
    cases: &[Case],
    copied: Option<&Copied>,
    destroy_data: bool,
    output: &Output,
) -> Result<Vec<Claimed>> {
    for (place, target) in places.iter().zip(targets) {
        check_limits(place, &target.environment, cases, copied)?;
    }
    places.into_iter().map(|place| place.claim(destroy_data, output)).collect()
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
fn dry_run(run: &RunRecord, cases: &[Case], places: &[Place], limits: bool, output: &Output) -> Result<Exit> {
    let round: u64 = cases.iter().map(Case::bytes_written).sum::<u64>() * places.len() as u64;
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
        places.iter().map(|place| place.path().display().to_string()).collect::<Vec<_>>().join(" and "),
        Bytes(round.saturating_mul(u64::from(samples))).approximate(),
        Bytes(round).approximate(),
        Bytes(most_at_once).approximate(),
    );
    text += "Disturbed samples are taken again, up to as many more.\n";
    let directories: Vec<_> = places.iter().map(Place::directory).collect();
    let for_limits = Hardware::of(cases, &run.settings, &directories)?.bytes();
    if limits && for_limits > 0 {
        let bytes = Bytes(for_limits).approximate();
        text += &format!("Up to {bytes} more show what the device can do at most, without --no-limits.\n");
    }
    output.results(&text)?;
    Ok(Exit::Ok)
}
