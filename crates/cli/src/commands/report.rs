use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use writebench_report::{Report, formats};

use crate::database;
use crate::exit::Exit;
use crate::global::Global;
use crate::named_runs::{named_runs, protected};
use crate::output_file::{OutputFile, OutputPath};
use crate::run_name::RunSelector;
use clap::{Args, ValueHint};

/// Write an HTML page with answers, charts and tables of one run or several
#[derive(Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportCommand {
    /// Runs by number, label (all its runs) or export (FILE.json, FILE.jsonl, or with a `/`). RUN@TARGET is the part of a
    /// run on one target. All are compared with the first [default: the newest]
    #[arg(value_name = "RUN")]
    runs: Vec<RunSelector>,
    /// Write the page to this file, or - for standard output. It needs neither other files nor a network
    #[arg(long, short, value_name = "FILE", default_value = "report.html", value_hint = ValueHint::FilePath)]
    output: PathBuf,
}

const REPORT_EXAMPLES: &str = "Examples:
  writebench report                           the newest run, in report.html
  writebench report 3 4 -o before-after.html  two runs compared
  writebench report here.json there.json      two machines, from their exports
  writebench report 5@ext4 5@xfs              two targets of one run";

impl ReportCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let db = global.db.as_deref();
        let output = &global.output;
        let names = match self.runs.as_slice() {
            [] => vec![database::newest(&database::open_existing(db)?)?],
            names => names.to_vec(),
        };
        let protected = Rc::new(protected(names.iter(), db));
        let to = OutputFile::find(OutputPath {
            option: "--output",
            path: self.output.clone(),
            protected,
        })?;
        let runs = named_runs(&names, db)?.into_iter();
        let reports: Vec<Report> = runs
            .map(|(number, named)| Report::from_run(number, named.run))
            .collect();
        let page = formats::html::render(&reports);
        to.write(&page, output)?;
        if !to.is_for_results() {
            output.note(&format!("Open {} in a browser.", self.output.display()));
        }
        Ok(Exit::Ok)
    }
}
