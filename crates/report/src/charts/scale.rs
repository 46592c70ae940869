use super::data::{Chart, ChartKind, Tick, Unit, YScale};
use crate::numbers::least_and_most;
use crate::sentences::NUMBER;

/// The share of a logarithmic axis below its break, for zeros.
const ZERO_PART: f64 = 0.09;

/// Intervals end at this multiple of the longest bar.
const BARS_CUT: f64 = 1.6;

/// Holds all values, and all intervals except those far beyond bars.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    unit: Unit,
    scale: YScale,
    // None if all values are 0.
    range: Option<(f64, f64)>,
    /// The break is at half of [`Self::break_part`].
    pub has_break: bool,
}

/// A place from 0 to 1, upwards. Lines between labels have no text.
pub(crate) type ScaleTick = (f64, Option<String>);

impl Scale {
    pub(crate) fn for_chart(chart: &Chart) -> Self {
        Self::for_charts(&[chart])
    }

    /// The common scale of charts with one unit, which readers compare. It is logarithmic if one of them is.
    pub(crate) fn for_charts(charts: &[&Chart]) -> Self {
        let mut all: Vec<f64> = charts.iter().flat_map(|chart| values(chart)).collect();
        let bars = charts.iter().filter(|chart| chart.kind == ChartKind::Bars);
        let bars = bars.flat_map(|chart| chart.points());
        cut(&mut all, bars.filter_map(|point| Some(point.figure?.value)));
        let is_log = charts.iter().any(|chart| chart.y.scale == YScale::Log10);
        let scale = if is_log {
            YScale::Log10
        } else {
            YScale::Linear
        };
        let unit = charts.first().map_or(Unit::Seconds, |chart| chart.y.unit);
        Self::new(unit, scale, &all)
    }

    pub(crate) fn for_bars(unit: Unit, bars: &[f64], mut ends: Vec<f64>) -> Self {
        cut(&mut ends, bars.iter().copied());
        Self::new(unit, YScale::Linear, &[bars, &ends].concat())
    }

    pub(crate) fn new(unit: Unit, scale: YScale, values: &[f64]) -> Self {
        let is_log = scale == YScale::Log10;
        let range = least_and_most(values.iter().copied().filter(|&value| value > 0.0));
        let range = range.map(|(min, max)| {
            if is_log {
                log_range(min, max)
            } else {
                (0.0, linear_top(max))
            }
        });
        Self {
            unit,
            scale,
            range,
            has_break: is_log && values.iter().any(|&value| value <= 0.0),
        }
    }

    pub(crate) fn is_logarithmic(&self) -> bool {
        self.scale == YScale::Log10
    }

    pub(crate) fn top(&self) -> f64 {
        self.range.map_or(0.0, |(_, top)| top)
    }

    /// The beginning of the logarithm.
    pub(crate) fn break_part(&self) -> f64 {
        if self.has_break { ZERO_PART } else { 0.0 }
    }

    /// Values outside are drawn at the end of the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        self.range.is_none_or(|(_, top)| value <= top)
    }

    /// The value's place on the axis, from 0 to 1, upwards.
    pub(crate) fn part(&self, value: f64) -> f64 {
        let Some((bottom, top)) = self.range else {
            return 0.0;
        };
        match self.scale {
            YScale::Linear => (value / top).clamp(0.0, 1.0),
            YScale::Log10 if value <= 0.0 => self.break_part() / 2.0,
            YScale::Log10 => {
                let part = (value / bottom).log10() / (top / bottom).log10();
                self.break_part() + (1.0 - self.break_part()) * part.clamp(0.0, 1.0)
            }
        }
    }

    pub(crate) fn ticks(&self) -> Vec<ScaleTick> {
        let zero = (self.part(0.0), Some("0".to_owned()));
        let Some((bottom, top)) = self.range else {
            return vec![zero];
        };
        let tick = |value: f64, text| (self.part(value), text);
        if self.scale == YScale::Linear {
            let ticks = round_ticks(top, self.unit).into_iter();
            return ticks
                .map(|Tick { at, text }| tick(at, Some(text)))
                .collect();
        }
        let labelled = log_values(bottom, top);
        let mut ticks: Vec<ScaleTick> = self.has_break.then_some(zero).into_iter().collect();
        ticks.extend(
            labelled
                .iter()
                .map(|&value| tick(value, Some(tick_text(value, value, self.unit)))),
        );
        // More lines would be a grey area.
        if (top / bottom).log10() <= 6.0 {
            let between = mantissas(bottom, top, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
            let is_new = |value: &f64| {
                labelled
                    .iter()
                    .all(|other| (value / other - 1.0).abs() > 1e-9)
            };
            ticks.extend(
                between
                    .into_iter()
                    .filter(is_new)
                    .map(|value| tick(value, None)),
            );
        }
        ticks
    }
}

/// One wide interval must not shorten all bars.
fn cut(values: &mut [f64], bars: impl Iterator<Item = f64>) {
    let longest = bars.fold(0.0, f64::max);
    if longest > 0.0 {
        values
            .iter_mut()
            .for_each(|value| *value = value.min(BARS_CUT * longest));
    }
}

fn values(chart: &Chart) -> Vec<f64> {
    let figures = chart.points().filter_map(|point| point.figure);
    match chart.kind {
        // Colours show values without intervals.
        ChartKind::HeatMap => figures.map(|figure| figure.value).collect(),
        ChartKind::Stacked => stacked(chart).into_iter().map(|(_, whole)| whole).collect(),
        // Equal speeds are always in the picture.
        ChartKind::Ratios => figures.map(|figure| figure.value).chain([1.0]).collect(),
        ChartKind::Lines | ChartKind::Groups | ChartKind::Bars => {
            let of_figures = figures.flat_map(|figure| [figure.low, figure.value, figure.high]);
            of_figures
                .chain(
                    chart
                        .points()
                        .flat_map(|point| &point.dots)
                        .map(|(value, _)| *value),
                )
                .collect()
        }
    }
}

/// Lengths of bars by place.
pub(crate) fn stacked(chart: &Chart) -> Vec<(f64, f64)> {
    let whole = |at: f64| {
        let parts = chart
            .points()
            .filter(|point| point.x.total_cmp(&at).is_eq())
            .filter_map(|point| point.figure);
        parts.map(|part| part.value).sum()
    };
    chart
        .x
        .ticks
        .iter()
        .map(|tick| (tick.at, whole(tick.at)))
        .collect()
}

/// The ends of a logarithmic axis, with a margin, and wide enough that noise does not fill the picture.
fn log_range(min: f64, max: f64) -> (f64, f64) {
    let margin = (max / min).powf(0.05).max(1.05);
    let (bottom, top) = (min / margin, max * margin);
    let widened = (2.0 / (top / bottom)).max(1.0).sqrt();
    (bottom / widened, top * widened)
}

fn linear_top(max: f64) -> f64 {
    let step = step(max * 1.03);
    (max * 1.03 / step).ceil() * step
}

/// 1, 2 or 5 times a power of ten, for about five steps.
fn step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10.0_f64.powf(rough.log10().floor());
    let mantissa = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|mantissa| mantissa * power >= rough * 0.999);
    mantissa.unwrap_or(10.0) * power
}

/// Round values from 0 to `max`, all with the unit of the largest.
pub(super) fn round_ticks(max: f64, unit: Unit) -> Vec<Tick> {
    let text = |at: f64| {
        if at > 0.0 {
            tick_text(at, max, unit)
        } else {
            "0".to_owned()
        }
    };
    let places = if max > 0.0 {
        steps(0.0, max)
    } else {
        vec![0.0]
    };
    places
        .into_iter()
        .map(|at| Tick { at, text: text(at) })
        .collect()
}

fn steps(bottom: f64, top: f64) -> Vec<f64> {
    let step = step(top - bottom);
    let first = (bottom / step - 1e-9).ceil();
    (0..=20)
        .map(|index| (first + f64::from(index)) * step)
        .filter(|&value| value <= top * 1.000_001)
        .collect()
}

/// The values with labels on a logarithmic axis: as round as possible, at least three.
fn log_values(bottom: f64, top: f64) -> Vec<f64> {
    let decades = mantissas(bottom, top, &[1.0]);
    if decades.len() > 8 {
        return decades.into_iter().step_by(2).collect();
    }
    let round = ROUND
        .iter()
        .map(|of| mantissas(bottom, top, of))
        .find(|values| values.len() >= 3);
    round.unwrap_or_else(|| steps(bottom, top))
}

/// Mantissas, the roundest first.
const ROUND: [&[f64]; 3] = [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 2.0, 3.0, 5.0, 7.0]];

/// `of` times powers of ten.
fn mantissas(bottom: f64, top: f64, of: &[f64]) -> Vec<f64> {
    let powers = std::iter::successors(Some(bottom.log10().floor()), |power| Some(power + 1.0))
        .take_while(|power| *power <= top.log10() + 1.0);
    // The nearest number to the decimal text.
    let value = |power: f64, mantissa: &f64| format!("{mantissa}e{power}").parse().ok();
    let values =
        powers.flat_map(|power| of.iter().filter_map(move |mantissa| value(power, mantissa)));
    values
        .filter(|&value| value >= bottom * 0.999_999 && value <= top * 1.000_001)
        .collect()
}

/// Three digits and a unit, such as `19.4 ms`.
pub(crate) fn value_text(value: f64, unit: Unit) -> String {
    let text = format!("{}{}", prefixed(value, unit), symbol(unit));
    text.trim_end().to_owned()
}

/// Three digits and a prefix, such as `19.4 m`.
pub(crate) fn prefixed(value: f64, unit: Unit) -> String {
    if value <= 0.0 {
        return "0 ".to_owned();
    }
    let (factor, prefix) = factor(value, unit);
    format!("{} {prefix}", NUMBER.text(value / factor))
}

/// The value in the unit whose prefix suits `like`.
fn tick_text(value: f64, like: f64, unit: Unit) -> String {
    let (factor, prefix) = factor(like, unit);
    let number = format!("{:.3}", value / factor);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    let text = format!("{number} {prefix}{}", symbol(unit));
    text.trim_end().to_owned()
}

pub(crate) fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "s",
        Unit::BytesPerSecond => "B/s",
        Unit::Number => "",
    }
}

/// The prefix for one to three digits before the point.
fn factor(value: f64, unit: Unit) -> (f64, &'static str) {
    const FACTORS: [(f64, &str); 7] = [
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
    ];
    if unit == Unit::Number {
        return (1.0, "");
    }
    // Kiloseconds are unusual.
    let largest = if unit == Unit::Seconds { 1.0 } else { 1e9 };
    let fits = |(factor, _): &&(f64, &str)| *factor <= largest && value >= factor * 0.999_5;
    FACTORS.iter().find(fits).copied().unwrap_or((1e-9, "n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(bottom: f64, top: f64, has_break: bool) -> Scale {
        Scale {
            unit: Unit::Seconds,
            scale: YScale::Log10,
            range: Some((bottom, top)),
            has_break,
        }
    }

    fn texts(scale: &Scale) -> Vec<String> {
        scale
            .ticks()
            .into_iter()
            .filter_map(|(_, text)| text)
            .collect()
    }

    #[test]
    fn a_logarithmic_axis_names_at_least_three_round_values() {
        assert_eq!(
            texts(&log(0.008, 40.0, false)),
            ["10 ms", "100 ms", "1 s", "10 s"]
        );
        assert_eq!(
            texts(&log(0.018, 0.3, false)),
            ["20 ms", "50 ms", "100 ms", "200 ms"]
        );
        assert_eq!(
            texts(&log(1.0, 2.0, false)),
            ["1 s", "1.2 s", "1.4 s", "1.6 s", "1.8 s", "2 s"]
        );
        assert_eq!(texts(&log(1e-9, 100.0, false)).len(), 6);
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_one_unit() {
        let range = Some((0.0, linear_top(1.27e9)));
        let scale = Scale {
            unit: Unit::BytesPerSecond,
            scale: YScale::Linear,
            range,
            has_break: false,
        };
        assert_eq!(texts(&scale), ["0", "0.5 GB/s", "1 GB/s", "1.5 GB/s"]);
    }

    #[test]
    fn zero_is_below_everything_else_and_nothing_leaves_the_axis() {
        let scale = log(0.001, 10.0, true);
        let parts = [0.0, 0.001, 0.01, 1.0, 10.0].map(|value| scale.part(value));
        assert!(
            parts.is_sorted_by(|a, b| a < b) && parts[0] > 0.0,
            "{parts:?}"
        );
        assert!((parts[4] - 1.0).abs() < 1e-9);
        assert_eq!(texts(&scale)[0], "0");
    }

    #[test]
    fn values_have_three_digits_and_a_decimal_unit() {
        let text = |value| value_text(value, Unit::Seconds);
        assert_eq!(
            [28.2498, 0.0194, 999.96e-6, 0.0].map(text),
            ["28.2 s", "19.4 ms", "1.00 ms", "0 s"]
        );
        assert_eq!(value_text(2.345e9, Unit::BytesPerSecond), "2.35 GB/s");
        assert_eq!(text(4000.0), "4000 s");
    }
}
