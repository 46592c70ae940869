//! Sizes in bytes as people write them.

use std::fmt;
use std::str::FromStr;

/// A number of bytes, written and read the way the command line does.
///
/// Reading: a plain number is bytes; `k`, `M`, `G`, `T` and `KiB` … `TiB` are powers of 1024;
/// `kB`, `MB`, `GB`, `TB` are powers of 1000. A fraction is accepted where it gives whole bytes.
/// Writing uses the largest binary unit that is exact, so that reading gives the same number.
///
/// ```
/// use writebench_model::Bytes;
/// assert_eq!("1.5M".parse::<Bytes>().unwrap(), Bytes(1_572_864));
/// assert_eq!(Bytes(4096).to_string(), "4KiB");
/// assert_eq!(Bytes(4097).to_string(), "4097");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Bytes(pub u64);

/// A text that is no size, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a size: {why}")]
pub struct ParseBytesError {
    text: String,
    why: &'static str,
}

const EXPECTED: &str = "expected a number with an optional unit, such as 4096, 4k, 4KiB (1024s) or 4kB (1000s)";

const BINARY: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

fn unit_bytes(unit: &str) -> Result<u64, &'static str> {
    Ok(match unit {
        "" | "B" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        "t" | "T" | "TiB" => 1 << 40,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KB" => return Err("KB is ambiguous: write 4KiB for 4096 or 4kB for 4000"),
        _ => return Err(EXPECTED),
    })
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        parse(text).map(Bytes).map_err(|why| ParseBytesError { text: text.to_owned(), why })
    }
}

fn parse(text: &str) -> Result<u64, &'static str> {
    const TOO_LARGE: &str = "larger than 8 EiB, the largest file offset";
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_bytes = unit_bytes(unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) {
        return Err(EXPECTED);
    }
    if fraction.len() > 12 || fraction.contains('.') {
        return Err(EXPECTED);
    }
    let whole: u64 = whole.parse().map_err(|_| TOO_LARGE)?;
    let mut bytes = u128::from(whole) * u128::from(unit_bytes);
    if !fraction.is_empty() {
        let numerator: u128 = fraction.parse().map_err(|_| EXPECTED)?;
        let denominator = 10u128.pow(u32::try_from(fraction.len()).map_err(|_| EXPECTED)?);
        let part = numerator * u128::from(unit_bytes);
        if !part.is_multiple_of(denominator) {
            return Err("not a whole number of bytes");
        }
        bytes += part / denominator;
    }
    // Files end at off_t's largest value; a size above it can only be a slip.
    u64::try_from(bytes).ok().filter(|&bytes| i64::try_from(bytes).is_ok()).ok_or(TOO_LARGE)
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, bytes) in BINARY {
            if self.0 >= bytes && self.0.is_multiple_of(bytes) {
                return write!(f, "{}{unit}", self.0 / bytes);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl Bytes {
    /// For prose: two or three significant digits in a binary unit, such as `1.5 GiB`.
    #[must_use]
    pub fn approximate(self) -> String {
        for (unit, bytes) in BINARY {
            if self.0 >= bytes {
                #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
                let value = self.0 as f64 / bytes as f64;
                let digits = usize::from(value < 100.0 && value.fract() > 0.05);
                return format!("{value:.digits$} {unit}");
            }
        }
        format!("{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_size_reads_back(bytes in 0..i64::MAX.cast_unsigned()) {
            prop_assert_eq!(Bytes(bytes).to_string().parse::<Bytes>().unwrap(), Bytes(bytes));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,24}") {
            let _ = text.parse::<Bytes>();
        }
    }

    #[test]
    fn binary_and_decimal_units_differ() {
        assert_eq!("4k".parse(), Ok(Bytes(4096)));
        assert_eq!("4kB".parse(), Ok(Bytes(4000)));
        assert_eq!("1GiB".parse(), Ok(Bytes(1 << 30)));
        assert_eq!("0".parse(), Ok(Bytes(0)));
    }

    #[test]
    fn nonsense_says_what_would_fit() {
        for text in
            ["", "k", "-1", "1.", ".5", "1..5", "1 k", "4KB", "1.3", "9E", "99999999999999999999", "8388608T"]
        {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
