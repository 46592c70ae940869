//! `writebench import`.

use std::path::Path;

use anyhow::Result;
use writebench_model::RunRecord;
use writebench_report::visible;

use crate::arguments::ImportCommand;
use crate::database;
use crate::exit::{self, Exit};
use crate::named_runs::exported;
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
        output.results(&format!("{} is run {number}\n", visible(&file.to_string_lossy())))?;
    }
    Ok(Exit::Ok)
}
