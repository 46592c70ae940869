use std::fmt;
use std::str::FromStr;

use crate::quantity::Bytes;

/// Free space that a run leaves on a filesystem: a share of its bytes and inodes, or a number of bytes and
/// the default share of its inodes.
///
/// ```
/// use writebench_model::{Bytes, Reserve};
/// assert_eq!("5%".parse::<Reserve>().unwrap().of_bytes(1000), 50);
/// assert_eq!("1GiB".parse::<Reserve>().unwrap(), Reserve::Size(Bytes(1 << 30)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reserve {
    Share { ppm: u32 },
    Size(Bytes),
}

const DEFAULT_PPM: u32 = 50_000;

impl Reserve {
    pub const DEFAULT: Self = Self::Share { ppm: DEFAULT_PPM };
    pub const NONE: Self = Self::Share { ppm: 0 };

    pub fn is_none(self) -> bool {
        matches!(self, Self::Share { ppm: 0 } | Self::Size(Bytes(0)))
    }

    /// The bytes to leave free of a filesystem with so many.
    pub fn of_bytes(self, total_bytes: u64) -> u64 {
        match self {
            Self::Share { ppm } => share(total_bytes, ppm),
            Self::Size(Bytes(bytes)) => bytes,
        }
    }

    /// The inodes to leave free of a filesystem with so many.
    pub fn of_inodes(self, total: u64) -> u64 {
        match self {
            Self::Share { ppm } => share(total, ppm),
            Self::Size(_) => share(total, DEFAULT_PPM),
        }
    }
}

impl Default for Reserve {
    fn default() -> Self {
        Self::DEFAULT
    }
}

fn share(total: u64, ppm: u32) -> u64 {
    let share = u128::from(total) * u128::from(ppm) / 1_000_000;
    u64::try_from(share).unwrap_or(u64::MAX)
}

impl FromStr for Reserve {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let reserve = match text.strip_suffix('%') {
            Some(percent) => parse_share(percent),
            None => text.parse().ok().map(Self::Size),
        };
        reserve.ok_or_else(|| {
            format!(
                "'{text}' is neither a share from 0% to 100%, such as 5%, nor a size, such as 10GiB"
            )
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "up to a million"
)]
fn parse_share(percent: &str) -> Option<Reserve> {
    let percent = percent.parse::<f64>().ok()?;
    (0.0..=100.0).contains(&percent).then(|| Reserve::Share {
        ppm: (percent * 1e4).round() as u32,
    })
}

impl fmt::Display for Reserve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share { ppm } => write!(f, "{}%", f64::from(*ppm) / 1e4),
            Self::Size(bytes) => bytes.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_and_sizes_parse_and_other_texts_do_not() {
        assert_eq!("5%".parse(), Ok(Reserve::DEFAULT));
        assert_eq!("0%".parse(), Ok(Reserve::NONE));
        assert_eq!("0".parse(), Ok(Reserve::Size(Bytes(0))));
        for text in ["", "%", "101%", "-1%", "NaN%", "5 %", "much", "9E"] {
            assert!(text.parse::<Reserve>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_keeps_the_usual_share_of_inodes() {
        let size = Reserve::Size(Bytes(10));
        assert_eq!((size.of_bytes(1000), size.of_inodes(1000)), (10, 50));
        assert_eq!(
            Reserve::Share { ppm: 1_000_000 }.of_bytes(u64::MAX),
            u64::MAX
        );
    }

    proptest! {
        #[test]
        fn every_reserve_reads_back(ppm in 0..=1_000_000u32, bytes in 0..i64::MAX.cast_unsigned()) {
            for reserve in [Reserve::Share { ppm }, Reserve::Size(Bytes(bytes))] {
                prop_assert_eq!(reserve.to_string().parse(), Ok(reserve));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,24}") {
            let _ = text.parse::<Reserve>();
        }
    }
}
