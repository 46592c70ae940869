//! Sizes, durations and ranges.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of bytes in the form of the command line.
///
/// A plain number is bytes. `k`, `M`, `G`, `T` and `KiB` … `TiB` are powers of 1024, and `kB`, `MB`, `GB`,
/// `TB` are powers of 1000. A fraction must give whole bytes. The text has the largest exact binary unit. With
/// `{:#}` it has a decimal unit if that is shorter.
///
/// ```
/// use writebench_model::Bytes;
/// assert_eq!("1.5M".parse::<Bytes>().unwrap(), Bytes(1_572_864));
/// assert_eq!(Bytes(4096).to_string(), "4KiB");
/// assert_eq!(Bytes(4097).to_string(), "4097");
/// assert_eq!(format!("{:#}", Bytes(1_000_000_000_000)), "1TB");
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Bytes(pub u64);

const EXPECTED: &str =
    "expected a number with an optional unit, such as 4096, 4k, 4KiB (1024s) or 4kB (1000s)";

const BINARY: [(&str, u64); 4] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];
const DECIMAL: [(&str, u64); 3] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
];

fn unit_bytes(unit: &str) -> Result<u64, &'static str> {
    match unit {
        "" | "b" | "B" => return Ok(1),
        "kB" => return Ok(1_000),
        _ if unit.eq_ignore_ascii_case("kB") => {
            return Err("the unit is ambiguous. Write 4KiB for 4096 bytes, or 4kB for 4000");
        }
        _ => {}
    }
    let binary = BINARY
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit) || name[..1].eq_ignore_ascii_case(unit));
    let decimal = DECIMAL
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let (_, bytes) = binary.or(decimal).ok_or(EXPECTED)?;
    Ok(*bytes)
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text)
            .map(Bytes)
            .map_err(|why| format!("'{text}' is not a size: {why}"))
    }
}

/// Splits a text before the first character that no number has. The unit may be empty.
fn number_and_unit(text: &str) -> (&str, &str) {
    let number_length = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    text.split_at(number_length)
}

fn parse(text: &str) -> Result<u64, &'static str> {
    const TRILLION: u128 = 1_000_000_000_000;
    const TOO_LARGE: &str = "larger than 8 EiB, the largest file offset";
    let (number, unit) = number_and_unit(text);
    let unit_bytes = unit_bytes(unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = !whole.is_empty() && !number.ends_with('.') && !fraction.contains('.');
    if !is_number || fraction.len() > 12 {
        return Err(EXPECTED);
    }
    let whole: u64 = whole.parse().map_err(|_| TOO_LARGE)?;
    // With zeros added, the fraction has twelve digits.
    let trillionths: u128 = format!("{fraction:0<12}").parse().map_err(|_| EXPECTED)?;
    let part = trillionths * u128::from(unit_bytes);
    if !part.is_multiple_of(TRILLION) {
        return Err("not a whole number of bytes");
    }
    let bytes = u128::from(whole) * u128::from(unit_bytes) + part / TRILLION;
    // A file ends at the largest value of `off_t`.
    u64::try_from(bytes)
        .ok()
        .filter(|&bytes| i64::try_from(bytes).is_ok())
        .ok_or(TOO_LARGE)
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = self
            .in_exact_unit(&BINARY)
            .unwrap_or_else(|| self.0.to_string());
        let shorter_decimal = self
            .in_exact_unit(&DECIMAL)
            .filter(|decimal| f.alternate() && decimal.len() < binary.len());
        f.write_str(&shorter_decimal.unwrap_or(binary))
    }
}

impl Bytes {
    /// The number of the largest of these units that divides the bytes: `4KiB`.
    fn in_exact_unit(self, units: &[(&str, u64)]) -> Option<String> {
        let (unit, bytes) = units
            .iter()
            .find(|(_, bytes)| self.0 >= *bytes && self.0.is_multiple_of(*bytes))?;
        Some(format!("{}{unit}", self.0 / bytes))
    }

    /// The exact number for prose: `64 KiB`, `4097 bytes`.
    pub fn in_words(self) -> String {
        let text = self.to_string();
        match text.find(|character: char| !character.is_ascii_digit()) {
            Some(unit) => format!("{} {}", &text[..unit], &text[unit..]),
            None => counted(self.0, "byte"),
        }
    }

    /// The number for prose with two or three significant digits: `1.5 GiB`.
    pub fn approximate(self) -> String {
        let Some((unit, bytes)) = BINARY.iter().find(|(_, bytes)| self.0 >= *bytes) else {
            return format!("{} B", self.0);
        };
        let value = self.0 as f64 / *bytes as f64;
        let digits = usize::from(value < 100.0 && value.fract() > 0.05);
        format!("{value:.digits$} {unit}")
    }
}

/// The number with its thing in the singular or plural: `1 file`, `2 files`.
pub fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Reads `500ms`, `30s`, `1.5m`, `2h`, or a plain number of seconds. A duration is at most a year.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    duration(text).ok_or_else(|| {
        format!(
            "'{text}' is not a duration: expected a number with a unit, such as 30s, 500ms, 5m or 2h"
        )
    })
}

fn duration(text: &str) -> Option<Duration> {
    const YEAR_S: f64 = 31_536_000.0;
    let (number, unit) = number_and_unit(text);
    let seconds_per_unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * seconds_per_unit;
    if seconds <= YEAR_S {
        Duration::try_from_secs_f64(seconds).ok()
    } else {
        None
    }
}

/// The nanoseconds of a duration, at most `u64::MAX`, which is 584 years.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A part of a file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub offset: u64,
    pub length: u64,
}

/// The blocks of a thread in a strided file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    pub block_bytes: u64,
    /// The distance from the beginning of a block to that of the thread's next.
    pub step_bytes: u64,
}

impl Stride {
    /// A thread's first offset, and the bytes of all its blocks.
    pub fn range(&self, size_bytes: u64, thread: u64) -> Range {
        let offset = self.block_bytes.saturating_mul(thread).min(size_bytes);
        let left = size_bytes - offset;
        let step = self.step_bytes.max(1);
        let whole_steps_bytes = left / step * self.block_bytes;
        let last_block_bytes = (left % step).min(self.block_bytes);
        Range {
            offset,
            length: whole_steps_bytes + last_block_bytes,
        }
    }

    /// Converts a distance within the thread's own bytes into one in the file.
    pub fn distance(&self, bytes_before: u64) -> u64 {
        bytes_before / self.block_bytes * self.step_bytes + bytes_before % self.block_bytes
    }
}

/// Splits `size_bytes` into one contiguous range per thread.
///
/// No range is empty unless there is less than a byte per thread. Lengths differ by at most one granule: a
/// chunk if every thread gets at least one, else a 4 KiB page, else a byte. Chunks remain aligned in the
/// file where possible.
pub fn split(size_bytes: u64, threads: u32, chunk_size_bytes: u64) -> Vec<Range> {
    const PAGE_BYTES: u64 = 4096;
    let count = u64::from(threads.max(1));
    let granule = [chunk_size_bytes, PAGE_BYTES]
        .into_iter()
        .find(|&granule| {
            granule > 0
                && granule
                    .checked_mul(count)
                    .is_some_and(|least| size_bytes >= least)
        })
        .unwrap_or(1);
    let granules = size_bytes.div_ceil(granule);
    let mut ranges = Vec::new();
    let mut offset = 0;
    for next_thread in 1..=count {
        let granules_before = u128::from(granules) * u128::from(next_thread) / u128::from(count);
        let end = u64::try_from(granules_before * u128::from(granule))
            .unwrap_or(u64::MAX)
            .min(size_bytes);
        ranges.push(Range {
            offset,
            length: end - offset,
        });
        offset = end;
    }
    ranges
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
        assert_eq!("1gib".parse(), Ok(Bytes(1 << 30)));
        assert_eq!("1mb".parse(), Ok(Bytes(1_000_000)));
        assert_eq!("0".parse(), Ok(Bytes(0)));
    }

    #[test]
    fn an_error_names_the_accepted_forms() {
        for text in [
            "",
            "k",
            "-1",
            "1.",
            ".5",
            "1..5",
            "1 k",
            "4KB",
            "1.3",
            "9E",
            "99999999999999999999",
            "8388608T",
        ] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    proptest! {
        #[test]
        fn ranges_cover_every_byte_once_and_no_thread_is_idle(
            size in 0u64..1 << 40, threads in 1u32..64, chunk in 1u64..1 << 30,
        ) {
            let ranges = split(size, threads, chunk);
            prop_assert_eq!(ranges.len(), threads as usize);
            let mut next = 0;
            for range in &ranges {
                prop_assert_eq!(range.offset, next);
                prop_assert!(range.length > 0 || size < u64::from(threads));
                next += range.length;
            }
            prop_assert_eq!(next, size);
        }
    }

    proptest! {
        #[test]
        fn strided_blocks_cover_every_byte_once(size in 0u64..5000, threads in 1u64..9, block in 1u64..700) {
            let stride = Stride { block_bytes: block, step_bytes: block * threads };
            let mut owners = vec![0; usize::try_from(size).unwrap()];
            for thread in 0..threads {
                let range = stride.range(size, thread);
                for at in 0..range.length {
                    owners[usize::try_from(range.offset + stride.distance(at)).unwrap()] += 1;
                }
            }
            prop_assert!(owners.iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn chunks_remain_aligned_if_each_thread_gets_one() {
        let ranges = split(10 * 1024 + 1, 3, 1024);
        assert!(ranges.iter().all(|range| range.offset.is_multiple_of(1024)));
    }

    #[test]
    fn words_have_a_singular_and_a_plural() {
        assert_eq!(
            [0, 1, 2, 4096].map(|bytes| Bytes(bytes).in_words()),
            ["0 bytes", "1 byte", "2 bytes", "4 KiB"]
        );
    }

    #[test]
    fn the_alternate_form_has_the_shorter_unit() {
        let texts = [1_000_000_000_000, 1_000_000_000, 1 << 40, 3000]
            .map(|bytes| format!("{:#}", Bytes(bytes)));
        assert_eq!(texts, ["1TB", "1GB", "1TiB", "3000"]);
    }

    #[test]
    fn known_units_parse_and_unknown_ones_do_not() {
        assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("7"), Ok(Duration::from_secs(7)));
        for text in ["", "s", "-3s", "3 s", "1e9s", "inf", "9999999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
