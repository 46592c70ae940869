//! The code of a case: a small, complete function that writes a buffer or copies a file exactly that way, with its
//! fallbacks and its errors, in the language that is asked for; or a whole program around it.
//!
//! Each language has its templates, one for each family of methods that it can say, and names the values of axes
//! that it cannot say without a foreign function. A case that has one of these is refused with the nearest case that
//! the language can say.

pub mod fio;
mod language;
mod languages;
mod needs;
mod refusal;
mod speaker;
mod way;
mod wrapped;

pub use self::language::Language;
pub use self::refusal::Refusal;

use writebench_model::Case;

use self::way::Way;

/// The parts that are printed around the function.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame {
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
/// The language cannot say the case, or the frame does not fit it.
pub fn code(case: &Case, language: Language, frame: Frame) -> Result<String, Refusal> {
    if let Some(refusal) = Refusal::of(case, language, frame) {
        return Err(refusal);
    }
    let way = Way::new(case, frame);
    let text = case.method().card().code.ok().and_then(|family| (language.speaker().render)(family, &way));
    // A refusal comes before a template is missing.
    text.ok_or_else(|| Refusal::without_remedy(format!("{case} has no code in {}", language.title())))
}
