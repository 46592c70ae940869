//! Records the events of a run in memory, in its database and in its streams. A locked database does not delay samples:
//! events wait in memory.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use writebench_model::{Decision, FoldedRun, RunEvent, RunRecord, RunStatus};
use writebench_report::counted;
use writebench_store::{Store, StoreError};

use super::streams::Streams;
use super::workspaces::Workspaces;
use crate::export::Export;
use crate::output::Output;
use crate::signals::{self, is_stopped};

/// A longer lock gets a note. Other runs take a shorter one for each sample.
const QUIET: Duration = Duration::from_secs(1);
/// The wait for a lock after a signal.
const AFTER_SIGNAL: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Recorder<'r> {
    store: &'r Store,
    number: i64,
    output: &'r Output,
    pub run: FoldedRun,
    pub streams: Streams,
    /// The decisions of an earlier part of a resumed run.
    earlier_decisions: Vec<Decision>,
    /// Events that are not in the database yet.
    waiting: VecDeque<RunEvent>,
    /// The place of the next sample among all samples of the run.
    order: u32,
    locked_since: Option<Instant>,
    is_announced: bool,
    /// Set if the database is no longer at its path. Later events are not written.
    gone: Option<StoreError>,
}

impl<'r> Recorder<'r> {
    pub(super) fn new(
        &Workspaces {
            store,
            run: number,
            global,
            ..
        }: &Workspaces<'r>,
        mut run: RunRecord,
    ) -> Self {
        let earlier = run
            .cases
            .iter()
            .flat_map(|row| &row.samples)
            .filter_map(|sample| sample.order);
        Self {
            order: earlier.max().map_or(0, |last| last.saturating_add(1)),
            store,
            number,
            output: &global.output,
            earlier_decisions: std::mem::take(&mut run.decisions),
            run: FoldedRun::new(run),
            streams: Streams::default(),
            waiting: VecDeque::new(),
            locked_since: None,
            is_announced: false,
            gone: None,
        }
    }

    pub(super) fn begin_streams(&mut self, exports: &[Export]) -> Result<()> {
        self.streams = Streams::begin(exports, self.number, self.run.so_far(), self.output)?;
        Ok(())
    }

    /// Ignores samples of cases without a row, which serve to estimate the time.
    pub(super) fn record(&mut self, mut event: RunEvent) -> Result<()> {
        if let RunEvent::Sample {
            target,
            case,
            sample,
        } = &mut event
        {
            if self.run.samples(*target, case).is_none() {
                return Ok(());
            }
            sample.order = Some(self.order);
            self.order = self.order.saturating_add(1);
        }
        if let RunEvent::Decisions(decisions) = &mut event {
            count_earlier_candidates(decisions, &self.earlier_decisions);
        }
        self.keep(event);
        Ok(self.write_waiting()?)
    }

    fn keep(&mut self, event: RunEvent) {
        self.streams.write(self.run.so_far(), &event, self.output);
        if self.gone.is_none() {
            self.waiting.push_back(event.clone());
        }
        self.run.apply(event);
    }

    /// Records waiting events, the totals and the status. Waits for a lock until a signal, or shortly after one.
    pub(super) fn finish(&mut self, status: RunStatus, totals: RunEvent) -> Result<()> {
        [totals, RunEvent::Status(status)]
            .into_iter()
            .for_each(|event| self.keep(event));
        let start = Instant::now();
        let was_stopped = is_stopped();
        loop {
            if let Err(error) = self.write_waiting() {
                // The status may still be writable.
                let failed = || {
                    self.store
                        .record(self.number, &RunEvent::Status(RunStatus::Failed))
                };
                let _ = self.store.unless_stopped(signals::stop(), failed);
                return Err(error.into());
            }
            if let Some(gone) = &self.gone {
                return Err(anyhow!(
                    "{gone}. The results are in no database. Next time, keep them with --export json=FILE"
                ));
            }
            if self.waiting.is_empty() {
                return Ok(self.store.check_in_place()?);
            }
            if is_stopped() && (!was_stopped || start.elapsed() > AFTER_SIGNAL) {
                return Err(self.lock_error());
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Stops at a lock. Other errors are permanent.
    fn write_waiting(&mut self) -> Result<(), StoreError> {
        while let Some(event) = self.waiting.front().filter(|_| self.gone.is_none()) {
            match self
                .store
                .without_waiting(|| self.store.record(self.number, event))
            {
                Ok(()) => {
                    self.waiting.pop_front();
                    self.locked_since = None;
                }
                Err(error) if error.is_busy() => {
                    self.announce_lock();
                    return Ok(());
                }
                Err(error @ StoreError::Gone { .. }) => {
                    let end = "The run continues, and shows its results at the end.";
                    self.output.note(&format!("{error}. {end}"));
                    self.gone = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn announce_lock(&mut self) {
        let since = self.locked_since.get_or_insert_with(Instant::now);
        if since.elapsed() > QUIET && !self.is_announced {
            self.is_announced = true;
            let path = self.store.path().display();
            self.output.note(&format!(
                "Another program has locked the database {path}. Samples wait in memory."
            ));
        }
    }

    fn lock_error(&self) -> anyhow::Error {
        let samples = self
            .waiting
            .iter()
            .filter(|event| matches!(event, RunEvent::Sample { .. }))
            .count();
        let what = if samples > 0 {
            format!(
                "{} and the run's end are not in it",
                counted(samples, "sample")
            )
        } else {
            "the run's end is not in it".to_owned()
        };
        let path = self.store.path().display();
        anyhow!(
            "database {path}: another program has locked it, and {what}. To continue: writebench run --resume"
        )
    }
}

/// A resumed run measures only cases that were compared before. The others were candidates too.
fn count_earlier_candidates(decisions: &mut [Decision], earlier: &[Decision]) {
    for decision in decisions {
        let before = earlier.iter().find(|before| {
            before.target == decision.target && before.workload == decision.workload
        });
        let candidates = before.map_or(0, |before| before.candidates);
        decision.candidates = decision.candidates.max(candidates);
    }
}
