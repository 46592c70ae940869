//! The runs that names on the command line mean: of the database, and exported files.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use writebench_model::{Bytes, MOST_DOCUMENT_BYTES, RunRecord};
use writebench_store::Store;

use crate::database;
use crate::exit;
use crate::output_file::Kept;
use crate::run_name::{RunName, RunOn, labelled};

/// Where such runs are found.
pub struct NamedRuns {
    /// None where exported files are all that was named: they can be read where there never was a database.
    store: Option<Store>,
}

/// A run that was named.
pub struct NamedRun {
    /// Where it was found.
    pub source: Source,
    /// The target that was named, which is all that there is of it.
    pub target: Option<String>,
    /// All of it, or the part on that target.
    pub run: RunRecord,
}

/// Where a run was found.
pub enum Source {
    /// By its number.
    Database(i64),
    /// An exported file.
    File(PathBuf),
}

/// What no output may replace: the database, and the files that are named.
pub fn kept<'n>(names: impl Iterator<Item = &'n RunOn>, db: Option<&Path>) -> Kept {
    names.fold(Kept::database(db), |kept, name| match &name.run {
        RunName::File(path) => kept.and("a run that is read", path),
        RunName::Number(_) | RunName::Label(_) => kept,
    })
}

impl NamedRuns {
    /// Opens the database, if one of the names needs it.
    pub fn open<'n>(mut names: impl Iterator<Item = &'n RunOn>, db: Option<&Path>) -> Result<Self> {
        let in_database = |name: &RunOn| !matches!(name.run, RunName::File(_));
        let store = if names.any(in_database) { Some(database::open_existing(db)?) } else { None };
        Ok(Self { store })
    }

    /// The runs of these names, in order: of a label all that have it.
    pub fn of(&self, names: &[RunOn]) -> Result<Vec<NamedRun>> {
        let mut runs = Vec::new();
        for name in names {
            let mut add = |source: Source, run: RunRecord| -> Result<()> {
                runs.push(NamedRun { source, target: name.target.clone(), run: name.part_of(run)? });
                Ok(())
            };
            match (&name.run, &self.store) {
                (RunName::File(path), _) => add(Source::File(path.clone()), exported(path)?)?,
                (RunName::Number(number), Some(store)) => add(Source::Database(*number), store.run(*number)?)?,
                (RunName::Label(label), Some(store)) => {
                    for number in labelled(store, label)?.0 {
                        add(Source::Database(number), store.run(number)?)?;
                    }
                }
                (_, None) => {}
            }
        }
        Ok(runs)
    }
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
    writebench_report::run_of_export(&text, &writebench_engine::method_infos())
        .map_err(|error| exit::usage(format!("{name} {error}")))
}

/// All of a file; none if that is more than an export has. A pipe can be endless.
fn read(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    File::open(path)?.take(MOST_DOCUMENT_BYTES + 1).read_to_string(&mut text)?;
    Ok(Some(text).filter(|text| text.len() as u64 <= MOST_DOCUMENT_BYTES))
}
