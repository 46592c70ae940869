//! The runs of a database, a line each.

use std::path::Path;

use anyhow::Result;
use writebench_report::visible;
use writebench_store::RunSummary;

use crate::database;

/// The longest label that all others are aligned with.
const WIDEST_LABEL: usize = 40;

/// All runs, the newest last.
pub(crate) fn run_list(db: Option<&Path>) -> Result<String> {
    let store = database::open_existing(db)?;
    let runs = store.runs()?;
    if runs.is_empty() {
        return Ok(format!("no runs in {}\n", visible(&store.path().to_string_lossy())));
    }
    let label = |run: &RunSummary| visible(run.label.as_deref().unwrap_or("-")).into_owned();
    let label_width =
        runs.iter().map(|run| label(run).chars().count()).max().unwrap_or(0).clamp(5, WIDEST_LABEL);
    let mut text = format!(
        "{:>4}  {:<20}  {:<11}  {:>5}  {:>7}  {:<label_width$}  suites, target\n",
        "run", "started", "status", "cases", "samples", "label"
    );
    for run in runs {
        text += &format!(
            "{:>4}  {:<20}  {:<11}  {:>5}  {:>7}  {:<label_width$}  {} on {}\n",
            run.number,
            visible(&run.started),
            visible(&run.status),
            run.cases,
            run.samples,
            label(&run),
            visible(&run.suites),
            visible(&run.target)
        );
    }
    Ok(text)
}
