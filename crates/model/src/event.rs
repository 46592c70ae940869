//! The steps of a run, from which the database, JSON Lines and the run in memory are made.

use std::collections::HashMap;

use crate::case::Case;
use crate::case_record::{CaseRecord, RecordedCase};
use crate::decision::Decision;
use crate::ranks::Cluster;
use crate::run::{RunRecord, RunStatus};
use crate::sample::Sample;
use crate::target::Limit;

/// Targets are given by their positions in the run. `Started` is not recorded: its sample is the first of at
/// most `left`, after `written` bytes of the run. `Cluster` has the ranks of a resumed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    Started {
        target: usize,
        case: Case,
        left: usize,
        written: u64,
    },
    Case(Box<CaseRecord>),
    Sample {
        target: usize,
        case: RecordedCase,
        sample: Box<Sample>,
    },
    Limits {
        target: usize,
        limits: Vec<Limit>,
    },
    Cluster(Cluster),
    /// Of all contests, after the last sample. Replaces those of an earlier part of the run.
    Decisions(Vec<Decision>),
    Totals {
        written_bytes: u64,
        cpu_wait_ppm: Option<u32>,
    },
    Status(RunStatus),
}

#[derive(Debug)]
pub struct FoldedRun {
    run: RunRecord,
    /// The row with a case's samples, by target.
    first_rows: Vec<HashMap<RecordedCase, usize>>,
    /// Later rows of a case, with its first.
    repeated: Vec<(usize, usize)>,
}

impl FoldedRun {
    /// A new run, or a recorded one to resume.
    pub fn new(mut run: RunRecord) -> Self {
        let rows = std::mem::take(&mut run.cases);
        let first_rows = vec![HashMap::new(); run.targets.len()];
        let mut folded = Self {
            run,
            first_rows,
            repeated: Vec::new(),
        };
        rows.into_iter().for_each(|row| folded.add_row(row));
        folded
    }

    /// Only the first row of a case has its samples.
    pub fn so_far(&self) -> &RunRecord {
        &self.run
    }

    pub fn samples(&self, target: usize, case: &RecordedCase) -> Option<&[Sample]> {
        Some(&self.run.cases[*self.first_rows.get(target)?.get(case)?].samples)
    }

    /// The row of a case that joins during the run, copied from another row of its contract. None if the
    /// case has a row, or its contract lacks one.
    pub fn row_of_contest(&self, target: usize, case: &Case) -> Option<CaseRecord> {
        let name = &self.run.targets.get(target)?.name;
        let (case, contract) = (RecordedCase::from(case.clone()), case.contract());
        let mut rows = self
            .run
            .cases
            .iter()
            .filter(|row| row.target == *name && row.contract == contract);
        let row = rows
            .next()
            .filter(|_| self.samples(target, &case).is_none())?;
        let (target, origin) = (name.clone(), row.origin.clone());
        Some(CaseRecord {
            case,
            target,
            origin,
            label: None,
            contract,
            samples: Vec::new(),
        })
    }

    pub fn apply(&mut self, event: RunEvent) {
        let run = &mut self.run;
        match event {
            RunEvent::Started { .. } => {}
            RunEvent::Case(row) => self.add_row(*row),
            RunEvent::Sample {
                target,
                case,
                sample,
            } => self.add_sample(target, &case, *sample),
            RunEvent::Limits { target, limits } => run.targets[target].limits = limits,
            RunEvent::Cluster(cluster) => run.cluster = Some(cluster),
            RunEvent::Decisions(decisions) => run.decisions = decisions,
            RunEvent::Totals {
                written_bytes,
                cpu_wait_ppm,
            } => {
                (run.written_bytes, run.cpu_wait_ppm) = (Some(written_bytes), cpu_wait_ppm);
            }
            RunEvent::Status(status) => run.status = status,
        }
    }

    /// A sample of a case without a row is dropped.
    pub fn add_sample(&mut self, target: usize, case: &RecordedCase, sample: Sample) {
        if let Some(&row) = self.first_rows.get(target).and_then(|rows| rows.get(case)) {
            self.run.cases[row].samples.push(sample);
        }
    }

    fn add_row(&mut self, mut row: CaseRecord) {
        let number = self.run.cases.len();
        let target = self
            .run
            .targets
            .iter()
            .position(|target| target.name == row.target);
        if let Some(rows) = target.and_then(|target| self.first_rows.get_mut(target)) {
            let first = *rows.entry(row.case.clone()).or_insert(number);
            if first != number {
                self.repeated.push((number, first));
                row.samples = Vec::new();
            }
        }
        self.run.cases.push(row);
    }

    /// The run with all samples in each row.
    pub fn finish(&mut self) -> RunRecord {
        let mut cases = std::mem::take(&mut self.run.cases);
        // The spare capacity of ten thousand short lists would add half of their size.
        cases.iter_mut().for_each(|row| row.samples.shrink_to_fit());
        for (row, first) in self.repeated.drain(..) {
            cases[row].samples = cases[first].samples.clone();
        }
        RunRecord {
            cases,
            ..self.run.clone()
        }
    }
}
