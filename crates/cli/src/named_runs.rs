use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::str::Utf8Error;

use anyhow::{Result, ensure};
use writebench_model::{Bytes, Failure, MOST_DOCUMENT_BYTES, RunRecord};
use writebench_report::{ComparedRun, Exported};

use crate::database;
use crate::exit::usage;
use crate::output_file::ProtectedPaths;
use crate::run_name::{RunName, RunSelector};

/// The database, and the named files.
pub(crate) fn protected<'n>(
    names: impl Iterator<Item = &'n RunSelector>,
    db: Option<&Path>,
) -> ProtectedPaths {
    names.fold(
        ProtectedPaths::database(db),
        |protected, name| match &name.run {
            RunName::File(path) => protected.and("an input file", path),
            RunName::Number(_) | RunName::Label(_) => protected,
        },
    )
}

/// Titles are `run 5`, `run 5@ext4` or `x.json`. Exported files have no number, and need no database.
pub(crate) fn named_runs(
    names: &[RunSelector],
    db: Option<&Path>,
) -> Result<Vec<(Option<i64>, ComparedRun)>> {
    let needs_database = names
        .iter()
        .any(|name| !matches!(name.run, RunName::File(_)));
    let store = if needs_database {
        Some(database::open_existing(db)?)
    } else {
        None
    };
    let mut runs = Vec::new();
    for on in names {
        let mut add = |number: Option<i64>, run: RunRecord| -> Result<()> {
            let mut name =
                number.map_or_else(|| on.run.to_string(), |number| format!("run {number}"));
            on.target
                .iter()
                .for_each(|target| name += &format!("@{target}"));
            runs.push((
                number,
                ComparedRun {
                    name,
                    run: on.part_of(run)?,
                },
            ));
            Ok(())
        };
        if let RunName::File(path) = &on.run {
            add(None, exported(path)?.run)?;
        } else if let Some(store) = &store {
            on.run
                .numbers(store)?
                .into_iter()
                .try_for_each(|number| add(Some(number), store.run(number)?))?;
        }
    }
    Ok(runs)
}

pub(crate) fn exported(path: &Path) -> Result<Exported> {
    let name = path.display();
    // Pipes such as <(zcat run.json.gz) end. /dev/zero does not.
    let kind = path.metadata().map(|metadata| metadata.file_type());
    let is_device = kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device());
    ensure!(
        !is_device,
        usage!("{name} is a device. Name the file of an export")
    );
    let mut bytes = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(MOST_DOCUMENT_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| usage!("{name}: {}", Failure::io_message(&error)))?;
    if bytes.len() as u64 > MOST_DOCUMENT_BYTES {
        let most = Bytes(MOST_DOCUMENT_BYTES);
        return Err(usage!(
            "{name} has more than {most}, the limit for exports. Name the file of an export"
        ));
    }
    let text = whole_characters(bytes)
        .map_err(|error| usage!("{name} is not an export of writebench: {error}"))?;
    writebench_report::run_of_export(&text).map_err(|error| usage!("{name} {error}"))
}

/// The text without a character that is cut at its end, as in the last line of a killed run.
fn whole_characters(mut bytes: Vec<u8>) -> Result<String, Utf8Error> {
    if let Err(error) = str::from_utf8(&bytes) {
        if error.error_len().is_some() {
            return Err(error);
        }
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).map_err(|error| error.utf8_error())
}
