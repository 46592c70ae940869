//! The text forms of axis values.

use crate::quantity::Bytes;

/// `value.rs` declares the texts of named values.
pub(crate) trait Form {
    type Value;
    const IS_NUMBER: bool = true;
    /// For tests of all values: names, and some numbers.
    const EXAMPLES: &'static [&'static str];

    /// An error names the accepted forms.
    fn parse(text: &str) -> Result<Self::Value, String>;
    fn text(value: Self::Value) -> String;
    fn values() -> String;
}

pub(crate) struct Size;

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

/// At least a byte, or the whole range.
pub(crate) struct Chunk;

impl Chunk {
    pub(crate) const WHOLE: u64 = u64::MAX;
    const WHOLE_TEXT: &str = "whole";
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

/// Whole pages of a mapping.
pub(crate) struct Window;

impl Form for Window {
    type Value = u64;
    const EXAMPLES: &[&str] = &["8KiB", "256KiB", "4MiB"];

    fn parse(text: &str) -> Result<u64, String> {
        /// The smallest of any machine.
        const PAGE_BYTES: u64 = 4096;
        let whole = Size::parse(text)?;
        let fits = whole > 0 && whole.is_multiple_of(PAGE_BYTES);
        if fits {
            Ok(whole)
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

pub(crate) struct Distance;

impl Distance {
    const NONE_TEXT: &str = "none";
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

pub(crate) struct Arrivals;

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

pub(crate) struct Count<const MOST: u32>;

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
