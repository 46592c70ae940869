//! Records the results of a run in its database and its streams, in the order of their making. A
//! database that another program has locked delays no sample: records wait in memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use writebench_model::{CaseRecord, Limit, RunRecord, RunStatus, Sample};
use writebench_report::counted;
use writebench_store::{Store, StoreError};

use super::streams::Streams;
use crate::output::Output;

/// A lock that lasts longer is worth a note: other runs take a moment for each of their samples.
const QUIET: Duration = Duration::from_secs(1);
/// How long the end of a run that a signal has ended waits for a lock.
const AFTER_SIGNAL: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(50);

/// The database and the streams of a run that is under way.
pub(super) struct Recorder<'r> {
    store: &'r Store,
    number: i64,
    output: &'r Output,
    pub streams: Streams<'r>,
    waiting: VecDeque<Record>,
    /// The turn of the next sample.
    turn: u32,
    locked_since: Option<Instant>,
    /// Whether it was said that the database is locked.
    said: bool,
    /// Set once the database is no longer at its path. The remaining records are never written.
    gone: Option<StoreError>,
}

/// A thing to record: a row comes into the tables when its case has its first turn. Targets are
/// given by their places in the run.
pub(super) enum Record {
    Row(Box<CaseRecord>),
    Sample { target: usize, case: String, sample: Box<Sample> },
    Limits { target: usize, limits: Vec<Limit> },
    Totals { written: u64, cpu_wait_ppm: Option<u32> },
    Status(RunStatus),
}

impl<'r> Recorder<'r> {
    /// `run` has the samples that were taken before, if the run goes on.
    pub(super) fn new(
        store: &'r Store,
        number: i64,
        run: &RunRecord,
        streams: Streams<'r>,
        output: &'r Output,
    ) -> Self {
        let turns = run.cases.iter().flat_map(|row| &row.samples).filter_map(|sample| sample.turn);
        Self {
            turn: turns.max().map_or(0, |last| last.saturating_add(1)),
            store,
            number,
            output,
            streams,
            waiting: VecDeque::new(),
            locked_since: None,
            said: false,
            gone: None,
        }
    }

    /// A sample was taken, on the target of that place and name.
    pub(super) fn sample(&mut self, (target, name): (usize, &str), case: &str, sample: &Sample) -> Result<()> {
        let sample = Sample { turn: Some(self.turn), ..sample.clone() };
        self.turn = self.turn.saturating_add(1);
        // The stream keeps the sample even if the database has failed.
        self.streams.sample(name, case, &sample)?;
        self.record(Record::Sample { target, case: case.to_owned(), sample: sample.into() })
    }

    /// Records how the run stands at its end, and the bytes that it has written, after all that still waits. Another
    /// program's lock is waited for, until `stop` is set, or for a moment where it is set already.
    pub(super) fn finish(&mut self, status: RunStatus, totals: Record, stop: &AtomicBool) -> Result<()> {
        self.waiting.extend([totals, Record::Status(status)]);
        let (start, was_stopped) = (Instant::now(), stop.load(Ordering::Relaxed));
        loop {
            if let Err(error) = self.write_waiting() {
                // The rows that failed come before the status, which may still be written.
                let failed = || self.store.set_status(self.number, RunStatus::Failed);
                let _ = self.store.unless_stopped(stop, failed);
                return Err(error.into());
            }
            if let Some(gone) = &self.gone {
                return Err(anyhow!(
                    "{gone}; its results are in no database: `--export json=FILE` keeps them in a file, too"
                ));
            }
            if self.waiting.is_empty() {
                return Ok(self.store.check_in_place()?);
            }
            if stop.load(Ordering::Relaxed) && (!was_stopped || start.elapsed() > AFTER_SIGNAL) {
                return Err(self.not_written());
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The run in the database, with the records that still wait.
    pub(super) fn run(&self) -> Result<RunRecord> {
        let mut run = self.store.run(self.number)?;
        self.waiting.iter().for_each(|record| record.add_to(&mut run));
        Ok(run)
    }

    pub(super) fn record(&mut self, record: Record) -> Result<()> {
        self.waiting.push_back(record);
        Ok(self.write_waiting()?)
    }

    /// Writes as much as the database takes now. Fails if it will not take more later either.
    fn write_waiting(&mut self) -> Result<(), StoreError> {
        while let Some(record) = self.waiting.front().filter(|_| self.gone.is_none()) {
            match self.store.without_waiting(|| record.write(self.store, self.number)) {
                Ok(()) => {
                    self.waiting.pop_front();
                    self.locked_since = None;
                }
                Err(error) if error.is_busy() => {
                    self.say_that_it_waits();
                    return Ok(());
                }
                Err(error @ StoreError::Gone { .. }) => {
                    let end = "The run goes on, and shows its results at the end.";
                    self.output.note(&format!("{error}. {end}"));
                    self.gone = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn say_that_it_waits(&mut self) {
        let since = self.locked_since.get_or_insert_with(Instant::now);
        if since.elapsed() > QUIET && !self.said {
            self.said = true;
            let path = self.store.path().display();
            self.output.note(&format!(
                "Waiting for the database {path}, which another program has locked. Samples are kept in memory \
                 meanwhile."
            ));
        }
    }

    fn not_written(&self) -> anyhow::Error {
        let samples = self.waiting.iter().filter(|record| matches!(record, Record::Sample { .. })).count();
        let what = if samples > 0 {
            format!("{} and the run's end are not in it", counted(samples, "sample"))
        } else {
            "the run's end is not in it".to_owned()
        };
        let path = self.store.path().display();
        anyhow!("database {path}: another program has locked it, and {what}; `writebench run --resume` goes on")
    }
}

impl Record {
    fn write(&self, store: &Store, run: i64) -> Result<(), StoreError> {
        match self {
            Self::Row(row) => store.add_cases(run, std::slice::from_ref(row)),
            Self::Sample { target, case, sample } => store.add_sample(run, *target, case, sample),
            Self::Limits { target, limits } => store.set_limits(run, *target, limits),
            Self::Totals { written, cpu_wait_ppm } => store.set_totals(run, *written, *cpu_wait_ppm),
            Self::Status(status) => store.set_status(run, *status),
        }
    }

    fn add_to(&self, run: &mut RunRecord) {
        match self {
            Self::Row(row) => run.cases.push((**row).clone()),
            Self::Sample { target, case, sample } => {
                let name = run.targets.get(*target).map(|target| &target.name);
                let is_of_it = |row: &&mut CaseRecord| Some(&row.target) == name && row.case.name() == case;
                run.cases.iter_mut().filter(is_of_it).for_each(|row| row.samples.push((**sample).clone()));
            }
            Self::Limits { target, limits } => {
                run.targets.get_mut(*target).into_iter().for_each(|it| it.limits.clone_from(limits));
            }
            Self::Totals { written, cpu_wait_ppm } => {
                (run.written_bytes, run.cpu_wait_ppm) = (Some(*written), *cpu_wait_ppm);
            }
            Self::Status(status) => run.status = *status,
        }
    }
}
