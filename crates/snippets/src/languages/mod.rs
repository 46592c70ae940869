//! The templates of each language, and what it does not support.

pub(crate) mod c;
mod c_family;
pub(crate) mod cpp;
pub(crate) mod go;
pub(crate) mod java;
pub(crate) mod node;
pub(crate) mod python;
pub(crate) mod rust;

use writebench_model::Method;

use crate::language_backend::NoTemplate;

/// Declares a language's answer for each method: the template that methods share whose code differs in a call or two,
/// or the reason for none and the nearest method that has one. A new method compiles when each language has its answer.
macro_rules! templates {
    ($($path:literal: $($method:ident)|+;)* $(none: $why:expr, $($lacking:ident => $nearest:ident),+;)*) => {
        fn template(
            method: writebench_model::Method,
        ) -> Result<crate::language_backend::Template, crate::language_backend::NoTemplate> {
            match method {
                $($(Method::$method)|+ => {
                    #[derive(askama::Template)]
                    #[template(path = $path, escape = "none")]
                    struct Text<'v, 'c> {
                        case: &'v crate::case_view::CaseView<'c>,
                    }
                    Ok(|case| askama::Template::render(&Text { case }))
                })*
                $($(Method::$lacking => Err(crate::language_backend::NoTemplate {
                    why: $why,
                    nearest: Some(Method::$nearest),
                }),)+)*
                Method::Mpiio | Method::Allocate | Method::Null | Method::Program | Method::CopyProgram => {
                    Err(crate::languages::in_no_language(method))
                }
            }
        }
    };
}
use templates;

fn in_no_language(method: Method) -> NoTemplate {
    let why = match method {
        Method::Mpiio => "an MPI program writes by the calls of its own MPI",
        Method::Allocate | Method::Null => "no data is written",
        _ => "it is a program already",
    };
    NoTemplate { why, nearest: None }
}

/// Without spaces at the ends of lines, and with one empty line at most: parts that a case does not have leave several.
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
