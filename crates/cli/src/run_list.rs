//! The runs of a database, a line each.

use std::path::Path;

use anyhow::Result;
use writebench_report::formats::{display_width, padded};
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
        runs.iter().map(|run| display_width(&label(run))).max().unwrap_or(0).clamp(5, WIDEST_LABEL);
    let mut text = format!(
        "{:>4}  {:<20}  {:<11}  {:>5}  {:>7}  {}  suites, target\n",
        "run",
        "started",
        "status",
        "cases",
        "samples",
        padded("label", label_width)
    );
    for run in runs {
        text += &format!(
            "{:>4}  {}  {}  {:>5}  {:>7}  {}  {} on {}\n",
            run.number,
            padded(&visible(&run.started), 20),
            padded(&visible(&run.status), 11),
            run.cases,
            run.samples,
            padded(&label(&run), label_width),
            visible(&run.suites),
            visible(&run.target)
        );
    }
    Ok(text)
}
