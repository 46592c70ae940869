//! What the page's scripts read: cases, their samples, charts and comparisons, with as few characters as will do.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use writebench_model::{CaseRecord, RunRecord, Sample};
use writebench_stats::as_f64;

use super::command::again;
use super::short::Short;
use crate::charts::{Kind, NamedChart, Question, XScale, YAxis};
use crate::formats::palette;
use crate::numbers::case::CaseReport;
use crate::numbers::comparison::{Comparison, Verdict};
use crate::numbers::estimate::{Estimate, Figure};
use crate::numbers::grouped::distinct;
use crate::sentences::report::Report;

/// All of it.
#[derive(Serialize)]
pub(super) struct Data<'r> {
    runs: Vec<Run<'r>>,
    /// Suite and section of each number.
    sections: Vec<(&'r str, &'r str)>,
    /// What cases name by a number, since many have the same.
    words: Vec<&'r str>,
    cases: Vec<Case<'r>>,
    charts: Vec<Drawn<'r>>,
    comparisons: Vec<Compared>,
    /// Of heat maps, from the least to the most; on a light screen, and on a dark one.
    heat: Vec<[String; 2]>,
}

#[derive(Serialize)]
struct Run<'r> {
    name: &'r str,
    targets: Vec<Target<'r>>,
}

#[derive(Serialize)]
struct Target<'r> {
    name: &'r str,
    filesystem: &'r str,
    /// The command that measures a case again, without the case.
    command: String,
}

#[derive(Serialize)]
struct Case<'r> {
    run: usize,
    target: usize,
    section: usize,
    case: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'r str>,
    method: usize,
    prepare: usize,
    outcome: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<Figures>,
    /// A column for each figure, of the good samples.
    samples: BTreeMap<&'static str, Vec<Short>>,
}

/// Median, ends of its interval, least, most.
type Spread = [Short; 5];

#[derive(Serialize)]
struct Figures {
    throughput: Spread,
    elapsed: Spread,
    /// Medians of prepare, open, write, sync, close, in nanoseconds.
    phases: [Short; 5],
    user: Short,
    system: Short,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<Spread>,
    /// 50 %, 90 %, 99 %, 99.9 %, the longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<[Short; 5]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<Short>,
    confidence: Short,
    samples: usize,
    disturbed: usize,
    only_disturbed: bool,
    outliers: usize,
    cut: usize,
}

#[derive(Serialize)]
struct Drawn<'r> {
    section: usize,
    of: Question,
    kind: Kind,
    x: XAxis<'r>,
    y: &'r YAxis,
    series: Vec<Series<'r>>,
}

#[derive(Serialize)]
struct XAxis<'r> {
    label: &'r str,
    scale: XScale,
    ticks: Vec<(Short, &'r str)>,
}

#[derive(Serialize)]
struct Series<'r> {
    name: &'r str,
    /// On a light screen, and on a dark one.
    colours: [String; 2],
    points: Vec<Point>,
}

/// Place, row, and the figure if there is one: median, ends of the interval.
#[derive(Serialize)]
#[serde(untagged)]
enum Point {
    None(Short, usize),
    Figure(Short, usize, Short, Short, Short),
}

#[derive(Serialize)]
struct Compared {
    a: usize,
    b: usize,
    cases: Vec<ComparedCase>,
}

#[derive(Serialize)]
struct ComparedCase {
    /// The case among A's, and among B's.
    rows: [usize; 2],
    bytes_per_s: [Short; 2],
    counts: [usize; 2],
    ratio: [Short; 3],
    verdict: Verdict,
}

impl<'r> Data<'r> {
    /// `names` are those of the runs; `comparisons` are of the first with each other, by its number.
    pub(super) fn of(
        reports: &'r [Report],
        names: &'r [String],
        charts: &'r [NamedChart],
        comparisons: &[(usize, &Comparison)],
    ) -> Self {
        let mut words = Words::default();
        let sections = sections(reports);
        let numbers: HashMap<(&str, &str), usize> =
            sections.iter().enumerate().map(|(index, &section)| (section, index)).collect();
        let mut cases = Vec::new();
        for (run, report) in reports.iter().enumerate() {
            let targets: HashMap<&str, usize> =
                report.run.targets.iter().enumerate().map(|(index, it)| (it.name.as_str(), index)).collect();
            for case in &report.cases {
                // Whoever reads a run, from a database or an export, refuses one of which this is not so.
                let target = targets[case.record.target.as_str()];
                let section = numbers[&section_of(case)];
                cases.push(case_data(case, run, target, section, &mut words));
            }
        }
        let charts = charts.iter().map(|named| drawn(named, &numbers)).collect();
        let rows = Rows::of(reports);
        let comparisons = comparisons.iter().map(|(b, it)| compared(*b, it, &rows)).collect();
        let runs = reports.iter().zip(names).map(|(report, name)| run_data(&report.run, name)).collect();
        let heat = palette::heat().into_iter().map(|colour| [colour.light, colour.dark]).collect();
        Self { runs, sections, words: words.all, cases, charts, comparisons, heat }
    }
}

/// The sections of all runs, in order.
pub(super) fn sections(reports: &[Report]) -> Vec<(&str, &str)> {
    let cases = reports.iter().flat_map(|report| &report.cases);
    distinct(cases.map(section_of), |section| *section)
}

pub(super) fn section_of(case: &CaseReport) -> (&str, &str) {
    case.record.origin.table()
}

/// Texts by number.
#[derive(Default)]
struct Words<'r> {
    all: Vec<&'r str>,
    numbers: HashMap<&'r str, usize>,
}

impl<'r> Words<'r> {
    fn number(&mut self, word: &'r str) -> usize {
        *self.numbers.entry(word).or_insert_with(|| {
            self.all.push(word);
            self.all.len() - 1
        })
    }
}

fn run_data<'r>(run: &'r RunRecord, name: &'r str) -> Run<'r> {
    let target = |target: &'r writebench_model::TargetRecord| Target {
        name: &target.name,
        filesystem: match &target.making {
            Some(making) => &making.kind,
            None => &target.environment.filesystem.kind,
        },
        command: again(run, target),
    };
    Run { name, targets: run.targets.iter().map(target).collect() }
}

fn case_data<'r>(
    case: &'r CaseReport,
    run: usize,
    target: usize,
    section: usize,
    words: &mut Words<'r>,
) -> Case<'r> {
    let record = &case.record;
    Case {
        run,
        target,
        section,
        case: record.case.name(),
        label: record.label.as_deref(),
        method: words.number(record.case.method()),
        prepare: words.number(record.case.known().map_or("", |case| case.axes().prepare.name())),
        outcome: words.number(case.outcome_name()),
        reason: case.reason.as_deref(),
        figures: case.estimate.as_ref().map(|estimate| figures(record, estimate)),
        samples: samples(&record.samples),
    }
}

fn figures(record: &CaseRecord, estimate: &Estimate) -> Figures {
    // Elsewhere chunks are no records.
    let has_records = record.contract.durable_every_bytes.is_some();
    let phases = &estimate.phases_ns;
    Figures {
        throughput: spread(&estimate.throughput_bytes_per_s),
        elapsed: spread(&estimate.total_ns),
        phases: [phases.prepare, phases.open, phases.write, phases.sync, phases.close].map(short),
        user: short(estimate.user_cpu_ns),
        system: short(estimate.system_cpu_ns),
        records: estimate.records_per_s.as_ref().filter(|_| has_records).map(spread),
        latency: estimate.latency_ns.map(|it| [it.p50, it.p90, it.p99, it.p99_9, it.max].map(short)),
        share: estimate.limit.map(|it| Short(it.share)),
        confidence: Short(estimate.confidence),
        samples: estimate.samples,
        disturbed: estimate.disturbed,
        only_disturbed: estimate.only_disturbed,
        outliers: estimate.outliers,
        cut: estimate.cut,
    }
}

fn spread(figure: &Figure) -> Spread {
    [figure.median, figure.low, figure.high, figure.min, figure.max].map(Short)
}

/// Columns that are nothing but zeros are left out.
fn samples(samples: &[Sample]) -> BTreeMap<&'static str, Vec<Short>> {
    type Column = (&'static str, fn(&Sample) -> u64);
    const COLUMNS: [Column; 9] = [
        ("round", |it| u64::from(it.round)),
        ("prepare", |it| it.phases_ns.prepare),
        ("open", |it| it.phases_ns.open),
        ("write", |it| it.phases_ns.write),
        ("sync", |it| it.phases_ns.sync),
        ("close", |it| it.phases_ns.close),
        ("user", |it| it.user_cpu_ns),
        ("system", |it| it.system_cpu_ns),
        ("disturbed", |it| u64::from(it.disturbed.is_some())),
    ];
    let good: Vec<&Sample> = samples.iter().filter(|sample| sample.outcome.is_ok()).collect();
    let column = |&(name, value): &Column| {
        let values: Vec<Short> = good.iter().map(|sample| short(value(sample))).collect();
        // The first tells how many there are.
        (name == "round" || values.iter().any(|value| value.0 != 0.0)).then_some((name, values))
    };
    COLUMNS.iter().filter_map(column).collect()
}

fn drawn<'r>(named: &'r NamedChart, numbers: &HashMap<(&str, &str), usize>) -> Drawn<'r> {
    let chart = &named.chart;
    let colours = palette::colours(chart);
    let series = chart.series.iter().zip(colours).map(|(series, colour)| Series {
        name: &series.name,
        colours: [colour.light, colour.dark],
        points: series.points.iter().map(|it| point(chart.x.scale, it)).collect(),
    });
    let ticks = chart.x.ticks.iter().map(|tick| (place(chart.x.scale, tick.at), tick.text.as_str()));
    Drawn {
        section: numbers[&(named.suite.as_str(), named.section.as_str())],
        of: named.of,
        kind: chart.kind,
        x: XAxis { label: &chart.x.label, scale: chart.x.scale, ticks: ticks.collect() },
        y: &chart.y,
        series: series.collect(),
    }
}

fn point(scale: XScale, point: &crate::charts::Point) -> Point {
    let x = place(scale, point.x);
    match point.figure {
        Some(it) => Point::Figure(x, point.row, Short(it.median), Short(it.low), Short(it.high)),
        None => Point::None(x, point.row),
    }
}

/// Percentiles are as far apart as their nines, which would be lost to rounding.
fn place(scale: XScale, at: f64) -> Short {
    match scale {
        XScale::Percentile => Short(-(1.0 - at).log10()),
        _ => Short(at),
    }
}

/// Where the cases of each run are among all rows.
struct Rows<'r>(Vec<HashMap<(&'r str, &'r str), usize>>);

impl<'r> Rows<'r> {
    fn of(reports: &'r [Report]) -> Self {
        let mut next = 0;
        let mut rows = Vec::new();
        for report in reports {
            let mut of_run = HashMap::new();
            for case in &report.cases {
                let record = &case.record;
                // The same case may stand in several tables.
                of_run.entry((record.case.name(), record.target.as_str())).or_insert(next);
                of_run.entry((record.case.name(), "")).or_insert(next);
                next += 1;
            }
            rows.push(of_run);
        }
        Self(rows)
    }
}

fn compared(b: usize, comparison: &Comparison, rows: &Rows<'_>) -> Compared {
    let case = |it: &crate::numbers::comparison::ComparedCase| {
        let key = (it.case.case.as_str(), it.case.target.as_deref().unwrap_or_default());
        let ratio = &it.speed_ratio;
        // A comparison is of cases that both runs have.
        ComparedCase {
            rows: [rows.0[0][&key], rows.0[b][&key]],
            bytes_per_s: [it.a_bytes_per_s, it.b_bytes_per_s].map(Short),
            counts: [it.a_count, it.b_count],
            ratio: [ratio.estimate, ratio.low, ratio.high].map(Short),
            verdict: it.verdict,
        }
    };
    Compared { a: 0, b, cases: comparison.cases.iter().map(case).collect() }
}

fn short(value: u64) -> Short {
    Short(as_f64(value))
}
