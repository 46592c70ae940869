//! `writebench import`.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::Result;
use model::RunRecord;
use report::visible;

use crate::arguments::ImportCommand;
use crate::database;
use crate::exit::{self, Exit};
use crate::output::Output;

/// Takes exported runs into the database: all of them, or none.
pub fn import(command: &ImportCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    let mut runs = command.files.iter().map(|file| exported(file)).collect::<Result<Vec<RunRecord>>>()?;
    for run in &mut runs {
        // A document must not name a file that --resume would make here.
        run.settings.copy_to = None;
    }
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

/// The run in an exported file.
pub fn exported(path: &Path) -> Result<RunRecord> {
    let name = path.display();
    // Pipes end, as <(zcat run.json.gz) does; /dev/zero does not.
    if path.metadata().is_ok_and(|it| it.file_type().is_char_device() || it.file_type().is_block_device()) {
        return Err(exit::usage(format!("{name} is a device; name the file of an export")));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| exit::usage(format!("{name}: {}", exit::meaning(&error))))?;
    report::run_of_export(&text).map_err(|error| exit::usage(format!("{name} {error}")))
}
