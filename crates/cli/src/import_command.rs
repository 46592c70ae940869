//! `writebench import`.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::Result;
use writebench_model::{Bytes, MOST_DOCUMENT_BYTES, RunRecord};
use writebench_report::visible;

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
    let text = read(path).map_err(|error| exit::usage(format!("{name}: {}", exit::meaning(&error))))?;
    let Some(text) = text else {
        let most = Bytes(MOST_DOCUMENT_BYTES);
        return Err(exit::usage(format!("{name} has more than {most}, which no export of a run has")));
    };
    writebench_report::run_of_export(&text).map_err(|error| exit::usage(format!("{name} {error}")))
}

/// All of a file; none if that is more than an export has. A pipe can be endless.
fn read(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    File::open(path)?.take(MOST_DOCUMENT_BYTES + 1).read_to_string(&mut text)?;
    Ok(Some(text).filter(|text| text.len() as u64 <= MOST_DOCUMENT_BYTES))
}
