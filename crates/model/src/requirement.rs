//! Limits that a user sets for a result: `p99<10ms`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantity::Bytes;
use crate::value::named_values;
use crate::workload::Workload;

named_values! {
    /// What a requirement limits.
    Measure {
        P50 = "p50",
        P90 = "p90",
        P99 = "p99",
        P99_9 = "p99.9",
        /// Records or files per second.
        Rate = "rate",
        /// Bytes per second.
        Throughput = "throughput",
        /// The time of the whole work.
        Time = "time",
    }
}

/// Other words for them, as other programs have them.
const WORDS: [(&str, Measure); 8] = [
    ("median", Measure::P50),
    ("p999", Measure::P99_9),
    ("iops", Measure::Rate),
    ("records/s", Measure::Rate),
    ("files/s", Measure::Rate),
    ("bandwidth", Measure::Throughput),
    ("bw", Measure::Throughput),
    ("elapsed", Measure::Time),
];

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Nanoseconds,
    PerSecond,
    BytesPerSecond,
}

impl Measure {
    /// Of so many calls, one takes longer. None for what is no percentile.
    pub fn percentile_in_calls(self) -> Option<u64> {
        match self {
            Self::P50 => Some(2),
            Self::P90 => Some(10),
            Self::P99 => Some(100),
            Self::P99_9 => Some(1000),
            Self::Rate | Self::Throughput | Self::Time => None,
        }
    }

    /// Whether less is better, so that the limit is the most.
    pub fn is_time(self) -> bool {
        self.unit() == Unit::Nanoseconds
    }

    fn unit(self) -> Unit {
        match self {
            Self::P50 | Self::P90 | Self::P99 | Self::P99_9 | Self::Time => Unit::Nanoseconds,
            Self::Rate => Unit::PerSecond,
            Self::Throughput => Unit::BytesPerSecond,
        }
    }

    /// An example for help and errors.
    fn example(self) -> &'static str {
        match self {
            Self::P50 => "p50<1ms",
            Self::P90 => "p90<5ms",
            Self::P99 => "p99<10ms",
            Self::P99_9 => "p99.9<50ms",
            Self::Rate => "rate>5000/s",
            Self::Throughput => "throughput>500MB/s",
            Self::Time => "time<2s",
        }
    }

    /// Whether the work has it. Percentiles are of single records or files, and a rate counts them. A program is seen from
    /// outside, so its records are not known.
    pub fn is_of(self, workload: &Workload, is_program: bool) -> bool {
        let has_calls =
            !is_program && (workload.durable_every_bytes.is_some() || workload.file_size.is_some());
        match self {
            Self::P50 | Self::P90 | Self::P99 | Self::P99_9 | Self::Rate => has_calls,
            Self::Throughput => workload.content.is_data(),
            Self::Time => true,
        }
    }

    /// What the work has, for an error.
    pub fn of(workload: &Workload, is_program: bool) -> Vec<Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|measure| measure.is_of(workload, is_program))
            .collect()
    }

    fn from_word(word: &str) -> Result<Self, String> {
        let word = word.to_lowercase();
        if let Some(measure) = Self::from_name(&word) {
            return Ok(measure);
        }
        if let Some((_, measure)) = WORDS.iter().find(|(other, _)| *other == word) {
            return Ok(*measure);
        }
        if matches!(word.as_str(), "max" | "worst" | "p100") {
            return Err(
                "the longest call grows with the number of calls, so samples cannot prove a limit for it. Use p99.9"
                    .to_owned(),
            );
        }
        let names: Vec<&str> = Self::ALL.iter().map(|measure| measure.name()).collect();
        Err(format!(
            "unknown metric '{word}'. Use one of {}, as in {}",
            names.join(", "),
            Requirement::FORMS
        ))
    }
}

/// A limit for a measure. Its text is the argument of `--require`, without spaces and with its own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Requirement {
    pub measure: Measure,
    /// In nanoseconds, bytes per second, or records or files per second. Never 0.
    pub limit: u64,
}

impl Requirement {
    /// The forms for help and errors.
    pub const FORMS: &str = "p99<10ms, rate>5000/s, throughput>500MB/s or time<2s";

    /// `p99 < 10 ms`, for prose.
    pub fn in_words(&self) -> String {
        format!(
            "{} {} {}",
            self.measure,
            self.relation(),
            self.limit_text(" ")
        )
    }

    fn relation(&self) -> char {
        if self.measure.is_time() { '<' } else { '>' }
    }

    fn limit_text(&self, space: &str) -> String {
        match self.measure.unit() {
            Unit::Nanoseconds => time_text(self.limit, space),
            Unit::PerSecond => format!("{}/s", self.limit),
            Unit::BytesPerSecond => {
                let text = format!("{:#}", Bytes(self.limit));
                match text.find(|character: char| !character.is_ascii_digit()) {
                    Some(unit) => format!("{}{space}{}/s", &text[..unit], &text[unit..]),
                    None => format!("{text}{space}B/s"),
                }
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}{}",
            self.measure,
            self.relation(),
            self.limit_text("")
        )
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}

impl TryFrom<String> for Requirement {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::str::FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let compact: String = text
            .chars()
            .filter(|character| !character.is_whitespace())
            .collect();
        let relations = |character: char| matches!(character, '<' | '>' | '≤' | '≥');
        let (word, rest) = compact
            .find(relations)
            .map(|place| compact.split_at(place))
            .filter(|(word, _)| !word.is_empty())
            .ok_or_else(|| format!("expected a metric and its limit, such as {}", Self::FORMS))?;
        let measure = Measure::from_word(word)?;
        let is_upper = rest.starts_with(['<', '≤']);
        let limit = rest.trim_start_matches(['<', '≤', '>', '≥']);
        let limit = limit.strip_prefix('=').unwrap_or(limit);
        let example = measure.example();
        if is_upper != measure.is_time() {
            let better = if measure.is_time() { "less" } else { "more" };
            return Err(format!("{better} {measure} is better. Write {example}"));
        }
        let limit = match measure.unit() {
            Unit::Nanoseconds => nanoseconds(limit),
            Unit::PerSecond => per_second(limit),
            Unit::BytesPerSecond => bytes_per_second(limit),
        };
        match limit {
            Some(0) => Err(format!("the limit of {measure} must be more than 0")),
            Some(limit) => Ok(Self { measure, limit }),
            None => Err(format!(
                "expected {measure} with a number and its unit, such as {example}"
            )),
        }
    }
}

/// The units of times, the largest first.
const TIMES: [(&str, u64); 4] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

fn nanoseconds(text: &str) -> Option<u64> {
    let unit = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (number, unit) = text.split_at(unit);
    // The sign of micro has two code points.
    let unit = unit.replace(['µ', 'μ'], "u");
    let (_, scale) = TIMES.iter().find(|(name, _)| *name == unit)?;
    decimal(number, *scale)
}

/// The number times the scale, if that is whole.
fn decimal(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = !whole.is_empty() && !number.ends_with('.') && !fraction.contains('.');
    let digits = u32::try_from(fraction.len())
        .ok()
        .filter(|&digits| is_number && digits <= 9)?;
    let tenths = 10u64.pow(digits);
    let part = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<u64>().ok()?.checked_mul(scale)?
    };
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    part.is_multiple_of(tenths)
        .then(|| whole.checked_add(part / tenths))?
}

/// In the largest unit that leaves a whole part, without zeros at the end.
fn time_text(ns: u64, space: &str) -> String {
    let (unit, scale) = TIMES
        .iter()
        .find(|(_, scale)| ns >= *scale)
        .unwrap_or(&("ns", 1));
    let rest = ns % scale;
    let width = scale.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    let fraction = match fraction.trim_end_matches('0') {
        "" => String::new(),
        digits => format!(".{digits}"),
    };
    format!("{}{fraction}{space}{unit}", ns / scale)
}

fn per_second(text: &str) -> Option<u64> {
    text.strip_suffix("/s").unwrap_or(text).parse().ok()
}

/// A number alone could mean bytes or megabytes, so it needs a unit.
fn bytes_per_second(text: &str) -> Option<u64> {
    let bytes = text.strip_suffix("/s")?;
    let has_unit = bytes.ends_with(|character: char| !character.is_ascii_digit());
    bytes
        .parse::<Bytes>()
        .ok()
        .filter(|_| has_unit)
        .map(|bytes| bytes.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Case;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<String, String> {
        text.parse::<Requirement>()
            .map(|requirement| requirement.to_string())
    }

    #[test]
    fn a_requirement_is_read_as_people_write_it() {
        for (text, read) in [
            ("p99<10ms", "p99<10ms"),
            (" p99 <= 10 ms", "p99<10ms"),
            ("P99≤0.01s", "p99<10ms"),
            ("p999<1.5ms", "p99.9<1.5ms"),
            ("median<250µs", "p50<250us"),
            ("rate>5000/s", "rate>5000/s"),
            ("iops >= 5000", "rate>5000/s"),
            ("throughput>500MB/s", "throughput>500MB/s"),
            ("bw>1.5GiB/s", "throughput>1536MiB/s"),
            ("time<2s", "time<2s"),
            ("time<1ns", "time<1ns"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(read), "{text}");
        }
        let words = |text: &str| text.parse::<Requirement>().unwrap().in_words();
        assert_eq!(words("p99<10ms"), "p99 < 10 ms");
        assert_eq!(words("rate>5000"), "rate > 5000/s");
        assert_eq!(words("throughput>500MB/s"), "throughput > 500 MB/s");
        assert_eq!(words("throughput>7B/s"), "throughput > 7 B/s");
    }

    #[test]
    fn an_error_shows_what_is_accepted() {
        for (text, says) in [
            ("", Requirement::FORMS),
            ("p99", Requirement::FORMS),
            ("<10ms", Requirement::FORMS),
            ("p99=10ms", Requirement::FORMS),
            ("p95<10ms", "p50, p90, p99, p99.9"),
            ("fsync p99<10ms", "p99, p99.9"),
            ("max<1s", "Use p99.9"),
            ("p99<10", "p99<10ms"),
            ("p99<10min", "p99<10ms"),
            ("p99<1.ms", "p99<10ms"),
            ("p99<0.1ns", "p99<10ms"),
            ("p99>10ms", "less p99 is better"),
            ("rate<5", "more rate is better"),
            ("rate>5k/s", "rate>5000/s"),
            ("throughput>500", "throughput>500MB/s"),
            ("throughput>500/s", "throughput>500MB/s"),
            ("p99<0ms", "more than 0"),
            ("p99<99999999999999999999s", "p99<10ms"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn every_requirement_reads_back(measure in 0..Measure::ALL.len(), limit in 1..i64::MAX.cast_unsigned()) {
            let requirement = Requirement { measure: Measure::ALL[measure], limit };
            let text = requirement.to_string();
            prop_assert_eq!(text.parse::<Requirement>(), Ok(requirement), "{}", text);
            prop_assert_eq!(requirement.in_words().parse::<Requirement>(), Ok(requirement));
        }

        #[test]
        fn no_text_makes_it_panic(text in "(p99|rate|throughput|time|)[ <>=≤]{0,3}.{0,24}") {
            let _ = text.parse::<Requirement>();
        }
    }

    #[test]
    fn percentiles_and_rates_are_of_records_or_files() {
        let has = |name: &str, measure: Measure| {
            let case = Case::parse(name).unwrap();
            measure.is_of(&case.workload(), case.method().is_program())
        };
        for (name, measures) in [
            ("write", &[Measure::Throughput, Measure::Time][..]),
            ("write,sync=fsync", &[Measure::Throughput, Measure::Time]),
            ("write,sync=fsync/1", Measure::ALL),
            ("pwrite,sync=o-dsync", Measure::ALL),
            ("write-files", Measure::ALL),
            ("allocate", &[Measure::Time]),
        ] {
            for measure in Measure::ALL {
                assert_eq!(
                    has(name, *measure),
                    measures.contains(measure),
                    "{name}: {measure}"
                );
            }
        }
    }
}
