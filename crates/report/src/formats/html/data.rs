//! Data for the page's scripts, as short as possible.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};
use writebench_model::{
    Axis, Bytes, CaseRecord, RunRecord, Sample, Settings, TargetRecord, Workload,
};
use writebench_stats::as_f64;

use super::command::{again, of_program};
use super::short::Short;
use crate::charts::{NamedChart, Point, Scale, Unit};
use crate::formats::palette;
use crate::numbers::{
    CaseReport, CompareError, ComparedCase, Comparison, Estimate, Figure, LatencyEstimate, PHASES,
    distinct, grouped, is_baseline,
};
use crate::sentences::Report;
use crate::sentences::finding;
use crate::sentences::metric::{ELAPSED, FILES, Metric, THROUGHPUT};
use crate::sentences::or_nothing;

#[derive(Serialize)]
pub(super) struct Data<'r> {
    runs: Vec<Value>,
    sections: Vec<(&'r str, &'r str)>,
    goals: Vec<Value>,
    cases: Vec<Case>,
    charts: Vec<Value>,
    /// The first run with each other run, or None if they are not comparable.
    comparisons: Vec<Option<Value>>,
    /// The scale of candidates outside the final.
    overview: Value,
    /// The colour of each series on light and on dark screens.
    colours: Vec<[&'static str; 2]>,
}

#[derive(Serialize)]
struct Case {
    #[serde(flatten)]
    facts: Value,
    /// Columns of numbers: of a hundred thousand samples, a [`Value`] takes nine times the memory.
    samples: BTreeMap<&'static str, Vec<Short>>,
}

struct Goal<'r> {
    text: String,
    workload: &'r Workload,
    /// The quantity of a search that minimizes a time. Others have rates.
    minimized: Option<&'static Metric>,
    figures: Vec<&'r Figure>,
}

impl Goal<'_> {
    /// How much of a value is 1 on the axis, and the axis' unit. Gigabytes per second have none.
    fn unit(&self) -> Option<(f64, &'static str)> {
        match self.minimized {
            // The heading says of which time.
            Some(metric) => Some((metric.text.unit(), ELAPSED.unit)),
            None => own_unit(self.workload),
        }
    }
}

/// A value outside the final, and how much of it is 1 on the axis of its goal.
type Other<'r> = (f64, &'r Figure);

/// `names` are the runs'. `comparisons` are of the first run with each other.
pub(super) fn data<'r>(
    reports: &'r [Report],
    names: &[String],
    charts: &[NamedChart],
    comparisons: &[Result<Comparison, CompareError>],
) -> Data<'r> {
    let mut goals: Vec<Goal<'_>> = Vec::new();
    let sections = sections(reports);
    let numbers: HashMap<(&str, &str), usize> = sections.iter().copied().zip(0..).collect();
    let (mut cases, mut of_others) = (Vec::new(), Vec::new());
    for (run, report) in reports.iter().enumerate() {
        let others = others(report);
        let targets = report.run.targets.iter().map(|target| target.name.as_str());
        let targets: HashMap<&str, usize> = targets.zip(0..).collect();
        for (number, case) in report.cases.iter().enumerate() {
            // The reader of runs ensures this.
            let target = targets[case.record.target.as_str()];
            let section = numbers[&case.record.origin.table()];
            // Throughput is meaningless without written bytes.
            let is_ranked = case.is_ranked() && case.record.workload.content.has_own_bytes();
            let is_other = is_ranked && others.contains(&number);
            let has_goal = is_ranked && report.is_drawn(case);
            let goal = has_goal.then(|| goal_number(&mut goals, case, &report.run.targets, target));
            let figure = drawn_figure(case);
            match goal {
                Some(goal) => goals[goal].figures.extend(figure),
                None => {
                    let per = minimized(case).map_or_else(
                        || rate_bytes(&case.record.workload),
                        |metric| metric.text.unit(),
                    );
                    of_others.extend(figure.filter(|_| is_other).map(|figure| (per, figure)));
                }
            }
            let facts = facts(
                (case, &report.run.settings),
                [run, target, section],
                goal,
                is_other,
                report.is_recommended(case),
            );
            cases.push(Case {
                facts,
                samples: samples(case),
            });
        }
    }
    let rows = rows(reports);
    let is_only = goals.len() == 1;
    let others = comparisons.iter().zip(1..);
    Data {
        runs: reports
            .iter()
            .zip(names)
            .map(|(report, name)| run_data(&report.run, name))
            .collect(),
        overview: overview(&goals, &of_others),
        goals: goals
            .iter()
            .map(|goal| goal_data(goal, if is_only { &of_others } else { &[] }))
            .collect(),
        cases,
        charts: charts.iter().map(|named| drawn(named, &numbers)).collect(),
        comparisons: others
            .map(|(of_b, b)| Some(compared(b, of_b.as_ref().ok()?, &rows)))
            .collect(),
        colours: palette::OF_SERIES
            .map(|colour| [colour.light, colour.dark])
            .to_vec(),
        sections,
    }
}

fn goal_number<'r>(
    goals: &mut Vec<Goal<'r>>,
    case: &'r CaseReport,
    targets: &[TargetRecord],
    target: usize,
) -> usize {
    let workload = &case.record.workload;
    let minimized = minimized(case);
    goals
        .iter()
        .position(|goal| goal.workload == workload && goal.minimized == minimized)
        .unwrap_or_else(|| {
            let goal = finding::goal(workload, Some(&targets[target]), finding::promised(targets));
            let less = minimized.map_or(String::new(), |metric| {
                format!(", {}, less is better", metric.unit)
            });
            let text = format!("{goal}, {}{less}", Bytes(workload.bytes).in_words());
            goals.push(Goal {
                text,
                workload,
                minimized,
                figures: Vec::new(),
            });
            goals.len() - 1
        })
}

/// The quantity of a search that minimizes a time.
fn minimized(case: &CaseReport) -> Option<&'static Metric> {
    let metric = Metric::for_case(&case.record, case.estimate.as_ref()?);
    (!metric.is_rate() && !metric.is_elapsed()).then_some(metric)
}

/// The values that the chart of all cases draws.
fn drawn_figure(case: &CaseReport) -> Option<&Figure> {
    let estimate = case.estimate.as_ref()?;
    match minimized(case) {
        Some(metric) => (metric.figure)(estimate),
        None => Some(&estimate.throughput_bytes_per_s),
    }
}

/// Candidates outside the final, each where it was measured last.
fn others(report: &Report) -> HashSet<usize> {
    let candidates = report
        .cases
        .iter()
        .enumerate()
        .filter(|(_, case)| case.record.origin.is_search());
    let key = |CaseReport { record, .. }: &CaseReport| {
        (
            record.target.clone(),
            record.case.name_without(&[Axis::Size]),
        )
    };
    let by_way = grouped(candidates, |(_, case)| key(case)).into_iter();
    let others = by_way.filter(|(_, cases)| !cases.iter().any(|(_, case)| report.is_drawn(case)));
    let stage =
        |(_, case): &(usize, &CaseReport)| (!case.is_screening(), case.record.workload.bytes);
    others
        .filter_map(|(_, cases)| Some(cases.into_iter().max_by_key(stage)?.0))
        .collect()
}

/// The scale of candidates outside the final: that of their goal.
fn overview(goals: &[Goal<'_>], others: &[Other<'_>]) -> Value {
    match goals {
        [goal] => goal_scale(goal, others),
        _ => {
            let figures = others.iter().map(|(_, figure)| ends(figure, 1.0));
            scale_data(&bars(figures), 1.0, None)
        }
    }
}

/// Each goal has its own scale, because goals have different units, and rates of different guarantees are not compared.
fn goal_scale(goal: &Goal<'_>, others: &[Other<'_>]) -> Value {
    let (per, unit) = goal.unit().unzip();
    let per = per.unwrap_or(1.0);
    let of_goal = goal.figures.iter().map(|figure| ends(figure, per));
    let of_others = others.iter().map(|(per, figure)| ends(figure, *per));
    scale_data(&bars(of_goal.chain(of_others)), per, unit)
}

/// Bytes per second at the end, and the ticks in gigabytes, records or files per second.
fn scale_data(scale: &Scale, per: f64, unit: Option<&str>) -> Value {
    let in_unit = if unit.is_some() { 1.0 } else { 1e9 };
    let tick = |(part, _)| (Short(part * 100.0), Short(part * scale.top() / in_unit));
    let ticks: Vec<_> = scale.ticks().into_iter().map(tick).collect();
    known(json!({ "end": Short(scale.top() * per), "ticks": ticks, "unit": unit }))
}

/// A value and its interval's end, in units of so many bytes.
fn ends(figure: &Figure, per: f64) -> (f64, f64) {
    (figure.value / per, figure.ends().1 / per)
}

fn bars(ends: impl Iterator<Item = (f64, f64)>) -> Scale {
    let (bars, ends): (Vec<f64>, Vec<f64>) = ends.unzip();
    Scale::for_bars(Unit::BytesPerSecond, &bars, ends)
}

/// `others` are of the only goal.
fn goal_data(goal: &Goal<'_>, others: &[Other<'_>]) -> Value {
    let mut data = goal_scale(goal, others);
    data["text"] = json!(goal.text);
    if let Some((per, _)) = goal.unit() {
        data["per"] = json!(per);
    }
    if goal.minimized.is_some() {
        data["less"] = json!(true);
    }
    data
}

/// The bytes of a record or file, or 1.
fn rate_bytes(workload: &Workload) -> f64 {
    own_unit(workload).map_or(1.0, |(per, _)| per)
}

/// The bytes of a record or file, and the unit of their rate.
fn own_unit(workload: &Workload) -> Option<(f64, &'static str)> {
    let file = workload
        .file_size
        .map(|_| as_f64(workload.bytes) / f64::from(workload.files.max(1)));
    let record = workload
        .durable_every_bytes
        .and(workload.record_bytes())
        .map(|bytes| (as_f64(bytes), Metric::of_records(workload).unit));
    file.map(|file| (file, FILES.unit)).or(record)
}

pub(super) fn sections(reports: &[Report]) -> Vec<(&str, &str)> {
    let cases = reports.iter().flat_map(|report| &report.cases);
    distinct(cases.map(|case| case.record.origin.table()), |section| {
        *section
    })
}

fn run_data(run: &RunRecord, name: &str) -> Value {
    let target = |target: &TargetRecord| {
        let mounted = &target.environment.filesystem.kind;
        json!({
            "name": target.name,
            "filesystem": target.made_filesystem.as_ref().map_or(mounted, |making| &making.kind),
            // Without the case.
            "command": again(run, target),
        })
    };
    json!({ "name": name, "targets": run.targets.iter().map(target).collect::<Vec<_>>() })
}

/// `place`: run, target and section. Candidates outside the final have no goal.
fn facts(
    (case, settings): (&CaseReport, &Settings),
    [run, target, section]: [usize; 3],
    goal: Option<usize>,
    is_other: bool,
    is_recommended: bool,
) -> Value {
    let record = &case.record;
    known(json!({
        "run": run,
        "options": of_program(record, settings),
        "target": target,
        "section": section,
        "goal": goal,
        "other": Some(true).filter(|_| is_other),
        // Of a record or file: candidates may have other sizes than the goal.
        "per": Some(rate_bytes(&record.workload)).filter(|&per| is_other && per > 1.0),
        "way": goal.map(|_| finding::words(record)),
        // Instead of the throughput, in the chart of all cases.
        "bar": minimized(case).and(drawn_figure(case)).filter(|_| goal.is_some() || is_other).map(spread),
        "shown": goal.and(case.estimate.as_ref()).map(|estimate| shown(record, estimate)),
        "plain": Some(true).filter(|_| goal.is_some() && is_baseline(case)),
        "recommended": Some(true).filter(|_| goal.is_some() && is_recommended),
        "case": record.case.name(),
        "label": record.label,
        "method": record.case.method(),
        "prepare": record.case.known().map_or("", |case| case.choices().prepare.name()),
        "outcome": case.outcome_name(),
        "reason": case.reason,
        "figures": case.estimate.as_ref().map(|estimate| figures(record, estimate)),
    }))
}

/// Value and interval as in the tables of a terminal: one rounding for both.
fn shown(record: &CaseRecord, estimate: &Estimate) -> [String; 2] {
    let metric = Metric::for_case(record, estimate);
    let metric = match own_unit(&record.workload) {
        _ if !metric.is_rate() && !metric.is_elapsed() => metric,
        Some((_, unit)) if unit == FILES.unit => &FILES,
        Some(_) => Metric::of_records(&record.workload),
        None => &THROUGHPUT,
    };
    let value = or_nothing((metric.figure)(estimate), |figure| {
        metric.text.text(figure.value)
    });
    let interval = if estimate.samples == 1 {
        "one sample".to_owned()
    } else {
        metric.interval(estimate)
    };
    [value, interval]
}

fn figures(record: &CaseRecord, estimate: &Estimate) -> Value {
    // Otherwise chunks are not records.
    let has_records = record.workload.durable_every_bytes.is_some();
    known(json!({
        "throughput": spread(&estimate.throughput_bytes_per_s),
        "elapsed": Short(estimate.total_ns.value),
        // Medians, in nanoseconds.
        "phases": PHASES.map(|(_, ns)| short(ns(&estimate.phases_ns))),
        "user": Short(estimate.user_cpu_ns.value),
        "system": Short(estimate.system_cpu_ns.value),
        "records": estimate.records_per_s.as_ref().filter(|_| has_records).map(|per_s| Short(per_s.value)),
        "files": estimate.files_per_s.as_ref().map(|per_s| Short(per_s.value)),
        "latency": estimate.latency.as_ref().map(latency),
        "share": estimate.limit.map(|limit| Short(limit.share)),
        "confidence": Short(estimate.confidence),
        "samples": estimate.samples,
        "disturbed": some(estimate.disturbed_samples),
        "all_disturbed": Some(true).filter(|_| estimate.all_disturbed),
        "outliers": some(estimate.outliers),
        "cut": some(estimate.truncated_samples),
    }))
}

/// Percentiles of too few values are null. The last is the longest.
fn latency(latency: &LatencyEstimate) -> Vec<Option<Short>> {
    let percentiles = latency.percentiles().into_iter().map(|(_, ns)| ns);
    percentiles
        .chain([Some(latency.max_ns)])
        .map(|ns| ns.map(short))
        .collect()
}

/// Removes null fields.
fn known(mut object: Value) -> Value {
    object
        .as_object_mut()
        .into_iter()
        .for_each(|fields| fields.retain(|_, value| !value.is_null()));
    object
}

/// The count, or None for 0, which the data leaves out.
fn some<N: Default + PartialEq>(count: N) -> Option<N> {
    Some(count).filter(|count| *count != N::default())
}

/// Median, ends of the interval or range, minimum, maximum.
fn spread(figure: &Figure) -> [Short; 5] {
    let (low, high) = figure.ends();
    [figure.value, low, high, figure.min, figure.max].map(Short)
}

/// Columns of the good samples, except those of zeros. `round` always remains, because it counts the samples.
fn samples(case: &CaseReport) -> BTreeMap<&'static str, Vec<Short>> {
    let column = |value: &dyn Fn(&Sample) -> u64| {
        case.good_samples()
            .map(|sample| short(value(sample)))
            .collect()
    };
    let disturbed = column(&|sample| u64::from(sample.disturbed.is_some()));
    let mut columns: BTreeMap<&str, Vec<Short>> = PHASES
        .into_iter()
        .map(|(name, ns)| (name, column(&|sample| ns(&sample.phases_ns))))
        .chain([("disturbed", disturbed)])
        .collect();
    columns.retain(|_, values| values.iter().any(|value| value.0 != 0.0));
    columns.insert("round", column(&|sample| u64::from(sample.round)));
    columns
}

fn drawn(named: &NamedChart, numbers: &HashMap<(&str, &str), usize>) -> Value {
    let chart = &named.chart;
    let series = chart.series.iter().map(|series| {
        let points: Vec<Vec<Value>> = series.points.iter().map(point).collect();
        json!({ "name": series.name, "points": points })
    });
    let ticks = chart
        .x
        .ticks
        .iter()
        .map(|tick| (Short(tick.at), tick.text.as_str()));
    json!({
        "section": numbers[&(named.suite.as_str(), named.section.as_str())],
        "of": named.family,
        "kind": chart.kind,
        "x": { "label": chart.x.label, "scale": chart.x.scale, "ticks": ticks.collect::<Vec<_>>() },
        "y": chart.y,
        "series": series.collect::<Vec<_>>(),
    })
}

/// Place, row, median, ends of the interval, and its words if the unit has no prefixes. Without a value only the first
/// two.
fn point(point: &Point) -> Vec<Value> {
    let figure = point
        .figure
        .into_iter()
        .flat_map(|figure| [figure.value, figure.low, figure.high]);
    let place = [json!(Short(point.x)), json!(point.row)];
    place
        .into_iter()
        .chain(figure.map(|value| json!(Short(value))))
        .chain(point.words.iter().map(|words| json!(words)))
        .collect()
}

/// The row of a case by run, case and target, and by run and case with an empty target.
type Rows<'r> = HashMap<(usize, &'r str, &'r str), usize>;

fn rows(reports: &[Report]) -> Rows<'_> {
    let cases = reports
        .iter()
        .zip(0..)
        .flat_map(|(report, run)| report.cases.iter().map(move |case| (run, case)));
    let mut rows = HashMap::new();
    for (row, (run, CaseReport { record, .. })) in cases.enumerate() {
        for target in [record.target.as_str(), ""] {
            // A case may be in several tables.
            rows.entry((run, record.case.name(), target)).or_insert(row);
        }
    }
    rows
}

fn compared(of_b: usize, comparison: &Comparison, rows: &Rows<'_>) -> Value {
    let case = |sample: &ComparedCase| {
        let target = sample.case.target.as_deref().unwrap_or_default();
        let row = |run: usize| rows[&(run, sample.case.case.as_str(), target)];
        json!({
            // Rows of A and B.
            "rows": [row(0), row(of_b)],
            "bytes_per_s": [Short(sample.a_bytes_per_s), Short(sample.b_bytes_per_s)],
            // Two single runs prove no difference: no interval and no verdict.
            "ratio": Short(sample.speed_ratio.estimate),
        })
    };
    json!({ "a": 0, "b": of_b, "cases": comparison.cases.iter().map(case).collect::<Vec<_>>() })
}

fn short(value: u64) -> Short {
    Short(as_f64(value))
}
