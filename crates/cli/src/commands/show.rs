//! `writebench show`.

use std::path::Path;

use anyhow::Result;
use writebench_report::{Report, Sort, formats};

use crate::arguments::ShowCommand;
use crate::database;
use crate::exit::Exit;
use crate::export::{Export, NEVER};
use crate::output::Output;
use crate::output_file::Kept;

/// Shows a run from the database.
pub fn show(command: &ShowCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let exports = command.exports.find(Kept::database(db))?;
    let store = database::open_existing(db)?;
    let number = match &command.run {
        Some(name) => name.run.newest(&store)?,
        None => database::newest(&store)?,
    };
    let run = store.run(number)?;
    let run = match &command.run {
        Some(name) => name.part_of(run)?,
        None => run,
    };
    let report = Report::of(Some(number), run);
    output.all_ok(exports.iter().map(|export| export.write(&report, &NEVER, output)))?;
    let report = match (command.sort, command.top) {
        (None, None) => report,
        (sort, top) => report.arranged(sort.unwrap_or(Sort::Throughput), top.map(|top| top as usize)),
    };
    if !exports.iter().any(Export::is_to_stdout) {
        output.results(&formats::terminal::head(Some(number), &report.run, output.width()))?;
        output.results(&formats::terminal::body(&report, output.width()))?;
        // For whoever looks at it; in a pipe it would be noise.
        if output.width().is_some() {
            let part = command.run.as_ref().and_then(|name| name.target.as_deref());
            output.note(&database::page(&store, number, part));
        }
    }
    Ok(Exit::Ok)
}
