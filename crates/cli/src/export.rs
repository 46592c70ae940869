//! `--export FORMAT=FILE` or `FORMAT=DIRECTORY`. Help and errors list [`FORMATS`].

use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;

use anyhow::{Result, ensure};
use clap::Args;
use writebench_model::did_you_mean;
use writebench_report::formats::{FORMATS, Format, Render, RenderDirectory, RenderText};
use writebench_report::{Comparison, Report};

use crate::arguments::OUTPUT;
use crate::exit::usage;
use crate::meant::format_named;
use crate::output::{self, Output};
use crate::output_file::{OutputDirectory, OutputFile, OutputPath, ProtectedPaths};

const OPTION: &str = "--export";

#[derive(Args, Clone, Default)]
pub(crate) struct ExportArguments {
    #[arg(long, value_name = "FORMAT=FILE", help = help(), help_heading = OUTPUT)]
    export: Vec<ExportArgument>,
    #[arg(long, requires = "export", help = force_help(), help_heading = OUTPUT)]
    force: bool,
}

#[derive(Args)]
pub(crate) struct ComparisonExportArguments {
    #[arg(long, value_name = "FORMAT=FILE", help = comparison_help())]
    export: Vec<ExportArgument>,
}

fn help() -> String {
    let (texts, directories): (Vec<&Format>, Vec<&Format>) = FORMATS
        .iter()
        .partition(|format| matches!(format.render, Render::Text(_)));
    let summary = |format: &Format| {
        format
            .summary
            .map_or(String::new(), |summary| format!(" ({summary})"))
    };
    let mut texts: Vec<String> = texts
        .iter()
        .map(|format| format!("{}{}", format.name, summary(format)))
        .collect();
    let last = texts.pop().unwrap_or_default();
    let directories = directories
        .iter()
        .map(|format| format!("{}=DIR{}", format.name, summary(format)));
    format!(
        "Write the results to a file, or - for standard output: {} or {last}. Or to a directory: {}. May be repeated",
        texts.join(", "),
        directories.collect::<Vec<_>>().join(", ")
    )
}

fn force_help() -> String {
    let directories = FORMATS
        .iter()
        .filter(|format| matches!(format.render, Render::Directory(_)));
    let names = directories
        .map(|format| format!("{}=DIR", format.name))
        .collect::<Vec<_>>()
        .join(" or ");
    format!(
        "Replace all files in the directory of {names}, even those that writebench did not make"
    )
}

fn comparison_help() -> String {
    let names = names(|format| format.compare.is_some());
    format!("Write the comparison to a file, or - for standard output: {names}. May be repeated")
}

fn names(are_meant: fn(&&Format) -> bool) -> String {
    FORMATS
        .iter()
        .filter(are_meant)
        .map(|format| format.name)
        .collect::<Vec<_>>()
        .join(", ")
}

#[derive(Clone)]
struct ExportArgument {
    format: &'static Format,
    path: PathBuf,
}

impl FromStr for ExportArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = text
            .split_once('=')
            .ok_or("expected FORMAT=FILE, such as json=results.json")?;
        let format = format_named(name).ok_or_else(|| {
            let meant = did_you_mean(name, FORMATS.iter().map(|format| format.name));
            format!(
                "unknown format '{name}': expected one of {}{meant}",
                names(|_| true)
            )
        })?;
        match (&format.render, file) {
            (Render::Directory(_), "") => Err("the name of the directory is missing".to_owned()),
            (Render::Text(_), "") => Err("the name of the file is missing".to_owned()),
            (Render::Directory(RenderDirectory { each, .. }), "-") => Err(format!(
                "{name} writes a file for each {each}: expected {name}=DIRECTORY, not -"
            )),
            _ => Ok(Self {
                format,
                path: PathBuf::from(file),
            }),
        }
    }
}

/// Opened before anything is measured: an export must not fail after an hour, and nothing can replace its directory.
pub(crate) enum Export {
    File {
        format: &'static Format,
        render: RenderText<Report>,
        to: OutputFile,
    },
    Directory {
        format: &'static RenderDirectory,
        to: OutputDirectory,
    },
}

impl ExportArguments {
    pub(crate) fn find(&self, protected: ProtectedPaths) -> Result<Vec<Export>> {
        let protected = Rc::new(protected);
        let mut exports: Vec<Export> = Vec::new();
        for ExportArgument { format, path } in &self.export {
            let named = OutputPath {
                option: OPTION,
                path: path.clone(),
                protected: protected.clone(),
            };
            exports.push(match &format.render {
                Render::Text(render) => {
                    let to = OutputFile::find(named)?;
                    let is_new = exports
                        .iter()
                        .filter_map(Export::file)
                        .all(|other| !to.is_same(other));
                    let path = path.display();
                    ensure!(
                        is_new,
                        usage!("{OPTION}: {path} is given twice. Name a file for each export")
                    );
                    Export::File {
                        format,
                        render: *render,
                        to,
                    }
                }
                Render::Directory(format) => {
                    let to = OutputDirectory::find(named, self.force)?;
                    format.always.iter().try_for_each(|name| to.check(name))?;
                    Export::Directory { format, to }
                }
            });
        }
        Ok(exports)
    }
}

impl ComparisonExportArguments {
    /// Fails if a comparison has no such format.
    pub(crate) fn find(&self, protected: ProtectedPaths) -> Result<Vec<Export>> {
        let names = names(|format| format.compare.is_some());
        let first = names.split(',').next().unwrap_or_default();
        ensure!(
            self.export
                .iter()
                .all(|argument| argument.format.compare.is_some()),
            usage!(
                "{OPTION}: a comparison can be written as {names} only. Give {first}=FILE, for example"
            )
        );
        ExportArguments {
            export: self.export.clone(),
            force: false,
        }
        .find(protected)
    }
}

impl Export {
    fn file(&self) -> Option<&OutputFile> {
        match self {
            Self::File { to, .. } => Some(to),
            Self::Directory { .. } => None,
        }
    }

    /// Whether the export replaces the tables.
    pub(crate) fn is_to_stdout(&self) -> bool {
        self.file().is_some_and(OutputFile::is_for_results)
    }

    /// None if the export is written after the run.
    pub(crate) fn stream(
        &self,
        beginning: &str,
        output: &Output,
    ) -> Result<Option<Box<dyn Write>>> {
        let Self::File {
            format: Format {
                is_streamed: true, ..
            },
            to,
            ..
        } = self
        else {
            return Ok(None);
        };
        to.stream(beginning, output).map(Some)
    }

    /// Waits for the reader of a pipe until a signal.
    pub(crate) fn write(&self, report: &Report, output: &Output) -> Result<()> {
        match self {
            Self::File { render, to, .. } => to.write(&render(report), output),
            Self::Directory { format, to } => {
                let made = (format.render)(report, to.path());
                if !made.files.is_empty() {
                    to.write(&made.files)?;
                }
                made.note.iter().for_each(|note| output.note(note));
                Ok(())
            }
        }
    }
}

pub(crate) fn write_comparison(
    exports: &[Export],
    comparison: &Comparison,
    output: &Output,
) -> Result<()> {
    output::all_ok(exports.iter().map(|export| match export {
        Export::File {
            format: Format {
                compare: Some(render),
                ..
            },
            to,
            ..
        } => to.write(&render(comparison), output),
        _ => Ok(()),
    }))
}

/// Except streams. Writes all, even if one fails.
pub(crate) fn write_all(exports: &[Export], report: &Report, output: &Output) -> Result<()> {
    let is_streamed =
        |export: &&Export| matches!(export, Export::File { format, .. } if format.is_streamed);
    let at_the_end = exports.iter().filter(|export| !is_streamed(export));
    output::all_ok(at_the_end.map(|export| export.write(report, output)))
}
