//! The code of a case: a small, complete function that writes a buffer or copies a file exactly that way, with its
//! fallbacks and its errors, in the language that is asked for; or a whole program around it.
//!
//! Each language answers for each method with a template or the reason for none, and names the values of axes that it
//! does not support without a foreign function. A case that has one of these gets the nearest case that the language
//! supports instead of code.

mod case_view;
pub mod fio;
mod language;
mod language_backend;
mod languages;
mod needs;
mod unsupported;
mod used_names;
mod wrapped;

pub use self::language::Language;
pub use self::unsupported::Unsupported;

use writebench_model::{Case, Method};

use self::case_view::CaseView;

/// What is printed around the function.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmitOptions {
    /// A whole program, `./p SOURCE TARGET`.
    pub is_program: bool,
    /// The file has another name until it is whole.
    pub is_atomic: bool,
    /// The data comes from a producer, chunk by chunk, and not as one buffer.
    pub is_stream: bool,
}

/// The code of a case.
///
/// # Errors
/// The language does not support the case, or the options do not fit it.
pub fn code(case: &Case, language: Language, options: EmitOptions) -> Result<String, Unsupported> {
    let template = unsupported::supported(case, language, options)?;
    // Templates of ours only fail where a formatter does.
    let text = template(&CaseView::new(case, options)).expect("a template renders into memory");
    Ok((language.backend().complete)(languages::tidied(&text)))
}

/// Whether a language has code for a method.
///
/// # Errors
/// The reason why it has none.
pub fn supports(language: Language, method: Method) -> Result<(), &'static str> {
    (language.backend().template)(method).map(|_| ()).map_err(|none| none.why)
}
