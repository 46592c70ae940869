//! `writebench show`.

use std::path::Path;

use anyhow::Result;
use report::{Report, Sort, formats};

use crate::arguments::ShowCommand;
use crate::database;
use crate::exit::Exit;
use crate::output::Output;

/// Shows a run from the database.
pub fn show(command: &ShowCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
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
    for export in &command.export {
        export.check()?;
        export.write(&report, output)?;
    }
    let report = match (command.sort, command.top) {
        (None, None) => report,
        (sort, top) => report.arranged(sort.unwrap_or(Sort::Throughput), top.map(|top| top as usize)),
    };
    if !command.export.iter().any(super::export::Export::is_to_stdout) {
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
