//! A file per format. `html` renders several reports in one page.

pub mod comparison;
mod csv;
mod fio;
mod first_screen;
pub(crate) mod head;
pub mod html;
pub(crate) mod json;
pub mod jsonl;
mod junit;
mod lines;
mod markdown;
mod palette;
mod styles;
mod svg;
pub mod terminal;
mod width;

use std::path::Path;

pub use self::first_screen::shortened;
pub use self::junit::{JunitTest, junit_document};
pub use self::lines::folded;
pub use self::width::{display_width, padded};
use crate::numbers::Comparison;
use crate::sentences::Report;

/// A format of exports. To add one, write its file and a line in [`FORMATS`], the source of help and errors.
pub struct Format {
    pub name: &'static str,
    pub alias: Option<&'static str>,
    /// What the help says of the format, if the name is not enough.
    pub summary: Option<&'static str>,
    pub render: Render,
    /// The format has lines that are written during the run, as [`jsonl`] does.
    pub is_streamed: bool,
    /// How a comparison is rendered, if the format has one.
    pub compare: Option<RenderText<Comparison>>,
}

pub type RenderText<T> = fn(&T) -> String;

pub enum Render {
    Text(RenderText<Report>),
    Directory(RenderDirectory),
}

/// A format that writes several files into a directory. Each file has the [`MARK`].
pub struct RenderDirectory {
    /// What a file has, such as `chart`.
    pub each: &'static str,
    /// Files that are always written.
    pub always: &'static [&'static str],
    /// The path of the directory is only shown.
    pub render: fn(&Report, &Path) -> RenderedFiles,
}

#[derive(Debug)]
pub struct RenderedFiles {
    /// The names and texts of the files.
    pub files: Vec<(String, String)>,
    /// What to tell the user about missing files.
    pub note: Option<String>,
}

/// Marks the first line of each file: later exports replace only marked files.
pub const MARK: &str = "made by writebench";

pub fn has_mark(beginning: &[u8]) -> bool {
    let first_line = beginning
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    first_line
        .windows(MARK.len())
        .any(|part| part == MARK.as_bytes())
}

/// All formats, as the help lists them.
pub static FORMATS: &[Format] = &[
    Format {
        compare: Some(comparison::json),
        ..text_format("json", json::render)
    },
    Format {
        summary: Some("a line for each sample, while it runs"),
        is_streamed: true,
        ..text_format("jsonl", jsonl::render)
    },
    text_format("csv", csv::render),
    Format {
        alias: Some("md"),
        compare: Some(markdown::comparison),
        ..text_format("markdown", markdown::render)
    },
    Format {
        summary: Some("a test per case"),
        compare: Some(junit::comparison),
        ..text_format("junit", junit::render)
    },
    Format {
        summary: Some("a page"),
        ..text_format("html", |report| html::render(std::slice::from_ref(report)))
    },
    directory_format(
        "svg",
        "charts",
        RenderDirectory {
            each: "chart",
            always: &[svg::INDEX],
            render: svg::files,
        },
    ),
    directory_format(
        "fio",
        "a job for fio for each case",
        RenderDirectory {
            each: "case",
            always: &[fio::README],
            render: fio::files,
        },
    ),
];

const fn text_format(name: &'static str, render: RenderText<Report>) -> Format {
    let render = Render::Text(render);
    Format {
        name,
        alias: None,
        summary: None,
        render,
        is_streamed: false,
        compare: None,
    }
}

const fn directory_format(
    name: &'static str,
    summary: &'static str,
    files: RenderDirectory,
) -> Format {
    let render = Render::Directory(files);
    Format {
        name,
        alias: None,
        summary: Some(summary),
        render,
        is_streamed: false,
        compare: None,
    }
}

#[cfg(test)]
pub(crate) mod tests;
