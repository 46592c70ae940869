use std::time::Duration;

use anyhow::Result;
use writebench_model::{Case, RunEvent, RunRecord, RunStatus, Settings};
use writebench_store::Store;

use super::measure::Session;
use super::scheduled::ScheduledCases;
use super::target::Target;
use super::workspaces::Workspaces;
use crate::exit::Exit;
use crate::export::Export;
use crate::file_copy::FileCopy;
use crate::global::Global;

/// A run that was checked and only needs to be measured.
///
/// `run`, `run --resume`, `advise` and `fs` make one from what was typed, and nothing behind it knows which command it
/// was.
pub(crate) struct Plan {
    /// As it is recorded before the first sample.
    pub run: RunRecord,
    /// The number of a run in the database that is continued.
    pub resumed: Option<i64>,
    /// The settings of these samples. A resumed run has a new budget, and a search watches its budget itself.
    pub settings: Settings,
    /// The claimed targets, in the order of the record.
    pub targets: Vec<Target>,
    pub scheduled: ScheduledCases,
    pub copied: Option<FileCopy>,
    /// The cases whose hardware limits are measured.
    pub limits_for: Vec<Case>,
    /// Written before the first sample, such as images of filesystems.
    pub bytes_before: u64,
    /// The user's limit for an answer of a target.
    pub timeout: Option<Duration>,
    /// Printed when the run begins.
    pub notes: Vec<String>,
}

impl Plan {
    /// Records the run and measures it. No other place begins a run.
    pub(crate) fn execute(
        mut self,
        store: &mut Store,
        exports: &[Export],
        global: &Global,
    ) -> Result<Exit> {
        let number = match self.resumed {
            Some(number) => {
                // If this part is killed, the decisions of the part before would not know its samples.
                self.run.status = RunStatus::Running;
                store.record(number, &RunEvent::Decisions(Vec::new()))?;
                store.record(number, &RunEvent::Status(RunStatus::Running))?;
                number
            }
            None => store.begin_run(&self.run)?,
        };
        self.notes.iter().for_each(|note| global.output.note(note));
        let workspaces = Workspaces {
            store,
            run: number,
            targets: self.targets,
            timeout: self.timeout,
            global,
        };
        let mut session = Session::new(
            workspaces,
            self.run,
            self.settings,
            self.scheduled,
            self.copied,
            self.limits_for,
        );
        session.written.add(self.bytes_before);
        session.measure(exports)
    }
}
