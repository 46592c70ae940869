mod candidate_set;
mod search;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, ValueHint, value_parser};
use writebench_model::{
    Axis, AxisValues, Bytes, Case, Durability, FileSize, Goal, Objective, Origin, Overrides,
    Reserve, Settings, Space, TargetRecord,
};
use writebench_report::{counted, quoted};
use writebench_runner::Hardware;
use writebench_stats::distinct;

use self::search::SearchPlan;
use super::run::GOALS_BUDGET;
use crate::arguments::{
    HOW_CAREFUL, HOW_LONG, WHAT, goals_or_all, named_values, positive_duration, seed,
};
use crate::constraints::{ConstraintArguments, allow_plain, constrain};
use crate::earlier_search::earlier_finalists;
use crate::exit::{Exit, usage};
use crate::export::{Export, ExportArguments};
use crate::file_copy::FileCopy;
use crate::global::Global;
use crate::output::Output;
use crate::selection::{SelectionArguments, SetValues, note_synonyms};
use crate::session::{MeasuringArguments, Plan, Request, Target, most_unasked_bytes, new_run};
use crate::{database, selection};

/// Find the fastest method for each goal, or search longer for one goal, and recommend one
#[derive(Args)]
#[command(after_help = ADVISE_EXAMPLES)]
pub(crate) struct AdviseCommand {
    /// Directory to write to. Your files there are never changed [default: the current directory]
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: Option<PathBuf>,
    /// Optimize for this goal: stream (a new file, which may still be in the page cache), durable-stream (durable at the
    /// end), overwrite and durable-overwrite (an existing file), records (each durable before the next), copy and
    /// durable-copy (a file in the page cache), files and durable-files (many small ones), replace and durable-replace (a
    /// file that no reader sees in part), pages and untorn-pages (of a database, overwritten at random, and never torn),
    /// larger-than-memory. Everyday words are log and wal (records), database and btree (pages), checkpoint
    /// (durable-stream), untar (files), save (durable-replace), cp, backup (durable-copy). Several are separated by commas,
    /// and `all` is all but the last three [default: stream, durable-stream, copy, records and durable-files]
    #[arg(long = "for", value_name = "GOAL", value_delimiter = ',', hide_possible_values = true,
        value_parser = goals_or_all(), help_heading = WHAT)]
    goals: Vec<&'static [Goal]>,
    /// Write a file of this size, or each of many files. LEAST..MOST draws their sizes [default: 64MiB, or 16MiB on
    /// a slow disk, 4MiB of records, 16KiB for each of many files, 1MiB to replace, or 1.5 times the memory for
    /// larger-than-memory]
    #[arg(long, value_name = "SIZE", help_heading = WHAT)]
    size: Option<FileSize>,
    /// Write so many files, for files and durable-files [default: 2048, or 256 durable ones]
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u64).range(1..=FileSize::MOST_FILES), help_heading = WHAT)]
    count: Option<u64>,
    /// Write records or pages of this size [default: 4KiB, or 8KiB for pages]
    #[arg(long, value_name = "SIZE", help_heading = WHAT)]
    record: Option<Bytes>,
    /// Make so many records durable together, or pages, which is a commit [default: 1, or 16 pages]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024), help_heading = WHAT)]
    group: Option<u32>,
    /// Let so many records arrive in a second. Latency counts from the arrival, and p99 is minimized
    #[arg(long, value_name = "R", value_parser = value_parser!(u32).range(1..=1_000_000), help_heading = WHAT)]
    rate: Option<u32>,
    /// Find the least time, cpu (user and system time), p99 (of the latency of records or files) or device-bytes (which
    /// reach the device) [default: time, or p99 with --rate]
    #[arg(long, value_name = "QUANTITY", value_parser = named_values(Objective::ALL, Objective::name), help_heading = WHAT)]
    minimize: Option<Objective>,
    /// Take the data from this memory: any (as malloc returns it), aligned (to a page), huge-pages (aligned, and in huge
    /// pages), or producer (your code refills one chunk)
    #[arg(long, value_name = "MEMORY", default_value = "any", default_value_if("unknown_length", "true", "producer"),
        value_parser = data_from, help_heading = WHAT)]
    data_from: (Axis, &'static str),
    /// Copy this file, with --for copy or durable-copy. It is only read [default: a file made in the target]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = WHAT)]
    from: Option<PathBuf>,
    /// Evict the source of a copy from the page cache before every sample
    #[arg(long, help_heading = WHAT)]
    cold: bool,
    /// Give every case this value, including plain write. May be repeated
    #[arg(long, value_name = "AXIS=VALUE", value_parser = selection::assignment, help_heading = WHAT)]
    set: Vec<SetValues>,
    #[command(flatten)]
    constraints: ConstraintArguments,
    /// Stop the search after this time [default: 60s, or 45s for several goals]
    #[arg(long, value_name = "TIME", value_parser = positive_duration, help_heading = HOW_LONG)]
    budget: Option<Duration>,
    /// Stop before more than this is written [default: enough for 800 samples, from 4 GiB up to 64 GiB, or more with
    /// --yes]
    #[arg(long, value_name = "BYTES", help_heading = HOW_LONG)]
    max_bytes: Option<Bytes>,
    /// Leave this share of the target's bytes and inodes free, or this size
    #[arg(long, value_name = "SHARE|SIZE", default_value_t, help_heading = HOW_CAREFUL)]
    reserve: Reserve,
    /// Derive the order and the data from this seed [default: random, and shown]
    #[arg(long, value_name = "NUMBER", value_parser = seed(), help_heading = HOW_CAREFUL)]
    seed: Option<u64>,
    /// Let the default of --max-bytes exceed 64 GiB
    #[arg(long, short, help_heading = HOW_CAREFUL)]
    yes: bool,
    /// Print the candidates and the most bytes to be written, and write nothing
    #[arg(long, help_heading = HOW_CAREFUL)]
    dry_run: bool,
    #[command(flatten)]
    exports: ExportArguments,
}

const ADVISE_EXAMPLES: &str = "Examples:
  writebench advise /data                                    the five most common goals
  writebench advise /data --for stream --size 1GiB           a file of 1 GiB
  writebench advise /data --for records --record 512         an append-only log
  writebench advise /data --for pages --record 16KiB         a database
  writebench advise /data --for files --count 10000          many files of 16 KiB
  writebench advise /data --for durable-stream --budget 20s  quick, less certain";

const SEARCH_BUDGET: Duration = Duration::from_secs(60);
/// The files on a slow disk, or if those of the default size do not fit. Smaller ones would give another answer.
const SMALLER_SIZE: Bytes = Bytes(16 << 20);

/// Set by options.
const OPTIONS: [Axis; 3] = [Axis::Size, Axis::Chunk, Axis::Ranks];

impl AdviseCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        note_synonyms(&self.set, global);
        match self.goals.concat().as_slice() {
            [goal] => self.search(*goal, global),
            goals => self.answer(goals, global),
        }
    }

    /// A first answer for several goals, or for the usual ones.
    fn answer(&self, goals: &[Goal], global: &Global) -> Result<Exit> {
        ensure!(
            !goals.contains(&Goal::LargerThanMemory),
            usage!("larger-than-memory cannot be combined with other goals. Give one --for")
        );
        let first = goals.first().copied().unwrap_or(Goal::Stream);
        let sizes = self.sizes(first)?;
        for &goal in goals {
            let first = first.name();
            let goal_name = goal.name();
            ensure!(
                self.sizes(goal)? == sizes,
                usage!(
                    "--size is that of one file for one of {first} and {goal_name}, and of each file for the other. Give one --for"
                )
            );
        }
        ensure!(
            self.minimize.is_none() && self.group.is_none() && self.rate.is_none(),
            usage!("--minimize, --group and --rate need one goal. Give one --for")
        );
        ensure!(
            self.from.is_none(),
            usage!("--from copies one file. Add --for copy or --for durable-copy")
        );
        let selection = SelectionArguments {
            goals: self.goals.clone(),
            record: self.record.into_iter().collect(),
            set: sizes
                .into_iter()
                .chain(self.fixed())
                .filter(|(axis, _)| *axis != Axis::Origin)
                .map(SetValues::from)
                .collect(),
            constraints: self.constraints.list(),
            ..SelectionArguments::default()
        };
        let exports = self
            .exports
            .find(FileCopy::protected(None, global.db.as_deref())?)?;
        self.request_for(&selection, global)?
            .measure(&exports, global)
    }

    /// Finds the target and the methods of several goals.
    fn request_for(&self, selection: &SelectionArguments, global: &Global) -> Result<Request> {
        let measuring = self.measuring();
        let target = self.find_target()?;
        let records = [target.record()];
        let ranks: Vec<u32> = Some(global.ranks())
            .filter(|&ranks| ranks > 1)
            .into_iter()
            .collect();
        let selected = selection::rows_for_targets(
            &selection.for_targets(&records),
            self.cold,
            None,
            &records,
            &ranks,
        )?;
        let notes = &selected.notes;
        notes.iter().for_each(|note| global.output.note(note));
        let settings = Settings {
            constraints: self.constraints.list(),
            ..measuring.settings(Some(GOALS_BUDGET), selected.samples)
        };
        Ok(Request {
            targets: vec![target],
            largest: selection.adaptive_size(&selected.rows),
            rows: selected.rows,
            candidates: selected.candidates,
            settings,
            label: None,
            copied: None,
            measures_limits: false,
            timeout: None,
            destroy_data: false,
            yes: self.yes,
            dry_run: self.dry_run,
        })
    }

    fn find_target(&self) -> Result<Target> {
        let path = self.target.as_deref().unwrap_or(Path::new("."));
        Target::find(path, None, &self.measuring())
    }

    fn measuring(&self) -> MeasuringArguments {
        MeasuringArguments {
            budget: self.budget,
            max_bytes: self.max_bytes,
            reserve: self.reserve,
            seed: self.seed,
            dry_run: self.dry_run,
            exports: self.exports.clone(),
            ..MeasuringArguments::default()
        }
    }

    /// A search among all strategies of one goal.
    fn search(&self, goal: Goal, global: &Global) -> Result<Exit> {
        let output = &global.output;
        let copied = self.from.as_deref().map(FileCopy::of_source).transpose()?;
        let exports = self
            .exports
            .find(FileCopy::protected(copied.as_ref(), global.db.as_deref())?)?;
        let target = self.find_target()?;
        let record = target.record();

        let fixed = self.fixed_values(goal, copied.as_ref(), &record, global.ranks())?;
        let space = self.space(goal, &fixed)?;
        let copied = copied.map(|copied| copied.for_cases([&space.baseline]));
        copied
            .iter()
            .filter_map(FileCopy::note_on_holes)
            .for_each(|note| output.note(&note));
        self.check_options(goal, &space, copied.as_ref(), &record, global.ranks())?;
        check_durable(&record, &space)?;
        let mut spaces = self.spaces(goal, &fixed, space, copied.is_some(), &target, output)?;
        self.constrain(&mut spaces, output)?;

        let budget = self.budget.unwrap_or(SEARCH_BUDGET);
        let mut search = SearchPlan::for_target(&spaces, &record, budget, self.max_bytes);
        search.left_out().iter().for_each(|note| output.note(note));
        if search.has_only_plain() {
            return output.results(&only_plain(&spaces[0].baseline, &record.path));
        }
        search.limit(self.max_bytes, self.unasked_bytes())?;
        if goal == Goal::LargerThanMemory {
            search.check_budget()?;
        }
        if self.dry_run {
            return output.results(&search.dry_run());
        }
        self.measure(global, &spaces[0], search, target, copied, &exports)
    }

    /// The values that the options give to all candidates.
    fn fixed_values(
        &self,
        goal: Goal,
        copied: Option<&FileCopy>,
        target: &TargetRecord,
        ranks: u32,
    ) -> Result<AxisValues> {
        let is_unfit =
            |(axis, values): &&(Axis, Vec<String>)| values.len() > 1 || OPTIONS.contains(axis);
        let mut fixed = self.fixed();
        if let Some((axis, _)) = fixed.iter().find(is_unfit) {
            return Err(usage!(
                "--set {axis}: a search takes one value per axis. Use --size and --record for theirs"
            ));
        }
        fixed.extend(self.size_values(goal, copied, target)?);
        fixed.extend(
            self.record
                .map(|record| (Axis::Chunk, vec![record.to_string()])),
        );
        fixed.push((Axis::Ranks, vec![ranks.to_string()]));
        Ok(fixed)
    }

    fn size_values(
        &self,
        goal: Goal,
        copied: Option<&FileCopy>,
        target: &TargetRecord,
    ) -> Result<AxisValues> {
        let is_paced = self.group.is_some() || self.rate.is_some();
        match (goal, copied) {
            (Goal::LargerThanMemory, _) => self.size_beyond_memory(target),
            (_, Some(copied)) if self.size.is_none() => {
                Ok(vec![(Axis::Size, vec![copied.whole_pages().to_string()])])
            }
            _ if goal.has_records() && !goal.has_pages() && self.size.is_none() && is_paced => {
                Ok(vec![(Axis::Size, vec![self.size_of_records().to_string()])])
            }
            _ => self.sizes(goal),
        }
    }

    /// All candidates of the goal with these values.
    fn space(&self, goal: Goal, fixed: &Overrides) -> Result<Space> {
        ensure!(
            goal.has_records() || self.group.is_none() && self.rate.is_none(),
            usage!(
                "--group and --rate are for records. Add --for records, or for --group --for pages"
            )
        );
        let mut space = Space::for_goal(goal, fixed)?;
        if let Some(count) = self.group {
            space.group(count)?;
        }
        Ok(space)
    }

    fn objective(&self) -> Objective {
        let default = if self.rate.is_some() {
            Objective::P99
        } else {
            Objective::Time
        };
        self.minimize.unwrap_or(default)
    }

    /// Whether the options fit together and to the goal.
    fn check_options(
        &self,
        goal: Goal,
        space: &Space,
        copied: Option<&FileCopy>,
        target: &TargetRecord,
        ranks: u32,
    ) -> Result<()> {
        let plain = space.baseline.workload();
        let objective = self.objective();
        ensure!(
            objective != Objective::P99
                || plain.durable_every_bytes.is_some()
                || plain.file_size.is_some(),
            usage!("--minimize p99 needs records or files. Add --for records, or use time or cpu")
        );
        ensure!(
            objective != Objective::DeviceBytes || plain.durability == Durability::Durable,
            usage!(
                "--minimize device-bytes needs a durable goal, because data in the page cache reaches the device after the \
                 sample. Add --for durable-stream or records"
            )
        );
        ensure!(
            objective != Objective::DeviceBytes || target.environment.device.is_some(),
            usage!(
                "--minimize device-bytes needs a single block device below the target, whose bytes the kernel counts. Use \
                 another directory, or time or cpu"
            )
        );
        ensure!(
            objective != Objective::Time || self.rate.is_none(),
            usage!(
                "--rate sets the time. Use --minimize p99, cpu or device-bytes, or leave out --rate"
            )
        );
        ensure!(
            ranks == 1 || space.baseline.choices().ranks > 1,
            usage!(
                "--for {} needs one rank. Start it without mpirun",
                goal.name()
            )
        );
        ensure!(
            self.record.is_none() || goal.has_records(),
            usage!("--record needs --for records or --for pages. Add one, or leave out --record")
        );
        selection::check_records(self.record.as_slice(), [&space.baseline])?;
        let is_copy = space.baseline.method().copies();
        ensure!(
            is_copy || copied.is_none() && !self.cold,
            usage!("--from and --cold are for a copy. Add --for copy or --for durable-copy")
        );
        if let Some(copied) = copied {
            copied.check_size(Bytes(space.baseline.given().size_bytes))?;
        }
        let has_axis = |axis| space.cases().any(|case| case.method().has_axis(axis));
        if let Some(SetValues { axis, .. }) = self.set.iter().find(|set| !has_axis(set.axis)) {
            return Err(usage!(
                "--set {axis}: no candidate has this axis. Leave it out"
            ));
        }
        ensure!(
            self.data_from == ANYWHERE || !is_copy,
            usage!("--data-from does not apply to a copy, whose data is in a file. Leave it out")
        );
        Ok(())
    }

    /// The goal with files of the requested size. By default there are two sizes, the usual one and a smaller one for a
    /// slow disk, as far as both fit into the target.
    fn spaces(
        &self,
        goal: Goal,
        fixed: &Overrides,
        space: Space,
        copies_own_file: bool,
        target: &Target,
        output: &Output,
    ) -> Result<Vec<Space>> {
        let unfit = target.check(std::slice::from_ref(&space.baseline), None, &[]);
        let is_given = self.size.is_some() || copies_own_file;
        let is_one_file = space.baseline.unit_bytes().is_none() && goal != Goal::LargerThanMemory;
        if is_given || !is_one_file {
            return unfit.map(|()| vec![space]);
        }
        if space.baseline.given().size_bytes <= SMALLER_SIZE.0 {
            return unfit.map(|()| vec![space]);
        }
        let smaller = self.space(goal, &with_size(fixed, SMALLER_SIZE))?;
        if unfit.is_ok() {
            return Ok(vec![space, smaller]);
        }
        target.check(std::slice::from_ref(&smaller.baseline), None, &[])?;
        let [large, small] =
            [&space, &smaller].map(|space| Bytes(space.baseline.given().size_bytes).approximate());
        output.note(&format!(
            "Files of {large} do not fit here. The search is for {small}, or your --size."
        ));
        Ok(vec![smaller])
    }

    /// Leaves out the candidates that --without, --lang and --unknown-length exclude. A note counts those
    /// with the largest files.
    fn constrain(&self, spaces: &mut [Space], output: &Output) -> Result<()> {
        let constraints = self.constraints.list();
        for (index, space) in spaces.iter_mut().enumerate() {
            let note = match constrain(space, &constraints) {
                Ok(left_out) if left_out.is_empty() => continue,
                Ok(left_out) => format!("{}.", left_out.join(", ")),
                Err(why) if allow_plain(&constraints, &space.baseline) => why,
                Err(why) => return Err(usage!("{why}")),
            };
            if index == 0 {
                output.note(&note);
            }
        }
        Ok(())
    }

    /// A search does not ask for consent, but stops where a run would need it.
    fn unasked_bytes(&self) -> u64 {
        if self.yes {
            u64::MAX
        } else {
            most_unasked_bytes(None)
        }
    }

    fn measure(
        &self,
        global: &Global,
        space: &Space,
        mut search: SearchPlan,
        target: Target,
        copied: Option<FileCopy>,
        exports: &[Export],
    ) -> Result<Exit> {
        let output = &global.output;
        let mut settings = self.search_settings(space, search.budget);
        if let Some(copied) = &copied {
            copied.record(&mut settings);
        }
        let measures_limits = self.measuring().measures_limits(settings.budget_ns);
        let limits_for = if measures_limits {
            cases_for_limits(space)
        } else {
            Vec::new()
        };
        let hardware_bytes =
            Hardware::for_cases(&limits_for, &settings, &[target.space()])?.bytes();
        search.max_bytes = self.with_hardware(search.max_bytes, hardware_bytes);
        settings.max_bytes = Some(search.max_bytes);
        let run = new_run(global, None, settings, &[], vec![target.record()]);
        let target = target.claim(false, output)?;
        let mut store = database::open(global.db.as_deref())?;
        let earlier = earlier_finalists(&store, &run.targets[0], &space.baseline)?;
        if let Some((number, names)) = earlier {
            let count = search.mark_finalists(&names);
            output.note(&format!(
                "Measured first: {} of search {number}.",
                counted(count, "finalist")
            ));
        }
        let mut notes = vec![search.announcement(&run.targets[0])];
        notes.extend(search.low_limit());
        let plan = Plan {
            scheduled: search.scheduled(&run),
            notes,
            // The contest watches the budget.
            settings: Settings {
                budget_ns: None,
                ..run.settings.clone()
            },
            run,
            resumed: None,
            targets: vec![target],
            copied,
            limits_for,
            bytes_before: 0,
            timeout: None,
        };
        plan.execute(&mut store, exports, global)
    }

    fn search_settings(&self, space: &Space, budget: Duration) -> Settings {
        Settings {
            search_bytes: Some(space.baseline.workload().bytes),
            objective: self.objective(),
            constraints: self.constraints.list(),
            ..self.measuring().settings(Some(budget), None)
        }
    }

    /// The limit on bytes. Its default also pays for the measurement of the hardware's limits.
    fn with_hardware(&self, max_bytes: u64, hardware_bytes: u64) -> u64 {
        match self.max_bytes {
            Some(_) => max_bytes,
            None => max_bytes
                .saturating_add(hardware_bytes)
                .min(self.unasked_bytes()),
        }
    }

    fn fixed(&self) -> AxisValues {
        let (axis, value) = self.data_from;
        let data_from = (self.data_from != ANYWHERE).then(|| (axis, vec![value.to_owned()]));
        let cold = self
            .cold
            .then(|| (Axis::Origin, vec![Origin::Cold.to_string()]));
        let rate = self.rate.map(|rate| (Axis::Rate, vec![rate.to_string()]));
        self.set
            .iter()
            .map(SetValues::values)
            .chain(data_from)
            .chain(cold)
            .chain(rate)
            .collect()
    }

    /// 64 groups at least, and about a second of arrivals.
    fn size_of_records(&self) -> Bytes {
        let record = self.record.map_or(4 << 10, |record| record.0);
        let records = self.rate.map_or(1024, |rate| rate.clamp(64, 16_384));
        Bytes(u64::from(records.max(64 * self.group.unwrap_or(1))) * record)
    }

    /// The values that --size and --count give to all candidates.
    fn sizes(&self, goal: Goal) -> Result<AxisValues> {
        let plain = Space::for_goal(goal, &[])?.baseline;
        let is_set = plain.workload().files > 1;
        match (self.size, self.count) {
            (Some(FileSize::Whole), _) => Err(usage!("--size whole: give a size such as 16KiB")),
            (_, Some(_)) if !is_set => {
                Err(usage!("--count needs --for files or --for durable-files"))
            }
            (None, None) => Ok(Vec::new()),
            (size, count) if is_set => {
                let size = size.unwrap_or(plain.given().file_size);
                let bytes = Bytes(size.set_bytes(count.unwrap_or(plain.file_count().into())));
                Ok(vec![
                    (Axis::FileSize, vec![size.to_string()]),
                    (Axis::Size, vec![bytes.to_string()]),
                ])
            }
            (Some(FileSize::Each(bytes)), _) => {
                Ok(vec![(Axis::Size, vec![Bytes(bytes).to_string()])])
            }
            (size, _) => {
                let size = size.map(|size| size.to_string()).unwrap_or_default();
                Err(usage!(
                    "--size {size}: sizes from a range need --for files or --for durable-files"
                ))
            }
        }
    }

    /// 1.5 times the memory available to the run.
    fn size_beyond_memory(&self, target: &TargetRecord) -> Result<AxisValues> {
        let least = Bytes((target.memory_bytes() / 2 * 3).next_multiple_of(1 << 20));
        let size = match self.size {
            Some(FileSize::Each(size)) => Bytes(size),
            Some(_) => Bytes(0),
            None => least,
        };
        ensure!(
            size.0 >= least.0,
            usage!(
                "--size must be at least {least}, 1.5 times the memory available to the run. To give it less memory: \
                 systemd-run --scope -p MemoryMax=1G writebench advise …"
            )
        );
        Ok(vec![(Axis::Size, vec![size.to_string()])])
    }
}

fn check_durable(target: &TargetRecord, space: &Space) -> Result<()> {
    let Some(why) = target.why_not_durable(&space.baseline) else {
        return Ok(());
    };
    let path = &target.path;
    Err(usage!(
        "no sync is known to make data durable in {path}: {why}. Give a directory on a disk, or search --for stream"
    ))
}

/// Limits depend on the durability and the number of threads only.
fn cases_for_limits(space: &Space) -> Vec<Case> {
    let durability = space.baseline.workload().durability;
    let is_as_durable = |case: &&Case| case.workload().durability == durability;
    let different = distinct(space.cases().filter(is_as_durable), |case| {
        case.choices().threads
    });
    different.into_iter().cloned().collect()
}

fn with_size(fixed: &Overrides, size: Bytes) -> AxisValues {
    let mut fixed = fixed.to_vec();
    fixed.retain(|(axis, _)| *axis != Axis::Size);
    fixed.push((Axis::Size, vec![size.to_string()]));
    fixed
}

const ANYWHERE: (Axis, &str) = (Axis::Memory, "any");

/// A search compares. Without another candidate there is an answer, and no search.
fn only_plain(baseline: &Case, target: &str) -> String {
    format!(
        "There is only plain write, {baseline}: no other candidate is allowed and makes other calls. Nothing was measured.\n\
         Its code: writebench code {baseline} --lang LANGUAGE\n\
         Its speed: writebench run {} --case {baseline}\n",
        quoted(target)
    )
}

fn data_from(text: &str) -> Result<(Axis, &'static str), &'static str> {
    match text {
        "any" => Ok(ANYWHERE),
        "aligned" => Ok((Axis::Memory, "page-aligned")),
        "huge-pages" => Ok((Axis::Memory, "huge-pages")),
        "producer" => Ok((Axis::Source, "chunk")),
        _ => Err("expected any, aligned, huge-pages or producer"),
    }
}
