//! The meaning of an axis value to people, to fio and to printed code.

use std::borrow::Cow;

use crate::kernel::KernelChange;

/// The properties of a value.
pub struct ValueCard {
    pub(crate) words: Phrase,
    /// A programmer's effort in points, if the value is not the method's default.
    pub(crate) effort: u32,
    pub fio: InFio,
    pub code: InCode,
    /// What a later kernel does otherwise.
    pub kernel: Option<KernelChange>,
}

impl ValueCard {
    pub(crate) fn new(words: Phrase) -> Self {
        // `crates/snippets/src/fio` exports the value, or explains its conflict with other values.
        Self {
            words,
            effort: 0,
            fio: Ok(()),
            code: InCode::Supported,
            kernel: None,
        }
    }
}

/// Whether a job for fio 3.33 can have the value, or the reason why not.
pub(crate) type InFio = Result<(), &'static str>;

/// The words for a value other than the default, by their place in the sentence.
pub(crate) enum Phrase {
    /// The workload or another value has the words.
    Silent,
    /// `fallocate(2), then …`.
    First(&'static str),
    /// The words replace the method's own call.
    Instead(&'static str),
    /// `… with O_DIRECT`.
    How(Cow<'static, str>),
    /// `…, 2 threads`.
    Beside(Cow<'static, str>),
    /// `…, then fsync(2)`.
    Last(&'static str),
}

/// Whether printed code can have the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InCode {
    /// The code has the value, except in languages that do not support it.
    Supported,
    /// The code is the same: the value describes the caller's data or machine.
    LeftToCaller,
    /// No code has the value, for this reason.
    Unsupported(&'static str),
}
