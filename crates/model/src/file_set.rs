//! The files of a set.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::form::{Described, Form, ValueEntry};
use crate::quantity::{Bytes, Range};

/// The size of each file in a set. The last file has the rest of the set's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FileSize {
    /// All files have this number of bytes.
    Each(u64),
    /// Sizes are log-uniform between two.
    Between { least: u64, most: u64 },
    /// One file has all bytes.
    Whole,
}

impl FileSize {
    /// The most files of a set. Their names and ranges fit into a small part of the memory.
    pub const MOST_FILES: u64 = 1 << 22;
    const WHOLE_TEXT: &str = "whole";

    fn entry(self) -> ValueEntry {
        let (value, paragraph) = match self {
            Self::Each(_) => (
                "SIZE",
                "All files have this size, such as `16KiB`. With `io_uring-files` a file must fit into one `chunk`, \
                 because its single write is linked.",
            ),
            Self::Between { .. } => (
                "LEAST..MOST",
                "Sizes from a log-uniform distribution, such as `4KiB..64KiB`: as many files between 4 and 8 KiB as \
                 between 32 and 64. They are the same in each sample and on each machine.",
            ),
            Self::Whole => (
                Self::WHOLE_TEXT,
                "One file with all bytes of `size`. Use it to replace a file: \
                 `write-files,size=1MiB,file-size=whole,naming=rename,prepare=overwrite`.",
            ),
        };
        ValueEntry { value, paragraph }
    }

    /// The number of files in a set of so many bytes. It is not counted further than one above
    /// [`FileSize::MOST_FILES`].
    pub fn count(self, set_bytes: u64) -> u64 {
        match self {
            Self::Each(bytes) => set_bytes.div_ceil(bytes.max(1)).min(Self::MOST_FILES + 1),
            Self::Between { .. } => self.files(set_bytes).count() as u64,
            Self::Whole => u64::from(set_bytes > 0),
        }
    }

    /// Each file's range in the data of the set.
    pub fn files(self, set_bytes: u64) -> impl Iterator<Item = Range> {
        let mut offset = 0;
        (0..=u32::try_from(Self::MOST_FILES).unwrap_or(u32::MAX)).map_while(move |index| {
            let length = self.nth(index).min(set_bytes - offset);
            let range = Range { offset, length };
            offset += length;
            (length > 0).then_some(range)
        })
    }

    /// The size of the file with this number, from 0, if the set has so many bytes.
    fn nth(self, index: u32) -> u64 {
        match self {
            Self::Each(bytes) => bytes,
            Self::Whole => u64::MAX,
            Self::Between { least, most } => nth_between(least, most, index),
        }
    }

    /// The size for prose: `16 KiB`, or `4 KiB to 64 KiB`.
    pub fn in_words(self) -> String {
        match self {
            Self::Each(bytes) => Bytes(bytes).in_words(),
            Self::Between { least, most } => {
                format!("{} to {}", Bytes(least).in_words(), Bytes(most).in_words())
            }
            Self::Whole => Self::WHOLE_TEXT.to_owned(),
        }
    }

    /// The bytes of a set with so many files.
    pub fn set_bytes(self, count: u64) -> u64 {
        let sizes = (0..u32::try_from(count).unwrap_or(u32::MAX)).map(|index| self.nth(index));
        match self {
            Self::Between { .. } => sizes.fold(0, u64::saturating_add),
            Self::Each(bytes) => bytes.saturating_mul(count),
            Self::Whole => u64::MAX,
        }
    }
}

/// A number of the van der Corput sequence in base 2, as an exponent, so any number of files has sizes from the whole
/// range.
///
/// IEEE 754 rounds square roots and products exactly, and pow(3) not. So every machine has the same sizes, and printed
/// programs in all languages too.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size between two others"
)]
fn nth_between(least: u64, most: u64, index: u32) -> u64 {
    let mut size = least as f64;
    let mut factor = most as f64 / least as f64;
    let mut rest = index;
    while rest > 0 {
        factor = factor.sqrt();
        if rest & 1 == 1 {
            size *= factor;
        }
        rest >>= 1;
    }
    (size as u64).clamp(least, most)
}

impl FromStr for FileSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == Self::WHOLE_TEXT {
            return Ok(Self::Whole);
        }
        let Some((least, most)) = text.split_once("..") else {
            return positive_size(text).map(Self::Each);
        };
        let least = positive_size(least)?;
        let most = positive_size(most)?;
        if least < most {
            Ok(Self::Between { least, most })
        } else {
            Err("expected LEAST..MOST with the smaller size first".to_owned())
        }
    }
}

fn positive_size(text: &str) -> Result<u64, String> {
    match text.parse::<Bytes>()?.0 {
        0 => Err("expected at least one byte".to_owned()),
        bytes => Ok(bytes),
    }
}

impl fmt::Display for FileSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Each(bytes) => write!(f, "{}", Bytes(bytes)),
            Self::Between { least, most } => write!(f, "{}..{}", Bytes(least), Bytes(most)),
            Self::Whole => f.write_str(Self::WHOLE_TEXT),
        }
    }
}

impl TryFrom<String> for FileSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<FileSize> for String {
    fn from(size: FileSize) -> Self {
        size.to_string()
    }
}

impl Described for FileSize {
    fn entries() -> Vec<ValueEntry> {
        let all = [
            Self::Each(1),
            Self::Between { least: 1, most: 2 },
            Self::Whole,
        ];
        all.map(Self::entry).to_vec()
    }
}

impl Form for FileSize {
    type Value = Self;
    const EXAMPLES: &[&str] = &["4KiB", "1KiB..64KiB", "whole"];

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn text(value: Self) -> String {
        value.to_string()
    }

    fn values() -> String {
        "a size such as 16KiB, LEAST..MOST, or whole".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_spread_evenly_over_the_logarithm() {
        let size = FileSize::Between {
            least: 1 << 10,
            most: 1 << 20,
        };
        let set_bytes = size.set_bytes(1000);
        let files: Vec<Range> = size.files(set_bytes).collect();
        assert_eq!(files.len(), 1000);
        for power in 10..20 {
            let inside = files
                .iter()
                .filter(|file| (1 << power..1 << (power + 1)).contains(&file.length));
            assert!((90..=110).contains(&inside.count()), "{power}");
        }
    }

    proptest! {
        #[test]
        fn the_files_have_every_byte_once(
            least in 1u64..5000, more in 1u64..5000, set_bytes in 1u64..200_000, kind in 0..3,
        ) {
            let size = match kind {
                0 => FileSize::Each(least),
                1 => FileSize::Between { least, most: least + more },
                _ => FileSize::Whole,
            };
            prop_assert_eq!(size.to_string().parse::<FileSize>(), Ok(size));
            let files: Vec<Range> = size.files(set_bytes).collect();
            prop_assert_eq!(files.len() as u64, size.count(set_bytes));
            let mut end = 0;
            for file in files {
                prop_assert_eq!(file.offset, end);
                end += file.length;
            }
            prop_assert_eq!(end, set_bytes);
        }
    }
}
