use anyhow::Result;
use writebench_model::{Goal, RunRecord};
use writebench_report::formats::terminal::Detail;
use writebench_report::{Report, Sort, formats};

use crate::arguments::{OUTPUT, goals, named_values};
use crate::database;
use crate::exit::{Exit, usage};
use crate::export::{Export, ExportArguments};
use crate::global::Global;
use crate::output;
use crate::output_file::ProtectedPaths;
use crate::run_name::{RunName, RunSelector};
use clap::Args;

/// Show or export a run
#[derive(Args)]
pub(crate) struct ShowCommand {
    /// Number of a run, or a label for its newest run. RUN@TARGET is the part of a run on one target, in full [default: the
    /// newest run]
    run: Option<RunSelector>,
    /// Show this goal only, with a table of its cases: stream, log, or another name of `writebench list goals`
    #[arg(long = "for", value_name = "GOAL", hide_possible_values = true, value_parser = goals(), help_heading = OUTPUT)]
    goal: Option<Goal>,
    /// Sort the rows of each printed table, by the first of several targets. Rows without a result are last [default: the
    /// suite's order, or throughput with --top]
    #[arg(long, value_name = "BY", value_parser = named_values(&Sort::ALL, Sort::name), help_heading = OUTPUT)]
    sort: Option<Sort>,
    /// Print everything: the machine, all columns and all conclusions. Columns that do not fit into the terminal follow in
    /// further parts
    #[arg(long, short = 'v', help_heading = OUTPUT)]
    all: bool,
    /// Print only the first rows of each table
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = OUTPUT)]
    top: Option<u32>,
    #[command(flatten)]
    exports: ExportArguments,
}

impl ShowCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let db = global.db.as_deref();
        let output = &global.output;
        let exports = self.exports.find(ProtectedPaths::database(db))?;
        let store = database::open_existing(db)?;
        let name = self
            .run
            .clone()
            .map_or_else(|| database::newest(&store), Ok)?;
        let number = name
            .run
            .numbers(&store)
            .map_err(|error| with_goal(error, &name.run))?
            .into_iter()
            .next_back()
            .unwrap_or_default();
        let run = name.part_of(store.run(number)?)?;
        let report = Report::from_run(Some(number), self.part_for_goal(number, run)?);
        output::all_ok(exports.iter().map(|export| export.write(&report, output)))?;
        let report = match (self.sort, self.top) {
            (None, None) => report,
            (sort, top) => report.sorted(sort.unwrap_or(Sort::ALL[0]), top.map(|top| top as usize)),
        };
        if !exports.iter().any(Export::is_to_stdout) {
            let detail = match (self.all, self.goal) {
                (true, _) => Detail::All,
                (false, Some(_)) => Detail::Tables,
                (false, None) => Detail::Usual,
            };
            output.results(&formats::terminal::report(&report, detail, output.width()))?;
            // The note is for a person at a terminal.
            if output.is_terminal() {
                database::note_next_commands(output, &store, &report, name.target.as_deref());
            }
        }
        Ok(Exit::Ok)
    }

    fn part_for_goal(&self, number: i64, run: RunRecord) -> Result<RunRecord> {
        let Some(goal) = self.goal else {
            return Ok(run);
        };
        run.for_goal(goal).ok_or_else(|| {
            let why = Report::from_run(Some(number), run).why_no_answer(Some(goal));
            usage!("run {number} has no cases for {goal}. {why} `writebench runs` lists all runs")
        })
    }
}

/// The error for an unknown label, which may be meant as a goal.
fn with_goal(error: anyhow::Error, run: &RunName) -> anyhow::Error {
    match run {
        RunName::Label(word) if Goal::from_word(word).is_some() => {
            usage!("{error}. For that goal: writebench show --for {word}")
        }
        _ => error,
    }
}
