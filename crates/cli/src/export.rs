//! `--export FORMAT=FILE`, and `svg=DIRECTORY` and `fio=DIRECTORY`.

use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use writebench_report::formats::fio::JobFiles;
use writebench_report::{Comparison, Report, formats};

use crate::exit;
use crate::output::Output;
use crate::output_file::{Kept, OutputDirectory, OutputFile};

/// Where to write a report, and how, as the command line says it.
#[derive(Debug, Clone)]
pub struct ExportArgument {
    format: Format,
    path: PathBuf,
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

impl FromStr for ExportArgument {
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
        Ok(Self { format, path: PathBuf::from(file) })
    }
}

impl ExportArgument {
    /// Finds its place, which is held from now on: what would make the export fail after an hour of measuring is found
    /// before, and nobody can put another place there. `replaces_all`: files of others in a directory are replaced, too.
    fn find(&self, replaces_all: bool, kept: &Rc<Kept>) -> Result<Export> {
        const OPTION: &str = "--export";
        let to = match self.format {
            Format::Svg | Format::Fio => {
                To::Directory(OutputDirectory::find(OPTION, &self.path, replaces_all, kept)?)
            }
            _ if self.path.as_os_str() == "-" => To::Stdout,
            _ => To::File(OutputFile::find(OPTION, &self.path, kept)?),
        };
        if let (Format::Fio, To::Directory(directory)) = (self.format, &to) {
            directory.check(FIO_README)?;
        }
        Ok(Export { format: self.format, to })
    }
}

/// Finds the places of all of them, before anything is measured.
pub fn find_all(arguments: &[ExportArgument], replaces_all: bool, kept: Kept) -> Result<Vec<Export>> {
    let kept = Rc::new(kept);
    let mut exports: Vec<Export> = Vec::new();
    for argument in arguments {
        let export = argument.find(replaces_all, &kept)?;
        let is_same =
            |other: &Export| matches!((&export.to, &other.to), (To::File(a), To::File(b)) if a.is_same(b));
        if exports.iter().any(is_same) {
            let path = argument.path.display();
            return Err(exit::usage(format!("--export: {path} is given twice; name a file for each export")));
        }
        exports.push(export);
    }
    Ok(exports)
}

/// A place for a report that has been found, and how it is written.
pub struct Export {
    format: Format,
    to: To,
}

enum To {
    /// Where tables would go otherwise.
    Stdout,
    File(OutputFile),
    Directory(OutputDirectory),
}

/// All cases, with what has no job.
const FIO_README: &str = "README";

impl Export {
    /// Whether it goes where tables would go otherwise.
    pub fn is_to_stdout(&self) -> bool {
        matches!(self.to, To::Stdout)
    }

    /// The stream of an export that is written while the run goes on, begun; none if it is written at the end.
    pub fn stream<'s>(
        &self,
        beginning: &str,
        stop: &'s AtomicBool,
        output: &Output,
    ) -> Result<Option<Box<dyn Write + 's>>> {
        match (self.format, &self.to) {
            (Format::JsonLines, To::File(file)) => file.stream(beginning.as_bytes(), stop, output).map(Some),
            (Format::JsonLines, _) => {
                output.export(beginning)?;
                Ok(Some(output.exporter()))
            }
            _ => Ok(None),
        }
    }

    /// Whether it has been written when the run is over.
    pub fn is_stream(&self) -> bool {
        matches!(self.format, Format::JsonLines)
    }

    /// Writes the report; a pipe without a reader is waited for until `stop` is set.
    pub fn write(&self, report: &Report, stop: &AtomicBool, output: &Output) -> Result<()> {
        let text = match self.format {
            Format::Json => formats::json::render(report)?,
            Format::JsonLines => formats::jsonl::render(report)?,
            Format::Csv => formats::csv::render(report)?,
            Format::CsvSummary => formats::csv_summary::render(report)?,
            Format::Markdown => formats::markdown::render(report),
            Format::OpenMetrics => formats::openmetrics::render(report),
            Format::Html => formats::html::render(std::slice::from_ref(report))?,
            Format::Svg | Format::Fio => String::new(),
        };
        match (&self.to, self.format) {
            (To::Stdout, _) => output.export(&text),
            (To::File(file), _) => file.write(text.as_bytes(), stop, output),
            (To::Directory(directory), Format::Svg) => write_charts(directory, report, output),
            (To::Directory(directory), _) => write_jobs(directory, report, output),
        }
    }

    /// Writes a comparison, which is always JSON.
    pub fn write_comparison(&self, comparison: &Comparison, output: &Output) -> Result<()> {
        let text = formats::comparison::json(comparison)?;
        match &self.to {
            To::File(file) => file.write(text.as_bytes(), &NEVER, output),
            _ => output.export(&text),
        }
    }
}

/// For commands that a signal ends at once.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// Writes all exports that no run has written on the way, also where one of them fails.
pub fn write_all(exports: &[Export], report: &Report, stop: &AtomicBool, output: &Output) -> Result<()> {
    let at_the_end = exports.iter().filter(|export| !export.is_stream());
    output.all_ok(at_the_end.map(|export| export.write(report, stop, output)))
}

/// Refuses the formats that a comparison does not have.
pub fn check_for_comparison(arguments: &[ExportArgument]) -> Result<()> {
    if arguments.iter().all(|it| matches!(it.format, Format::Json)) {
        return Ok(());
    }
    Err(exit::usage("--export: a comparison is written as json only: json=FILE"))
}

/// A file for each chart; those of other runs that have the same name are replaced.
fn write_charts(directory: &OutputDirectory, report: &Report, output: &Output) -> Result<()> {
    let charts = writebench_report::charts::charts(report);
    if charts.is_empty() {
        let path = directory.path().display();
        output.note(&format!("No chart for {path}: no case has a figure of all its work."));
        return Ok(());
    }
    let names: Vec<String> = charts.iter().map(|named| format!("{}.svg", named.file_stem)).collect();
    let texts = charts.iter().map(|named| formats::svg::render(&named.chart));
    directory.write(&names.iter().map(String::as_str).zip(texts).collect::<Vec<_>>())
}

/// A job of fio for each case, and a `README` that has all cases.
fn write_jobs(directory: &OutputDirectory, report: &Report, output: &Output) -> Result<()> {
    let JobFiles { jobs, readme, left_out } = formats::fio::render(report);
    let mut files: Vec<(&str, String)> = jobs.iter().map(|job| (job.name.as_str(), job.text.clone())).collect();
    files.push((FIO_README, readme));
    directory.write(&files)?;
    if left_out > 0 {
        output.note(&format!(
            "Without a job for fio: {left_out} of {}. {} says why.",
            writebench_report::counted(left_out + jobs.len(), "case"),
            directory.path().join(FIO_README).display()
        ));
    }
    Ok(())
}
