pub(crate) mod c;
mod c_family;
pub(crate) mod cpp;
pub(crate) mod go;
pub(crate) mod java;
pub(crate) mod node;
pub(crate) mod python;
pub(crate) mod rust;

use writebench_model::{Axis, Case, Method};

use crate::case_view::CaseView;
use crate::used_names::UsedNames;

/// What prints the code of a language.
pub(crate) struct LanguageBackend {
    pub template: fn(Method) -> Result<Template, NoTemplate>,
    /// The first value of a case that the language does not support.
    pub unsupported: fn(&Case) -> Option<UnsupportedValue>,
    /// The template of a log, if the language has one.
    pub append: Option<Template>,
    /// The template of pages at random places, if the language has one.
    pub pages: Option<Template>,
    /// Adds the imports of a template's text.
    pub complete: fn(String) -> String,
}

pub(crate) type Template = fn(&CaseView<'_>) -> askama::Result<String>;

/// The reason why a method has no template.
pub(crate) struct NoTemplate {
    pub why: &'static str,
    /// The nearest method that has a template.
    pub nearest: Option<Method>,
}

/// The axis, the reason, and the nearest supported value.
pub(crate) type UnsupportedValue = (Axis, &'static str, &'static str);

/// Declares a template for each method, or a reason and the nearest method. The compiler finds a missing one.
macro_rules! templates {
    ($($path:literal: $($method:ident)|+;)* $(none: $why:expr, $($lacking:ident => $nearest:ident),+;)*) => {
        fn template(method: Method) -> Result<super::Template, super::NoTemplate> {
            match method {
                $($(Method::$method)|+ => {
                    #[derive(askama::Template)]
                    #[template(path = $path, escape = "none")]
                    struct Text<'v, 'c> {
                        case: &'v CaseView<'c>,
                    }
                    Ok(|case| askama::Template::render(&Text { case }))
                })*
                $($(Method::$lacking => Err(super::NoTemplate {
                    why: $why,
                    nearest: Some(Method::$nearest),
                }),)+)*
                Method::UringFiles
                | Method::Mpiio
                | Method::Allocate
                | Method::Null
                | Method::Program
                | Method::CopyProgram => {
                    Err(super::in_no_language(method))
                }
            }
        }
    };
}
use templates;

/// A template beside those of the methods.
macro_rules! special {
    ($path:literal) => {{
        #[derive(askama::Template)]
        #[template(path = $path, escape = "none")]
        struct Text<'v, 'c> {
            case: &'v CaseView<'c>,
        }
        Some(|case| askama::Template::render(&Text { case }))
    }};
}
use special;

fn in_no_language(method: Method) -> NoTemplate {
    let why = match method {
        Method::UringFiles => "no language opens files by io_uring yet",
        Method::Mpiio => "an MPI program uses the calls of its MPI",
        Method::Allocate | Method::Null => "no data is written",
        _ => "it is a program already",
    };
    NoTemplate {
        why,
        nearest: (method == Method::UringFiles).then_some(Method::WriteFiles),
    }
}

/// The text without the spaces and empty lines that omitted parts of templates leave.
pub(crate) fn tidied(text: &str) -> String {
    let mut tidy = String::new();
    for line in text.trim().lines().map(str::trim_end) {
        if !(line.is_empty() && tidy.ends_with("\n\n")) {
            tidy += line;
            tidy.push('\n');
        }
    }
    tidy
}
