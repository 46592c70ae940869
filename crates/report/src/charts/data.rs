//! The data of a chart: figures, names, and their places.

use serde::Serialize;

/// A chart with a name to store it under.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct NamedChart {
    /// Lower-case letters, digits and dashes; unique in the report.
    pub file_stem: String,
    pub suite: String,
    pub section: String,
    pub family: ChartFamily,
    pub chart: Chart,
}

/// A chart of a family, and the end of its name after suite and section.
#[derive(Clone)]
pub(super) struct ChartData {
    pub family: ChartFamily,
    pub stem: String,
    pub chart: Chart,
}

/// A family of charts, by its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChartFamily {
    /// How fast is each chunk size?
    ThroughputByChunk,
    /// Do more threads write faster?
    ThroughputByThreads,
    /// Do more ranks write faster?
    ThroughputByRanks,
    /// How fast is each chunk size with each set of flags?
    Flags,
    /// Which case is the fastest?
    Ranked,
    /// How long does each call take, and how long do the slowest?
    Latency,
    /// How much elapsed, user and system time does each size take?
    CpuTime,
    /// Where does the time go?
    Phases,
    /// Does throughput hold?
    OverTime,
}

impl ChartFamily {
    /// Whether its question is a suite's own, rather than one for many suites.
    pub(crate) fn is_main(self) -> bool {
        !matches!(self, Self::Latency | Self::Phases | Self::OverTime)
    }
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Chart {
    pub title: String,
    /// The measurement, and the meaning of its figures.
    pub subtitle: String,
    pub kind: ChartKind,
    pub x: XAxis,
    pub y: YAxis,
    /// The figures by series.
    pub series: Vec<Series>,
    /// The cases without a figure, with the reasons.
    pub notes: Vec<String>,
}

impl Chart {
    /// The points of all series.
    pub(crate) fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }
}

/// The form of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChartKind {
    /// A line for each series, with the band of its intervals.
    Lines,
    /// For each category the series side by side, with their intervals.
    Groups,
    /// A bar for each category with its interval, from top to bottom. There is one series.
    Bars,
    /// Series are rows, categories are columns, and colours are figures.
    HeatMap,
    /// A horizontal bar for each category, from top to bottom. Series are its parts, whose figures add up to it.
    Stacked,
}

/// The axis of the places.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct XAxis {
    pub label: String,
    pub scale: XScale,
    /// Every place that has, or should have, figures, in order.
    pub ticks: Vec<Tick>,
}

/// The mapping to places on the x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum XScale {
    /// Equal distances for each doubling. All places are above 0.
    Log2,
    /// Seconds, from the first tick to the last or the last point.
    Linear,
    /// Shares from 0 to below 1 of all calls, with equal distances for each tenfold rarer rest: `q` is at
    /// log10(1 / (1 - q)), as in HdrHistogram's plots. The longest of `n` calls is at 1 - 1 / (2 n), half as
    /// rare as a single call, since 1 has no place.
    Percentile,
    /// Words, numbered from 0.
    Categories,
}

/// A place on the x axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Tick {
    pub at: f64,
    pub text: String,
}

/// The axis of the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct YAxis {
    pub label: String,
    pub unit: Unit,
    pub scale: YScale,
}

/// The unit of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Unit {
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "B/s")]
    BytesPerSecond,
}

/// The mapping to places on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum YScale {
    /// From 0 up.
    Linear,
    /// Equal distances for each factor of ten. Zeros have a place of their own, below a break.
    Log10,
}

impl YScale {
    /// A tenfold range and more is read from a logarithmic axis.
    pub(crate) fn for_values(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|&value| value > 0.0);
        let (min, max) =
            positive.fold((f64::INFINITY, 0.0_f64), |(min, max), value| (min.min(value), max.max(value)));
        if max > 10.0 * min { Self::Log10 } else { Self::Linear }
    }
}

/// Figures of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Series {
    pub name: String,
    /// In the order of the axis.
    pub points: Vec<Point>,
}

/// A figure of a case, or its absence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Point {
    pub x: f64,
    /// None if the case has no figure; the notes give the reason.
    pub figure: Option<Interval>,
    /// Whether every sample was disturbed.
    pub only_disturbed: bool,
    /// The case's name.
    pub case: String,
    /// The case's index among all cases of all reports of the charts, from 0: the first report's
    /// cases, then those of the second, and so on.
    pub row: usize,
    /// Each good sample, for [`ChartKind::Bars`]. JSON has the samples themselves.
    #[serde(skip)]
    pub dots: Vec<Dot>,
}

/// A sample's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dot {
    /// In the unit of the chart.
    pub value: f64,
    pub is_disturbed: bool,
}

/// A figure with its interval. The chart's subtitle says what they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Interval {
    /// The figure itself.
    pub value: f64,
    /// Lower end of the interval, mostly one of 95 %.
    pub low: f64,
    pub high: f64,
}
