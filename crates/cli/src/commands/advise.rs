//! `writebench advise`: goal → candidates → race → advice.

mod affordable_size;
mod file_sizes;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueHint};
use writebench_model::protocol::total_direct_check_bytes;
use writebench_model::{
    Axis, Bytes, Cache, Case, CaseOrigin, CaseRecord, Durability, Goal, Reserve, RunRecord, SelectedCase,
    Settings, Space, Stage, TargetRecord, nanoseconds,
};
use writebench_report::counted;
use writebench_runner::{Candidate, Hardware, Race, RaceLimits, coordinates};
use writebench_stats::distinct;

use self::file_sizes::file_sizes;
use super::run::RunCommand;
use crate::arguments::{named_values, positive_duration};
use crate::earlier_search::{earlier_finalists, name_without_size};
use crate::exit::{Exit, usage};
use crate::export::ExportArguments;
use crate::global::Global;
use crate::output_file::ProtectedPaths;
use crate::selection::SelectionArguments;
use crate::session::{
    Configuration, MeasuringArguments, Session, Target, Workspaces, most_unasked_bytes, new_run, seed,
};
use crate::{database, selection};

/// Find the fastest way for each goal, or search all ways for one goal, and recommend one
#[derive(Args)]
#[command(after_help = ADVISE_EXAMPLES)]
pub(crate) struct AdviseCommand {
    /// Directory to write to; of its files only those that writebench makes are ever written or removed
    /// [default: the current directory]
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: Option<PathBuf>,
    /// Goal, of which several may be given [default: all but the last]: stream (a new file, which may still be in the page cache), durable-stream (durable at the end),
    /// overwrite and durable-overwrite (of a file that exists), records (each durable before the next), copy and
    /// durable-copy (of a file in the page cache), larger-than-memory (a new file that does not fit in memory)
    #[arg(long = "for", value_name = "GOAL", hide_possible_values = true,
        value_parser = named_values(Goal::ALL, Goal::name))]
    goals: Vec<Goal>,
    /// Size of the file [default: 256MiB; 4MiB for records; 1.5 times the memory for larger-than-memory]
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,
    /// Size of a record, for records [default: 4KiB]
    #[arg(long, value_name = "SIZE")]
    record: Option<Bytes>,
    /// Where your data is: any (in memory as malloc gives it), aligned (at the start of a page), huge-pages (aligned,
    /// and in huge pages), or producer (your code fills one chunk again and again)
    #[arg(long, value_name = "MEMORY", default_value = "any", value_parser = data_from)]
    data_from: (Axis, &'static str),
    /// Give every case this value, also plain write. May be repeated
    #[arg(long, value_name = "AXIS=VALUE", value_parser = selection::assignment)]
    set: Vec<(Axis, Vec<String>)>,
    /// Time for the search [default: 60s; 45s for several goals]
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    budget: Option<Duration>,
    /// Stop before more than this is written [default: enough for six rounds and more of four ways and of plain write, 200
    /// times the size or more, 4 GiB at least; without --yes 64 GiB at most]
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<Bytes>,
    /// Space to leave free on the target: a share of its bytes and inodes, or a size
    #[arg(long, value_name = "SHARE|SIZE", default_value_t)]
    reserve: Reserve,
    /// Seed of the order and the data [default: random, and shown]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Let the default of --max-bytes be more than 64 GiB
    #[arg(long, short)]
    yes: bool,
    /// Print the candidates and the most bytes that they would write, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    exports: ExportArguments,
}

const ADVISE_EXAMPLES: &str = "Examples:
  writebench advise /data                                        the fastest way for each goal
  writebench advise /data --for stream --size 1GiB               how to write a file of 1 GiB
  writebench advise /data --for records --record 512             how to append to a log
  writebench advise /data --for durable-stream --budget 20s      a quicker look, less sure";

const SEARCH_BUDGET: Duration = Duration::from_secs(60);
/// Most bytes that the screening writes, in sizes of the file.
const SCREENING_SIZES: u64 = 160;
/// The least limit on bytes that a search sets itself: small files wear no disk, and more rounds
/// make the answer surer.
const LEAST_MOST_BYTES: u64 = 4 << 30;

impl AdviseCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        match self.goals.as_slice() {
            [goal] => self.search(*goal, global),
            goals => self.answer(goals, global),
        }
    }

    /// Answers several goals at once.
    fn answer(&self, goals: &[Goal], global: &Global) -> Result<Exit> {
        if goals.contains(&Goal::LargerThanMemory) {
            return Err(usage!("larger-than-memory is searched alone: give one --for"));
        }
        let selection = SelectionArguments {
            goals: goals.to_vec(),
            size: self.size.into_iter().collect(),
            record: self.record.into_iter().collect(),
            set: self.fixed(),
            ..SelectionArguments::default()
        };
        let measuring = MeasuringArguments {
            budget: self.budget,
            max_bytes: self.max_bytes,
            reserve: self.reserve,
            seed: self.seed,
            dry_run: self.dry_run,
            exports: self.exports.clone(),
            ..MeasuringArguments::default()
        };
        let target = self.target.iter().cloned().collect();
        RunCommand::for_goals(target, selection, measuring, self.yes).run(global)
    }

    /// Searches all ways for one goal.
    fn search(&self, goal: Goal, global: &Global) -> Result<Exit> {
        let output = &global.output;
        let budget = self.budget.unwrap_or(SEARCH_BUDGET);
        let exports = self.exports.find(ProtectedPaths::database(global.db.as_deref()))?;
        let found = Target::find(self.target.as_deref().unwrap_or(Path::new(".")), None, None)?;
        let target = found.record();
        let size = self.size_bytes(goal, &target)?;
        let ranks = global.ranks();
        let mut fixed = self.fixed();
        if let Some((axis, _)) = fixed.iter().find(|(axis, values)| values.len() > 1 || is_option(*axis)) {
            return Err(usage!("--set {axis}: a search takes one value, and has --size and --record"));
        }
        let size = size.map(|size| (Axis::Size, vec![size.to_string()]));
        let record = self.record.map(|record| (Axis::Chunk, vec![record.to_string()]));
        fixed.extend(size.into_iter().chain(record).chain([(Axis::Ranks, vec![ranks.to_string()])]));
        let space = Space::for_goal(goal, &fixed)?;
        if ranks > 1 && space.baseline.axes().ranks == 1 {
            return Err(usage!("--for {} is searched by one rank; start it without mpirun", goal.name()));
        }
        if self.record.is_some() && goal != Goal::Records {
            return Err(usage!("--record goes with --for records"));
        }
        selection::check_records(self.record.as_slice(), [&space.baseline])?;
        if self.data_from != ANYWHERE && space.baseline.method().copies() {
            return Err(usage!("--data-from is about data in memory, and a copy has its data in a file"));
        }
        if self.size.is_some_and(|size| size.0 == 0) {
            return Err(usage!("--size must not be 0: there is nothing to write"));
        }
        if space.baseline.contract().durability == Durability::Durable && !target.keeps_data() {
            let (path, kind) = (&target.path, &target.environment.filesystem.kind);
            return Err(usage!(
                "{path} is on {kind}, which keeps nothing over a loss of power: no way to write is durable there; name a \
                 directory on a disk, or search --for stream"
            ));
        }
        found.check(std::slice::from_ref(&space.baseline), None, self.reserve, &[])?;
        let limits = (budget, self.max_bytes);
        let mut candidates = CandidateSet::for_target(goal, &space, &target, limits);
        if let Some(why) = candidates.left_out.first() {
            output.note(&format!("Left out {}: {why}", counted(candidates.left_out.len(), "candidate")));
        }
        let real_bytes = space.baseline.bytes_written();
        // Workers write these bytes to find out which way direct I/O goes.
        let direct_check_bytes = total_direct_check_bytes(&candidates.cases);
        let most_bytes = candidates.most_bytes(real_bytes).saturating_add(direct_check_bytes);
        // A search does not ask: it does without what would need consent.
        let unasked_bytes = if self.yes { u64::MAX } else { most_unasked_bytes(None) };
        let asked_bytes = self.max_bytes.map(|bytes| bytes.0);
        candidates.limits.max_bytes = asked_bytes.unwrap_or(most_bytes.min(unasked_bytes));
        candidates.check_bytes(direct_check_bytes)?;
        if goal == Goal::LargerThanMemory {
            candidates.check_budget()?;
        }
        if self.dry_run {
            output.results(&candidates.dry_run())?;
            return Ok(Exit::Ok);
        }
        let mut settings = Settings {
            samples: selection::SAMPLES,
            budget_ns: Some(nanoseconds(budget)),
            max_bytes: asked_bytes,
            seed: seed(self.seed),
            search_bytes: Some(real_bytes),
            ..Settings::default()
        };
        // The race has no part in the bytes that the limits of the hardware and the check of direct I/O take.
        let limits_for = cases_for_limits(&space);
        let limit_bytes = Hardware::for_cases(&limits_for, &settings, &[found.space()])?.bytes();
        let limits = &mut candidates.limits;
        if asked_bytes.is_none() {
            limits.max_bytes = limits.max_bytes.saturating_add(limit_bytes).min(unasked_bytes);
        }
        settings.max_bytes = Some(limits.max_bytes);
        let run = RunRecord { cluster: global.cluster(), ..new_run(None, settings, &[], vec![target]) };
        let targets = vec![found.claim(false, self.reserve, output)?];
        let mut store = database::open(global.db.as_deref())?;
        if let Some((search, names)) = earlier_finalists(&store, &run.targets[0], &space.baseline)? {
            let count = candidates.mark_finalists(&names);
            output.note(&format!("Measured first: {} of search {search}.", counted(count, "finalist")));
        }
        let number = store.begin_run(&run)?;
        // The race keeps the time. A limit in the runner would cut loops over records, which then have no rank.
        let settings = Settings { budget_ns: None, ..run.settings.clone() };
        output.note(&format!(
            "{}: {} in {}, {}; as many samples as {:?} and {} to be written allow.",
            space.title,
            counted(candidates.candidates.len(), "candidate"),
            run.targets[0].path,
            candidates.levels(),
            budget,
            Bytes(candidates.limits.max_bytes).approximate(),
        ));
        output.note(&candidates.affordable_size());
        let CandidateSet { cases, candidates, baseline, mut limits, deferred, .. } = candidates;
        limits.max_bytes = limits.max_bytes.saturating_sub(limit_bytes).saturating_sub(direct_check_bytes);
        let leader = &global.leader;
        let workspaces = Workspaces { store: &store, run: number, targets, limit: None, output, leader };
        let configuration = Configuration {
            schedule: Box::new(Race::new(candidates, baseline, cases.clone(), limits)),
            deferred,
            limits_for,
            ..Configuration::new(settings, cases, None)
        };
        Session::new(workspaces, run, configuration).measure(&exports)
    }

    /// The axes with one value for all cases.
    fn fixed(&self) -> Vec<(Axis, Vec<String>)> {
        let (axis, value) = self.data_from;
        let data_from = (self.data_from != ANYWHERE).then(|| (axis, vec![value.to_owned()]));
        self.set.iter().cloned().chain(data_from).collect()
    }

    /// The size that was asked for; of a file larger than memory, one and a half times the memory that the run may use.
    fn size_bytes(&self, goal: Goal, target: &TargetRecord) -> Result<Option<Bytes>> {
        if goal != Goal::LargerThanMemory {
            return Ok(self.size);
        }
        let memory = &target.environment.memory;
        let bytes = memory.limit_bytes.unwrap_or(memory.total_bytes);
        // The screening takes one MiB less.
        let least = Bytes((bytes / 2 * 3).next_multiple_of(1 << 20) + (1 << 20));
        match self.size {
            Some(size) if size.0 < least.0 => Err(usage!(
                "--size must be at least {least}, one and a half times the memory that the run may use; to give it less \
                 memory: systemd-run --scope -p MemoryMax=1G writebench advise …"
            )),
            size => Ok(Some(size.unwrap_or(least))),
        }
    }
}

/// The default of all cases.
const ANYWHERE: (Axis, &str) = (Axis::Memory, "any");

/// The axis and the value for a text of `--data-from`.
fn data_from(text: &str) -> Result<(Axis, &'static str), &'static str> {
    match text {
        "any" => Ok(ANYWHERE),
        "aligned" => Ok((Axis::Memory, "page-aligned")),
        "huge-pages" => Ok((Axis::Memory, "huge-pages")),
        "producer" => Ok((Axis::Source, "chunk")),
        _ => Err("expected any, aligned, huge-pages or producer"),
    }
}

/// Whether the axis has a separate option.
fn is_option(axis: Axis) -> bool {
    matches!(axis, Axis::Size | Axis::Chunk | Axis::Ranks)
}

/// All candidates, with their cases at all sizes.
#[derive(Default)]
struct CandidateSet {
    cases: Vec<Case>,
    candidates: Vec<Candidate>,
    baseline: usize,
    limits: RaceLimits,
    // A row for each case.
    deferred: Vec<Vec<CaseRecord>>,
    // The reasons for omitted candidates.
    left_out: Vec<String>,
}

impl CandidateSet {
    /// The cases that the machine has memory and the device has sectors for; cases of direct I/O
    /// only if the limit has room for finding out which way it goes.
    fn for_target(
        goal: Goal,
        space: &Space,
        target: &TargetRecord,
        (budget, max_bytes): (Duration, Option<Bytes>),
    ) -> Self {
        let direct_check_bytes = total_direct_check_bytes(space.cases());
        let checks_direct = max_bytes.is_none_or(|most| direct_check_bytes <= most.0 / 2);
        let (screening_bytes, final_bytes) = file_sizes(goal, space);
        let mut set = Self::default();
        let environment = &target.environment;
        let (mut kept, mut times_written) = (Vec::new(), 0);
        for case in space.cases() {
            let is_baseline = *case == space.baseline;
            let one = std::slice::from_ref(case);
            if case.axes().cache == Cache::Direct && !checks_direct {
                let check = Bytes(direct_check_bytes).approximate();
                set.left_out.push(format!(
                    "{case}: --max-bytes leaves no room for {check}, which show whether O_DIRECT goes past the page cache"
                ));
                continue;
            }
            let fits = writebench_runner::check_sectors(environment, one)
                .and_then(|()| writebench_runner::check_memory(environment, one, 0));
            if let (Err(error), false) = (fits, is_baseline) {
                set.left_out.push(error.to_string());
                continue;
            }
            let real = set.add(case.clone(), Stage::Final, is_baseline, target);
            // A case that only exists at the real size is measured there, whatever the level.
            let mut with_sizes = |sizes: &[u64], stage| -> Vec<usize> {
                let sized = sizes.iter().map(|&bytes| case.with(Axis::Size, &Bytes(bytes).to_string()));
                sized.map(|case| case.map_or(real, |case| set.add(case, stage, is_baseline, target))).collect()
            };
            let screening = with_sizes(&screening_bytes, Stage::Screening);
            let finals = [vec![real], with_sizes(&final_bytes[1..], Stage::Final)].concat();
            if is_baseline {
                set.baseline = set.candidates.len();
            }
            let size_bytes = case.axes().size_bytes.max(1);
            times_written = times_written.max(case.bytes_written().div_ceil(size_bytes));
            set.candidates.push(Candidate {
                // The portfolio is measured first, too.
                was_finalist: space.portfolio.contains(case),
                values: Vec::new(),
                screening,
                finals,
            });
            kept.push(case);
        }
        for (candidate, values) in set.candidates.iter_mut().zip(coordinates(&kept)) {
            candidate.values = values;
        }
        set.limits = RaceLimits { budget, screening_bytes, final_bytes, times_written, max_bytes: 0 };
        set
    }

    /// Marks the candidates with those names, which have no size. Returns their number.
    fn mark_finalists(&mut self, names: &HashSet<String>) -> usize {
        let mut count = 0;
        for candidate in &mut self.candidates {
            let was_finalist = names.contains(&name_without_size(&self.cases[candidate.finals[0]]));
            candidate.was_finalist |= was_finalist;
            count += usize::from(was_finalist);
        }
        count
    }

    /// Most bytes that the search writes, unless it was told another limit.
    fn most_bytes(&self, size_bytes: u64) -> u64 {
        let screening = size_bytes.saturating_mul(SCREENING_SIZES);
        RaceLimits::finals_bytes(size_bytes, self.limits.times_written)
            .saturating_add(screening)
            .max(LEAST_MOST_BYTES)
    }

    /// Whether the limit on bytes pays for six rounds of the finals, at the smallest size if not at the real one.
    fn check_bytes(&self, direct_check_bytes: u64) -> Result<()> {
        let smallest = self.limits.final_bytes.last().copied().unwrap_or_default();
        let least =
            RaceLimits::least_bytes(smallest, self.limits.times_written).saturating_add(direct_check_bytes);
        if self.limits.max_bytes < least {
            let (least, size) = (Bytes(least), Bytes(smallest).approximate());
            return Err(usage!(
                "--max-bytes must be at least {least} for a search that ends with six rounds of three ways at {size}: fewer \
                 prove nothing"
            ));
        }
        Ok(())
    }

    /// Whether the budget may pay for six rounds of the finals at the only size.
    fn check_budget(&self) -> Result<()> {
        /// More than any disk takes.
        const MOST_BYTES_PER_S: u64 = 10_000_000_000;
        /// The speed of a usual disk.
        const USUAL_BYTES_PER_S: u64 = 1_000_000_000;
        let (budget, size) = (self.limits.budget, self.limits.final_bytes[0]);
        let least = RaceLimits::least_bytes(size, self.limits.times_written);
        if u128::from(least) * 1_000_000_000 > budget.as_nanos() * u128::from(MOST_BYTES_PER_S) {
            let minutes = least.div_ceil(USUAL_BYTES_PER_S).div_ceil(60);
            let [least, size] = [least, size].map(|bytes| Bytes(bytes).approximate());
            return Err(usage!(
                "six rounds of three ways write {least}, with files of {size}, which is more than any disk takes in \
                 {budget:?}: --budget {minutes}m is enough at 1 GB/s; to give the search less memory, and so smaller \
                 files: systemd-run --scope -p MemoryMax=1G writebench advise …"
            ));
        }
        Ok(())
    }

    /// `screening with 4 MiB and 32 MiB, finals with 256 MiB`.
    fn levels(&self) -> String {
        let text = |bytes: &u64| Bytes(*bytes).approximate();
        let screening: Vec<String> = self.limits.screening_bytes.iter().map(text).collect();
        let finals = self.limits.final_bytes.first().map(text).unwrap_or_default();
        match screening.as_slice() {
            [] => format!("all with {finals}"),
            sizes => format!("screening with {}, finals with {finals}", sizes.join(" and ")),
        }
    }

    fn dry_run(&self) -> String {
        let real = self.candidates.iter().filter_map(|candidate| candidate.finals.first());
        let cases: String = real.map(|&case| format!("{}\n", self.cases[case])).collect();
        format!(
            "{cases}{}, {}; at most {} in {:?}. {} Nothing was written.\n",
            counted(self.candidates.len(), "candidate"),
            self.levels(),
            Bytes(self.limits.max_bytes).approximate(),
            self.limits.budget,
            self.affordable_size(),
        )
    }

    /// The size that the limits pay for.
    fn affordable_size(&self) -> String {
        let baseline = self.candidates[self.baseline].finals.iter().map(|&case| &self.cases[case]);
        affordable_size::sentence(&baseline.collect::<Vec<_>>(), &self.limits)
    }

    /// Adds a case with the row that it will have. Returns its index.
    fn add(&mut self, case: Case, stage: Stage, is_baseline: bool, target: &TargetRecord) -> usize {
        let name = name_without_size(&case);
        let label = if is_baseline { format!("baseline: {name}") } else { name };
        let origin = CaseOrigin::Search { stage, is_baseline };
        let row = SelectedCase { origin, label: Some(label), case: case.clone() };
        self.deferred.push(vec![selection::record(&row, &target.name)]);
        self.cases.push(case);
        self.cases.len() - 1
    }
}

/// Cases that promise what plain write does, one for each number of threads: limits depend on no more.
fn cases_for_limits(space: &Space) -> Vec<Case> {
    let durability = space.baseline.contract().durability;
    let cases = space.cases().filter(|case| case.contract().durability == durability);
    distinct(cases, |case| case.axes().threads).into_iter().cloned().collect()
}
