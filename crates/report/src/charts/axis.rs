use writebench_model::Bytes;
use writebench_stats::as_f64;

use super::data::{Series, Tick, Unit, XAxis, XScale, YScale};
use super::scale::round_ticks;

pub(super) fn chunks(label: &str, sizes: &[u64]) -> XAxis {
    log2(label, sizes, |bytes| Bytes(bytes).approximate())
}

pub(super) fn counts(label: &str, counts: &[u64]) -> XAxis {
    log2(label, counts, |count| count.to_string())
}

fn log2(label: &str, places: &[u64], text: impl Fn(u64) -> String) -> XAxis {
    let tick = |&place: &u64| Tick {
        at: as_f64(place),
        text: text(place),
    };
    XAxis {
        label: label.to_owned(),
        scale: XScale::Log2,
        ticks: places.iter().map(tick).collect(),
    }
}

pub(super) fn categories(label: &str, names: impl Iterator<Item = String>) -> XAxis {
    let ticks = (0u32..)
        .zip(names)
        .map(|(index, text)| Tick {
            at: f64::from(index),
            text,
        })
        .collect();
    XAxis {
        label: label.to_owned(),
        scale: XScale::Categories,
        ticks,
    }
}

pub(super) fn seconds(label: &str, seconds: f64) -> XAxis {
    XAxis {
        label: label.to_owned(),
        scale: XScale::Linear,
        ticks: round_ticks(seconds, Unit::Seconds),
    }
}

pub(super) fn percentiles(label: &str, count: u64) -> XAxis {
    let tick = |share: f64, text: String| Tick {
        at: nines(share),
        text,
    };
    let mut ticks = vec![tick(0.0, "0 %".to_owned()), tick(0.5, "50 %".to_owned())];
    let rests = std::iter::successors(Some(10_u64), |rest| rest.checked_mul(10));
    ticks.extend(
        rests
            .take_while(|&rest| rest <= count)
            .enumerate()
            .map(|(digits, rest)| {
                let share = 1.0 - 1.0 / as_f64(rest);
                tick(
                    share,
                    format!("{:.*} %", digits.saturating_sub(1), share * 100.0),
                )
            }),
    );
    XAxis {
        label: label.to_owned(),
        scale: XScale::Percentile,
        ticks,
    }
}

pub(super) fn y_scale(series: &[Series]) -> YScale {
    let figures = series
        .iter()
        .flat_map(|series| &series.points)
        .filter_map(|point| point.figure);
    YScale::for_values(figures.map(|figure| figure.value))
}

/// The place of a share on the axis.
pub(super) fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}
