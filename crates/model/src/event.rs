//! The steps of a run: the one form in which results leave the scheduler. The database and JSON Lines record them, and
//! the run in memory is made of them.

use std::collections::HashMap;

use crate::case::Case;
use crate::case_record::{CaseRecord, RecordedCase};
use crate::ranks::Cluster;
use crate::run::{RunRecord, RunStatus};
use crate::sample::Sample;
use crate::target::Limit;

/// A step of a run. Targets are given by their positions in the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// A sample begins, which is not recorded.
    Started {
        target: usize,
        case: Case,
        /// The remaining samples, including this one, if no case ends early.
        left: usize,
        /// The bytes that the run has written so far.
        written: u64,
    },
    /// A row is added to the run's tables.
    Case(Box<CaseRecord>),
    /// A sample has been taken.
    Sample { target: usize, case: RecordedCase, sample: Box<Sample> },
    /// The hardware's limits are known, or better known.
    Limits { target: usize, limits: Vec<Limit> },
    /// The run goes on with these ranks.
    Cluster(Cluster),
    /// See [`RunRecord::written_bytes`] and [`RunRecord::cpu_wait_ppm`].
    Totals { written_bytes: u64, cpu_wait_ppm: Option<u32> },
    /// The run goes on, or ends.
    Status(RunStatus),
}

/// A run as its events have made it so far.
#[derive(Debug)]
pub struct FoldedRun {
    run: RunRecord,
    /// The first row of each case, for each target: the only one that holds samples.
    first_rows: Vec<HashMap<RecordedCase, usize>>,
    /// Rows of cases that are in an earlier row, too, with that row.
    repeated: Vec<(usize, usize)>,
}

impl FoldedRun {
    /// The run at its beginning, or as it was before it goes on.
    pub fn new(mut run: RunRecord) -> Self {
        let rows = std::mem::take(&mut run.cases);
        let first_rows = vec![HashMap::new(); run.targets.len()];
        let mut folded = Self { run, first_rows, repeated: Vec::new() };
        rows.into_iter().for_each(|row| folded.add_row(row));
        folded
    }

    /// The run. Of a case in two tables, only the first row has the samples.
    pub fn so_far(&self) -> &RunRecord {
        &self.run
    }

    /// The samples of a case; none if the tables lack it.
    pub fn samples(&self, target: usize, case: &RecordedCase) -> Option<&[Sample]> {
        Some(&self.run.cases[*self.first_rows.get(target)?.get(case)?].samples)
    }

    /// The row of a case that joins the tables during the run: that of another case of its contract, without a label.
    /// None if the case has a row, or its contract has none.
    pub fn row_of_contest(&self, target: usize, case: &Case) -> Option<CaseRecord> {
        let name = &self.run.targets.get(target)?.name;
        let (case, contract) = (RecordedCase::from(case.clone()), case.contract());
        let mut rows = self.run.cases.iter().filter(|row| row.target == *name && row.contract == contract);
        let row = rows.next().filter(|_| self.samples(target, &case).is_none())?;
        let (target, origin) = (name.clone(), row.origin.clone());
        Some(CaseRecord { case, target, origin, label: None, contract, samples: Vec::new() })
    }

    pub fn apply(&mut self, event: RunEvent) {
        let run = &mut self.run;
        match event {
            RunEvent::Started { .. } => {}
            RunEvent::Case(row) => self.add_row(*row),
            RunEvent::Sample { target, case, sample } => self.add_sample(target, &case, *sample),
            RunEvent::Limits { target, limits } => run.targets[target].limits = limits,
            RunEvent::Cluster(cluster) => run.cluster = Some(cluster),
            RunEvent::Totals { written_bytes, cpu_wait_ppm } => {
                (run.written_bytes, run.cpu_wait_ppm) = (Some(written_bytes), cpu_wait_ppm);
            }
            RunEvent::Status(status) => run.status = status,
        }
    }

    /// Adds a sample. One of a case that the tables lack is dropped.
    pub fn add_sample(&mut self, target: usize, case: &RecordedCase, sample: Sample) {
        if let Some(&row) = self.first_rows.get(target).and_then(|rows| rows.get(case)) {
            self.run.cases[row].samples.push(sample);
        }
    }

    fn add_row(&mut self, mut row: CaseRecord) {
        let number = self.run.cases.len();
        let target = self.run.targets.iter().position(|target| target.name == row.target);
        if let Some(rows) = target.and_then(|target| self.first_rows.get_mut(target)) {
            let first = *rows.entry(row.case.clone()).or_insert(number);
            if first != number {
                self.repeated.push((number, first));
                row.samples = Vec::new();
            }
        }
        self.run.cases.push(row);
    }

    /// Takes the run out, with all samples of each row.
    pub fn finish(&mut self) -> RunRecord {
        let mut cases = std::mem::take(&mut self.run.cases);
        // For ten thousand cases with a few samples each, the spare capacity would add half as much again.
        cases.iter_mut().for_each(|row| row.samples.shrink_to_fit());
        for (row, first) in self.repeated.drain(..) {
            cases[row].samples = cases[first].samples.clone();
        }
        RunRecord { cases, ..self.run.clone() }
    }
}
