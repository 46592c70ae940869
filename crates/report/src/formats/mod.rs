//! One file for each format of a [`crate::Report`]; `svg` renders its charts one by one, and `html` several
//! reports in one page.

mod bar;
pub mod comparison;
mod csv;
mod fio;
pub mod html;
pub(crate) mod json;
pub mod jsonl;
mod lines;
mod markdown;
mod palette;
mod rendered;
mod styles;
mod svg;
pub mod terminal;
mod width;

use std::path::Path;

pub use self::rendered::{Files, MARK, has_mark};
pub use self::width::{display_width, padded};
use crate::numbers::Comparison;
use crate::sentences::Report;

/// A format for export. To add one, write its file and a line in [`FORMATS`]; the option's help and errors
/// use that list.
pub struct Format {
    /// The name on the command line.
    pub name: &'static str,
    /// A shorter name.
    pub alias: Option<&'static str>,
    /// A summary for help, if the name is not enough.
    pub summary: Option<&'static str>,
    pub render: Render,
    /// Whether lines can be written during the run ([`jsonl`]).
    pub is_streamed: bool,
    /// Renders a comparison, if the format supports it.
    pub compare: Option<Rendering<Comparison>>,
}

/// A report, or a comparison, as a text.
pub type Rendering<T> = fn(&T) -> String;

/// A way to turn a report into one file or many.
pub enum Render {
    /// A single file or pipe.
    Text(Rendering<Report>),
    /// A file for each part.
    Directory(RenderDirectory),
}

/// Files in a directory, each marked with [`MARK`].
pub struct RenderDirectory {
    /// The kind of parts, each of which gets a file.
    pub each: &'static str,
    /// The names of files that are always written.
    pub always: &'static [&'static str],
    /// Makes the files. The path is only shown to people.
    pub files: fn(&Report, &Path) -> Files,
}

/// All formats, in the order of the help.
pub static FORMATS: &[Format] = &[
    Format { compare: Some(comparison::json), ..text("json", json::render) },
    Format {
        summary: Some("a line for each sample, while it runs"),
        is_streamed: true,
        ..text("jsonl", jsonl::render)
    },
    text("csv", csv::render),
    Format { alias: Some("md"), ..text("markdown", markdown::render) },
    Format { summary: Some("a page"), ..text("html", |report| html::render(std::slice::from_ref(report))) },
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
