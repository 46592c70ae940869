//! Prints the code of a case: a complete function that writes a buffer or copies a file using the case's calls, or
//! a program around it. This is an internal part of writebench, without a stability promise.
//!
//! Languages use no foreign functions. An unsupported case gets the nearest supported one instead of code.

mod about;
mod case_view;
pub mod fio;
mod language;
mod languages;
mod needs;
mod one_file;
mod set_view;
mod unsupported;
mod used_names;
mod wrapped;

pub use self::language::Language;
pub use self::unsupported::Unsupported;

use writebench_model::{Case, Method};

use self::case_view::CaseView;

/// The form of the code.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmitOptions {
    /// Whether the code is a whole program, which is called as `./p SOURCE TARGET`.
    pub is_program: bool,
    /// Whether the file has another name until it is complete.
    pub is_atomic: bool,
    /// Whether the data comes from a producer in chunks.
    pub is_stream: bool,
    /// Whether the file is open, and takes one record after another.
    pub is_append: bool,
}

/// The code of a case.
///
/// # Errors
///
/// The language does not support the case, or the options do not fit it.
pub fn code(case: &Case, language: Language, options: EmitOptions) -> Result<String, Unsupported> {
    code_with_caution(case, language, options, None)
}

/// The code of a case, with a sentence that its user must know in the comment at its top.
///
/// # Errors
///
/// The errors are those of [`code`].
pub fn code_with_caution(
    case: &Case,
    language: Language,
    options: EmitOptions,
    caution: Option<&str>,
) -> Result<String, Unsupported> {
    let template = unsupported::supported(case, language, options)?;
    let (calls, options) = one_file::printed(case, options);
    let options = EmitOptions {
        is_stream: options.is_stream || options.is_append,
        ..options
    };
    let caution = caution.map(in_comment);
    let view = CaseView {
        case: &calls,
        named: case,
        options,
        caution: caution.as_deref(),
    };
    // Only a formatter can fail.
    let text = template(&view).expect("a template renders into memory");
    Ok((language.backend().complete)(languages::tidied(&text)))
}

/// The text with only those characters that cannot end a comment, because it may have a name from elsewhere.
fn in_comment(text: &str) -> String {
    text.chars()
        .map(|character| {
            let is_plain = character.is_ascii_alphanumeric() || " ,.:;()=_-/".contains(character);
            if is_plain { character } else { '?' }
        })
        .collect()
}

/// Whether the language has code for the method.
///
/// # Errors
///
/// The reason why the language lacks the method.
pub fn supports(language: Language, method: Method) -> Result<(), &'static str> {
    (language.backend().template)(method)
        .map(|_| ())
        .map_err(|none| none.why)
}
