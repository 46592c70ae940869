use std::fmt;

use crate::form::{Described, Form, ValueEntry};
use crate::value_card::{InCode, Phrase, ValueCard};

/// The bytes that a case writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Data {
    /// All bytes are random. They are reproducible from a seed, and different in every block.
    Random,
    /// Each block ends with this percentage of zeros. The rest is random.
    Compressible(u8),
    /// All bytes are zeros.
    Zero,
}

impl Data {
    /// The size of a block, which is a page. Filesystems compress larger units.
    pub const BLOCK_BYTES: usize = 4096;
    const RANDOM: &str = "random";
    const COMPRESSIBLE: &str = "compressible:";
    const ZERO: &str = "zero";

    pub fn zero_percent(self) -> u8 {
        match self {
            Self::Random => 0,
            Self::Compressible(percent) => percent,
            Self::Zero => 100,
        }
    }

    fn entry(self) -> ValueEntry {
        let (value, paragraph) = match self {
            Self::Random => (
                Self::RANDOM,
                "Incompressible bytes from a seed, different in every block, so no layer can save work. Any range can \
                 be checked afterwards, because it can be computed again.",
            ),
            Self::Compressible(_) => (
                "compressible:PERCENT",
                "The same bytes, but the given percentage at the end of each 4 KiB is zeros, from 1 to 99. fio does \
                 this with `buffer_compress_percentage` and `buffer_compress_chunk=4096`. Choose the percentage that \
                 your compressor saves on your data.",
            ),
            Self::Zero => (
                Self::ZERO,
                "Only zeros, as `dd if=/dev/zero` writes. If this is faster than `random`, some layer compresses, \
                 deduplicates or makes holes, and zeros overstate what your data will reach.",
            ),
        };
        ValueEntry { value, paragraph }
    }

    pub(crate) fn card(self) -> ValueCard {
        let words = match self {
            Self::Random => Phrase::Silent,
            Self::Compressible(percent) => {
                Phrase::How(format!("of data with {percent} % zeros").into())
            }
            Self::Zero => Phrase::How("of zeros".into()),
        };
        ValueCard {
            code: InCode::LeftToCaller,
            ..ValueCard::new(words)
        }
    }
}

impl Described for Data {
    fn entries() -> Vec<ValueEntry> {
        const ANY_PERCENTAGE: u8 = 50;
        let all = [Self::Random, Self::Compressible(ANY_PERCENTAGE), Self::Zero];
        all.map(Self::entry).to_vec()
    }
}

impl Form for Data {
    type Value = Self;
    const IS_NUMBER: bool = false;
    const EXAMPLES: &[&str] = &[Self::RANDOM, Self::ZERO, "compressible:50"];

    fn parse(text: &str) -> Result<Self, String> {
        let percent = text
            .strip_prefix(Self::COMPRESSIBLE)
            .and_then(|percent| percent.parse().ok());
        match (text, percent) {
            (Self::RANDOM, _) => Ok(Self::Random),
            (Self::ZERO, _) => Ok(Self::Zero),
            (_, Some(percent @ 1..=99)) => Ok(Self::Compressible(percent)),
            _ => Err(format!("expected {}", Self::values())),
        }
    }

    fn text(value: Self) -> String {
        value.to_string()
    }

    fn values() -> String {
        format!(
            "{}|{}PERCENT|{}, PERCENT from 1 to 99",
            Self::RANDOM,
            Self::COMPRESSIBLE,
            Self::ZERO
        )
    }
}

impl std::str::FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str(Self::RANDOM),
            Self::Compressible(percent) => write!(f, "{}{percent}", Self::COMPRESSIBLE),
            Self::Zero => f.write_str(Self::ZERO),
        }
    }
}
