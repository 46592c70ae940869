use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use writebench_report::counted;
use writebench_store::{RunSummary, StoreError};

use crate::exit::Exit;
use crate::global::Global;
use crate::run_list::run_list;
use crate::run_name::RunName;
use crate::{consent, database};

/// List the runs of the database, or delete some
#[derive(Args)]
pub(crate) struct RunsCommand {
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(Subcommand)]
enum Change {
    /// Delete runs, with all of their samples
    Delete {
        /// Runs by number, or by label (all that have it)
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<RunName>,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

impl RunsCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        match &self.change {
            None => global.output.results(&run_list(global.db.as_deref())?)?,
            Some(Change::Delete { runs, yes }) => {
                let count = delete(runs, *yes, global.db.as_deref())?;
                global.output.note(&format!("Deleted {}.", counted(count, "run")));
            }
        }
        Ok(Exit::Ok)
    }
}

/// How many runs were deleted.
fn delete(names: &[RunName], agreed: bool, db: Option<&Path>) -> Result<usize> {
    let mut store = database::open_existing(db)?;
    let mut numbers = Vec::new();
    for name in names {
        numbers.extend(name.numbers(&store)?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    let all = store.runs()?;
    let mut named = Vec::new();
    for &number in &numbers {
        let run = all.iter().find(|run| run.number == number).ok_or_else(|| store.no_run(number))?;
        if store.is_under_way_elsewhere(number)? {
            return Err(StoreError::UnderWay { path: store.path().to_path_buf(), run: number }.into());
        }
        named.push(described(run));
    }
    let path = store.path().display();
    let would = format!("{} would be deleted from {path}: {}", counted(numbers.len(), "run"), named.join(", "));
    consent::ask(agreed, &would, "add --yes")?;
    store.delete_runs(&numbers)?;
    Ok(numbers.len())
}

/// `3 (before, 2026-07-01T10:00:00Z, 120 samples)`.
fn described(run: &RunSummary) -> String {
    let label = run.label.as_deref().map_or(String::new(), |label| format!("{label}, "));
    let samples = counted(usize::try_from(run.samples).unwrap_or(usize::MAX), "sample");
    format!("{} ({label}{}, {samples})", run.number, run.started)
}
