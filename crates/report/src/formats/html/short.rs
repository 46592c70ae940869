//! Numbers with visible digits only, for small pages.

use serde::{Serialize, Serializer};

/// Five significant digits, without a point if whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Short(pub f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = rounded(self.0);
        if value.fract() == 0.0 && value.abs() < 9e15 {
            #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
            return serializer.serialize_i64(value as i64);
        }
        serializer.serialize_f64(value)
    }
}

fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 4.0 - value.abs().log10().floor();
    // A power of ten is exact, unlike a negative one. One of these is 1.
    let [up, down] = [digits, -digits].map(|digits| 10.0_f64.powf(digits.max(0.0)));
    (value * up / down).round() / up * down
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_digits_are_left_and_no_more() {
        let text = |value| serde_json::to_string(&Short(value)).unwrap();
        assert_eq!(text(4_612_345_678.9), "4612300000");
        assert_eq!(text(123.456_78), "123.46");
        assert_eq!(text(0.000_512_345_6), "0.00051235");
        assert_eq!(
            (text(0.0), text(7.0), text(f64::INFINITY)),
            ("0".into(), "7".into(), "null".into())
        );
    }
}
