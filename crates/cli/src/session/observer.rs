//! What happens at each step of the measurements: it is recorded, and the progress is shown.

use std::error::Error;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::ProgressBar;
use writebench_model::{Bytes, Case, CaseRecord, RunEvent, Settings, distinct_rows};
use writebench_runner::Hardware;

use super::cost::rounded;
use super::longest_step::{LongestStep, sample_in_words};
use super::progress;
use super::recorder::Recorder;
use crate::output::Output;

pub(super) struct Observer<'o, 'r> {
    pub recorder: &'o mut Recorder<'r>,
    /// Groups of rows that are recorded before their first sample.
    pub deferred: &'o mut Vec<Vec<CaseRecord>>,
    pub settings: &'o Settings,
    pub hardware: &'o Hardware,
    pub output: &'o Output,
    pub bar: &'o ProgressBar,
    pub time: TimeLimit,
    pub longest: &'o mut LongestStep,
    /// When the sample in flight began.
    pub sample_began: Instant,
    /// Whether a sample was faster than the hardware's limit, which then was measured at a bad time.
    pub is_limit_exceeded: bool,
}

/// When a run with a budget ends.
#[derive(Clone, Copy)]
pub(super) struct TimeLimit {
    pub began: Instant,
    /// Reserved for work after the samples.
    pub set_aside: Duration,
    /// None if the number of samples ends the run.
    pub budget: Option<Duration>,
}

impl TimeLimit {
    fn left(&self) -> Option<Duration> {
        let spent = self.began.elapsed() + self.set_aside;
        Some(self.budget?.saturating_sub(spent))
    }
}

impl writebench_runner::Observer for Observer<'_, '_> {
    fn begin_sample(
        &mut self,
        target: usize,
        case: &Case,
        left: usize,
        written: u64,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.record_new_rows(target, case, written)?;
        progress::started(self.bar, case, left, self.time.left());
        self.sample_began = Instant::now();
        Ok(())
    }

    fn record(&mut self, event: RunEvent) -> Result<(), Box<dyn Error + Send + Sync>> {
        if let RunEvent::Sample { case, sample, .. } = &event {
            let is_faster = |case| self.hardware.is_exceeded_by(case, sample);
            self.is_limit_exceeded |= case.known().is_some_and(is_faster);
            self.bar.inc(1);
            let took = self.sample_began.elapsed();
            self.longest.see(took, || sample_in_words(case, sample));
        }
        Ok(self.recorder.record(event)?)
    }
}

impl Observer<'_, '_> {
    /// Records the rows that a case's first sample needs: those of its size or stage, or its own if it joins a contest.
    fn record_new_rows(&mut self, target: usize, case: &Case, written: u64) -> Result<()> {
        let is_row = |row: &CaseRecord| row.case.known() == Some(case);
        let group = self
            .deferred
            .iter()
            .position(|rows| rows.iter().any(is_row));
        let Some(group) = group else {
            return match self.recorder.run.row_of_contest(target, case) {
                Some(row) => self.recorder.record(RunEvent::Row(row.into())),
                None => Ok(()),
            };
        };
        let rows = self.deferred.swap_remove(group);
        // A search has its own words for the sizes of its stages.
        if self.settings.search_bytes.is_none() {
            let line = if rows.iter().all(|row| row.origin.is_of_goal()) {
                self.smaller_goals_line(&rows)
            } else {
                Some(size_line(&rows, self.settings, written))
            };
            if let Some(line) = line {
                self.bar.suspend(|| self.output.note(&line));
            }
        }
        rows.into_iter()
            .try_for_each(|row| self.recorder.record(RunEvent::Row(row.into())))
    }

    /// Why the goals have smaller files than announced. None if they have the announced size.
    fn smaller_goals_line(&self, rows: &[CaseRecord]) -> Option<String> {
        let size = largest_bytes(rows);
        let announced = self.deferred.iter().map(|rows| largest_bytes(rows)).max();
        let announced = announced.filter(|&announced| announced > size)?;
        let are_sets = rows.iter().all(|row| row.workload.files > 1);
        let [size, large] = [size, announced].map(|bytes| {
            let size = Bytes(bytes).approximate();
            if are_sets {
                format!("{size} of files")
            } else {
                format!("files of {size}")
            }
        });
        let budget = self.time.budget.unwrap_or_default();
        Some(format!(
            "Using {size}: by the first samples, {} is too short for {large}. For those, use a larger --budget, \
             fewer goals with --for, or --size {}.",
            rounded(budget.as_secs_f64()),
            Bytes(announced)
        ))
    }

    /// Records the rows of the smallest size if the limits ended the run before its size was chosen. So each case is named,
    /// with the reason why it has no result.
    pub(super) fn record_rows_without_samples(&mut self) -> Result<()> {
        let is_empty = self.recorder.run.so_far().cases.is_empty();
        let rows = self.deferred.pop().filter(|_| is_empty);
        rows.into_iter()
            .flatten()
            .try_for_each(|row| self.recorder.record(RunEvent::Row(row.into())))
    }
}

fn largest_bytes(rows: &[CaseRecord]) -> u64 {
    rows.iter().map(|row| row.workload.bytes).max().unwrap_or(0)
}

fn size_line(rows: &[CaseRecord], settings: &Settings, written: u64) -> String {
    let size = largest_bytes(rows);
    let round: u64 = distinct_rows(rows)
        .map(|row| row.case.known().map_or(0, Case::bytes_written))
        .sum();
    let rounds = settings.samples;
    let all = round.saturating_mul(rounds.into()).saturating_add(written);
    format!(
        "Files of {}: {rounds} rounds fit into the limits. About {} to write.",
        Bytes(size).approximate(),
        Bytes(all).approximate()
    )
}
