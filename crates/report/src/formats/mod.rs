//! One file for each format that a [`crate::Report`] is rendered in; `svg` renders its charts, one by one, and `html` several
//! reports in one page.

mod bar;
pub mod comparison;
mod csv;
mod csv_summary;
mod fio;
pub mod html;
pub(crate) mod json;
pub mod jsonl;
mod lines;
mod markdown;
mod openmetrics;
mod palette;
mod rendered;
mod styles;
mod svg;
pub mod terminal;

use std::path::Path;

pub use self::rendered::{Files, FormatError, MARK, has_mark};
use crate::numbers::comparison::Comparison;
use crate::sentences::report::Report;

/// A way to write a report for others. To add one: its file, and a line in [`FORMATS`]; the program's options, help and
/// errors come from that.
pub struct Format {
    /// It is asked for by this name.
    pub name: &'static str,
    /// A shorter name that is understood, too.
    pub alias: Option<&'static str>,
    /// For help, where the name does not say enough.
    pub summary: Option<&'static str>,
    /// By its kind: one file, or a directory of them.
    pub render: Render,
    /// Whether it is lines that can be written while the run goes on ([`jsonl`]).
    pub is_streamed: bool,
    /// The same for a comparison, if it has a form for that.
    pub compare: Option<Rendering<Comparison>>,
}

/// A report, or a comparison, as a text.
pub type Rendering<T> = fn(&T) -> Result<String, FormatError>;

/// How a report becomes a file, or many.
pub enum Render {
    /// All of it in one file, or pipe.
    Text(Rendering<Report>),
    /// A file for each of its parts.
    Directory(RenderDirectory),
}

/// Files in a directory, each marked with [`MARK`].
pub struct RenderDirectory {
    /// There is a file for each of these.
    pub each: &'static str,
    /// The names of files that are written whatever the report is.
    pub always: &'static [&'static str],
    /// The path is only for people.
    pub files: fn(&Report, &Path) -> Files,
}

/// All of them, in the order of the help.
pub static FORMATS: &[Format] = &[
    Format { compare: Some(|it| Ok(comparison::json(it))), ..text("json", |it| Ok(json::render(it)?)) },
    Format {
        summary: Some("a line for each sample, while it runs"),
        is_streamed: true,
        ..text("jsonl", |it| Ok(jsonl::render(it)?))
    },
    text("csv", |it| Ok(csv::render(it)?)),
    text("csv-summary", |it| Ok(csv_summary::render(it)?)),
    Format { alias: Some("md"), ..text("markdown", |it| Ok(markdown::render(it))) },
    text("openmetrics", |it| Ok(openmetrics::render(it))),
    Format { summary: Some("a page"), ..text("html", |it| html::render(std::slice::from_ref(it))) },
    directory("svg", "charts", RenderDirectory { each: "chart", always: &[], files: svg::files }),
    directory(
        "fio",
        "a job for fio for each case",
        RenderDirectory { each: "case", always: &[fio::README], files: fio::files },
    ),
];

const fn text(name: &'static str, render: Rendering<Report>) -> Format {
    let render = Render::Text(render);
    Format { name, alias: None, summary: None, render, is_streamed: false, compare: None }
}

const fn directory(name: &'static str, summary: &'static str, files: RenderDirectory) -> Format {
    let render = Render::Directory(files);
    Format { name, alias: None, summary: Some(summary), render, is_streamed: false, compare: None }
}

#[cfg(test)]
pub(crate) mod tests;
