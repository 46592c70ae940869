//! The steps of a run, from which the database, JSON Lines and the run in memory are made.

use std::collections::HashMap;

use crate::case::Case;
use crate::case_record::{CaseRecord, RecordedCase, distinct_rows};
use crate::decision::Decision;
use crate::ranks::Cluster;
use crate::run::{RunRecord, RunStatus};
use crate::sample::Sample;
use crate::target::{Limit, TargetRecord};

/// A step of a run. A target is given by its position in the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// A row joins the run.
    Row(Box<CaseRecord>),
    Sample {
        target: usize,
        case: RecordedCase,
        sample: Box<Sample>,
    },
    Limits {
        target: usize,
        limits: Vec<Limit>,
    },
    /// The run is resumed with these ranks.
    Cluster(Cluster),
    /// The last sample is taken, and these are the decisions of all contests. They replace those of an earlier part
    /// of the run.
    Decisions(Vec<Decision>),
    Totals {
        written_bytes: u64,
        cpu_wait_ppm: Option<u32>,
    },
    Status(RunStatus),
}

impl RunRecord {
    /// The run before its first event, without what events add to it.
    pub fn beginning(&self) -> Self {
        let targets = self.targets.iter().map(|target| TargetRecord {
            limits: Vec::new(),
            ..target.clone()
        });
        Self {
            id: self.id.clone(),
            label: self.label.clone(),
            status: RunStatus::Running,
            started: self.started.clone(),
            version: self.version.clone(),
            arguments: self.arguments.clone(),
            settings: self.settings.clone(),
            cluster: self.cluster.clone(),
            written_bytes: None,
            cpu_wait_ppm: None,
            decisions: Vec::new(),
            targets: targets.collect(),
            missing: self.missing.clone(),
            cases: Vec::new(),
        }
    }

    /// The events that make this run with these rows from its [beginning](Self::beginning). If it still runs, the events
    /// of the end are missing.
    pub fn events<'r>(&'r self, rows: &[&'r CaseRecord]) -> impl Iterator<Item = RunEvent> {
        let rows = rows.to_vec();
        let samples = self.samples_in_order(&rows);
        rows.into_iter()
            .map(|row| RunEvent::Row(row.without_samples().into()))
            .chain(samples)
            .chain(self.limits_events())
            .chain(self.end_events())
    }

    /// The samples in the order in which they were taken. Runs of early versions did not record it, so their samples are
    /// in the order of the rounds.
    fn samples_in_order<'r>(
        &self,
        rows: &[&'r CaseRecord],
    ) -> impl Iterator<Item = RunEvent> + use<'r> {
        let positions: HashMap<&str, usize> = self
            .targets
            .iter()
            .enumerate()
            .map(|(position, target)| (target.name.as_str(), position))
            .collect();
        let mut samples = Vec::new();
        for row in distinct_rows(rows.iter().copied()) {
            let Some(&target) = positions.get(row.target.as_str()) else {
                continue;
            };
            // The samples of a case keep their order, whatever a document says.
            let mut place = (None, 0);
            for sample in &row.samples {
                place = place.max((sample.order, sample.round));
                samples.push((place, target, &row.case, sample));
            }
        }
        samples.sort_by_key(|(place, ..)| *place);
        samples
            .into_iter()
            .map(|(_, target, case, sample)| RunEvent::Sample {
                target,
                case: case.clone(),
                sample: sample.clone().into(),
            })
    }

    fn limits_events(&self) -> impl Iterator<Item = RunEvent> {
        let has_limits = |(_, target): &(usize, &TargetRecord)| !target.limits.is_empty();
        self.targets
            .iter()
            .enumerate()
            .filter(has_limits)
            .map(|(target, record)| RunEvent::Limits {
                target,
                limits: record.limits.clone(),
            })
    }

    fn end_events(&self) -> Vec<RunEvent> {
        let mut events = Vec::new();
        if self.status == RunStatus::Running {
            return events;
        }
        if !self.decisions.is_empty() {
            events.push(RunEvent::Decisions(self.decisions.clone()));
        }
        if let Some(written_bytes) = self.written_bytes {
            events.push(RunEvent::Totals {
                written_bytes,
                cpu_wait_ppm: self.cpu_wait_ppm,
            });
        }
        events.push(RunEvent::Status(self.status));
        events
    }
}

/// A run in memory, made from its events.
#[derive(Debug)]
pub struct FoldedRun {
    run: RunRecord,
    /// The number of the row that has a case's samples, for each target.
    first_rows: Vec<HashMap<RecordedCase, usize>>,
    /// The numbers of the later rows of a case, each with that of its first row.
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

    /// The run until now, in which only the first row of a case has its samples.
    pub fn so_far(&self) -> &RunRecord {
        &self.run
    }

    /// The samples of a case on a target. None if the case has no row.
    pub fn samples(&self, target: usize, case: &RecordedCase) -> Option<&[Sample]> {
        Some(&self.run.cases[*self.first_rows.get(target)?.get(case)?].samples)
    }

    /// The row of a case that joins during the run. It resembles another row of its contest, which has the same workload.
    /// In a search the workloads may differ, because a candidate may promise more than the goal asks for. None if the case
    /// has a row already, or if there is no row to resemble.
    pub fn row_of_contest(&self, target: usize, case: &Case) -> Option<CaseRecord> {
        let workload = case.workload();
        let case = RecordedCase::from(case.clone());
        if self.samples(target, &case).is_some() {
            return None;
        }
        let target_name = &self.run.targets.get(target)?.name;
        let row = self.run.cases.iter().find(|row| {
            let is_of_contest = row.workload == workload || row.origin.is_search();
            row.target == *target_name && is_of_contest
        })?;
        Some(CaseRecord {
            case,
            target: target_name.clone(),
            origin: row.origin.of_joined(),
            label: None,
            workload,
            samples: Vec::new(),
        })
    }

    /// Adds what an event says to the run.
    pub fn apply(&mut self, event: RunEvent) {
        let run = &mut self.run;
        match event {
            RunEvent::Row(row) => self.add_row(*row),
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
                run.written_bytes = Some(written_bytes);
                run.cpu_wait_ppm = cpu_wait_ppm;
            }
            RunEvent::Status(status) => run.status = status,
        }
    }

    /// Adds a sample to the first row of its case. It is dropped if the case has no row.
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

    /// The run with all samples in each row. It takes the rows, so that [`Self::so_far`] has none afterwards.
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
