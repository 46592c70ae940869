use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use writebench_report::formats::{display_width, padded};
use writebench_report::{counted, visible};
use writebench_store::{RunSummary, StoreError};

use crate::exit::Exit;
use crate::global::Global;
use crate::run_name::RunName;
use crate::{consent, database};

/// List the runs of the database, or delete some
#[derive(Args)]
pub(crate) struct RunsCommand {
    #[command(subcommand)]
    action: Option<RunsAction>,
}

#[derive(Subcommand)]
enum RunsAction {
    /// Delete runs with their samples
    Delete {
        /// Runs by number, or by label (all its runs)
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<RunName>,
        /// Delete without asking
        #[arg(long, short)]
        yes: bool,
    },
}

impl RunsCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        match &self.action {
            None => {
                let store = database::open_existing(global.db.as_deref())?;
                let text = match store.runs()?.as_slice() {
                    [] => format!("no runs in {}\n", visible(&store.path().to_string_lossy())),
                    runs => list(runs),
                };
                global.output.results(&text)
            }
            Some(RunsAction::Delete { runs, yes }) => {
                let count = delete(runs, *yes, global.db.as_deref())?;
                global
                    .output
                    .note(&format!("Deleted {}.", counted(count, "run")));
                Ok(Exit::Ok)
            }
        }
    }
}

/// Longer labels are not aligned.
const WIDEST_LABEL: usize = 40;

/// The newest run is last.
fn list(runs: &[RunSummary]) -> String {
    let label = |run: &RunSummary| visible(run.label.as_deref().unwrap_or("-")).into_owned();
    let label_width = runs
        .iter()
        .map(|run| display_width(&label(run)))
        .max()
        .unwrap_or(0)
        .clamp(5, WIDEST_LABEL);
    let line = |run: &RunSummary| {
        let RunSummary {
            number,
            cases,
            samples,
            ..
        } = run;
        let [started, status] = [(&run.started, 20), (&run.status, 11)]
            .map(|(text, width)| padded(&visible(text), width));
        let label = padded(&label(run), label_width);
        let target = visible(&run.target);
        // A run that failed before its first case has no suite.
        let of = match run.suites.as_str() {
            "" => target.into_owned(),
            suites => format!("{} on {target}", visible(suites)),
        };
        format!("{number:>4}  {started}  {status}  {cases:>5}  {samples:>7}  {label}  {of}\n")
    };
    let heading = padded("label", label_width);
    let heading = format!(
        " run  started               status       cases  samples  {heading}  suites, target\n"
    );
    heading + &runs.iter().map(line).collect::<String>()
}

/// Returns the number of deleted runs.
fn delete(names: &[RunName], agreed: bool, db: Option<&Path>) -> Result<usize> {
    let mut store = database::open_existing(db)?;
    let mut numbers = BTreeSet::new();
    for name in names {
        numbers.extend(name.numbers(&store)?);
    }
    let numbers: Vec<i64> = numbers.into_iter().collect();
    let all = store.runs()?;
    let mut named = Vec::new();
    for &number in &numbers {
        let run = all
            .iter()
            .find(|run| run.number == number)
            .ok_or_else(|| store.no_run(number))?;
        if store.is_under_way_elsewhere(number)? {
            return Err(StoreError::UnderWay {
                path: store.path().to_path_buf(),
                run: number,
            }
            .into());
        }
        named.push(description(run));
    }
    let path = store.path().display();
    let would = format!(
        "{} would be deleted from {path}: {}",
        counted(numbers.len(), "run"),
        named.join(", ")
    );
    consent::ask(agreed, &would, "add --yes")?;
    store.delete_runs(&numbers)?;
    Ok(numbers.len())
}

/// `3 (before, 2026-07-01T10:00:00Z, 120 samples)`.
fn description(run: &RunSummary) -> String {
    let label = run
        .label
        .as_deref()
        .map_or(String::new(), |label| format!("{label}, "));
    let samples = counted(usize::try_from(run.samples).unwrap_or(usize::MAX), "sample");
    format!("{} ({label}{}, {samples})", run.number, run.started)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: Option<&str>) -> RunSummary {
        RunSummary {
            number: 7,
            label: label.map(str::to_owned),
            started: "2026-07-01T10:00:00Z".to_owned(),
            status: "complete".to_owned(),
            target: "/data".to_owned(),
            suites: "write".to_owned(),
            cases: 60,
            samples: 360,
            is_search: false,
        }
    }

    #[test]
    fn columns_are_aligned_with_their_headings() {
        let list = list(&[
            run(None),
            run(Some("vor dem Umbau")),
            run(Some("書き込み\u{7}")),
        ]);
        let lines: Vec<&str> = list.lines().collect();
        let column = |line: &str, text: &str| display_width(line.split_once(text).unwrap().0);
        let target = column(lines[0], "suites, target");
        assert!(
            lines[1..]
                .iter()
                .all(|line| column(line, "write on /data") == target),
            "{list}"
        );
        for (heading, text) in [("started", "2026"), ("status", "complete")] {
            assert_eq!(column(lines[0], heading), column(lines[1], text), "{list}");
        }
        let ends = |heading, text| {
            column(lines[0], heading) + heading.len() == column(lines[1], text) + text.len()
        };
        assert!(
            ends(" run", "   7") && ends("cases", "60") && ends("samples", "360"),
            "{list}"
        );
        assert!(!list.contains('\u{7}'), "{list}");
    }

    #[test]
    fn a_run_without_a_case_has_its_target_only() {
        let failed = RunSummary {
            suites: String::new(),
            ..run(None)
        };
        assert!(list(&[failed]).ends_with("  -      /data\n"));
    }

    #[test]
    fn one_long_label_does_not_widen_the_list() {
        let long = "l".repeat(WIDEST_LABEL + 20);
        let list = list(&[run(Some(&long)), run(None)]);
        assert!(list.contains(&format!("{long}  write on")), "{list}");
        assert!(
            list.lines()
                .last()
                .is_some_and(|line| line.len() < 57 + WIDEST_LABEL + 20),
            "{list}"
        );
    }
}
