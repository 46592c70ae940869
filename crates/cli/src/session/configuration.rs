//! What a command has validated, and the session that is made from it.

use writebench_model::{Case, CaseRecord, RunRecord, Settings};
use writebench_runner::{EachCase, LostWorkers, Schedule, Written};

use super::adaptive_size::AdaptiveCases;
use super::recorder::Recorder;
use super::workspaces::Workspaces;
use crate::file_copy::FileCopy;

/// What a run measures, and within which limits.
pub(crate) struct Configuration {
    /// The run's settings, with the time that is left of its budget.
    pub settings: Settings,
    /// The run's different cases, each of which is measured on every target.
    pub cases: Vec<Case>,
    pub copied: Option<FileCopy>,
    /// The number of samples that each case wants.
    pub schedule: Box<dyn Schedule>,
    /// Groups of rows that are not known before the run begins: a group comes into the tables when the first of its
    /// cases has its first turn.
    pub deferred: Vec<Vec<CaseRecord>>,
    /// Cases that the hardware's limits are measured for; none to measure no limits.
    pub limits_for: Vec<Case>,
    /// Bytes of the images that were made for the run.
    pub image_bytes: u64,
}

impl Configuration {
    /// As many samples of each case as the run's settings demand, and no other measurements.
    pub(crate) fn new(settings: Settings, cases: Vec<Case>, copied: Option<FileCopy>) -> Self {
        Self {
            schedule: Box::new(EachCase::for_settings(&settings)),
            deferred: Vec::new(),
            limits_for: Vec::new(),
            image_bytes: 0,
            settings,
            cases,
            copied,
        }
    }

    /// The same with the cases at several sizes, of which the schedule takes one.
    pub(crate) fn with_adaptive_size(self, sized: Option<AdaptiveCases>) -> Self {
        match sized {
            Some(AdaptiveCases { cases, deferred, schedule }) => Self { cases, deferred, schedule, ..self },
            None => self,
        }
    }
}

/// A run from its begin in the database to its end: what it measures, its targets, and what it has spent.
pub(crate) struct Session<'s> {
    pub(super) config: Configuration,
    pub(super) workspaces: Workspaces<'s>,
    pub(super) recorder: Recorder<'s>,
    pub(super) written: Written,
    /// See [`RunRecord::cpu_wait_ppm`].
    pub(super) cpu_wait_ppm: Option<u32>,
    pub(super) lost_workers: LostWorkers,
}

impl<'s> Session<'s> {
    /// `run` has what was measured of it before.
    pub(crate) fn new(workspaces: Workspaces<'s>, run: RunRecord, config: Configuration) -> Self {
        let Configuration { settings, copied, .. } = &config;
        let mut written = Written::new(settings.max_bytes, copied.is_some());
        written.add(config.image_bytes);
        written.add(copied.as_ref().map_or(0, FileCopy::copy_bytes));
        let recorder = Recorder::new(&workspaces, run);
        // The samples of a resumed run are counted by their cases.
        let run = recorder.run().so_far();
        let of_samples = run.cases.iter().map(CaseRecord::sample_bytes).fold(0, u64::saturating_add);
        written.add(run.written_bytes.unwrap_or(0).saturating_sub(of_samples));
        let (cpu_wait_ppm, lost_workers) = (None, LostWorkers::default());
        Self { config, workspaces, recorder, written, cpu_wait_ppm, lost_workers }
    }
}
