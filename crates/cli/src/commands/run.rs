use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use writebench_model::{
    Bytes, Case, Environment, RunEvent, RunRecord, RunStatus, SelectedCase, Settings, TargetRecord,
    path_from_text, path_text,
};
use writebench_stats::distinct;
use writebench_store::Store;

use crate::arguments::{HOW_CAREFUL, WHAT};
use crate::database;
use crate::exit::{Exit, usage};
use crate::file_copy::{CopyArguments, FileCopy, Redirected};
use crate::gate::GateArguments;
use crate::global::Global;
use crate::output::Output;
use crate::programs::ProgramArguments;
use crate::selection::{self, SAMPLES, Selection, SelectionArguments};
use crate::session::{
    Cost, DestroyArguments, MeasuringArguments, ScheduledCases, Session, Target, VERSION,
    Workspaces, check_and_claim, count_goals, keep_different_work, largest_block, least_free_bytes,
    leave_out_unfit, most_unasked_bytes, new_run, resized, size_of_goals, smallest_cases,
};

/// Measure methods of writing. Without a suite or case, find the fastest method for each goal in under a minute
#[derive(Args, Default)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunCommand {
    /// Directory to write to, or with --destroy a block device. Your files there are never changed. Several
    /// directories are measured in the same rounds, and compared with the first [default: the current directory]
    #[arg(value_name = "TARGET", value_hint = ValueHint::AnyPath)]
    pub target: Vec<PathBuf>,
    #[command(flatten)]
    pub selection: SelectionArguments,
    #[command(flatten)]
    pub programs: ProgramArguments,
    #[command(flatten)]
    pub copying: CopyArguments,
    #[command(flatten)]
    pub gate: GateArguments,
    /// Evict the source of a copy from the page cache before every sample (axis `origin`)
    #[arg(long, help_heading = WHAT)]
    pub cold: bool,
    #[command(flatten)]
    pub device: DestroyArguments,
    #[command(flatten)]
    pub measuring: MeasuringArguments,
    /// Continue the newest unfinished run, or the one with this number
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, help_heading = WHAT,
        value_parser = clap::value_parser!(i64).range(1..),
        conflicts_with_all = ["suite", "case", "size", "record", "set", "data", "cold", "samples", "precision", "seed",
            "fail_if_slower", "verify", "label", "dry_run", "target", "scaling"])]
    pub resume: Option<Option<i64>>,
    /// Measure with 1, 2, 4 ... and all ranks of mpirun or srun
    #[arg(long, help_heading = WHAT)]
    pub scaling: bool,
    /// Write more than 64 GiB, or a quarter of a disk's free space, without asking
    #[arg(long, short, help_heading = HOW_CAREFUL)]
    pub yes: bool,
    /// Called by `advise`, which fails without an answer.
    #[arg(skip)]
    pub advises: bool,
}

const RUN_EXAMPLES: &str = "Examples:
  writebench run /data                                       each goal
  writebench run /data --suite write,parallel --size 4GiB    two suites, 4 GiB
  writebench run --case write,chunk=64KiB --case mmap        two cases, here
  writebench run --case write --command './mine {file}'      your own program
  writebench run --command base='./old {file}' --command head='./new {file}' --fail-if-slower 5%
  writebench run /data /scratch --suite buffer               two directories
  writebench run /data --suite mmap --dry-run                bytes to be written
  writebench run --suite copy <X >Y                          how to copy X to Y
  writebench run /data --suite durable --record 512          durable records
  writebench run /dev/sdX --suite direct --destroy /dev/sdX  destroys sdX";

/// Limits of a run of all goals.
const GOALS_BUDGET: Duration = Duration::from_secs(45);
const GOALS_MAX_BYTES: u64 = 20 << 30;
/// Pays for a goal on a nearly full disk, whose files are removed after each sample.
const LEAST_GOALS_BYTES: u64 = 1 << 30;

impl RunCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        if let Some(number) = self.resume {
            return self.resume(number, global);
        }
        self.check_ranks(global.ranks())?;
        let (measuring, db, output) = (&self.measuring, global.db.as_deref(), &global.output);
        let copied = self.find_copy(output)?;
        let exports = measuring
            .exports
            .find(FileCopy::protected(copied.as_ref(), db)?)?;
        copied
            .iter()
            .filter_map(FileCopy::holes)
            .for_each(|note| output.note(&note));
        if copied.as_ref().is_some_and(FileCopy::takes_stdout) {
            output.print_results_on_stderr();
        }
        let targets = self.find_targets(copied.as_ref())?;
        let records: Vec<TargetRecord> = targets.iter().map(Target::record).collect();
        let nothing_durable = nothing_durable(&records);
        let answers_goals = self.answers_goals(copied.as_ref());

        let mut selected = self.selected(copied.as_ref(), &records, global.ranks())?;
        selected.notes.iter().for_each(|note| output.note(note));
        let mut settings = self.settings(copied.as_ref(), answers_goals, selected.samples)?;
        let sized = self.adaptive_size(&selected, &settings, copied.as_ref());
        let free = free_disk_bytes(&targets);
        if answers_goals {
            let notes = fit_goals(&mut selected.rows, &targets, sized, settings.budget_ns)?;
            notes.iter().for_each(|note| output.note(note));
            if sized.is_some() && settings.max_bytes.is_none() {
                settings.max_bytes = Some(
                    GOALS_MAX_BYTES
                        .min(most_unasked_bytes(free))
                        .max(LEAST_GOALS_BYTES),
                );
            }
        }
        let mut run = new_run(
            global,
            measuring.label.clone(),
            settings,
            &selected.rows,
            records,
        );
        let cases = selection::different_cases(&run.cases, global.ranks())?;
        // The budget of a suite chooses the size during the run.
        let largest = sized.filter(|_| !answers_goals);
        let plan = match answers_goals {
            true => ScheduledCases::for_goals(&selected.rows, &run, &cases),
            false => {
                // Without --yes, an adaptive size needs no consent.
                let unasked = (!self.yes).then(|| most_unasked_bytes(free));
                ScheduledCases::for_run(&selected.rows, largest, &mut run, &cases, unasked)?
            }
        };

        let copy_bytes = copied.as_ref().map(FileCopy::copy_bytes);
        // The limits would take a tenth of the time of a first answer, and change none.
        let limits = measuring.measures_limits(run.settings.budget_ns) && !answers_goals;
        let cost = Cost {
            cases: &cases,
            settings: &run.settings,
            spaces: targets
                .iter()
                .map(|target| (path_text(target.path()), target.space()))
                .collect(),
            copy_bytes,
            image_bytes: 0,
            is_sized: largest.is_some(),
            limits,
            goals: (answers_goals && plan.is_timed).then(|| count_goals(&selected.rows)),
        };
        let smallest = largest.map(|largest| smallest_cases(&selected.rows, largest));
        let least = Cost {
            cases: smallest.as_ref().unwrap_or(&cases),
            ..cost.clone()
        };
        least.check_max_bytes(0)?;
        if measuring.dry_run {
            output.results(&cost.dry_run()?)?;
            targets
                .iter()
                .try_for_each(|target| target.check_claim(self.device.destroy_data))?;
            let check = |target: &Target| target.check(&cases, copy_bytes, &targets);
            output.note_refusal(targets.iter().try_for_each(check));
            return Ok(Exit::Ok);
        }
        let targets = check_and_claim(
            targets,
            &cases,
            copy_bytes,
            self.device.destroy_data,
            output,
        )?;
        least.ask(self.yes, free)?;
        let line = cost.line()?;
        let mut store = database::open(db)?;
        let number = store.begin_run(&run)?;
        nothing_durable
            .iter()
            .filter(|_| answers_goals)
            .for_each(|note| output.note(note));
        output.note(&line);
        let workspaces = Workspaces {
            store: &store,
            run: number,
            targets,
            limit: measuring.timeout,
            global,
        };
        let settings = run.settings.clone();
        let limits_for = if limits { cases } else { Vec::new() };
        let exit =
            Session::new(workspaces, run, settings, plan, copied, limits_for).measure(&exports)?;
        Ok(if exit == Exit::NoAnswer && !self.advises {
            Exit::Ok
        } else {
            exit
        })
    }

    fn check_ranks(&self, ranks: u32) -> Result<()> {
        ensure!(
            !self.scaling || ranks > 1,
            usage!("--scaling needs several ranks. Start writebench by mpirun -n 4, or srun -n 4")
        );
        if let Some(device) = self
            .device
            .destroy
            .as_deref()
            .filter(|_| ranks > 1)
            .map(Path::display)
        {
            return Err(usage!(
                "--destroy {device}: a device belongs to one node. Start writebench without mpirun or srun"
            ));
        }
        Ok(())
    }

    /// Whether nothing selects cases, so that the run finds the fastest method for each goal.
    fn answers_goals(&self, copied: Option<&FileCopy>) -> bool {
        self.selection.is_empty() && self.programs.is_empty() && copied.is_none()
    }

    fn settings(
        &self,
        copied: Option<&FileCopy>,
        answers_goals: bool,
        samples: u32,
    ) -> Result<Settings> {
        let budget = answers_goals.then_some(GOALS_BUDGET);
        let mut settings = self.measuring.settings(budget, samples);
        copied
            .iter()
            .for_each(|copied| copied.record(&mut settings));
        self.programs.record(&mut settings)?;
        settings.constraints.clone_from(&self.selection.constraints);
        settings.fail_if_slower_ppm = self.gate.fail_if_slower;
        Ok(settings)
    }

    /// The size of the selected cases, if the budget may choose a smaller one. Programs, copies and gates have their own.
    fn adaptive_size(
        &self,
        selected: &Selection,
        settings: &Settings,
        copied: Option<&FileCopy>,
    ) -> Option<u64> {
        let is_own =
            copied.is_some() || !self.programs.is_empty() || self.gate.fail_if_slower.is_some();
        let may_shrink = settings.budget_ns.is_some() && !is_own;
        self.selection
            .adaptive_size(&selected.rows)
            .filter(|_| may_shrink)
    }

    fn selected(
        &self,
        copied: Option<&FileCopy>,
        targets: &[TargetRecord],
        ranks: u32,
    ) -> Result<Selection> {
        let (selection, programs) = (&self.selection.for_targets(targets), &self.programs);
        let only_programs = selection.is_empty() && !programs.is_empty();
        let mut selected = match only_programs {
            true => Selection {
                rows: Vec::new(),
                notes: Vec::new(),
                samples: SAMPLES,
            },
            false => selection::rows(
                selection,
                self.cold,
                copied,
                largest_block(targets),
                &self.ranks(ranks),
            )?,
        };
        selection::leave_out_undurable(&mut selected, targets);
        if !programs.is_empty() {
            // Rows with command lines have labels, so the rows of cases need one.
            for row in &mut selected.rows {
                row.label = row.label.take().or_else(|| Some(row.case.words()));
            }
        }
        selected
            .rows
            .extend(programs.rows(&selected.rows, &selection.size)?);
        if let Some(baseline) = &self.gate.baseline {
            selection::move_baseline_first(&mut selected.rows, baseline, selection, self.cold)?;
        }
        self.gate.check(&selected.rows)?;
        Ok(selected)
    }

    /// For cases that name no number of ranks. Empty in a run of one rank.
    fn ranks(&self, all: u32) -> Vec<u32> {
        let doubled = std::iter::successors(Some(1u32), |ranks| ranks.checked_mul(2));
        let fewer = doubled.take_while(|&ranks| self.scaling && ranks < all);
        fewer.chain((all > 1).then_some(all)).collect()
    }

    /// The user's source, by name or as `<X >Y`.
    fn find_copy(&self, output: &Output) -> Result<Option<FileCopy>> {
        let limit = self.measuring.timeout;
        let named = self.copying.find(limit)?;
        if named.is_some() || !self.selection.copies_only() {
            return Ok(named);
        }
        match FileCopy::redirected(limit)? {
            Redirected::Copy(copied) => {
                ensure!(
                    self.target.is_empty(),
                    usage!(
                        "with <X >Y the target is the directory of Y. Leave out TARGET, or redirect the input (</dev/null)"
                    )
                );
                Ok(Some(copied))
            }
            Redirected::Input(path) => {
                let path = path.display();
                output.note(&format!(
                    "Standard input is {path}, but standard output is no file, so nothing is copied. To measure with that \
                     file: --from {path}"
                ));
                Ok(None)
            }
            Redirected::Neither => Ok(None),
        }
    }

    fn find_targets(&self, copied: Option<&FileCopy>) -> Result<Vec<Target>> {
        let (destroy, measuring) = (self.device.destroy.as_deref(), &self.measuring);
        let one = match (
            copied.and_then(FileCopy::target),
            self.target.as_slice(),
            destroy,
        ) {
            (Some(target), ..) => target,
            (None, [], _) => Path::new("."),
            (None, [target], _) => target,
            (None, targets, None) => return Target::find_different(targets, measuring),
            (None, _, Some(device)) => {
                let device = device.display();
                return Err(usage!(
                    "--destroy {device}: a device is measured alone. Give it as the only TARGET"
                ));
            }
        };
        Ok(vec![Target::find(one, destroy, measuring)?])
    }

    fn resume(&self, number: Option<i64>, global: &Global) -> Result<Exit> {
        let (measuring, output, limit) = (&self.measuring, &global.output, self.measuring.timeout);
        let store = database::open(global.db.as_deref())?;
        let none = || usage!("there is no unfinished run to resume. `writebench runs` lists all");
        let number = number.map_or_else(|| newest_to_resume(&store)?.ok_or_else(none), Ok)?;
        let mut run = store.run(number)?;
        if let Some(why) = obstacle_to_resuming(&store, number, &run)? {
            return Err(usage!("run {number} {why}"));
        }
        self.programs.check_again(&run.settings)?;
        let copied = self.copying.find_again(&run.settings, limit)?;
        let exports = measuring
            .exports
            .find(FileCopy::protected(copied.as_ref(), global.db.as_deref())?)?;
        let targets = self.find_targets_again(number, &run)?;
        let cases = selection::different_cases(&run.cases, global.ranks())?;
        check_source_again(copied.as_ref(), &cases)?;

        let settings = self.settings_of_rest(&run);
        let copy_bytes = copied.as_ref().map(FileCopy::copy_bytes);
        let free = free_disk_bytes(&targets);
        let targets = check_and_claim(
            targets,
            &cases,
            copy_bytes,
            self.device.destroy_data,
            output,
        )?;
        let least_taken = run
            .cases
            .iter()
            .map(|row| row.samples.len())
            .min()
            .unwrap_or(0);
        let samples = run
            .settings
            .samples
            .saturating_sub(u32::try_from(least_taken).unwrap_or(u32::MAX));
        if samples > 0 {
            let cost = Cost {
                cases: &cases,
                settings: &Settings {
                    samples,
                    ..settings.clone()
                },
                spaces: run
                    .targets
                    .iter()
                    .map(|target| (target.name.clone(), None))
                    .collect(),
                copy_bytes,
                image_bytes: 0,
                is_sized: false,
                limits: false,
                goals: None,
            };
            cost.check_max_bytes(
                settings
                    .max_bytes
                    .map_or(0, |_| run.written_bytes.unwrap_or(0)),
            )?;
            cost.ask(self.yes, free)?;
            output.note(&format!("Resuming run {number}, at most {}", cost.line()?));
        }
        continue_on_ranks(&store, number, &mut run, global)?;
        store.record(number, &RunEvent::Status(RunStatus::Running))?;
        let workspaces = Workspaces {
            store: &store,
            run: number,
            targets,
            limit,
            global,
        };
        // The first part of the run has measured the limits.
        let plan = ScheduledCases::in_rounds(cases, &run);
        Session::new(workspaces, run, settings, plan, copied, Vec::new()).measure(&exports)
    }

    /// # Errors
    /// New samples would not be comparable with those of the run.
    fn find_targets_again(&self, number: i64, run: &RunRecord) -> Result<Vec<Target>> {
        let (destroy, measuring) = (self.device.destroy.as_deref(), &self.measuring);
        let find =
            |target: &TargetRecord| Target::find(&path_from_text(&target.path), destroy, measuring);
        let targets = run
            .targets
            .iter()
            .map(find)
            .collect::<Result<Vec<Target>>>()?;
        let then = run
            .targets
            .iter()
            .map(|target| lasting_facts(&target.environment));
        let now = targets.iter().map(|now| lasting_facts(&now.environment));
        ensure!(
            run.version == VERSION && now.eq(then),
            usage!(
                "run {number} is from another version of writebench, kernel, filesystem, mount or device, so new samples \
                 would not be comparable. Start a new run"
            )
        );
        Ok(targets)
    }

    /// The run's settings, with the limits of this command.
    fn settings_of_rest(&self, run: &RunRecord) -> Settings {
        let given = self.measuring.settings(None, run.settings.samples);
        Settings {
            budget_ns: given.budget_ns,
            timeout_ns: given.timeout_ns.or(run.settings.timeout_ns),
            max_bytes: given.max_bytes.or(run.settings.max_bytes),
            ..run.settings.clone()
        }
    }
}

fn check_source_again(copied: Option<&FileCopy>, cases: &[Case]) -> Result<()> {
    let copy = cases.iter().find(|case| case.method().copies());
    let Some((copied, case)) = copied.zip(copy) else {
        return Ok(());
    };
    let path = copied.source.path.display();
    ensure!(
        copied.check_size(Bytes(case.axes().size_bytes)).is_ok(),
        usage!("{path} has changed since the run began. Start a new run")
    );
    Ok(())
}

/// Records the nodes of a run under MPI, which may be others than before.
fn continue_on_ranks(
    store: &Store,
    number: i64,
    run: &mut RunRecord,
    global: &Global,
) -> Result<()> {
    let Some((before, now)) = run.cluster.as_ref().zip(global.cluster()) else {
        return Ok(());
    };
    let now = now.instead_of(before);
    if now.earlier_nodes.len() > before.earlier_nodes.len() {
        global.output.note(&format!(
            "The run continues on other nodes: {now} instead of {before}"
        ));
    }
    store.record(number, &RunEvent::Cluster(now.clone()))?;
    run.cluster = Some(now);
    Ok(())
}

/// Gives the goals files of one size, and leaves out what does not fit. Returns what it left out, and why.
fn fit_goals(
    rows: &mut Vec<SelectedCase>,
    targets: &[Target],
    sized: Option<u64>,
    budget_ns: Option<u64>,
) -> Result<Vec<String>> {
    if let (Some(largest), Some(budget_ns)) = (sized, budget_ns) {
        let free = least_free_bytes(targets.iter().map(Target::space));
        let size = size_of_goals(rows, targets.len(), Duration::from_nanos(budget_ns), free);
        *rows = resized(rows, largest, size)?;
    }
    keep_different_work(rows);
    leave_out_unfit(rows, targets, sized.is_none())
}

/// Why no target makes anything durable.
fn nothing_durable(targets: &[TargetRecord]) -> Option<String> {
    let losses: Vec<String> = targets
        .iter()
        .filter_map(TargetRecord::loses_data)
        .collect();
    if losses.len() < targets.len() {
        return None;
    }
    let why = distinct(losses.iter(), |why| *why)
        .into_iter()
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    Some(format!(
        "Left out the durable goals, because nothing is durable here: {why}."
    ))
}

/// Only of disks: memory does not wear, and is free again after each sample.
fn free_disk_bytes(targets: &[Target]) -> Option<u64> {
    let is_disk = |target: &&Target| !target.record().environment.filesystem.is_in_memory();
    least_free_bytes(targets.iter().filter(is_disk).map(Target::space))
}

/// An older run, if the newest is in progress elsewhere.
fn newest_to_resume(store: &Store) -> Result<Option<i64>> {
    let unfinished = store.unfinished_runs()?;
    for &number in &unfinished {
        if !store.is_under_way_elsewhere(number)? {
            return Ok(Some(number));
        }
    }
    Ok(unfinished.first().copied())
}

/// Without an obstacle, the run is locked for this process.
fn obstacle_to_resuming(
    store: &Store,
    number: i64,
    run: &RunRecord,
) -> Result<Option<&'static str>> {
    Ok(if run.is_search() {
        Some("is a search of `advise`, which cannot be resumed. Start it again")
    } else if run.has_made_filesystems() {
        Some("made filesystems that no longer exist. Start it again")
    } else if store.is_imported(number)? {
        Some("was imported, and could name any file or target. Start your own run")
    } else if run.cases.is_empty() {
        Some("ended before its first sample. Start it again")
    } else if !store.hold_run(number)? {
        Some("is still in progress. Wait for its end")
    } else {
        None
    })
}

/// Facts that must not change before a run is resumed.
fn lasting_facts(environment: &Environment) -> impl PartialEq {
    let Environment {
        system,
        filesystem,
        device,
        ..
    } = environment;
    let device = device.as_ref().map(|device| {
        (
            &device.model,
            device.size_bytes,
            device.logical_sector_bytes,
        )
    });
    (
        system,
        &filesystem.kind,
        &filesystem.source,
        &filesystem.mount_options,
        device,
    )
}
