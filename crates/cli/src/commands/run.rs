use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use writebench_model::{
    Bytes, Case, Environment, RunEvent, RunRecord, Selection, Settings, TargetRecord,
    path_from_text,
};
use writebench_store::Store;

use crate::arguments::{HOW_CAREFUL, WHAT};
use crate::database;
use crate::exit::{Exit, usage};
use crate::file_copy::{CopyArguments, FileCopy, Redirected};
use crate::gate::GateArguments;
use crate::global::Global;
use crate::output::Output;
use crate::programs::ProgramArguments;
use crate::require::RequireArguments;
use crate::selection::{self, SelectionArguments};
use crate::session::{
    Cost, DestroyArguments, GoalsOfSize, MeasuringArguments, Plan, Request, ScheduledCases, Target,
    VERSION, are_in_memory, check_and_claim, count_goals, free_disk_bytes,
};

/// Measure methods of writing. Without a suite or case, find the fastest method for five goals in under a minute
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
    #[command(flatten)]
    pub require: RequireArguments,
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
        conflicts_with_all = ["goals", "suite", "case", "size", "record", "set", "data", "cold", "samples", "precision", "seed",
            "fail_if_slower", "require", "verify", "label", "dry_run", "target", "scaling"])]
    pub resume: Option<Option<i64>>,
    /// Measure with 1, 2, 4 ... and all ranks of mpirun or srun
    #[arg(long, help_heading = WHAT)]
    pub scaling: bool,
    /// Write more than 64 GiB, or a quarter of a disk's free space, without asking
    #[arg(long, short, help_heading = HOW_CAREFUL)]
    pub yes: bool,
}

const RUN_EXAMPLES: &str = "Examples:
  writebench run /data                                       the five most common goals
  writebench run /data --for copy,durable-copy               two goals
  writebench run /data --suite write,parallel --size 4GiB    two suites, 4 GiB
  writebench run --case write,chunk=64KiB --case mmap        two cases, here
  writebench run --case write --command './mine {file}'      your own program
  writebench run --command base='./old {file}' --command head='./new {file}' --fail-if-slower 5%
  writebench run /data /scratch --suite buffer               two directories
  writebench run /data --suite mmap --dry-run                bytes to be written
  writebench run --suite copy <X >Y                          how to copy X to Y
  writebench run /data --suite durable --record 512          durable records
  writebench run /dev/sdX --suite direct --destroy /dev/sdX  destroys sdX";

/// The time of a run of goals.
pub(super) const GOALS_BUDGET: Duration = Duration::from_secs(45);

impl RunCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        match self.resume {
            Some(number) => self.resume(number, global),
            None => self.begin(global),
        }
    }

    fn begin(&self, global: &Global) -> Result<Exit> {
        self.check_ranks(global.ranks())?;
        let copied = self.find_copy(&global.output)?;
        let exports = self
            .measuring
            .exports
            .find(FileCopy::protected(copied.as_ref(), global.db.as_deref())?)?;
        self.request(copied, global)?.measure(&exports, global)
    }

    /// Finds the targets and the cases that the arguments ask for.
    fn request(&self, copied: Option<FileCopy>, global: &Global) -> Result<Request> {
        let output = &global.output;
        if copied.as_ref().is_some_and(FileCopy::takes_stdout) {
            output.print_results_on_stderr();
        }
        let targets = self.find_targets(copied.as_ref())?;
        let records: Vec<TargetRecord> = targets.iter().map(Target::record).collect();
        let answers_goals = self.answers_goals(copied.as_ref());
        ensure!(
            answers_goals || self.selection.goals.is_empty(),
            usage!(
                "--for chooses the methods itself. Leave it out, or leave out --command and --from"
            )
        );
        let selected = self.selected(copied.as_ref(), &records, global)?;
        selected.notes.iter().for_each(|note| output.note(note));
        let copied =
            copied.map(|copied| copied.for_cases(selected.rows.iter().map(|row| &row.case)));
        let holes = copied.as_ref().and_then(FileCopy::note_on_holes);
        holes.iter().for_each(|note| output.note(note));
        let settings = self.settings(copied.as_ref(), answers_goals, selected.samples)?;
        // The limits would take a tenth of the time of a first answer, and change none.
        let measures_limits = !answers_goals
            && settings.requirements.is_empty()
            && self.measuring.measures_limits(settings.budget_ns);
        Ok(Request {
            targets,
            largest: self.adaptive_size(&selected, &settings, copied.as_ref()),
            rows: selected.rows,
            candidates: selected.candidates,
            settings,
            label: self.measuring.label.clone(),
            copied,
            measures_limits,
            timeout: self.measuring.timeout,
            destroy_data: self.device.destroy_data,
            yes: self.yes,
            dry_run: self.measuring.dry_run,
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
        samples: Option<u32>,
    ) -> Result<Settings> {
        let has_requirements = !self.require.require.is_empty();
        let budget = (answers_goals || has_requirements).then_some(GOALS_BUDGET);
        let mut settings = self.measuring.settings(budget, samples);
        copied
            .iter()
            .for_each(|copied| copied.record(&mut settings));
        self.programs.record(&mut settings)?;
        settings.constraints.clone_from(&self.selection.constraints);
        settings.fail_if_slower_ppm = self.gate.fail_if_slower;
        settings.requirements.clone_from(&self.require.require);
        Ok(settings)
    }

    /// The size of the selected cases, if the budget may choose a smaller one. Programs, copies, gates and limits have their
    /// own.
    fn adaptive_size(
        &self,
        selected: &Selection,
        settings: &Settings,
        copied: Option<&FileCopy>,
    ) -> Option<u64> {
        let is_own = copied.is_some()
            || !self.programs.is_empty()
            || self.gate.fail_if_slower.is_some()
            || !settings.requirements.is_empty();
        let may_shrink = settings.budget_ns.is_some() && !is_own;
        self.selection
            .adaptive_size(&selected.rows)
            .filter(|_| may_shrink)
    }

    fn selected(
        &self,
        copied: Option<&FileCopy>,
        targets: &[TargetRecord],
        global: &Global,
    ) -> Result<Selection> {
        let programs = &self.programs;
        let answered = self.selection.with_answers(copied.is_some(), global)?;
        let mut selection = answered.for_targets(targets);
        // Files without checksums are another goal, which nobody asked about.
        selection.with_and_without_checksums &= self.require.require.is_empty();
        let selection = &selection;
        let only_programs = selection.is_empty() && !programs.is_empty();
        let mut selected = if only_programs {
            Selection::default()
        } else {
            let ranks = self.ranks(global.ranks());
            selection::rows_for_targets(selection, self.cold, copied, targets, &ranks)?
        };
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
            let named = self.selection.case.iter().position(|case| case == baseline);
            let baseline = named.map_or(baseline, |place| &answered.case[place]);
            selection::move_baseline_first(&mut selected.rows, baseline, selection, self.cold)?;
        }
        self.gate.check(&selected.rows)?;
        self.require.check(&selected.rows)?;
        Ok(selected)
    }

    /// The numbers of ranks for cases that name none. Empty in a run of one rank.
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
        let destroy = self.device.destroy.as_deref();
        let measuring = &self.measuring;
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
        let output = &global.output;
        let timeout = self.measuring.timeout;
        let mut store = database::open(global.db.as_deref())?;
        let none = || usage!("there is no unfinished run to resume. `writebench runs` lists all");
        let number = number.map_or_else(|| newest_to_resume(&store)?.ok_or_else(none), Ok)?;
        let mut run = store.run(number)?;
        if let Some(why) = obstacle_to_resuming(&store, number, &run)? {
            return Err(usage!("run {number} {why}"));
        }
        self.programs.check_again(&run.settings)?;
        let copied = self.copying.find_again(&run.settings, timeout)?;
        let exports = self
            .measuring
            .exports
            .find(FileCopy::protected(copied.as_ref(), global.db.as_deref())?)?;
        let targets = self.find_targets_again(number, &run)?;
        let cases = selection::different_cases(&run.cases, global.ranks())?;
        check_source_again(copied.as_ref(), &cases)?;
        let copied = copied.map(|copied| copied.for_cases(&cases));

        let answers_goals = run.cases.iter().all(|row| row.origin.is_of_goal());
        let settings = self.settings_of_rest(&run, answers_goals);
        let copy_bytes = copied.as_ref().map(FileCopy::copy_bytes);
        let free = free_disk_bytes(&targets);
        let targets = check_and_claim(
            targets,
            &cases,
            copy_bytes,
            self.device.destroy_data,
            output,
        )?;
        if let Some(rest) = settings_of_missing_samples(&settings, &run) {
            let goals = answers_goals.then(|| count_goals(&selection::rows_of_run(&run)));
            let cost = cost_of_rest(&run, &cases, &rest, copy_bytes, goals);
            let limited = settings.max_bytes.and(run.written_bytes);
            cost.check_max_bytes(limited.unwrap_or(0))?;
            cost.ask(self.yes, free)?;
            output.note(&format!("Resuming run {number}, at most {}", cost.line()?));
        }
        continue_on_ranks(&store, number, &mut run, global)?;
        let scheduled = if answers_goals {
            let rest = GoalsOfSize {
                rows: selection::rows_of_run(&run),
                candidates: Vec::new(),
            };
            ScheduledCases::for_goals(&[rest], &settings, &mut run, &cases)
        } else {
            ScheduledCases::in_rounds(cases, &run)
        };
        let scheduled = scheduled.until_judged(&selection::rows_of_run(&run), &settings, &run);
        let plan = Plan {
            scheduled,
            run,
            resumed: Some(number),
            settings,
            targets,
            copied,
            // The first part of the run has measured the limits.
            limits_for: Vec::new(),
            bytes_before: 0,
            timeout,
            notes: Vec::new(),
        };
        plan.execute(&mut store, &exports, global)
    }

    /// # Errors
    /// New samples would not be comparable with those of the run.
    fn find_targets_again(&self, number: i64, run: &RunRecord) -> Result<Vec<Target>> {
        let destroy = self.device.destroy.as_deref();
        let measuring = &self.measuring;
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

    /// The run's settings, with the limits of this command. Goals get the time that a new run of them would have.
    fn settings_of_rest(&self, run: &RunRecord, answers_goals: bool) -> Settings {
        let has_requirements = !run.settings.requirements.is_empty();
        let budget = (answers_goals || has_requirements).then_some(GOALS_BUDGET);
        let given = self.measuring.settings(budget, Some(run.settings.samples));
        Settings {
            budget_ns: given.budget_ns,
            timeout_ns: given.timeout_ns.or(run.settings.timeout_ns),
            max_bytes: given.max_bytes.or(run.settings.max_bytes),
            ..run.settings.clone()
        }
    }
}

/// The settings with the number of samples that the case with the fewest lacks. None if it has all.
fn settings_of_missing_samples(settings: &Settings, run: &RunRecord) -> Option<Settings> {
    let fewest = run.cases.iter().map(|row| row.samples.len()).min();
    let taken = u32::try_from(fewest.unwrap_or(0)).unwrap_or(u32::MAX);
    let samples = run.settings.samples.saturating_sub(taken);
    (samples > 0).then(|| Settings {
        samples,
        ..settings.clone()
    })
}

fn cost_of_rest<'r>(
    run: &RunRecord,
    cases: &'r [Case],
    settings: &'r Settings,
    copy_bytes: Option<u64>,
    goals: Option<usize>,
) -> Cost<'r> {
    let spaces = run.targets.iter().map(|target| (target.name.clone(), None));
    Cost {
        cases,
        settings,
        spaces: spaces.collect(),
        copy_bytes,
        image_bytes: 0,
        may_shrink: false,
        measures_limits: false,
        is_in_memory: are_in_memory(run.targets.iter().map(|target| &target.environment)),
        goals,
    }
}

fn check_source_again(copied: Option<&FileCopy>, cases: &[Case]) -> Result<()> {
    let copy = cases.iter().find(|case| case.method().copies());
    let Some((copied, case)) = copied.zip(copy) else {
        return Ok(());
    };
    let path = copied.source.path.display();
    ensure!(
        copied.check_size(Bytes(case.given().size_bytes)).is_ok(),
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

/// Why the run cannot be continued. If it can, it is locked for this process.
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
