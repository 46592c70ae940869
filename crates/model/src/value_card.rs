//! The meaning of an axis value to people, to fio and to printed code.

use std::borrow::Cow;

pub struct ValueCard {
    pub(crate) words: Phrase,
    /// Points, if the value is not the method's default.
    pub(crate) effort: u32,
    pub fio: InFio,
    pub code: InCode,
}

impl ValueCard {
    pub(crate) fn new(words: Phrase) -> Self {
        // `crates/snippets/src/fio` exports the value, or explains its conflict with other values.
        Self {
            words,
            effort: 0,
            fio: Ok(()),
            code: InCode::Supported,
        }
    }
}

/// The reason if a job for fio 3.33 cannot have the value.
pub(crate) type InFio = Result<(), &'static str>;

/// The words for a value other than the default, by their place in the sentence.
pub(crate) enum Phrase {
    /// The contract or another value has the words.
    Silent,
    /// `fallocate(2), then …`.
    First(&'static str),
    /// In place of the method's own call.
    Instead(&'static str),
    /// `… with O_DIRECT`.
    How(Cow<'static, str>),
    /// `…, 2 threads`.
    Beside(Cow<'static, str>),
    /// `…, then fsync(2)`.
    Last(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InCode {
    /// Except in languages that do not support it.
    Supported,
    /// The code is the same: the value describes the caller's data or machine.
    LeftToCaller,
    Unsupported(&'static str),
}
