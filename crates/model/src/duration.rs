//! Durations as people write them on the command line.

use std::time::Duration;

/// A text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a duration: expected a number with a unit, such as 30s, 500ms, 5m or 2h")]
pub struct ParseDurationError(String);

/// Reads `500ms`, `30s`, `1.5m`, `2h`; a plain number is seconds. At most a year.
///
/// # Errors
/// The text is not of that form, or out of range.
pub fn parse_duration(text: &str) -> Result<Duration, ParseDurationError> {
    let error = || ParseDurationError(text.to_owned());
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds_per_unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(error()),
    };
    let seconds = number.parse::<f64>().map_err(|_| error())? * seconds_per_unit;
    if seconds > 31_536_000.0 {
        return Err(error());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood_and_nonsense_is_not() {
        assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("7"), Ok(Duration::from_secs(7)));
        for text in ["", "s", "-3s", "3 s", "1e9s", "inf", "9999999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
