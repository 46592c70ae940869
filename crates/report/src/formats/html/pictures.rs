//! The drawings of the page. Those that readers compare have one scale.

use std::collections::HashMap;

use crate::charts::{Chart, ChartFamily, ChartKind, NamedChart, Scale, Unit, ratios};
use crate::formats::svg::{self, Picture};
use crate::numbers::{CompareError, Comparison};

pub(super) type NumberedChart<'r> = (usize, &'r NamedChart);

pub(super) struct Figure<'r> {
    /// The chart's number in the page's data.
    pub number: usize,
    pub named: &'r NamedChart,
    pub picture: Picture,
    /// The number of the pack with its other drawings.
    pub pack: usize,
    pub is_hidden_by_legend: bool,
}

impl Figure<'_> {
    /// The meanings of marks, then the reasons for missing values.
    pub(super) fn notes(&self) -> impl Iterator<Item = &String> {
        self.picture.marks.iter().chain(&self.named.chart.notes)
    }
}

/// Throughput over time has other ranges than the throughput of whole samples.
type Question = (ChartKind, bool);

/// The scales of throughput, which all sections have in common.
pub(super) struct Scales(HashMap<Question, Scale>);

impl Scales {
    pub(super) fn of(charts: &[NamedChart]) -> Self {
        let mut peers: HashMap<Question, Vec<&Chart>> = HashMap::new();
        for named in charts {
            let is_throughput = named.chart.y.unit == Unit::BytesPerSecond;
            if is_throughput {
                peers.entry(question(named)).or_default().push(&named.chart);
            }
        }
        let scales = peers.into_iter();
        Self(
            scales
                .map(|(question, charts)| (question, Scale::for_charts(&charts)))
                .collect(),
        )
    }

    /// Charts that are side by side.
    pub(super) fn beside<'r>(&self, charts: Vec<NumberedChart<'r>>) -> Vec<Figure<'r>> {
        let first = charts.first().map(|(_, named)| &named.chart);
        let axis = |chart: &Chart| (chart.kind, chart.y.unit);
        let are_alike = charts
            .iter()
            .all(|(_, named)| Some(axis(&named.chart)) == first.map(axis));
        let all: Vec<&Chart> = charts.iter().map(|(_, named)| &named.chart).collect();
        let common = are_alike.then(|| Scale::for_charts(&all));
        let figures = charts.into_iter();
        figures
            .map(|chart| self.figure(chart, common.as_ref()))
            .collect()
    }

    pub(super) fn alone<'r>(&self, chart: NumberedChart<'r>) -> Figure<'r> {
        self.figure(chart, None)
    }

    fn figure<'r>(&self, (number, named): NumberedChart<'r>, beside: Option<&Scale>) -> Figure<'r> {
        let chart = &named.chart;
        let shared = Some(question(named)).filter(|_| chart.y.unit == Unit::BytesPerSecond);
        let shared = shared.and_then(|question| self.0.get(&question));
        let picture = match shared.or(beside) {
            Some(scale) => svg::picture(chart, scale),
            None => svg::picture(chart, &Scale::for_chart(chart)),
        };
        Figure {
            number,
            named,
            picture,
            pack: 0,
            is_hidden_by_legend: Picture::is_hidden_by_legend(chart),
        }
    }
}

fn question(named: &NamedChart) -> Question {
    (named.chart.kind, named.family == ChartFamily::OverTime)
}

/// The ratios of each comparison, or None if the runs are not comparable.
pub(super) fn of_ratios(comparisons: &[Result<Comparison, CompareError>]) -> Vec<Option<Picture>> {
    let picture = |comparison: &Result<Comparison, CompareError>| {
        let chart = ratios::chart(comparison.as_ref().ok()?)?;
        Some(svg::picture(&chart, &Scale::for_chart(&chart)))
    };
    comparisons.iter().map(picture).collect()
}
