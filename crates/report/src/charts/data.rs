use serde::Serialize;

use crate::numbers::least_and_most;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct NamedChart {
    /// Unique in the report: lower-case letters, digits and dashes.
    pub file_stem: String,
    pub suite: String,
    pub section: String,
    pub family: ChartFamily,
    pub chart: Chart,
}

/// The second is the end of the file's name.
pub(super) type ChartData = (ChartFamily, String, Chart);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChartFamily {
    ThroughputByChunk,
    ThroughputByThreads,
    ThroughputByRanks,
    /// Chunk sizes with each set of flags.
    Flags,
    Ranked,
    Latency,
    CpuTime,
    Phases,
    OverTime,
}

impl ChartFamily {
    /// A suite's own question, not one of many suites.
    pub(crate) fn is_main(self) -> bool {
        !matches!(self, Self::Latency | Self::Phases | Self::OverTime)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Chart {
    pub title: String,
    pub subtitle: String,
    pub kind: ChartKind,
    pub x: XAxis,
    pub y: YAxis,
    pub series: Vec<Series>,
    /// Reasons for missing values.
    pub notes: Vec<String>,
}

impl Chart {
    pub(crate) fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChartKind {
    /// A line per series with a band of its intervals.
    Lines,
    /// Series side by side in each category, with intervals.
    Groups,
    /// A bar per category with its interval, from top to bottom. Series are colours.
    Bars,
    /// Rows are series, columns are categories, colours are values.
    HeatMap,
    /// A horizontal bar per category. Series are its parts.
    Stacked,
    /// One series: a mark per category on both sides of 1, from top to bottom.
    Ratios,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct XAxis {
    pub label: String,
    pub scale: XScale,
    /// The places in order, including those without a value.
    pub ticks: Vec<Tick>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum XScale {
    /// Powers of two at equal distances. All places are above 0.
    Log2,
    /// Seconds.
    Linear,
    /// Shares of calls, at equal distances for each tenfold rarer rest: `q` is at log10(1 / (1 - q)), as in
    /// HdrHistogram's plots. The longest of `n` calls has the share 1 - 1 / (2 n), because 1 has no place.
    Percentile,
    /// Words, numbered from 0.
    Categories,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Tick {
    pub at: f64,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct YAxis {
    pub label: String,
    pub unit: Unit,
    pub scale: YScale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Unit {
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// A number as it is: a ratio, or a value whose unit is the label of its axis.
    #[serde(rename = "")]
    Number,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum YScale {
    Linear,
    /// Decades at equal distances. Zeros are below a break.
    Log10,
}

impl YScale {
    /// Logarithmic from a tenfold range on.
    pub(crate) fn for_values(values: impl Iterator<Item = f64>) -> Self {
        match least_and_most(values.filter(|&value| value > 0.0)) {
            Some((least, most)) if most > 10.0 * least => Self::Log10,
            _ => Self::Linear,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Series {
    pub name: String,
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Point {
    pub x: f64,
    /// The value with its interval. If it is None, the chart's notes give the reason.
    pub figure: Option<Interval>,
    pub all_disturbed: bool,
    pub case: String,
    /// The case's index among the cases of all reports, from 0.
    pub row: usize,
    /// Good samples, only for [`ChartKind::Bars`].
    #[serde(skip)]
    pub dots: Vec<Dot>,
    /// Value and interval in the words of the tables, only for [`ChartKind::Bars`].
    #[serde(skip)]
    pub words: Option<String>,
    /// The samples behind the value, only for [`ChartKind::Bars`].
    #[serde(skip)]
    pub samples: usize,
    /// The value of plain write on the same target, only for [`ChartKind::Bars`].
    #[serde(skip)]
    pub plain: Option<f64>,
}

impl Point {
    /// One sample is a first impression: it has no interval.
    pub(crate) fn is_single(&self) -> bool {
        self.samples == 1
    }
}

/// A value, and whether it was disturbed.
pub(crate) type Dot = (f64, bool);

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// One sample has no interval.
    pub(crate) fn has_width(&self) -> bool {
        self.low < self.high
    }
}
