use std::io::{self, Write};

use anyhow::{Context, Result};
use writebench_model::{Failure, RunEvent, RunRecord};
use writebench_report::formats::jsonl;

use crate::export::Export;
use crate::output::Output;

/// Exports that are written during the run. A failed stream does not end the run, whose samples are in the database.
#[derive(Default)]
pub(super) struct Streams {
    open: Vec<Box<dyn Write>>,
    /// The first error.
    failed: Option<io::Error>,
}

const WHAT_FAILED: &str = "cannot write jsonl, though the samples are in the database";

impl Streams {
    /// Opens the streams and writes the first line. Waits for the reader of a pipe until a signal.
    pub(super) fn begin(
        exports: &[Export],
        number: i64,
        run: &RunRecord,
        output: &Output,
    ) -> Result<Self> {
        let beginning = jsonl::begin(Some(number), run);
        let opened = exports
            .iter()
            .map(|export| export.stream(&beginning, output));
        let opened = opened.collect::<Result<Vec<_>>>().context(WHAT_FAILED)?;
        Ok(Self {
            open: opened.into_iter().flatten().collect(),
            failed: None,
        })
    }

    /// Flushes every line.
    pub(super) fn write(&mut self, run: &RunRecord, event: &RunEvent, output: &Output) {
        if self.open.is_empty() {
            return;
        }
        let lines = jsonl::lines(run, event);
        let failed = &mut self.failed;
        self.open.retain_mut(|stream| {
            let Err(error) = stream
                .write_all(lines.as_bytes())
                .and_then(|()| stream.flush())
            else {
                return true;
            };
            // A closed pipe (`| head -1`) is not an error.
            if error.kind() == io::ErrorKind::BrokenPipe {
                output.note("The reader of the jsonl has stopped. The run continues.");
            } else {
                output.note(&format!(
                    "Cannot write jsonl: {}. The run continues.",
                    Failure::io_message(&error)
                ));
                failed.get_or_insert(error);
            }
            false
        });
    }

    /// Fails if a line could not be written, unless the reader has stopped.
    pub(super) fn end(&mut self) -> Result<()> {
        self.open.clear();
        self.failed
            .take()
            .map_or(Ok(()), |error| Err(error).context(WHAT_FAILED))
    }
}
