use std::collections::HashMap;

use writebench_model::{Bytes, CaseOrigin, RunRecord, RunStatus};
use writebench_snippets::Language;

use super::data::sections;
use super::highlight::highlighted;
use super::pictures::{Figure, NumberedChart, Scales};
use crate::charts::NamedChart;
use crate::charts::goals::GoalsChart;
use crate::formats::svg::{self, Picture};
use crate::numbers::{distinct, grouped};
use crate::sentences::answer::WorkloadAnswer;
use crate::sentences::finding;
use crate::sentences::{Report, codes, counted};
use crate::tables::sections::{Rows, section_notes};

pub(super) struct Run<'r> {
    pub name: &'r str,
    pub report: &'r Report,
    /// Findings outside the folded part.
    pub at_once: usize,
    pub code: Option<Code>,
    /// Obstacles to answers, and limits of the values.
    pub warnings: Vec<&'r str>,
    /// Sentences about each goal.
    pub words: Vec<GoalWords>,
    /// Sentences about the whole run.
    pub notes: Vec<String>,
}

/// A goal, and sentences about its answer.
pub(super) struct GoalWords {
    pub goal: String,
    pub sentences: Vec<String>,
}

/// The chart of all answers.
pub(super) struct Goals {
    pub title: String,
    pub subtitle: String,
    pub picture: Picture,
}

/// A case, and its code in each language.
type Code = (String, Vec<(&'static str, String)>);

pub(super) struct Suite<'r> {
    pub number: usize,
    pub title: String,
    pub summary: String,
    /// All sections, or for a search only those with charts.
    pub sections: Vec<Section<'r>>,
    /// Notes on the candidates of a search, which share a table.
    pub candidates: Option<Vec<String>>,
}

pub(super) struct Section<'r> {
    pub number: usize,
    pub title: &'r str,
    /// Charts of several runs are side by side.
    pub main: Vec<Vec<Figure<'r>>>,
    /// Folded.
    pub more: Vec<Figure<'r>>,
    pub notes: Vec<String>,
}

type NumberedSection<'r> = (usize, (&'r str, &'r str));

/// `12 cases, 72 samples, 2026-11-21T10:00:00Z`.
pub(super) fn extent(reports: &[Report]) -> String {
    let cases = || reports.iter().flat_map(|report| &report.cases);
    let samples = cases().map(|case| case.record.samples.len()).sum();
    let counts = format!(
        "{}, {}",
        counted(cases().count(), "case"),
        counted(samples, "sample")
    );
    match reports {
        [one] => format!("{counts}, {}", one.run.started.replace('-', "\u{2011}")),
        several => format!("{} runs, {counts}", several.len()),
    }
}

/// Numbers keep their units in a narrow window, and names of cases break after commas.
pub(super) fn prose(sentence: &str) -> String {
    let Ok(html) = askama::filters::escape(sentence, askama::filters::Html);
    let html = html
        .to_string()
        .replace(" – ", "\u{a0}–\u{2060}\u{a0}")
        .replace(',', ",<wbr>")
        .replace("<wbr> ", " ");
    html.replace(" %", "\u{a0}%").replace(" GB/s", "\u{a0}GB/s")
}

pub(super) fn title(reports: &[Report], names: &[String]) -> String {
    let [one] = reports else {
        return names.join(" and ");
    };
    let targets: Vec<&str> = one
        .run
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    let on = targets.join(", ");
    match question(one) {
        Some(question) => format!("{question} on {on}, {}", names[0]),
        None => format!("{} on {on}", names[0]),
    }
}

/// The only goal of a search: `durable-files: 20000 durable new files of 1 KiB to 64 KiB, disk`.
fn question(report: &Report) -> Option<String> {
    if !report.is_search() {
        return None;
    }
    let cases = || report.cases.iter().map(|case| &case.record);
    // Candidates may do more than the goal.
    let asked = cases()
        .find(|case| case.origin.is_baseline())
        .or_else(|| cases().next())?;
    let targets = &report.run.targets;
    let goal = finding::goal(&asked.workload, targets.first(), finding::promised(targets));
    let name = report
        .run
        .goal_of(asked)
        .map_or(String::new(), |name| format!("{name}: "));
    let size = if asked.workload.files > 1 {
        String::new()
    } else {
        format!(", {}", Bytes(asked.workload.bytes).in_words())
    };
    Some(format!("{name}{goal}{size}"))
}

/// A status that limits what the run says has its reason.
pub(super) fn status(run: &RunRecord) -> String {
    let reason = match run.status {
        RunStatus::Limited => ": --budget or --max-bytes ended it early",
        RunStatus::Interrupted => ": it was cut off",
        RunStatus::Complete | RunStatus::Running | RunStatus::Failed => "",
    };
    format!("{}{reason}", run.status.name())
}

pub(super) fn goals(chart: &GoalsChart) -> Goals {
    Goals {
        title: chart.title.clone(),
        subtitle: chart.subtitle.clone(),
        picture: svg::picture_of_goals(chart),
    }
}

/// More details make a page slow to open.
const MOST_WORDS: usize = 60;

/// Warnings before the fold.
pub(super) const WARNINGS: usize = 3;

/// Answers before the fold, for a chart on the first screen.
const ANSWERS: usize = 4;

pub(super) fn runs<'r>(reports: &'r [Report], names: &'r [String]) -> Vec<Run<'r>> {
    let most = (ANSWERS / reports.len().max(1)).max(1);
    let run = |(report, name): (&'r Report, &'r String)| {
        // Other finalists have no goal, and long names.
        let named = report
            .findings
            .iter()
            .take_while(|finding| !finding.goal.is_empty())
            .count();
        Run {
            name,
            report,
            at_once: most.min(named.max(1)),
            code: code(report),
            warnings: warnings(report),
            words: words(report),
            notes: if report.is_search() {
                Vec::new()
            } else {
                report
                    .requirements
                    .iter()
                    .chain(&report.run_notes)
                    .cloned()
                    .chain(rest(report))
                    .collect()
            },
        }
    };
    reports.iter().zip(names).map(run).collect()
}

/// The reason for a missing answer of a search comes first.
fn warnings(report: &Report) -> Vec<&str> {
    let reason = report.conclusions.iter().take(without_advice(report));
    reason.chain(&report.warnings).map(String::as_str).collect()
}

/// The number of conclusions that say why a search has no answer.
fn without_advice(report: &Report) -> usize {
    usize::from(report.is_search() && report.advice.is_none())
}

fn words(report: &Report) -> Vec<GoalWords> {
    if report.is_search() {
        let sentences = report.conclusions.iter().skip(without_advice(report));
        let words = GoalWords {
            goal: question(report).unwrap_or_default(),
            sentences: sentences.cloned().collect(),
        };
        return Some(words)
            .filter(|words| !words.sentences.is_empty())
            .into_iter()
            .collect();
    }
    let of_answer = |answer: &WorkloadAnswer| {
        let finding = &answer.finding;
        let on = finding
            .target
            .as_ref()
            .map_or(String::new(), |target| format!(" on {target}"));
        GoalWords {
            goal: format!("{}{on}", finding.heading()),
            sentences: [&answer.sentence, &answer.certainty]
                .into_iter()
                .flat_map(|text| one_by_one(text))
                .collect(),
        }
    };
    report
        .answers
        .iter()
        .take(MOST_WORDS)
        .map(of_answer)
        .collect()
}

/// The tables have the numbers of the rest.
fn rest(report: &Report) -> Option<String> {
    let rest = report.answers.len().checked_sub(MOST_WORDS)?;
    let more = counted(rest, "more question");
    (rest > 0).then(|| format!("{more}: the tables have their values."))
}

/// The sentences of a paragraph. A dot in `vs. ` ends none.
fn one_by_one(text: &str) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for part in text.split_inclusive(". ") {
        let begins = part.starts_with(|c: char| c.is_uppercase());
        match sentences.last_mut() {
            Some(last) if !begins => last.push_str(part),
            _ => sentences.push(part.to_owned()),
        }
    }
    let trimmed = sentences.iter().map(|sentence| sentence.trim().to_owned());
    trimmed.filter(|sentence| !sentence.is_empty()).collect()
}

fn code(report: &Report) -> Option<Code> {
    let case = report.advice.as_ref()?.recommended_case(&report.cases)?;
    let highlighted =
        |(language, text): (Language, String)| (language.title(), highlighted(&text, language));
    let (_, codes) = codes(case, report.run.settings.language())?;
    Some((
        case.to_string(),
        codes.into_iter().map(highlighted).collect(),
    ))
}

pub(super) fn suites<'r>(
    reports: &'r [Report],
    names: &'r [String],
    charts: &'r [NamedChart],
) -> Vec<Suite<'r>> {
    let scales = Scales::of(charts);
    let section = |(number, (suite, title)): NumberedSection<'r>| {
        let (main, more) = charts_of((suite, title), reports, charts);
        let main = main.into_iter().map(|beside| scales.beside(beside));
        let more = more.into_iter().map(|chart| scales.alone(chart));
        Section {
            number,
            title,
            main: main.collect(),
            more: more.collect(),
            notes: notes((suite, title), reports, names),
        }
    };
    let suite = |(name, of_suite): (&'r str, Vec<NumberedSection<'r>>)| {
        let (number, is_search) = (of_suite[0].0, name == CaseOrigin::SEARCH);
        let (title, summary) = heading(name, reports);
        let mut sections: Vec<Section<'_>> = of_suite.into_iter().map(section).collect();
        let notes = sections.iter().flat_map(|section| &section.notes);
        let candidates = is_search.then(|| {
            distinct(notes, |note| note.as_str())
                .into_iter()
                .cloned()
                .collect()
        });
        sections
            .retain(|section| !is_search || !section.main.is_empty() || !section.more.is_empty());
        Suite {
            number,
            title,
            summary,
            sections,
            candidates,
        }
    };
    let sections = sections(reports).into_iter().enumerate();
    grouped(sections, |(_, (suite, _))| *suite)
        .into_iter()
        .map(suite)
        .collect()
}

fn heading(suite: &str, reports: &[Report]) -> (String, String) {
    let mut origins = reports
        .iter()
        .flat_map(|report| &report.cases)
        .map(|case| &case.record.origin);
    let (title, summary) = match origins.find(|origin| origin.suite() == suite) {
        Some(origin) if origin.is_search() => {
            ("Search for advice", "The fastest method for a goal")
        }
        Some(origin) if origin.is_of_goal() => ("Goals", "The fastest method for each goal"),
        Some(origin) if *origin == CaseOrigin::named() => ("Named cases", ""),
        _ => match writebench_model::suite_named(suite) {
            Ok(known) => return (known.title.clone(), known.summary.clone()),
            Err(_) => (suite, ""),
        },
    };
    (title.to_owned(), summary.to_owned())
}

fn charts_of<'r>(
    section: (&str, &str),
    reports: &[Report],
    charts: &'r [NamedChart],
) -> (Vec<Vec<NumberedChart<'r>>>, Vec<NumberedChart<'r>>) {
    let is_of_section =
        |(_, named): &NumberedChart<'_>| (named.suite.as_str(), named.section.as_str()) == section;
    let of_section: Vec<NumberedChart<'r>> =
        charts.iter().enumerate().filter(is_of_section).collect();
    let first = of_section.first().map(|(_, named)| named.family);
    let has_main = of_section.iter().any(|(_, named)| named.family.is_main());
    let is_main = |(_, named): &NumberedChart<'_>| {
        if has_main {
            named.family.is_main()
        } else {
            Some(named.family) == first
        }
    };
    let (main, more): (Vec<NumberedChart<'r>>, _) = of_section.into_iter().partition(is_main);
    let mut met: HashMap<_, usize> = HashMap::new();
    let main = main.into_iter().map(|(number, named)| {
        // The subject: question, values, and the workload of the first case.
        let (run, workload) = first_case(named, reports).unzip();
        let subject = (named.family, named.chart.y.label.as_str(), workload);
        // The second chart of a subject is next to the other run's second.
        let turn = met.entry((subject.clone(), run)).or_default();
        *turn += 1;
        ((subject, *turn), (number, named))
    });
    let beside = |(_, charts): (_, Vec<(_, NumberedChart<'r>)>)| {
        charts.into_iter().map(|(_, chart)| chart).collect()
    };
    (
        grouped(main, |(key, _)| key.clone())
            .into_iter()
            .map(beside)
            .collect(),
        more,
    )
}

/// Few charts have several workloads.
fn first_case(named: &NamedChart, reports: &[Report]) -> Option<(usize, String)> {
    let row = named
        .chart
        .points()
        .map(|point| point.row)
        .next()
        .unwrap_or(0);
    let mut cases = reports
        .iter()
        .zip(0..)
        .flat_map(|(report, run)| report.cases.iter().map(move |case| (run, case)));
    cases
        .nth(row)
        .map(|(run, case)| (run, case.record.workload.to_string()))
}

fn notes(section: (&str, &str), reports: &[Report], names: &[String]) -> Vec<String> {
    let of_run = |(report, name): (&Report, &String)| {
        let cases = report
            .sections()
            .find(|cases| cases[0].record.origin.table() == section);
        let notes = cases
            .map_or(Vec::new(), |cases| {
                section_notes(cases, Rows::Compared, &report.run)
            })
            .into_iter();
        let named = |note| {
            if reports.len() > 1 {
                format!("{name}: {note}")
            } else {
                note
            }
        };
        notes.map(named).collect::<Vec<_>>()
    };
    distinct(reports.iter().zip(names).flat_map(of_run), Clone::clone)
}
