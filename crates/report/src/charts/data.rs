//! What a chart is: figures, names, and where each belongs.

use serde::Serialize;

/// A chart with a name to store it under.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct NamedChart {
    /// Lower-case letters, digits and dashes; no other chart of the report has it.
    pub file_stem: String,
    /// The suite that it is of.
    pub suite: String,
    /// The section of the suite.
    pub section: String,
    /// What it answers.
    pub of: Question,
    /// The chart.
    pub chart: Chart,
}

/// A chart of a family, and what its name has behind that of its suite and section.
#[derive(Clone)]
pub(super) struct Drawn {
    pub of: Question,
    pub stem: String,
    pub chart: Chart,
}

/// What a family of charts answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Question {
    /// How fast is each chunk size?
    ThroughputByChunk,
    /// Do more threads write faster?
    ThroughputByThreads,
    /// How fast is each chunk size with each set of flags?
    Flags,
    /// Which case is the fastest?
    Ranked,
    /// How long does each call take, and how long do the slowest?
    Latency,
    /// What does it cost in elapsed, user and system time?
    CpuTime,
    /// Where does the time go?
    Phases,
    /// Does throughput hold?
    OverTime,
}

impl Question {
    /// Whether it is a suite's own question, and not one that can be asked of many.
    pub(crate) fn is_main(self) -> bool {
        !matches!(self, Self::Latency | Self::Phases | Self::OverTime)
    }
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Chart {
    /// What it is about.
    pub title: String,
    /// What was measured, and what its figures are.
    pub subtitle: String,
    /// What it looks like.
    pub kind: Kind,
    /// What the figures are given by.
    pub x: XAxis,
    /// The figures.
    pub y: YAxis,
    /// Whether the series have an order, such as sizes have, for their colours to show.
    pub series_are_ordered: bool,
    /// The figures, by what they are of.
    pub series: Vec<Series>,
    /// Which cases have no figure and why.
    pub notes: Vec<String>,
}

impl Chart {
    /// Those of all series.
    pub(crate) fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }
}

/// What a chart looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
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

/// The axis that the figures are given by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct XAxis {
    /// What it is.
    pub label: String,
    /// How places on it are found.
    pub scale: XScale,
    /// Every place that has figures, or should have, in order.
    pub ticks: Vec<Tick>,
}

/// How places on the x axis are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum XScale {
    /// Each doubling as far as the last. All places are above 0.
    Log2,
    /// Seconds, from the first tick to the last or the last point.
    Linear,
    /// Shares from 0 to below 1 of all calls, each tenfold rarer rest as far as the last: `q` stands at
    /// log10(1 / (1 - q)), as in HdrHistogram's plots. The longest of `n` calls stands at 1 - 1 / (2 n), half as rare
    /// a rest as a single call, since 1 has no place.
    Percentile,
    /// Words, numbered from 0.
    Categories,
}

/// A place on the x axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Tick {
    /// The place.
    pub at: f64,
    /// What it is called.
    pub text: String,
}

/// The axis of the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct YAxis {
    /// What they are.
    pub label: String,
    /// What they are in.
    pub unit: Unit,
    /// How places on it are found.
    pub scale: YScale,
}

/// What figures are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Unit {
    /// Time.
    #[serde(rename = "s")]
    Seconds,
    /// Throughput.
    #[serde(rename = "B/s")]
    BytesPerSecond,
}

/// How places on the y axis are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum YScale {
    /// From 0 up.
    Linear,
    /// Each tenfold as far as the last. Zeros have a place of their own, below a break.
    Log10,
}

/// Figures of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Series {
    /// What they are of.
    pub name: String,
    /// In the order of the axis.
    pub points: Vec<Point>,
}

/// A figure of a case, or that it has none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Point {
    /// The place on the x axis.
    pub x: f64,
    /// None where the case has no figure; the notes say why.
    pub figure: Option<Interval>,
    /// Whether nothing but disturbed samples is behind it.
    pub only_disturbed: bool,
    /// The case's name.
    pub case: String,
    /// Which it is among all cases of all reports that the charts are of, from 0: the first report's cases, then
    /// those of the second, and so on.
    pub row: usize,
    /// Each good sample, for [`Kind::Bars`]. Whoever reads JSON has the samples themselves.
    #[serde(skip)]
    pub dots: Vec<Dot>,
}

/// A sample's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dot {
    /// In the unit of the chart.
    pub value: f64,
    /// Whether the machine was not itself.
    pub is_disturbed: bool,
}

/// A figure with its interval. The chart's subtitle says what they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Interval {
    /// The figure, mostly a median.
    pub median: f64,
    /// Lower end of its interval, mostly one of 95 %.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}
