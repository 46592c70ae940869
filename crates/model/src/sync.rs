//! Calls that make data durable, and their times.

use std::fmt;

use crate::form::Form;
use crate::value::named_values;
use crate::value_card::{Phrase, ValueCard};

named_values! {
    /// A way to make data durable.
    SyncCall {
        /// No call: the data is in the page cache when the case ends.
        None = "none",
        /// `fsync(2)`.
        Fsync = "fsync",
        /// `fdatasync(2)`.
        Fdatasync = "fdatasync",
        /// `msync(2)` with `MS_SYNC`, for mappings.
        Msync = "msync",
        /// The file is opened with `O_DSYNC`: each call returns when its data is durable.
        ODsync = "o-dsync",
        /// The file is opened with `O_SYNC`: each call returns when its data and all of its metadata are durable.
        OSync = "o-sync",
        /// Each call has the flag `RWF_DSYNC` of pwritev2(2): the same as `O_DSYNC`, without opening the file
        /// so.
        RwfDsync = "rwf-dsync",
    }
}

impl SyncCall {
    /// Whether the sync is part of the call that hands over the data, rather than a separate call.
    pub fn is_write_through(self) -> bool {
        matches!(self, Self::ODsync | Self::OSync | Self::RwfDsync)
    }
}

/// The call, and the number of chunks after which it comes: `fsync` is once at the end, `fsync/1` after each
/// chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Sync {
    pub call: SyncCall,
    /// The number of a thread's chunks between calls; none for once at the end, and for write-through, where
    /// each call makes its own data durable.
    pub every: Option<u32>,
}

impl Sync {
    /// No data is made durable.
    pub const NONE: Self = Self { call: SyncCall::None, every: None };
    /// A larger number is a mistake.
    pub const MAX_EVERY: u32 = 1 << 24;

    /// Whether there is a separate call after the last chunk and only there.
    pub fn is_at_end(self) -> bool {
        self.call != SyncCall::None && !self.call.is_write_through() && self.every.is_none()
    }

    /// Whether data becomes durable on the way, so that each hand-over has a latency.
    pub fn is_on_the_way(self) -> bool {
        self.every.is_some() || self.call.is_write_through()
    }

    pub(crate) fn card(self) -> ValueCard {
        let afterwards = |call| match self.every {
            None => Phrase::Last(call),
            Some(1) => Phrase::Beside(format!("{call} after each chunk").into()),
            Some(chunks) => Phrase::Beside(format!("{call} after every {chunks} chunks").into()),
        };
        ValueCard::new(match self.call {
            SyncCall::None => Phrase::Silent,
            SyncCall::Fsync => afterwards("fsync(2)"),
            SyncCall::Fdatasync => afterwards("fdatasync(2)"),
            SyncCall::Msync => afterwards("msync(2)"),
            SyncCall::ODsync => Phrase::How("with O_DSYNC".into()),
            SyncCall::OSync => Phrase::How("with O_SYNC".into()),
            SyncCall::RwfDsync => Phrase::How("with RWF_DSYNC".into()),
        })
    }
}

impl Form for Sync {
    type Value = Self;
    const IS_NUMBER: bool = false;
    const EXAMPLES: &[&str] = &[
        "none",
        "fsync",
        "fdatasync",
        "msync",
        "o-dsync",
        "o-sync",
        "rwf-dsync",
        "fsync/3",
        "fdatasync/3",
        "msync/3",
    ];

    /// `CALL` or `CALL/N`.
    fn parse(text: &str) -> Result<Self, String> {
        let (name, every) = text.split_once('/').map_or((text, None), |(name, every)| (name, Some(every)));
        let call = SyncCall::from_name(name).ok_or_else(|| format!("expected {}", Self::values()))?;
        let Some(every) = every else { return Ok(Self { call, every: None }) };
        if call == SyncCall::None {
            return Err("nothing comes after so many chunks; leave the number out".to_owned());
        }
        if call.is_write_through() {
            return Err(format!(
                "{call} makes each call's own data durable and none before it; for several records at a time \
                 hand them over in one call: writev or pwritev with vector={every},sync={call}"
            ));
        }
        match every.parse::<u32>() {
            Ok(every) if (1..=Self::MAX_EVERY).contains(&every) => Ok(Self { call, every: Some(every) }),
            _ => Err(format!("expected {call}/N with N from 1 to {}", Self::MAX_EVERY)),
        }
    }

    fn text(sync: Self) -> String {
        sync.to_string()
    }

    fn values() -> String {
        format!("{}, or CALL/N for after every N chunks", SyncCall::values())
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.every {
            None => write!(f, "{}", self.call),
            Some(every) => write!(f, "{}/{every}", self.call),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for text in ["none", "fsync", "fdatasync/1", "msync/16", "o-dsync", "rwf-dsync"] {
            assert_eq!(Sync::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_invalid_text_is_refused_with_the_accepted_ones() {
        for (text, why) in [
            ("sync", "expected none|fsync"),
            ("fsync/0", "expected fsync/N"),
            ("fsync/x", "expected fsync/N"),
            ("none/1", "leave the number out"),
            ("o-dsync/16", "vector=16,sync=o-dsync"),
        ] {
            let error = Sync::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
    #[test]
    fn each_call_is_an_example_and_those_on_the_way_are_with_a_number() {
        let is_example = |text: String| Sync::EXAMPLES.contains(&text.as_str());
        for call in SyncCall::ALL {
            assert!(is_example(call.to_string()), "{call}");
            let on_the_way = Sync::parse(&format!("{call}/3")).is_ok();
            assert_eq!(is_example(format!("{call}/3")), on_the_way, "{call}");
        }
    }
}
