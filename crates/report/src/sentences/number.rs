//! Numbers as people read them.

use writebench_model::Bytes;
use writebench_stats::{Verdict, as_f64};

use crate::numbers::estimate::{Estimate, Figure};

/// A rate in decimal gigabytes per second with three significant digits.
pub(crate) fn gigabytes_per_s(bytes_per_s: f64) -> String {
    significant(bytes_per_s / 1e9)
}

/// `low – high`: the interval of a figure's median; `least … most` of the samples where they are too few for one.
pub(crate) fn range(figure: &Figure, text: fn(f64) -> String) -> String {
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => between(low, high, text),
        _ if figure.min == figure.max => NOTHING.to_owned(),
        _ => format!("{} … {}", text(figure.min), text(figure.max)),
    }
}

/// The range in a sentence, which says how many samples it is of.
pub(crate) fn range_of(estimate: &Estimate, figure: &Figure, text: fn(f64) -> String) -> String {
    match estimate.samples {
        1 => "one sample".to_owned(),
        few if figure.low.is_none() => format!("{} … {}, {few} samples", text(figure.min), text(figure.max)),
        _ => range(figure, text),
    }
}

/// Stands for a missing figure.
pub(crate) const NOTHING: &str = "–";

/// `least – most` of all samples.
pub(crate) fn extremes(figure: &Figure, text: fn(f64) -> String) -> String {
    between(figure.min, figure.max, text)
}

pub(crate) fn between(low: f64, high: f64, text: fn(f64) -> String) -> String {
    format!("{} – {}", text(low), text(high))
}

/// Milliseconds with three significant digits.
pub(crate) fn milliseconds(nanoseconds: u64) -> String {
    let milliseconds = as_f64(nanoseconds) / 1e6;
    match nanoseconds {
        0 => "0".to_owned(),
        // Microseconds are enough.
        1..1_000_000 => format!("{milliseconds:.3}"),
        _ => significant(milliseconds),
    }
}

/// Three digits from the first that is not zero.
pub(crate) fn significant(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        it if it >= 99.95 => 0,
        it if it >= 9.995 => 1,
        it if it >= 0.9995 => 2,
        it if it >= 0.099_95 => 3,
        it if it >= 0.009_995 => 4,
        it if it >= 0.000_999_5 => 5,
        _ => 6,
    };
    format!("{value:.digits$}")
}

/// Microseconds with three significant digits.
pub(crate) fn microseconds(nanoseconds: u64) -> String {
    significant(as_f64(nanoseconds) / 1e3)
}

/// A part of one in percent with two significant digits.
pub(crate) fn significant_percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent > 100.0 {
        return "> 100 %".to_owned();
    }
    let digits = match percent {
        ..0.995 => 2,
        ..9.95 => 1,
        _ => 0,
    };
    format!("{percent:.digits$} %")
}

/// A case's share of its limit: `83 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        ..0.095 => "< 0.1 %".to_owned(),
        ..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// Seconds, to the tenth where there are any.
pub(crate) fn seconds_short(nanoseconds: f64) -> String {
    let seconds = nanoseconds / 1e9;
    if seconds < 0.95 { significant(seconds) } else { format!("{seconds:.1}") }
}

/// Seconds with four digits behind the point, or three significant digits below a tenth.
pub(crate) fn seconds(nanoseconds: f64) -> String {
    let seconds = nanoseconds / 1e9;
    match seconds {
        0.0 => "0".to_owned(),
        _ if seconds < 0.09995 => significant(seconds),
        _ => format!("{seconds:.4}"),
    }
}

/// The mark before a ratio: empty for a difference.
pub(crate) fn verdict_mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster | Verdict::Slower => "",
        Verdict::AsFast => "≈ ",
        Verdict::NotDistinguishable | Verdict::TooFew => "? ",
    }
}

/// How many times one figure is the other.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        f64::INFINITY => "∞".to_owned(),
        ..9.995 => format!("{ratio:.2}"),
        _ => significant(ratio),
    }
}

/// Milliseconds of a median.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "medians of durations")]
pub(crate) fn milliseconds_of(nanoseconds: f64) -> String {
    milliseconds(nanoseconds as u64)
}

/// A figure of nothing but disturbed samples is marked, and one of samples whose time was limited has the bytes
/// beside it.
pub(crate) fn mark(estimate: &Estimate, figure: String) -> String {
    let figure = if estimate.only_disturbed { format!("~{figure}") } else { figure };
    if estimate.cut > 0 { format!("{figure} ({})", Bytes(estimate.bytes).approximate()) } else { figure }
}
