//! The text forms of axis values.

use crate::quantity::Bytes;

/// How the values of an axis are written. `value.rs` declares the texts of named values.
pub(crate) trait Form {
    type Value;
    const IS_NUMBER: bool = true;
    /// All names and some numbers, for tests of all values.
    const EXAMPLES: &'static [&'static str];

    /// Reads a value. An error names the accepted forms.
    fn parse(text: &str) -> Result<Self::Value, String>;
    fn text(value: Self::Value) -> String;
    /// The accepted forms for people.
    fn values() -> String;
}

/// A value of an axis with the paragraph of the reference: the call that it makes, what it needs, and when it pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueEntry {
    /// The text in a case's name. Capitals stand for what a user fills in: `LEAST..MOST`.
    pub value: &'static str,
    /// In Markdown, with links from `docs/reference/`.
    pub paragraph: &'static str,
}

/// The reference of an axis' values. An axis cannot be declared without it.
pub(crate) trait Described: Form {
    /// The values that are words. The axis itself describes its numbers.
    fn entries() -> Vec<ValueEntry>;
}

pub(crate) struct Size;

impl Described for Size {
    fn entries() -> Vec<ValueEntry> {
        Vec::new()
    }
}

impl Form for Size {
    type Value = u64;
    const EXAMPLES: &[&str] = &["8KiB", "512KiB", "8MiB"];

    fn parse(text: &str) -> Result<u64, String> {
        text.parse::<Bytes>().map(|bytes| bytes.0)
    }

    fn text(bytes: u64) -> String {
        Bytes(bytes).to_string()
    }

    fn values() -> String {
        "a size such as 4096, 4k, 1MiB, 1GB".to_owned()
    }
}

/// The size of a chunk, which is at least a byte, or the word for a thread's whole range.
pub(crate) struct Chunk;

impl Chunk {
    pub(crate) const WHOLE: u64 = u64::MAX;
    const WHOLE_TEXT: &str = "whole";
}

impl Described for Chunk {
    fn entries() -> Vec<ValueEntry> {
        vec![ValueEntry {
            value: Self::WHOLE_TEXT,
            paragraph: "One chunk for the whole range of each thread, or for each file of a set. Linux moves at most \
                        2 GiB less 4 KiB in one call, so a longer range takes more calls.",
        }]
    }
}

impl Form for Chunk {
    type Value = u64;
    const EXAMPLES: &[&str] = &["4KiB", "64KiB", "whole"];

    fn parse(text: &str) -> Result<u64, String> {
        if text == Self::WHOLE_TEXT {
            return Ok(Self::WHOLE);
        }
        match Size::parse(text)? {
            0 => Err("expected at least one byte".to_owned()),
            bytes => Ok(bytes),
        }
    }

    fn text(bytes: u64) -> String {
        if bytes == Self::WHOLE {
            Self::WHOLE_TEXT.to_owned()
        } else {
            Size::text(bytes)
        }
    }

    fn values() -> String {
        format!("{}, or {}", Size::values(), Self::WHOLE_TEXT)
    }
}

/// The size of whole pages of a mapping.
pub(crate) struct Window;

impl Described for Window {
    fn entries() -> Vec<ValueEntry> {
        Vec::new()
    }
}

impl Form for Window {
    type Value = u64;
    const EXAMPLES: &[&str] = &["8KiB", "256KiB", "4MiB"];

    fn parse(text: &str) -> Result<u64, String> {
        /// The smallest page of any machine.
        const PAGE_BYTES: u64 = 4096;
        let bytes = Size::parse(text)?;
        if bytes > 0 && bytes.is_multiple_of(PAGE_BYTES) {
            Ok(bytes)
        } else {
            Err("expected a multiple of 4 KiB".to_owned())
        }
    }

    fn text(bytes: u64) -> String {
        Size::text(bytes)
    }

    fn values() -> String {
        format!("{}, in multiples of 4 KiB", Size::values())
    }
}

/// The distance of write-behind, or the word for none.
pub(crate) struct Distance;

impl Distance {
    const NONE_TEXT: &str = "none";
}

impl Described for Distance {
    fn entries() -> Vec<ValueEntry> {
        vec![ValueEntry {
            value: Self::NONE_TEXT,
            paragraph: "The kernel decides when to write data back: after some seconds, when too much memory is \
                        dirty, or at a sync.",
        }]
    }
}

impl Form for Distance {
    type Value = Option<u64>;
    const EXAMPLES: &[&str] = &["none", "8KiB", "256KiB"];

    fn parse(text: &str) -> Result<Option<u64>, String> {
        if text == Self::NONE_TEXT {
            Ok(None)
        } else {
            Window::parse(text).map(Some)
        }
    }

    fn text(bytes: Option<u64>) -> String {
        bytes.map_or(Self::NONE_TEXT.to_owned(), Size::text)
    }

    fn values() -> String {
        format!("{}, or {}", Window::values(), Self::NONE_TEXT)
    }
}

/// The number of records that arrive in a second, or the word for none.
pub(crate) struct Arrivals;

impl Described for Arrivals {
    fn entries() -> Vec<ValueEntry> {
        vec![ValueEntry {
            value: Distance::NONE_TEXT,
            paragraph: "The next record follows as soon as the last one is durable, and its latency begins with its \
                        call.",
        }]
    }
}

impl Form for Arrivals {
    type Value = Option<u32>;
    const EXAMPLES: &[&str] = &["none", "100000"];

    fn parse(text: &str) -> Result<Option<u32>, String> {
        if text == Distance::NONE_TEXT {
            Ok(None)
        } else {
            Count::<1_000_000>::parse(text).map(Some)
        }
    }

    fn text(rate: Option<u32>) -> String {
        rate.map_or(Distance::NONE_TEXT.to_owned(), |rate| rate.to_string())
    }

    fn values() -> String {
        format!(
            "{}, or {}",
            Count::<1_000_000>::values(),
            Distance::NONE_TEXT
        )
    }
}

/// A number from 1 to `MOST`.
pub(crate) struct Count<const MOST: u32>;

impl<const MOST: u32> Described for Count<MOST> {
    fn entries() -> Vec<ValueEntry> {
        Vec::new()
    }
}

impl<const MOST: u32> Form for Count<MOST> {
    type Value = u32;
    const EXAMPLES: &[&str] = &["1", "2", "3"];

    fn parse(text: &str) -> Result<u32, String> {
        let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
        count.ok_or_else(|| format!("expected a number from {}", Self::values()))
    }

    fn text(count: u32) -> String {
        count.to_string()
    }

    fn values() -> String {
        format!("1 to {MOST}")
    }
}
