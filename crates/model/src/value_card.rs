//! What a value of an axis means beside the case's name: in a sentence, for a programmer, for fio, and in printed code.

use std::borrow::Cow;

/// The card of a value.
pub struct ValueCard {
    pub(crate) words: Phrase,
    /// The effort for a programmer, in points, if the value is not the method's default.
    pub(crate) effort: u32,
    pub fio: InFio,
    pub code: InCode,
}

impl ValueCard {
    /// The card of a value that fio and the printed code have, and that takes no effort.
    pub(crate) fn new(words: Phrase) -> Self {
        // `crates/snippets/src/fio` exports the value, or explains why it conflicts with others.
        Self { words, effort: 0, fio: Ok(()), code: InCode::Supported }
    }
}

/// Whether a job for fio 3.33 can have a value, or the reason why it cannot.
pub(crate) type InFio = Result<(), &'static str>;

/// The words that a value adds to those of its method if it is not the default, by their place in the sentence.
pub(crate) enum Phrase {
    /// No words: the contract or another value has them.
    Silent,
    /// A call that comes first: `fallocate(2), then …`.
    First(&'static str),
    /// A call in place of the method's own.
    Instead(&'static str),
    /// How the call is made: `… with O_DIRECT`.
    How(Cow<'static, str>),
    /// A circumstance: `…, 2 threads`.
    Beside(Cow<'static, str>),
    /// A call that comes last: `…, then fsync(2)`.
    Last(&'static str),
}

/// How the printed code of a case has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InCode {
    /// The templates have it, except in languages that do not support it.
    Supported,
    /// It belongs to the caller's data or machine: the code is the same.
    LeftToCaller,
    /// No language supports it, for this reason.
    Unsupported(&'static str),
}
