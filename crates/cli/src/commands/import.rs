use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use writebench_model::RunRecord;
use writebench_report::visible;

use crate::database;
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::named_runs::exported;

/// Import runs exported on this or another machine into the database
#[derive(Args)]
pub(crate) struct ImportCommand {
    /// JSON exports (`--export json=FILE`). A run already in the database is refused
    #[arg(value_name = "FILE.json", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

impl ImportCommand {
    /// All files, or none.
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let runs = self
            .files
            .iter()
            .map(|file| exported(file))
            .collect::<Result<Vec<RunRecord>>>()?;
        let mut store = database::open(global.db.as_deref())?;
        for (index, (run, file)) in runs.iter().zip(&self.files).enumerate() {
            let file = file.display();
            let id = &run.id;
            let is_new = runs[..index].iter().all(|other| other.id != *id) && !store.has_run(id)?;
            ensure!(
                is_new,
                usage!(
                    "{file}: the database has the run {id} already. `writebench runs` lists all"
                )
            );
        }
        for (number, file) in store.import_runs(&runs)?.into_iter().zip(&self.files) {
            global.output.results(&format!(
                "{} is run {number}\n",
                visible(&file.to_string_lossy())
            ))?;
        }
        Ok(Exit::Ok)
    }
}
