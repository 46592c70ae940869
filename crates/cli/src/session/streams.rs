//! Exports that are written while the run goes on.

use std::io::{self, Write};

use anyhow::{Context, Result};
use writebench_model::{Failure, RunEvent, RunRecord};
use writebench_report::formats::jsonl;

use crate::export::Export;
use crate::output::Output;

/// The exports that are written during the run. A stream that fails does not end the run, whose
/// samples are in the database.
pub(super) struct Streams<'o> {
    open: Vec<Box<dyn Write>>,
    output: &'o Output,
    /// The error of the first stream that failed.
    failed: Option<io::Error>,
}

const WHAT_FAILED: &str = "cannot write jsonl; the samples that were taken are in the database";

impl<'o> Streams<'o> {
    pub(super) fn none(output: &'o Output) -> Self {
        Self { open: Vec::new(), output, failed: None }
    }

    /// Opens the streams, with the run's line: better now than after an hour of measuring. Waits
    /// for the reader of a pipe until a signal comes.
    pub(super) fn begin(exports: &[Export], number: i64, run: &RunRecord, output: &'o Output) -> Result<Self> {
        let beginning = jsonl::begin(Some(number), run);
        let opened = exports.iter().map(|export| export.stream(&beginning, output));
        let opened = opened.collect::<Result<Vec<_>>>().context(WHAT_FAILED)?;
        Ok(Self { open: opened.into_iter().flatten().collect(), output, failed: None })
    }

    /// Writes the line of a step of that run, if it has one. A reader gets whole lines, at once.
    pub(super) fn write(&mut self, run: &RunRecord, event: &RunEvent) {
        if self.open.is_empty() {
            return;
        }
        let Some(line) = jsonl::line(run, event) else { return };
        let (output, failed) = (self.output, &mut self.failed);
        self.open.retain_mut(|stream| {
            let Err(error) = stream.write_all(line.as_bytes()).and_then(|()| stream.flush()) else {
                return true;
            };
            // As with tables, a reader that stops (`| head -1`) is no error.
            if error.kind() == io::ErrorKind::BrokenPipe {
                output.note("Nobody reads the jsonl any more. The run goes on.");
            } else {
                output.note(&format!("Cannot write jsonl: {}. The run goes on.", Failure::io_message(&error)));
                failed.get_or_insert(error);
            }
            false
        });
    }

    /// Closes the streams. Fails if any line could not be written, unless the reader has stopped.
    pub(super) fn end(&mut self) -> Result<()> {
        self.open.clear();
        self.failed.take().map_or(Ok(()), |error| Err(error).context(WHAT_FAILED))
    }
}
