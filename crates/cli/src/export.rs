//! `--export FORMAT=FILE`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use report::{Comparison, Report, formats};

use crate::exit;
use crate::output::Output;

/// Where to write a report, and how.
#[derive(Debug, Clone)]
pub struct Export {
    format: Format,
    file: PathBuf,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Json,
    Csv,
    Markdown,
}

impl FromStr for Export {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE, such as json=results.json")?;
        let format = match format {
            "json" => Format::Json,
            "csv" => Format::Csv,
            "markdown" | "md" => Format::Markdown,
            other => return Err(format!("unknown format '{other}': expected one of json, csv, markdown")),
        };
        if file.is_empty() {
            return Err("the file's name is missing".to_owned());
        }
        Ok(Self { format, file: PathBuf::from(file) })
    }
}

impl Export {
    /// Whether it goes where tables would go otherwise.
    pub fn is_to_stdout(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    /// The file, or `-`.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// What would make it fail after an hour of measuring, found before.
    pub fn check(&self) -> Result<()> {
        let directory = self.file.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(directory) = directory
            && !directory.is_dir()
        {
            return Err(exit::usage(format!("--export: {} is no directory", directory.display())));
        }
        if self.file.is_dir() {
            return Err(exit::usage(format!("--export: {} is a directory", self.file.display())));
        }
        Ok(())
    }

    /// Writes the report.
    pub fn write(&self, report: &Report, output: &Output) -> Result<()> {
        let text = match self.format {
            Format::Json => formats::json::render(report)?,
            Format::Csv => formats::csv::render(report)?,
            Format::Markdown => formats::markdown::render(report),
        };
        self.write_text(&text, output)
    }

    /// Refuses the formats that a comparison does not have.
    pub fn check_for_comparison(&self) -> Result<()> {
        match self.format {
            Format::Json => self.check(),
            Format::Csv | Format::Markdown => {
                Err(exit::usage("--export: a comparison is written as json only: json=FILE"))
            }
        }
    }

    /// Writes a comparison, which has been checked.
    pub fn write_comparison(&self, comparison: &Comparison, output: &Output) -> Result<()> {
        self.write_text(&formats::comparison::json(comparison)?, output)
    }

    fn write_text(&self, text: &str, output: &Output) -> Result<()> {
        if self.is_to_stdout() {
            return Ok(output.results(text)?);
        }
        std::fs::write(&self.file, text).with_context(|| format!("cannot write {}", self.file.display()))
    }
}
