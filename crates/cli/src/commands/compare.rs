use std::path::Path;
use std::thread::Builder;

use anyhow::Result;
use writebench_report::formats::terminal::Detail;
use writebench_report::{Comparison, FOUR_RUNS, Side, Verdict, counted, formats};

use crate::arguments::percent_in_ppm;
use crate::exit::{self, Exit, usage};
use crate::export::{self, ComparisonExportArguments, Export};
use crate::gate;
use crate::global::Global;
use crate::named_runs::{named_runs, protected};
use crate::output::Output;
use crate::run_name::{RunName, RunSelector, run_names};
use clap::Args;

/// Compare runs case by case: is B faster or slower than A?
#[derive(Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareCommand {
    /// The baseline: run numbers, labels (all their runs) and exported files (FILE.json, FILE.jsonl, or with a `/`),
    /// separated by commas. RUN@TARGET is the part of a run on one target
    #[arg(value_name = "A", value_parser = run_names)]
    a: Box<[RunSelector]>,
    /// The other side, in the same format
    #[arg(value_name = "B", value_parser = run_names)]
    b: Box<[RunSelector]>,
    /// Exit with code 5 if the whole interval of a case is slower by more than this (for 5%, below 0.95). Needs four runs
    /// per side, or two targets of one run
    #[arg(long, value_name = "PERCENT", value_parser = percent_in_ppm)]
    fail_if_slower: Option<u32>,
    /// Call a case the same if the interval of its ratio is within this distance of 1 [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = percent_in_ppm)]
    as_fast: Option<u32>,
    /// Print every case and every column. Columns that do not fit into the terminal follow in further parts
    #[arg(long, short = 'v')]
    all: bool,
    #[command(flatten)]
    exports: ComparisonExportArguments,
}

const COMPARE_EXAMPLES: &str = "Examples:
  writebench compare 3 4               one run with another
  writebench compare before after      all runs with these labels
  writebench compare base.json 7,9,11  an exported run with three runs
  writebench compare 5@ext4 5@xfs      two targets of one run
  writebench compare before after --fail-if-slower 5%

Conditions drift between two single runs, so their comparison is always inconclusive. Take four runs of each side in \
    turns: run --label before, run --label after, and again.";

impl CompareCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let db = global.db.as_deref();
        let output = &global.output;
        let exports = self
            .exports
            .find(protected(self.a.iter().chain(&self.b), db))?;
        let (a, b) = both_sides(&self.a, &self.b, db)?;
        let mut comparison = Comparison::from_sides(a, b).map_err(|error| usage!("{error}"))?;
        comparison.limit_ppm = self.fail_if_slower;
        if self.fail_if_slower.is_some() && comparison.is_of_single_runs() {
            return Err(usage!(
                "--fail-if-slower: conditions drift between two single runs. {FOUR_RUNS}, for example with --label before \
                 and --label after, then `writebench compare before after`"
            ));
        }
        let margin = self
            .as_fast
            .map_or(Verdict::MARGIN, |ppm| f64::from(ppm) / 1e6);
        let comparison = comparison.with_margin(margin);
        export::write_comparison(&exports, &comparison, output)?;
        if !exports.iter().any(Export::is_to_stdout) {
            let detail = if self.all { Detail::All } else { Detail::Usual };
            output.results(&formats::comparison::terminal(
                &comparison,
                detail,
                output.width(),
            ))?;
        }
        self.fail_if_slower
            .map_or(Ok(Exit::Ok), |ppm| judge(&comparison, ppm, output))
    }
}

/// Reads both sides in parallel, because half a million samples take a second.
fn both_sides(a: &[RunSelector], b: &[RunSelector], db: Option<&Path>) -> Result<(Side, Side)> {
    let (a, b) = std::thread::scope(|scope| {
        let a = Builder::new().spawn_scoped(scope, || side(a, db));
        let a = a.map_err(|error| exit::thread_error("that reads a side", &error))?;
        let b = side(b, db);
        anyhow::Ok((a.join(), b))
    })?;
    Ok((
        a.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
        b?,
    ))
}

fn side(names: &[RunSelector], db: Option<&Path>) -> Result<Side> {
    let runs = named_runs(names, db)?
        .into_iter()
        .map(|(_, run)| run)
        .collect();
    let name = |name: &RunSelector| match name.run {
        RunName::Number(_) => format!("run {name}"),
        _ => name.to_string(),
    };
    Ok(Side {
        name: names.iter().map(name).collect::<Vec<_>>().join(","),
        runs,
    })
}

fn judge(comparison: &Comparison, limit_ppm: u32, output: &Output) -> Result<Exit> {
    if comparison.cases.len() == comparison.too_few() {
        return Err(usage!(
            "--fail-if-slower: no case has enough runs or rounds on both sides. {FOUR_RUNS}"
        ));
    }
    let undecided = comparison.undecided_cases();
    if undecided > 0 {
        output.note(&format!(
            "--fail-if-slower does not judge {} of A: too few runs or rounds, no result, or not in B.",
            counted(undecided, "case")
        ));
    }
    let slower = comparison.slower();
    Ok(gate::exit_for(
        limit_ppm,
        slower
            .into_iter()
            .map(|case| (case.case.to_string(), case.speed_ratio)),
    ))
}
