//! `--export FORMAT=FILE`, and `svg=DIRECTORY` and `fio=DIRECTORY`.

use std::fs::File;
use std::io::Write;
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
    /// A line for each sample, written while the run goes on.
    JsonLines,
    Csv,
    CsvSummary,
    Markdown,
    OpenMetrics,
    /// A page to explore.
    Html,
    /// A file for each chart, in a directory.
    Svg,
    /// A file for each case, in a directory.
    Fio,
}

impl Format {
    fn is_for_directory(self) -> bool {
        matches!(self, Self::Svg | Self::Fio)
    }
}

impl FromStr for Export {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE, such as json=results.json")?;
        let format = match format {
            "json" => Format::Json,
            "jsonl" => Format::JsonLines,
            "csv" => Format::Csv,
            "csv-summary" => Format::CsvSummary,
            "markdown" | "md" => Format::Markdown,
            "openmetrics" => Format::OpenMetrics,
            "html" => Format::Html,
            "svg" => Format::Svg,
            "fio" => Format::Fio,
            other => {
                return Err(format!(
                    "unknown format '{other}': expected one of json, jsonl, csv, csv-summary, markdown, openmetrics, html, svg, fio"
                ));
            }
        };
        match (format, file) {
            (Format::Svg | Format::Fio, "") => return Err("the directory's name is missing".to_owned()),
            (_, "") => return Err("the file's name is missing".to_owned()),
            (Format::Svg, "-") => {
                return Err("svg writes a file for each chart: expected svg=DIRECTORY, not -".to_owned());
            }
            (Format::Fio, "-") => {
                return Err("fio writes a file for each case: expected fio=DIRECTORY, not -".to_owned());
            }
            _ => {}
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
        check_place("--export", &self.file, self.format.is_for_directory())
    }

    /// The file, open for what is written while the run goes on; none for what is written at its end.
    pub fn stream(&self) -> Result<Option<Box<dyn Write>>> {
        match self.format {
            Format::JsonLines if self.is_to_stdout() => Ok(Some(Box::new(std::io::stdout()))),
            Format::JsonLines => {
                let file = File::create(&self.file);
                let file = file.with_context(|| format!("cannot write {}", self.file.display()))?;
                Ok(Some(Box::new(file)))
            }
            _ => Ok(None),
        }
    }

    /// Whether it has been written when the run is over.
    pub fn is_stream(&self) -> bool {
        matches!(self.format, Format::JsonLines)
    }

    /// Writes the report.
    pub fn write(&self, report: &Report, output: &Output) -> Result<()> {
        let text = match self.format {
            Format::Json => formats::json::render(report)?,
            Format::JsonLines => formats::jsonl::render(report)?,
            Format::Csv => formats::csv::render(report)?,
            Format::CsvSummary => formats::csv_summary::render(report)?,
            Format::Markdown => formats::markdown::render(report),
            Format::OpenMetrics => formats::openmetrics::render(report),
            Format::Html => formats::html::render(std::slice::from_ref(report))?,
            Format::Svg => return self.write_charts(report, output),
            Format::Fio => return self.write_jobs(report, output),
        };
        self.write_text(&text, output)
    }

    /// A file for each chart; those of other runs that have the same name are replaced.
    fn write_charts(&self, report: &Report, output: &Output) -> Result<()> {
        let charts = report::chart::charts(report);
        if charts.is_empty() {
            output
                .note(&format!("No chart for {}: no case has a figure of all its work.", self.file.display()));
            return Ok(());
        }
        self.make_directory()?;
        for named in &charts {
            let file = self.file.join(format!("{}.svg", named.file_stem));
            write_file(&file, &formats::svg::render(&named.chart))?;
        }
        Ok(())
    }

    /// A job of fio for each case, and a `README` that has all cases.
    fn write_jobs(&self, report: &Report, output: &Output) -> Result<()> {
        let files = formats::fio::render(report);
        self.make_directory()?;
        for job in &files.jobs {
            write_file(&self.file.join(&job.name), &job.text)?;
        }
        let readme = self.file.join("README");
        write_file(&readme, &files.readme)?;
        if files.left_out > 0 {
            output.note(&format!(
                "Without a job for fio: {} of {}. {} says why.",
                files.left_out,
                report::counted(files.left_out + files.jobs.len(), "case"),
                readme.display()
            ));
        }
        Ok(())
    }

    fn make_directory(&self) -> Result<()> {
        if self.file.is_dir() {
            return Ok(());
        }
        std::fs::create_dir(&self.file).with_context(|| format!("cannot make {}", self.file.display()))
    }

    /// Refuses the formats that a comparison does not have.
    pub fn check_for_comparison(&self) -> Result<()> {
        match self.format {
            Format::Json => self.check(),
            _ => Err(exit::usage("--export: a comparison is written as json only: json=FILE")),
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
        write_file(&self.file, text)
    }
}

/// Whether there can be such a file or directory; `option` is what it was given by.
pub fn check_place(option: &str, place: &Path, is_for_directory: bool) -> Result<()> {
    let refused = |place: &Path, what| Err(exit::usage(format!("{option}: {} is {what}", place.display())));
    let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        return refused(parent, "no directory");
    }
    match (place.is_dir(), is_for_directory) {
        (true, false) => refused(place, "a directory"),
        (false, true) if place.exists() => refused(place, "no directory"),
        _ => Ok(()),
    }
}

pub fn write_file(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
