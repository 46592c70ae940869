use writebench_model::Bytes;
use writebench_stats::{Verdict, as_f64};

use crate::numbers::{Estimate, Figure};

/// How the values of a quantity are printed.
pub(crate) struct Quantity {
    /// The printed unit, in that of the values.
    unit: f64,
    /// The number of digits after the point, for a value in the printed unit.
    digits: fn(f64) -> usize,
}

pub(crate) const GIGABYTES_PER_S: Quantity = Quantity {
    unit: 1e9,
    digits: significant_digits,
};
pub(crate) const MEGABYTES: Quantity = Quantity {
    unit: 1e6,
    digits: significant_digits,
};
/// A number with three digits from the first non-zero one.
pub(crate) const NUMBER: Quantity = Quantity {
    unit: 1.0,
    digits: significant_digits,
};
pub(crate) const MEGABYTES_PER_S: Quantity = Quantity {
    unit: 1e6,
    digits: significant_digits,
};
/// A time in nanoseconds, printed in seconds.
pub(crate) const SECONDS: Quantity = Quantity {
    unit: 1e9,
    digits: significant_digits,
};
/// A time in nanoseconds, printed in milliseconds. Microseconds are enough digits.
pub(crate) const MILLISECONDS: Quantity = Quantity {
    unit: 1e6,
    digits: |value| match value {
        0.0 => 0,
        ..1.0 => 3,
        _ => significant_digits(value),
    },
};
/// A ratio, as in `1.17 times`.
pub(crate) const TIMES: Quantity = Quantity {
    unit: 1.0,
    digits: |value| match value {
        ..9.995 => 2,
        _ => significant_digits(value),
    },
};

pub(crate) const THOUSANDTHS: Quantity = Quantity {
    unit: 1.0,
    digits: |_| 3,
};

impl Quantity {
    /// The printed unit, in that of the values.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    pub(crate) fn text(&self, value: f64) -> String {
        self.rounded(value, f64::round)
    }

    /// An interval whose ends are rounded outwards, so that the printed one holds the computed one.
    pub(crate) fn between(&self, low: f64, high: f64) -> String {
        format!(
            "{} – {}",
            self.rounded(low, f64::floor),
            self.rounded(high, f64::ceil)
        )
    }

    fn rounded(&self, value: f64, round: fn(f64) -> f64) -> String {
        if value.is_infinite() {
            return "∞".to_owned();
        }
        let value = value / self.unit;
        let digits = (self.digits)(value);
        let shift = 10f64.powi(i32::try_from(digits).unwrap_or(0));
        let shifted = value * shift;
        let nearest = shifted.round();
        // A value such as 0.29 is a little less or more than its text.
        let is_exact = (shifted - nearest).abs() < 1e-6;
        let rounded = if is_exact { nearest } else { round(shifted) };
        format!("{:.digits$}", rounded / shift)
    }
}

/// `low – high` for the median's interval, `least … most` for too few samples. Both hold the value.
pub(crate) fn range(figure: &Figure, quantity: &Quantity) -> String {
    let (low, high) = figure.ends();
    match figure.low {
        Some(_) => quantity.between(low, high),
        None if !figure.has_range() => NOTHING.to_owned(),
        None => format!("{} … {}", quantity.text(low), quantity.text(high)),
    }
}

/// The text of a missing value.
pub(crate) const NOTHING: &str = "–";

pub(crate) fn or_nothing<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), text)
}

/// Nanoseconds as milliseconds with three significant digits, and none below a microsecond.
pub(crate) fn milliseconds(nanoseconds: u64) -> String {
    MILLISECONDS.text(as_f64(nanoseconds))
}

fn significant_digits(value: f64) -> usize {
    const LEAST: [f64; 6] = [99.95, 9.995, 0.9995, 0.099_95, 0.009_995, 0.000_999_5];
    if value == 0.0 {
        0
    } else {
        LEAST
            .iter()
            .position(|&least| value.abs() >= least)
            .unwrap_or(LEAST.len())
    }
}

pub(crate) fn microseconds(nanoseconds: u64) -> String {
    NUMBER.text(as_f64(nanoseconds) / 1e3)
}

/// A share as a percentage: `83 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        ..0.095 => "< 0.1 %".to_owned(),
        ..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// Nanoseconds as seconds, to the tenth. Less than a second has three significant digits.
pub(crate) fn seconds_short(nanoseconds: f64) -> String {
    let seconds = nanoseconds / 1e9;
    if seconds < 0.95 {
        NUMBER.text(seconds)
    } else {
        format!("{seconds:.1}")
    }
}

/// The mark before a ratio without a proven difference. It is empty for a difference.
pub(crate) fn verdict_mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster | Verdict::Slower => "",
        Verdict::Same => "≈ ",
        Verdict::Inconclusive => "? ",
    }
}

/// Marks values of disturbed samples only, and adds the bytes of samples with limited time.
pub(crate) fn mark(estimate: &Estimate, value: String) -> String {
    let marked = if estimate.all_disturbed {
        format!("~{value}")
    } else {
        value
    };
    match estimate.truncated_samples {
        0 => marked,
        _ => format!("{marked} ({})", Bytes(estimate.bytes).approximate()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_are_rounded_outwards_and_exact_ends_are_kept() {
        assert_eq!(TIMES.between(1.0049, 1.5901), "1.00 – 1.60");
        assert_eq!(TIMES.between(0.29, 1.13), "0.29 – 1.13");
        assert_eq!(GIGABYTES_PER_S.between(5.268e9, 12.31e9), "5.26 – 12.4");
        assert_eq!(MILLISECONDS.between(999_400.0, 1_234_567.0), "0.999 – 1.24");
        assert_eq!(TIMES.between(0.5, f64::INFINITY), "0.50 – ∞");
    }

    proptest! {
        #[test]
        fn a_printed_interval_holds_the_computed_one(low in 1e-3..1e6f64, more in 0.0..10f64) {
            let high = low * (1.0 + more);
            for quantity in [TIMES, NUMBER] {
                let text = quantity.between(low, high);
                let (printed_low, printed_high) = text.split_once(" – ").unwrap();
                let (printed_low, printed_high): (f64, f64) = (printed_low.parse().unwrap(), printed_high.parse().unwrap());
                prop_assert!(printed_low <= low * (1.0 + 1e-6) && printed_high >= high * (1.0 - 1e-6), "{text}");
            }
        }
    }
}
