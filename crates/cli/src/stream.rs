//! Exports that are written while the run goes on.

use std::io::Write;

use anyhow::{Context, Result};
use model::{RunRecord, Sample};
use report::formats::jsonl;

use crate::export::Export;

/// The open ones among a run's exports.
pub struct Streams(Vec<Box<dyn Write>>);

impl Streams {
    /// Opens them, and writes the run's line.
    pub fn begin(exports: &[Export], number: i64, run: &RunRecord) -> Result<Self> {
        let opened = exports.iter().map(Export::stream).collect::<Result<Vec<_>>>()?;
        let mut streams = Self(opened.into_iter().flatten().collect());
        if !streams.0.is_empty() {
            streams.write(&jsonl::begin(Some(number), run)?)?;
        }
        Ok(streams)
    }

    /// Writes a sample's line.
    pub fn sample(&mut self, target: &str, case: &str, sample: &Sample) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        self.write(&jsonl::sample(target, case, sample)?)
    }

    /// Writes the last line.
    pub fn end(&mut self, run: &RunRecord) -> Result<()> {
        self.write(&jsonl::end(run)?)
    }

    /// Whoever reads gets whole lines, at once.
    fn write(&mut self, line: &str) -> Result<()> {
        for stream in &mut self.0 {
            stream.write_all(line.as_bytes()).and_then(|()| stream.flush()).context("cannot write jsonl")?;
        }
        Ok(())
    }
}
