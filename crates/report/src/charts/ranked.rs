//! The cases of one goal on all targets, from the best, in the units and words of the tables.

use std::collections::HashMap;

use writebench_model::{Content, Sample, Workload};

use super::data::{
    Chart, ChartData, ChartFamily, ChartKind, Dot, Interval, Point, Series, Unit, YAxis, YScale,
};
use super::point::{figures_are, point};
use super::rows::{ChartCase, grouped};
use super::{axis, words};
use crate::numbers::{self, Estimate, Figure};
use crate::sentences::finding::Finding;
use crate::sentences::metric::Metric;
use crate::sentences::number::range;

pub(super) fn charts(section: &str, rows: &[ChartCase<'_>]) -> Vec<ChartData> {
    let mut questions = Vec::new();
    for (_, rows) in grouped(rows, compared_work) {
        let drawn = by_value(&rows);
        for (_, drawn) in numbers::grouped(drawn, |(_, _, metric, _)| metric.key) {
            questions.push((rows.clone(), drawn));
        }
    }
    questions.retain(|(rows, drawn)| drawn.len() >= fewest(rows));
    let several = questions.len() > 1;
    let chart = |(rows, drawn): (Vec<ChartCase<'_>>, Vec<Valued<'_>>)| {
        let end = if several {
            format!("-{}", rows[0].case.record.workload.durability)
        } else {
            String::new()
        };
        let chart = ranking(section, &rows, &drawn);
        (ChartFamily::Ranked, format!("ranked{end}"), chart)
    };
    questions.into_iter().map(chart).collect()
}

/// A chart of one bar compares nothing, except that of a goal, which shows its answer.
fn fewest(rows: &[ChartCase<'_>]) -> usize {
    if rows.iter().any(|row| row.goal.is_some()) {
        1
    } else {
        2
    }
}

/// The candidates of a search may do more than its goal, and are still compared, except copies that share blocks.
fn compared_work(row: &ChartCase<'_>) -> Option<Workload> {
    let record = &row.case.record;
    let is_own = !record.origin.is_search() || record.workload.content == Content::SharedCopy;
    is_own.then(|| record.workload.clone())
}

/// A case with a value, the quantity that counts for it, and that value.
type Valued<'r> = (ChartCase<'r>, &'r Estimate, &'static Metric, &'r Figure);

/// The best first, whatever its rank: marks show which values are uncertain. A target that cannot keep a promise has no
/// bar.
fn by_value<'r>(rows: &[ChartCase<'r>]) -> Vec<Valued<'r>> {
    let valued = |row: &ChartCase<'r>| {
        let estimate = row.whole_estimate()?;
        let metric = Metric::for_case(&row.case.record, estimate);
        let figure = (metric.figure)(estimate)?;
        row.case
            .not_durable
            .is_none()
            .then_some((*row, estimate, metric, figure))
    };
    let mut drawn: Vec<Valued<'r>> = rows.iter().filter_map(valued).collect();
    drawn.sort_by(|(_, _, metric, a), (.., b)| metric.better_first(a.value, b.value));
    drawn
}

fn ranking(section: &str, rows: &[ChartCase<'_>], drawn: &[Valued<'_>]) -> Chart {
    let cases: Vec<ChartCase<'_>> = drawn.iter().map(|(row, ..)| *row).collect();
    let targets = targets(rows);
    let (names, common) = names(&cases, targets.len() > 1);
    let metric = drawn.first().map(|(_, _, metric, _)| *metric);
    let better = metric.map_or("higher", Metric::better);
    let series = targets.iter().map(|target| {
        let bars = (0u32..)
            .zip(drawn)
            .filter(|(_, (row, ..))| row.target == *target);
        Series {
            name: (*target).to_owned(),
            points: bars.map(|(at, valued)| bar(at.into(), valued)).collect(),
        }
    });
    let what = if rows[0].case.record.origin.is_search() {
        "Finalists"
    } else {
        section
    };
    let on = match targets.as_slice() {
        [one] => format!(", {one}"),
        several => format!(", {} targets", several.len()),
    };
    let is_about_speed = metric.is_none_or(|metric| metric.is_rate() || metric.is_elapsed());
    let first = if is_about_speed { "fastest" } else { "best" };
    let workload = &rows[0].case.record.workload;
    Chart {
        title: format!("{what}, from the {first}{on}"),
        subtitle: format!("{workload}{common}: {}", figures_are(&cases, better)),
        kind: ChartKind::Bars,
        x: axis::categories("case", names.into_iter()),
        // Bars are compared by length, so they begin at 0.
        y: YAxis {
            label: metric.map_or("", |metric| metric.unit).to_owned(),
            unit: Unit::Number,
            scale: YScale::Linear,
        },
        series: series.collect(),
        notes: [words::causes(rows), words::cut_short(rows)].concat(),
    }
}

/// The targets in the order in which the run names them.
fn targets<'r>(rows: &[ChartCase<'r>]) -> Vec<&'r str> {
    let mut targets: Vec<(Option<usize>, &str)> = grouped(rows, |row| row.target)
        .into_iter()
        .map(|(target, rows)| (rows.iter().map(|row| row.place).min(), target))
        .collect();
    targets.sort_unstable();
    targets.into_iter().map(|(_, target)| target).collect()
}

/// The case, after its target if there are several. The second result is the common part of all names.
fn names(rows: &[ChartCase<'_>], several: bool) -> (Vec<String>, String) {
    let cases = grouped(rows, named);
    let one_of_each: Vec<ChartCase<'_>> = cases.iter().map(|(_, rows)| rows[0]).collect();
    let (short, common) = words::names_of_cases(&one_of_each);
    let short: HashMap<_, String> = cases.iter().map(|(key, _)| *key).zip(short).collect();
    let name = |row: &ChartCase<'_>| {
        let name = &short[&named(row)];
        let target = if several {
            format!("{}: ", row.target)
        } else {
            String::new()
        };
        let recommended = if row.is_recommended {
            " (recommended)"
        } else {
            ""
        };
        format!("{target}{name}{recommended}")
    };
    (rows.iter().map(name).collect(), common)
}

fn named<'r>(row: &ChartCase<'r>) -> (&'r str, Option<&'r str>) {
    let record = &row.case.record;
    (record.case.name(), record.label.as_deref())
}

fn bar(x: f64, (row, estimate, metric, figure): &Valued<'_>) -> Point {
    let interval = metric.interval_or_samples(estimate);
    Point {
        dots: dots(row, estimate, metric, figure),
        words: Some(format!("{} ({interval})", metric.value(estimate))),
        samples: estimate.samples,
        ..point(x, row, Some(figure), metric.text.unit())
    }
}

/// Good samples, including disturbed ones outside the value. Quantities other than rates and times have none.
fn dots(row: &ChartCase<'_>, estimate: &Estimate, metric: &Metric, figure: &Figure) -> Vec<Dot> {
    let unit = metric.text.unit();
    let per_sample: Box<dyn Fn(&Sample) -> f64> = if metric.is_rate() {
        // Records and files of a sample are in proportion to its bytes.
        let per_byte = figure.value / estimate.throughput_bytes_per_s.value;
        Box::new(move |sample| (metric.sample_value)(sample) * 1e9 * per_byte / unit)
    } else if metric.is_elapsed() {
        Box::new(move |sample| (metric.sample_value)(sample) / unit)
    } else {
        return Vec::new();
    };
    row.case
        .good_samples()
        .map(|sample| (per_sample(sample), sample.disturbed.is_some()))
        .collect()
}

/// The bar of an answer, with its interval in words.
pub(super) fn bar_of(x: f64, finding: &Finding, row: usize, plain: Option<f64>) -> Point {
    let empty = Point {
        x,
        figure: None,
        all_disturbed: finding.unanswered.is_some(),
        case: finding.case.clone().unwrap_or_default(),
        row,
        dots: Vec::new(),
        words: None,
        samples: finding.samples,
        plain: None,
    };
    let Some((metric, figure)) = finding.measured_figure() else {
        return empty;
    };
    let unit = metric.text.unit();
    let interval = match finding.samples {
        1 => "one sample".to_owned(),
        _ => range(figure, metric.text),
    };
    let (low, high) = figure.ends();
    Point {
        figure: Some(Interval {
            value: figure.value / unit,
            low: low / unit,
            high: high / unit,
        }),
        words: Some(format!("{} {} ({interval})", finding.value(), metric.unit)),
        plain: plain.map(|value| value / unit),
        ..empty
    }
}
