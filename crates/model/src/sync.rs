use std::fmt;

use crate::form::{Described, Form, ValueEntry};
use crate::value::named_values;
use crate::value_card::{Phrase, ValueCard};

named_values! {
    SyncCall {
        None = "none",
        Fsync = "fsync",
        Fdatasync = "fdatasync",
        Msync = "msync",
        ODsync = "o-dsync",
        /// In contrast to `O_DSYNC`, all metadata is also durable.
        OSync = "o-sync",
        /// This flag of pwritev2(2) has the effect of `O_DSYNC`.
        RwfDsync = "rwf-dsync",
    }
}

impl SyncCall {
    fn paragraph(self) -> &'static str {
        match self {
            Self::None => {
                "No sync. The data is in the page cache when the clock stops, or on the device but perhaps in its \
                 cache with `cache=direct`. A power loss may take it."
            }
            Self::Fsync => {
                "fsync(2) at the end, in phase sync: it waits until the data and all metadata of the file are on the \
                 device, and flushes the device's cache."
            }
            Self::Fdatasync => {
                "fdatasync(2) at the end: as fsync(2), but times and other metadata that a reader of the data does not \
                 need may wait. A new length or new blocks are always included, so for a new file it saves little. It \
                 pays for each record of a file whose blocks are written already (`prepare=zero-fill` or `overwrite`)."
            }
            Self::Msync => {
                "msync(2) with `MS_SYNC` on the mapping, for `mmap`, `read-mmap` and `mmap-mmap`. The kernel syncs the \
                 mapped range of the file as fdatasync(2) does."
            }
            Self::ODsync => {
                "open(2) with `O_DSYNC`: each write(2) returns when its data is durable, as if fdatasync(2) followed. \
                 With `cache=direct` and blocks that exist, the kernel can use one write with FUA instead of a write \
                 and a flush. A vectored call makes all its chunks durable together."
            }
            Self::OSync => {
                "open(2) with `O_SYNC`: as `o-dsync`, with all metadata such as times, as if fsync(2) followed each \
                 write."
            }
            Self::RwfDsync => {
                "pwritev2(2) or an io_uring write with `RWF_DSYNC` (Linux 4.7): `O_DSYNC` for a single call, so a \
                 program can choose for each record. Needs `pwrite`, `writev`, `pwritev` or `io_uring`."
            }
        }
    }

    /// Whether each write makes its own data durable.
    pub fn is_write_through(self) -> bool {
        matches!(self, Self::ODsync | Self::OSync | Self::RwfDsync)
    }
}

/// The sync call and when it is made: `fsync` is once at the end, `fsync/1` after each chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sync {
    pub call: SyncCall,
    /// The number of the thread's chunks between two calls. With `None` there is a call at the end, or write-through.
    pub every: Option<u32>,
}

impl Sync {
    pub const NONE: Self = Self {
        call: SyncCall::None,
        every: None,
    };
    pub const MAX_EVERY: u32 = 1 << 24;

    /// Why a write-through call has no number, except for pages at random.
    pub(crate) fn one_call_only(call: SyncCall, every: u32) -> String {
        format!(
            "{call} makes only each call's own data durable. To sync several records at a time, use writev or pwritev \
             with vector={every},sync={call}"
        )
    }

    pub fn is_at_end(self) -> bool {
        self.call != SyncCall::None && !self.call.is_write_through() && self.every.is_none()
    }

    /// Whether each hand-over has a latency, because data becomes durable before the end.
    pub fn is_on_the_way(self) -> bool {
        self.every.is_some() || self.call.is_write_through()
    }

    pub(crate) fn card(self) -> ValueCard {
        ValueCard::new(match self.call {
            SyncCall::None => Phrase::Silent,
            SyncCall::Fsync => self.phrase_of_call("fsync(2)"),
            SyncCall::Fdatasync => self.phrase_of_call("fdatasync(2)"),
            SyncCall::Msync => self.phrase_of_call("msync(2)"),
            SyncCall::ODsync => Phrase::How("with O_DSYNC".into()),
            SyncCall::OSync => Phrase::How("with O_SYNC".into()),
            SyncCall::RwfDsync => Phrase::How("with RWF_DSYNC".into()),
        })
    }

    fn phrase_of_call(self, call: &'static str) -> Phrase {
        match self.every {
            None => Phrase::Last(call),
            Some(1) => Phrase::Beside(format!("{call} after each chunk").into()),
            Some(chunks) => Phrase::Beside(format!("{call} after every {chunks} chunks").into()),
        }
    }
}

impl Described for Sync {
    fn entries() -> Vec<ValueEntry> {
        let at_end = SyncCall::ALL.iter().map(|call| ValueEntry {
            value: call.name(),
            paragraph: call.paragraph(),
        });
        let on_the_way = ValueEntry {
            value: "CALL/N",
            paragraph: "The call after every N chunks of each thread, in phase write, such as `fsync/1` or \
                        `fdatasync/32`. Each chunk is then a record with the latency of its call, and only every Nth \
                        call waits for the disk. With `rate`, the latency lasts until the record is durable. \
                        `io_uring` links the sync to its write, so several records can be in flight. N is from 1 to \
                        16,777,216. \
                        Batches help most, because all their records share one flush, but a crash can take a batch \
                        ([Findings](../explanation/findings.md#durable-records)). Write-through calls have a number only \
                        with `access=uniform` or `zipf`: `o-dsync/16` makes commits of 16 pages, and no call after them.",
        };
        at_end.chain([on_the_way]).collect()
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
        "o-dsync/3",
        "o-sync/3",
        "rwf-dsync/3",
    ];

    fn parse(text: &str) -> Result<Self, String> {
        let (name, every) = text
            .split_once('/')
            .map_or((text, None), |(name, every)| (name, Some(every)));
        let call =
            SyncCall::from_name(name).ok_or_else(|| format!("expected {}", Self::values()))?;
        let Some(every) = every else {
            return Ok(Self { call, every: None });
        };
        if call == SyncCall::None {
            return Err("none has no number".to_owned());
        }
        match every.parse::<u32>() {
            Ok(every) if (1..=Self::MAX_EVERY).contains(&every) => Ok(Self {
                call,
                every: Some(every),
            }),
            _ => Err(format!(
                "expected {call}/N with N from 1 to {}",
                Self::MAX_EVERY
            )),
        }
    }

    fn text(sync: Self) -> String {
        sync.to_string()
    }

    fn values() -> String {
        format!("{}, or CALL/N after every N chunks", SyncCall::values())
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
        for text in [
            "none",
            "fsync",
            "fdatasync/1",
            "msync/16",
            "o-dsync",
            "rwf-dsync",
        ] {
            assert_eq!(Sync::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_invalid_text_is_refused_with_the_accepted_ones() {
        for (text, why) in [
            ("sync", "expected none|fsync"),
            ("fsync/0", "expected fsync/N"),
            ("fsync/x", "expected fsync/N"),
            ("none/1", "none has no number"),
        ] {
            let error = Sync::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_examples_have_each_call_and_a_number_where_it_takes_one() {
        let is_example = |text: String| Sync::EXAMPLES.contains(&text.as_str());
        for call in SyncCall::ALL {
            assert!(is_example(call.to_string()), "{call}");
            let on_the_way = Sync::parse(&format!("{call}/3")).is_ok();
            assert_eq!(is_example(format!("{call}/3")), on_the_way, "{call}");
        }
    }
}
