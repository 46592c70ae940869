//! `writebench report`.

use std::path::Path;

use anyhow::Result;
use report::{Report, formats};

use crate::arguments::ReportCommand;
use crate::database;
use crate::exit::{self, Exit};
use crate::export::{check_place, write_file};
use crate::named_runs::{NamedRuns, Source};
use crate::output::Output;
use crate::run_name::{RunName, RunOn};

/// Writes a page of the newest run, or of those that were named.
pub fn report(command: &ReportCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let to_stdout = command.output.as_os_str() == "-";
    if !to_stdout {
        check_place("--output", &command.output, false)?;
    }
    let names = if command.runs.is_empty() { vec![newest(db)?] } else { command.runs.clone() };
    if let Some(file) = names.iter().find(|name| is_file(&name.run, &command.output)) {
        return Err(exit::usage(format!(
            "--output: {file} is what the page would be made of; name another file"
        )));
    }
    let runs = NamedRuns::open(names.iter(), db)?.of(&names)?;
    let reports = runs.into_iter().map(|named| {
        let number = match named.source {
            Source::Database(number) => Some(number),
            Source::File(_) => None,
        };
        Report::of(number, named.run)
    });
    let page = formats::html::render(&reports.collect::<Vec<Report>>())?;
    if to_stdout {
        output.results(&page)?;
    } else {
        write_file(&command.output, &page)?;
        output.note(&format!("{} is a page for any browser.", command.output.display()));
    }
    Ok(Exit::Ok)
}

/// Whether the run is what is in that file.
fn is_file(run: &RunName, file: &Path) -> bool {
    let RunName::File(export) = run else { return false };
    let place = |path: &Path| path.canonicalize().ok();
    place(export).is_some_and(|export| Some(export) == place(file))
}

fn newest(db: Option<&Path>) -> Result<RunOn> {
    let store = database::open_existing(db)?;
    Ok(RunOn { run: RunName::Number(database::newest(&store)?), target: None })
}
