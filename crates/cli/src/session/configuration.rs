use writebench_model::{Case, CaseRecord, RunRecord, Settings};
use writebench_runner::{EachCase, LostWorkers, Schedule, Written};

use super::adaptive_size::AdaptiveCases;
use super::recorder::Recorder;
use super::workspaces::Workspaces;
use crate::file_copy::FileCopy;

/// Validated by a command.
pub(crate) struct Configuration {
    /// With the rest of the budget.
    pub settings: Settings,
    /// Each is measured on every target.
    pub cases: Vec<Case>,
    pub copied: Option<FileCopy>,
    pub schedule: Box<dyn Schedule>,
    /// Groups of rows for sizes or stages of which the run may skip some. A group is recorded before its first sample.
    pub deferred: Vec<Vec<CaseRecord>>,
    /// Cases whose hardware limits are measured.
    pub limits_for: Vec<Case>,
    pub image_bytes: u64,
}

impl Configuration {
    /// Measures samples only, without limits.
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

    pub(crate) fn with_adaptive_size(self, sized: Option<AdaptiveCases>) -> Self {
        match sized {
            Some(AdaptiveCases { cases, deferred, schedule }) => Self { cases, deferred, schedule, ..self },
            None => self,
        }
    }
}

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
    /// `run` has the earlier samples of a resumed run.
    pub(crate) fn new(workspaces: Workspaces<'s>, run: RunRecord, config: Configuration) -> Self {
        let Configuration { settings, copied, .. } = &config;
        let mut written = Written::new(settings.max_bytes, copied.is_some());
        written.add(config.image_bytes);
        written.add(copied.as_ref().map_or(0, FileCopy::copy_bytes));
        let recorder = Recorder::new(&workspaces, run);
        // The supervisor counts the bytes of earlier samples.
        let run = recorder.run().so_far();
        let of_samples = run.cases.iter().map(CaseRecord::sample_bytes).fold(0, u64::saturating_add);
        written.add(run.written_bytes.unwrap_or(0).saturating_sub(of_samples));
        let (cpu_wait_ppm, lost_workers) = (None, LostWorkers::default());
        Self { config, workspaces, recorder, written, cpu_wait_ppm, lost_workers }
    }
}
