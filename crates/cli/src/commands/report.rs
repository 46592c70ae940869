//! `writebench report`.

use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use writebench_report::{Report, formats};

use crate::arguments::ReportCommand;
use crate::database;
use crate::exit::Exit;
use crate::export::NEVER;
use crate::named_runs::{NamedRuns, Source, kept};
use crate::output::Output;
use crate::output_file::OutputFile;
use crate::run_name::{RunName, RunOn};

/// Writes a page of the newest run, or of those that were named.
pub fn report(command: &ReportCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let names = if command.runs.is_empty() { vec![newest(db)?] } else { command.runs.clone() };
    let to = match command.output.as_os_str() {
        it if it == "-" => None,
        _ => Some(OutputFile::find("--output", &command.output, &Rc::new(kept(names.iter(), db)))?),
    };
    let runs = NamedRuns::open(names.iter(), db)?.of(&names)?;
    let reports = runs.into_iter().map(|named| {
        let number = match named.source {
            Source::Database(number) => Some(number),
            Source::File(_) => None,
        };
        Report::of(number, named.run)
    });
    let page = formats::html::render(&reports.collect::<Vec<Report>>())?;
    match to {
        None => output.export(&page)?,
        Some(file) => {
            file.write(page.as_bytes(), &NEVER, output)?;
            output.note(&format!("{} is a page for any browser.", file.path().display()));
        }
    }
    Ok(Exit::Ok)
}

fn newest(db: Option<&Path>) -> Result<RunOn> {
    let store = database::open_existing(db)?;
    Ok(RunOn { run: RunName::Number(database::newest(&store)?), target: None })
}
