//! The words of values, in the sentence that says a case.

use crate::form::Chunk;
use crate::quantity::Bytes;
use crate::sync::{Sync, SyncCall};
use crate::value::{AllocateCall, Prepare};

/// The words that a value adds to those of its method, by their place in the sentence.
pub(crate) enum Phrase {
    /// No words: the contract or another value has them.
    Silent,
    /// A call that comes first: `fallocate(2), then …`.
    First(&'static str),
    /// A call in place of the method's own.
    Instead(&'static str),
    /// How the call is made: `… with O_DIRECT`.
    How(String),
    /// A circumstance: `…, 2 threads`.
    Beside(String),
    /// A call that comes last: `…, then fsync(2)`.
    Last(&'static str),
}

impl Phrase {
    /// The portions in which data is handed over, unless they have the usual size.
    pub(crate) fn for_chunk(bytes: u64) -> Self {
        Self::How(match bytes {
            Chunk::WHOLE => "in one call".to_owned(),
            bytes => format!("in {} chunks", Bytes(bytes).in_words()),
        })
    }

    /// The call that allocates the file.
    pub(crate) fn for_allocation(call: AllocateCall) -> Self {
        Self::Instead(call_words(call))
    }

    /// How the file gets its state before the first byte is written.
    pub(crate) fn for_prepare(prepare: Prepare) -> Self {
        match prepare {
            Prepare::Create => Self::Silent,
            Prepare::Truncate => Self::How("after O_TRUNC".to_owned()),
            Prepare::Overwrite => Self::How("in place".to_owned()),
            Prepare::ZeroFill => Self::First("zeros and fsync(2)"),
            Prepare::SetLen
            | Prepare::Fallocate
            | Prepare::PosixFallocate
            | Prepare::FallocateKeepSize
            | Prepare::FallocateZeroRange => {
                prepare.call().map_or(Self::Silent, |call| Self::First(call_words(call)))
            }
        }
    }

    /// When the data becomes durable, and by which call.
    pub(crate) fn for_sync(sync: Sync) -> Self {
        let call = match sync.call {
            SyncCall::None => return Self::Silent,
            SyncCall::Fsync => "fsync(2)",
            SyncCall::Fdatasync => "fdatasync(2)",
            SyncCall::Msync => "msync(2)",
            SyncCall::ODsync => return Self::How("with O_DSYNC".to_owned()),
            SyncCall::OSync => return Self::How("with O_SYNC".to_owned()),
            SyncCall::RwfDsync => return Self::How("with RWF_DSYNC".to_owned()),
        };
        match sync.every {
            None => Self::Last(call),
            Some(1) => Self::Beside(format!("{call} after each chunk")),
            Some(chunks) => Self::Beside(format!("{call} after every {chunks} chunks")),
        }
    }
}

fn call_words(call: AllocateCall) -> &'static str {
    match call {
        AllocateCall::PosixFallocate => "posix_fallocate(3)",
        AllocateCall::Fallocate => "fallocate(2)",
        AllocateCall::FallocateZeroRange => "fallocate(2) with ZERO_RANGE",
        AllocateCall::FallocateKeepSize => "fallocate(2) with KEEP_SIZE",
        AllocateCall::Ftruncate => "ftruncate(2)",
    }
}
