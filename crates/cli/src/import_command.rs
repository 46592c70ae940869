//! `writebench import`.

use std::path::Path;

use anyhow::Result;
use model::RunRecord;

use crate::arguments::ImportCommand;
use crate::database;
use crate::exit::{self, Exit};
use crate::output::Output;

/// Takes exported runs into the database: all of them, or none.
pub fn import(command: &ImportCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let runs = command.files.iter().map(|file| exported(file)).collect::<Result<Vec<RunRecord>>>()?;
    let mut store = database::open(db)?;
    for (index, (run, file)) in runs.iter().zip(&command.files).enumerate() {
        let before = runs[..index].iter().any(|other| other.id == run.id);
        if before || store.has_run(&run.id)? {
            return Err(exit::usage(format!(
                "{}: the run {} is there already; `writebench list runs` shows what there is",
                file.display(),
                run.id
            )));
        }
    }
    for (number, file) in store.import_runs(&runs)?.into_iter().zip(&command.files) {
        output.results(&format!("{} is run {number}\n", file.display()))?;
    }
    Ok(Exit::Ok)
}

/// The run in an exported file.
pub fn exported(path: &Path) -> Result<RunRecord> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| exit::usage(format!("{name}: {}", exit::meaning(&error))))?;
    report::run_of_export(&text).map_err(|error| exit::usage(format!("{name} {error}")))
}
