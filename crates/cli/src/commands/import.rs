use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use writebench_model::{RunRecord, distinct_rows};
use writebench_report::{Exported, counted, visible};

use crate::database;
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::named_runs::exported;

/// Import runs exported on this or another machine into the database
#[derive(Args)]
pub(crate) struct ImportCommand {
    /// Exports as JSON (`--export json=FILE`) or JSON Lines (`--export jsonl=FILE`, also of a run that was killed). A
    /// run already in the database is refused
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

impl ImportCommand {
    /// All files, or none.
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let mut runs: Vec<RunRecord> = Vec::new();
        let mut notes = Vec::new();
        for file in &self.files {
            let exported = exported(file)?;
            notes.extend(unfinished(file, &exported));
            runs.push(exported.run);
        }
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
        notes.iter().for_each(|note| global.output.note(note));
        Ok(Exit::Ok)
    }
}

/// What JSON Lines without an end lack.
fn unfinished(file: &Path, exported: &Exported) -> Option<String> {
    if exported.has_end {
        return None;
    }
    let rows = distinct_rows(&exported.run.cases);
    let samples = counted(rows.map(|row| row.samples.len()).sum(), "sample");
    let cut = exported.cut_line.map_or(String::new(), |line| {
        format!(" Its last line, {line}, is cut and left out.")
    });
    Some(format!(
        "{} lacks the end of its run, which was killed or still measures. The run is imported as interrupted, with \
         {samples}.{cut}",
        file.display()
    ))
}
