use std::time::Duration;

use anyhow::Result;
use writebench_model::{
    Case, Environment, RunRecord, SelectedCase, Settings, TargetRecord, path_text,
};
use writebench_stats::distinct;

use super::adaptive_size::{
    GoalsOfSize, count_goals, keep_different_work, leave_out_unfit, resized, resized_candidates,
    size_of_goals, smallest_cases,
};
use super::cost::{Cost, least_free_bytes, most_unasked_bytes};
use super::measuring::new_run;
use super::plan::Plan;
use super::scheduled::ScheduledCases;
use super::target::{Target, check_and_claim};
use crate::database;
use crate::exit::Exit;
use crate::export::Export;
use crate::file_copy::FileCopy;
use crate::global::Global;
use crate::output::Output;
use crate::selection;

/// What a command line asks to measure in existing targets. `run` and `advise` understand their arguments as one of these.
pub(crate) struct Request {
    pub targets: Vec<Target>,
    pub rows: Vec<SelectedCase>,
    /// Further cases of goals, which join a contest if they are promising.
    pub candidates: Vec<SelectedCase>,
    pub settings: Settings,
    pub label: Option<String>,
    pub copied: Option<FileCopy>,
    /// The size of the largest files, if the budget may choose a smaller one.
    pub largest: Option<u64>,
    /// Whether to measure the limits of memory and device.
    pub measures_limits: bool,
    /// The user's limit for an answer of a target.
    pub timeout: Option<Duration>,
    pub destroy_data: bool,
    /// The user agreed to write much.
    pub yes: bool,
    /// Only print what would be written.
    pub dry_run: bool,
}

/// A limit of a run of goals.
const GOALS_MAX_BYTES: u64 = 20 << 30;
/// Pays for a goal on a nearly full disk, whose files are removed after each sample.
const LEAST_GOALS_BYTES: u64 = 1 << 30;

impl Request {
    /// Fits the files into the targets, asks for consent if much will be written, and executes the plan. A dry run only
    /// prints the cost, and checks the targets.
    pub(crate) fn measure(mut self, exports: &[Export], global: &Global) -> Result<Exit> {
        let output = &global.output;
        let free = free_disk_bytes(&self.targets);
        if self.answers_goals() {
            self.fit_goals(free, output)?;
        }
        let records: Vec<TargetRecord> = self.targets.iter().map(Target::record).collect();
        let left_out = nothing_durable(&records).filter(|_| self.answers_goals());
        let mut run = new_run(
            global,
            self.label.take(),
            self.settings.clone(),
            &self.rows,
            records,
        );
        let cases = selection::different_cases(&run.cases, global.ranks())?;
        let smaller = self.smaller_goals();
        let may_shrink = smaller.is_some() || self.largest_of_suite().is_some();
        let mut scheduled = self
            .scheduled(&mut run, &cases, smaller, free)?
            .until_judged(&self.rows, &self.settings, &run);
        scheduled.defer_contest(&self.rows, &mut run);

        let cost = Cost {
            may_shrink,
            ..self.cost(&cases, &run.settings, scheduled.is_timed)
        };
        // Files grow only as far as the limits and the consent allow, so the checks are about the smallest ones.
        let smallest = self.smallest_cases(&cases);
        let least = Cost {
            cases: &smallest,
            ..cost.clone()
        };
        least.check_max_bytes(0)?;
        if self.dry_run {
            left_out.iter().for_each(|note| output.note(note));
            output.results(&cost.dry_run()?)?;
            return self.check_targets(&cases, output);
        }
        let copy_bytes = self.copied.as_ref().map(FileCopy::copy_bytes);
        let notes: Vec<String> = left_out.into_iter().chain([cost.line()?]).collect();
        let targets = check_and_claim(
            std::mem::take(&mut self.targets),
            &cases,
            copy_bytes,
            self.destroy_data,
            output,
        )?;
        least.ask(self.yes, free)?;
        let plan = Plan {
            settings: run.settings.clone(),
            limits_for: if self.measures_limits {
                cases
            } else {
                Vec::new()
            },
            run,
            resumed: None,
            targets,
            scheduled,
            copied: self.copied,
            bytes_before: 0,
            timeout: self.timeout,
            notes,
        };
        let mut store = database::open(global.db.as_deref())?;
        plan.execute(&mut store, exports, global)
    }

    /// Gives the goals files of one size, leaves out what does not fit, and limits the bytes.
    fn fit_goals(&mut self, free_disk: Option<u64>, output: &Output) -> Result<()> {
        let budget = self.settings.budget_ns.map(Duration::from_nanos);
        let ends_by_time = budget.is_some() && are_in_memory(self.environments());
        let may_write_much = self.largest.is_some() || !self.settings.requirements.is_empty();
        if may_write_much && self.settings.max_bytes.is_none() && !ends_by_time {
            let most = GOALS_MAX_BYTES.min(most_unasked_bytes(free_disk));
            self.settings.max_bytes = Some(most.max(LEAST_GOALS_BYTES));
        }
        if let (Some(largest), Some(budget)) = (self.largest, budget) {
            let max_bytes = self.settings.max_bytes.unwrap_or(u64::MAX);
            let free = least_free_bytes(self.targets.iter().map(Target::space));
            let size = size_of_goals(&self.rows, self.targets.len(), budget, max_bytes, free);
            let size = size.min(largest);
            self.rows = resized(&self.rows, largest, size)?;
            self.candidates = resized_candidates(&self.candidates, largest, size);
        }
        keep_different_work(&mut self.rows, &mut self.candidates);
        let notes = leave_out_unfit(&mut self.rows, &self.targets, self.largest.is_none())?;
        notes.iter().for_each(|note| output.note(note));
        Ok(())
    }

    fn scheduled(
        &self,
        run: &mut RunRecord,
        cases: &[Case],
        smaller: Option<GoalsOfSize>,
        free_disk: Option<u64>,
    ) -> Result<ScheduledCases> {
        if self.answers_goals() {
            let sizes: Vec<GoalsOfSize> = [self.goals()].into_iter().chain(smaller).collect();
            let settings = run.settings.clone();
            return Ok(ScheduledCases::for_goals(&sizes, &settings, run, cases));
        }
        // Without --yes, an adaptive size needs no consent.
        let unasked = (!self.yes).then(|| most_unasked_bytes(free_disk));
        ScheduledCases::for_run(&self.rows, self.largest, run, cases, unasked)
    }

    fn goals(&self) -> GoalsOfSize {
        GoalsOfSize {
            rows: self.rows.clone(),
            candidates: self.candidates.clone(),
        }
    }

    /// What a slow disk gets in place of the goals. None if the size is given.
    fn smaller_goals(&self) -> Option<GoalsOfSize> {
        let may_shrink = self.largest.is_some() && self.settings.budget_ns.is_some();
        let smaller = || self.goals().with_least_size();
        (self.answers_goals() && may_shrink).then(smaller).flatten()
    }

    fn environments(&self) -> impl Iterator<Item = &Environment> {
        self.targets.iter().map(|target| &target.environment)
    }

    /// Whether the rows are the methods of goals, each of which gets an answer.
    fn answers_goals(&self) -> bool {
        self.rows.iter().all(|row| row.origin.is_of_goal())
    }

    fn cost<'r>(&self, cases: &'r [Case], settings: &'r Settings, is_timed: bool) -> Cost<'r> {
        let spaces = self
            .targets
            .iter()
            .map(|target| (path_text(target.path()), target.space()));
        Cost {
            cases,
            settings,
            spaces: spaces.collect(),
            copy_bytes: self.copied.as_ref().map(FileCopy::copy_bytes),
            image_bytes: 0,
            may_shrink: false,
            measures_limits: self.measures_limits,
            is_in_memory: are_in_memory(self.environments()),
            goals: (self.answers_goals() && is_timed).then(|| count_goals(&self.rows)),
        }
    }

    /// The budget of a suite chooses the size during the run, that of goals before it.
    fn largest_of_suite(&self) -> Option<u64> {
        self.largest.filter(|_| !self.answers_goals())
    }

    /// The cases with the smallest files that the budget may choose.
    fn smallest_cases(&self, cases: &[Case]) -> Vec<Case> {
        match self.largest_of_suite() {
            Some(largest) => smallest_cases(&self.rows, largest),
            None => cases.to_vec(),
        }
    }

    /// What a dry run finds out about the targets.
    fn check_targets(&self, cases: &[Case], output: &Output) -> Result<Exit> {
        for target in &self.targets {
            target.check_claim(self.destroy_data)?;
        }
        let copy_bytes = self.copied.as_ref().map(FileCopy::copy_bytes);
        let checked = self
            .targets
            .iter()
            .try_for_each(|target| target.check(cases, copy_bytes, &self.targets));
        output.note_refusal(checked);
        Ok(Exit::Ok)
    }
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
    let different = distinct(losses.iter(), |why| *why);
    let why: Vec<String> = different.into_iter().cloned().collect();
    Some(format!(
        "Left out the durable goals, because no sync is known to make data durable here: {}.",
        why.join("; ")
    ))
}

/// The least free space of the targets on disks. Memory does not wear, and is free again after each sample.
pub(crate) fn free_disk_bytes(targets: &[Target]) -> Option<u64> {
    let is_disk = |target: &&Target| !target.environment.filesystem.is_in_memory();
    least_free_bytes(targets.iter().filter(is_disk).map(Target::space))
}

/// Whether nothing that a run writes wears out, so that only its time needs a limit.
pub(crate) fn are_in_memory<'e>(targets: impl IntoIterator<Item = &'e Environment>) -> bool {
    let mut targets = targets.into_iter();
    targets.all(|environment| environment.filesystem.is_in_memory())
}
