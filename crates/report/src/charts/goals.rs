//! One chart of all answers: a part for each goal, and a bar in it for each target. Each part has its own axis, because
//! goals have different units, and rates of different guarantees are not compared.

use writebench_model::{Bytes, Stage, TargetRecord, Workload};

use super::axis;
use super::data::{Chart, ChartKind, Series, Unit, YAxis, YScale};
use super::ranked::bar_of;
use super::sections::{prefixes, target_name};
use crate::numbers::{CaseReport, distinct, grouped, is_baseline};
use crate::sentences::answer::{answers_on_each_target, plain};
use crate::sentences::finding::{self, Finding};
use crate::sentences::metric::Metric;
use crate::sentences::{Report, capitalised, counted};

/// The fewest samples for an interval. With fewer, a value has a range.
const FEWEST: usize = writebench_stats::FEWEST_FOR_INTERVAL as usize;

const LESS_IS_BETTER: &str = " (less is better)";

/// More parts are no overview.
const MOST_GOALS: usize = 12;

pub(crate) struct GoalsChart {
    pub title: String,
    pub subtitle: String,
    /// Charts of bars with the same series: the targets, in the order in which the run names them. A run of one target
    /// has the answer and plain write instead.
    pub goals: Vec<Chart>,
    pub notes: Vec<String>,
}

/// A target of a run, and its name among those of all runs.
type Target<'r> = (&'r Report, &'r TargetRecord, String);

/// An answer on a target.
struct Answered<'r> {
    workload: Workload,
    /// The target's index among the targets of all runs.
    series: usize,
    on: String,
    target: &'r TargetRecord,
    finding: Finding,
    plain: Option<&'r CaseReport>,
}

/// A chart for each question and quantity, or None if no answer has a value.
pub(crate) fn chart(reports: &[Report]) -> Option<GoalsChart> {
    let targets: Vec<Target<'_>> = reports
        .iter()
        .zip(prefixes(reports))
        .flat_map(|(report, prefix)| {
            let targets = report.run.targets.iter();
            targets.map(move |target| {
                let name = format!("{prefix}{}", target_name(report, target));
                (report, target, name)
            })
        })
        .collect();
    let mut answered = Vec::new();
    for report in reports {
        let of_report = (0..)
            .zip(&targets)
            .filter(|(_, (of, ..))| std::ptr::eq(*of, report));
        let of_report: Vec<(usize, &Target<'_>)> = of_report.collect();
        answered.extend(answers_of(report, &of_report));
    }
    let is_alone = targets.len() == 1;
    let series: Vec<String> = if is_alone {
        [answer_word(reports), "plain write"]
            .map(str::to_owned)
            .to_vec()
    } else {
        targets.iter().map(|(.., name)| name.clone()).collect()
    };
    let mut notes = Vec::new();
    let mut goals = Vec::new();
    for (workload, answers) in grouped(answered, |answered| answered.workload.clone()) {
        let promised = finding::promised(answers.iter().map(|answered| answered.target));
        let heading = heading(&workload, &answers, promised);
        let measured = answers
            .iter()
            .filter_map(|answered| Some(answered.finding.measured_figure()?.0));
        let metrics = distinct(measured, |metric| metric.key);
        if metrics.is_empty() {
            notes.extend(why_none(&heading, &answers));
        }
        let rest: Vec<&Answered<'_>> = answers
            .iter()
            .filter(|answered| answered.finding.measured_figure().is_none())
            .collect();
        for metric in metrics {
            let of_metric = |answered: &&Answered<'_>| {
                let measured = answered.finding.measured_figure();
                measured.is_some_and(|(other, _)| other.key == metric.key)
            };
            let answers: Vec<&Answered<'_>> = answers.iter().filter(of_metric).collect();
            let answers = [answers, rest.clone()].concat();
            goals.push(part(&heading, metric, answers, &series, is_alone));
        }
    }
    if goals.len() > MOST_GOALS {
        notes.push(format!(
            "The first {MOST_GOALS} of {}.",
            counted(goals.len(), "question")
        ));
        goals.truncate(MOST_GOALS);
    }
    goals.first()?;
    let all = match goals.len() {
        // Its heading names it.
        1 => String::new(),
        several => {
            let what = if is_of_goals(reports) {
                "goal"
            } else {
                "question"
            };
            format!(" for {}", counted(several, what))
        }
    };
    let on = match targets.as_slice() {
        [(_, target, _)] => target.name.clone(),
        several if several.len() == reports.len() => counted(several.len(), "run"),
        several => counted(several.len(), "target"),
    };
    Some(GoalsChart {
        title: format!("{} method{all}, {on}", capitalised(answer_word(reports))),
        subtitle: subtitle(&goals),
        goals,
        notes,
    })
}

/// A run of suites or cases recommends nothing.
fn answer_word(reports: &[Report]) -> &'static str {
    if is_of_goals(reports) {
        "recommended"
    } else {
        "fastest"
    }
}

fn is_of_goals(reports: &[Report]) -> bool {
    reports
        .iter()
        .all(|report| report.is_search() || report.is_of_goals())
}

/// `targets`: those of the report, with their numbers.
fn answers_of<'r>(report: &'r Report, targets: &[(usize, &Target<'r>)]) -> Vec<Answered<'r>> {
    let answered = |workload: &Workload, finding: Finding| {
        let (series, (_, target, on)) = match &finding.target {
            Some(name) => targets.iter().find(|(_, (_, of, _))| of.name == *name)?,
            None => targets.first()?,
        };
        Some(Answered {
            workload: workload.clone(),
            series: *series,
            on: on.clone(),
            target,
            plain: plain_write(report, target, workload, &finding),
            finding,
        })
    };
    if let Some(advice) = &report.advice {
        let recommended = report.cases.iter().find(|case| {
            case.record.case.name() == advice.recommended
                && case.record.origin.is_stage(Stage::Final)
        });
        let of_search = recommended.and_then(|case| {
            let goal_name = report.run.goal_of(&case.record);
            let finding = Finding {
                goal_name,
                ..Finding::for_case(case, case.estimate.as_ref()?, None)
            };
            answered(&case.record.workload, finding)
        });
        return of_search.into_iter().collect();
    }
    if report.is_search() {
        return Vec::new();
    }
    answers_on_each_target(&report.run, &report.cases)
        .into_iter()
        .filter_map(|answer| answered(&answer.workload, answer.finding))
        .collect()
}

/// Unless it is the answer.
fn plain_write<'r>(
    report: &'r Report,
    target: &TargetRecord,
    workload: &Workload,
    answer: &Finding,
) -> Option<&'r CaseReport> {
    let is_it = |case: &&CaseReport| {
        let record = &case.record;
        is_baseline(case)
            && case.is_ranked()
            && !case.is_screening()
            && record.target == target.name
            // Candidates of a search may do more than its goal.
            && (record.workload == *workload || report.is_search())
    };
    let plain = report.cases.iter().find(is_it)?;
    (answer.case.as_deref() != Some(plain.record.case.name())).then_some(plain)
}

/// `stream: new file, page cache, 64 MiB`.
fn heading(workload: &Workload, answers: &[Answered<'_>], promised: &str) -> String {
    let target = answers.first().map(|answered| answered.target);
    let name = answers
        .iter()
        .find_map(|answered| answered.finding.goal_name)
        .map_or(String::new(), |name| format!("{name}: "));
    let goal = finding::goal(workload, target, promised);
    // A set's goal has the number and the size of its files.
    let size = if workload.files > 1 {
        String::new()
    } else {
        format!(", {}", Bytes(workload.bytes).in_words())
    };
    format!("{name}{goal}{size}")
}

/// A goal without any value has no part.
fn why_none(heading: &str, answers: &[Answered<'_>]) -> Vec<String> {
    let several = answers.len() > 1;
    let why = |answered: &Answered<'_>| {
        let on = if several {
            format!(" on {}", answered.on)
        } else {
            String::new()
        };
        format!("{heading}{on}: {}.", answered.finding.description)
    };
    answers.iter().map(why).collect()
}

/// A bar, before it has its place.
struct Bar {
    series: usize,
    name: String,
    finding: Finding,
    plain: Option<f64>,
}

impl Bar {
    fn value(&self) -> Option<f64> {
        Some(self.finding.measured_figure()?.1.value)
    }
}

fn part(
    heading: &str,
    metric: &'static Metric,
    answers: Vec<&Answered<'_>>,
    series: &[String],
    is_alone: bool,
) -> Chart {
    let bars = answers.into_iter().flat_map(|answered| {
        if is_alone {
            beside_plain(answered, &series[0])
        } else {
            vec![with_plain(answered, metric)]
        }
    });
    let mut bars: Vec<Bar> = bars.collect();
    bars.sort_by(|a, b| match (a.value(), b.value()) {
        (Some(a), Some(b)) => metric.better_first(a, b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let points = |number: usize| {
        let of_series = (0u32..)
            .zip(&bars)
            .filter(move |(_, bar)| bar.series == number);
        of_series.map(|(at, bar)| bar_of(at.into(), &bar.finding, 0, bar.plain))
    };
    let series = series.iter().enumerate().map(|(number, name)| Series {
        name: name.clone(),
        points: points(number).collect(),
    });
    let better = if metric.is_rate() { "" } else { LESS_IS_BETTER };
    Chart {
        title: format!("{heading}{better}"),
        subtitle: String::new(),
        kind: ChartKind::Bars,
        x: axis::categories("target", bars.iter().map(|bar| bar.name.clone())),
        y: YAxis {
            label: metric.unit.to_owned(),
            unit: Unit::Number,
            scale: YScale::Linear,
        },
        series: series.collect(),
        notes: Vec::new(),
    }
}

fn beside_plain(answered: &Answered<'_>, word: &str) -> Vec<Bar> {
    let finding = &answered.finding;
    let answer = Bar {
        series: 0,
        name: format!("{word}: {}", finding.description),
        finding: finding.clone(),
        plain: None,
    };
    let of_plain = answered.plain.and_then(|case| {
        let finding = Finding::for_case(case, case.estimate.as_ref()?, None);
        Some(Bar {
            series: 1,
            name: format!("{}: {}", plain(case), finding.description),
            finding,
            plain: None,
        })
    });
    [answer].into_iter().chain(of_plain).collect()
}

fn with_plain(answered: &Answered<'_>, metric: &Metric) -> Bar {
    let plain = answered.plain.and_then(|case| case.estimate.as_ref());
    Bar {
        series: answered.series,
        name: format!("{}: {}", answered.on, answered.finding.description),
        finding: answered.finding.clone(),
        plain: plain.and_then(|estimate| Some((metric.figure)(estimate)?.value)),
    }
}

fn subtitle(goals: &[Chart]) -> String {
    let points = || goals.iter().flat_map(Chart::points);
    let few = if points().any(|point| point.figure.is_some() && point.samples < FEWEST) {
        ", or ranges (…) of fewer than six samples"
    } else {
        ""
    };
    let better = if goals
        .iter()
        .all(|goal| goal.title.ends_with(LESS_IS_BETTER))
    {
        ""
    } else {
        " Longer bars are faster."
    };
    let axes = if goals.len() > 1 {
        " Each goal has its own axis."
    } else {
        ""
    };
    format!("Values with 95% CI (–){few}.{better}{axes}")
}
