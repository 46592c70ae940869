//! The content of the page without its scripts.

use std::collections::HashMap;

use writebench_model::CaseOrigin;

use super::data::{section_of, sections};
use super::highlight::highlighted;
use crate::charts::NamedChart;
use crate::numbers::{CompareError, Comparison, distinct, grouped};
use crate::sentences::{Report, codes, counted, run_lines};
use crate::tables::sections::section_notes;

pub(super) struct PageContent<'r> {
    pub title: String,
    pub runs: Vec<Run<'r>>,
    /// Of the first run with each other run.
    pub comparisons: &'r [Result<Comparison, CompareError>],
    pub suites: Vec<Suite<'r>>,
    pub warnings: usize,
    /// Cases that did not end well.
    pub troubled: usize,
    /// The numbers of cases and samples, and the time.
    pub extent: String,
}

/// The answers of a run, and its environment.
pub(super) struct Run<'r> {
    pub name: &'r str,
    pub report: &'r Report,
    /// How many findings are read at once.
    pub at_once: usize,
    /// The headings of the way and of its comparison.
    pub headings: (&'static str, String),
    /// The recommended case in each language, with its HTML.
    pub code: Option<Code>,
    /// Label and text of each line.
    pub lines: Vec<(&'static str, String)>,
}

/// A case as code.
pub(super) struct Code {
    pub case: String,
    /// The name of each language, and its HTML.
    pub texts: Vec<(&'static str, String)>,
}

pub(super) struct Suite<'r> {
    pub title: String,
    pub summary: String,
    pub sections: Vec<Section<'r>>,
}

pub(super) struct Section<'r> {
    /// The number in the data.
    pub number: usize,
    pub title: &'r str,
    /// The charts that the suite's question needs; those of several runs stand beside each other.
    pub main: Vec<Vec<Chart<'r>>>,
    /// Other charts, folded.
    pub more: Vec<Chart<'r>>,
    pub notes: Vec<String>,
}

pub(super) struct Chart<'r> {
    /// The number in the data.
    pub number: usize,
    pub chart: &'r crate::charts::Chart,
}

/// How many answers of all runs are read at once, so that the chart of all cases is on the first screen, too.
const ANSWERS: usize = 4;

impl<'r> PageContent<'r> {
    pub(super) fn from_reports(
        reports: &'r [Report],
        names: &'r [String],
        charts: &'r [NamedChart],
        comparisons: &'r [Result<Comparison, CompareError>],
    ) -> Self {
        let cases = || reports.iter().flat_map(|report| &report.cases);
        let at_once = (ANSWERS / reports.len().max(1)).max(1);
        Self {
            title: title(reports, names),
            runs: reports.iter().zip(names).map(|(report, name)| run(report, name, at_once)).collect(),
            comparisons,
            suites: suites(reports, names, charts),
            warnings: reports.iter().map(|report| report.warnings.len()).sum(),
            troubled: cases().filter(|case| !case.is_ok()).count(),
            extent: extent(reports),
        }
    }
}

/// `12 cases, 72 samples, 2026-11-21T10:00:00Z`.
fn extent(reports: &[Report]) -> String {
    let cases = || reports.iter().flat_map(|report| &report.cases);
    let samples = cases().map(|case| case.record.samples.len()).sum();
    let counts = format!("{}, {}", counted(cases().count(), "case"), counted(samples, "sample"));
    match reports {
        [one] => format!("{counts}, {}", one.run.started),
        several => format!("{} runs, {counts}", several.len()),
    }
}

/// The title of the browser's tab and of the page.
fn title(reports: &[Report], names: &[String]) -> String {
    match reports {
        [one] => {
            let targets: Vec<&str> = one.run.targets.iter().map(|target| target.name.as_str()).collect();
            format!("{} on {}", names[0], targets.join(", "))
        }
        _ => names.join(" and "),
    }
}

fn run<'r>(report: &'r Report, name: &'r str, at_once: usize) -> Run<'r> {
    // The other ways of a search's final have no goal of their own, and long names.
    let named = report.findings.iter().take_while(|finding| !finding.goal.is_empty()).count();
    let at_once = at_once.min(named.max(1));
    let (headings, lines) = (report.headings(), run_lines(&report.run));
    Run { name, report, at_once, headings, code: code_of(report), lines }
}

fn code_of(report: &Report) -> Option<Code> {
    let case = report.advice.as_ref()?.recommended_case(&report.cases)?;
    let texts = codes(case)
        .into_iter()
        .map(|(language, text)| (language.title(), highlighted(&text, language)))
        .collect();
    Some(Code { case: case.to_string(), texts })
}

fn suites<'r>(reports: &'r [Report], names: &'r [String], charts: &'r [NamedChart]) -> Vec<Suite<'r>> {
    let section = |(number, (suite, title)): (usize, (&'r str, &'r str))| {
        let (main, more) = charts_of((suite, title), reports, charts);
        Section { number, title, main, more, notes: notes((suite, title), reports, names) }
    };
    let suite = |(name, of_suite): (&'r str, Vec<_>)| {
        let (title, summary) = heading(name, reports);
        Suite { title, summary, sections: of_suite.into_iter().map(section).collect() }
    };
    let sections = sections(reports).into_iter().enumerate();
    grouped(sections, |(_, (suite, _))| *suite).into_iter().map(suite).collect()
}

/// The title of a suite, and its question.
fn heading(suite: &str, reports: &[Report]) -> (String, String) {
    let mut origins = reports.iter().flat_map(|report| &report.cases).map(|case| &case.record.origin);
    match origins.find(|origin| origin.suite() == suite) {
        Some(CaseOrigin::Search { .. }) => {
            ("Search for advice".to_owned(), "Which way to write is the fastest for a purpose?".to_owned())
        }
        Some(CaseOrigin::Named) => ("Cases given by name".to_owned(), String::new()),
        _ => match writebench_model::suite_named(suite) {
            Ok(known) => (known.title, known.summary),
            Err(_) => (suite.to_owned(), String::new()),
        },
    }
}

/// The main charts of a section, grouped by the subject that several runs share, and the others.
fn charts_of<'r>(
    section: (&str, &str),
    reports: &[Report],
    charts: &'r [NamedChart],
) -> (Vec<Vec<Chart<'r>>>, Vec<Chart<'r>>) {
    let is_of_section = |named: &NamedChart| (named.suite.as_str(), named.section.as_str()) == section;
    let of_section: Vec<(usize, &NamedChart)> =
        charts.iter().enumerate().filter(|(_, named)| is_of_section(named)).collect();
    let has_main = of_section.iter().any(|(_, named)| named.family.is_main());
    let first = of_section.first().map(|(_, named)| named.family);
    let is_main =
        |named: &NamedChart| if has_main { named.family.is_main() } else { Some(named.family) == first };
    let mut met: HashMap<_, usize> = HashMap::new();
    let (mut main, mut more) = (Vec::new(), Vec::new());
    for (number, named) in of_section {
        let chart = Chart { number, chart: &named.chart };
        if !is_main(named) {
            more.push(chart);
            continue;
        }
        // A chart's subject is its question, its figures, and the contract of its first case.
        let (run, contract) = first_case(named, reports).unzip();
        let asked = (named.family, named.chart.y.label.as_str(), contract);
        // If one run has several charts of a subject, the second is beside the second of the other run.
        let turn = met.entry((asked.clone(), run)).or_default();
        main.push(((asked, *turn), chart));
        *turn += 1;
    }
    let beside = |(_, charts): (_, Vec<(_, Chart<'r>)>)| charts.into_iter().map(|(_, chart)| chart).collect();
    (grouped(main, |(key, _)| key.clone()).into_iter().map(beside).collect(), more)
}

/// The run and the contract of a chart's first case: few charts show more than one.
fn first_case(named: &NamedChart, reports: &[Report]) -> Option<(usize, String)> {
    let row = named.chart.points().map(|point| point.row).next().unwrap_or(0);
    let mut cases =
        reports.iter().zip(0..).flat_map(|(report, run)| report.cases.iter().map(move |case| (run, case)));
    cases.nth(row).map(|(run, case)| (run, case.record.contract.to_string()))
}

/// The notes below the section's tables; of several runs each names its run.
fn notes(section: (&str, &str), reports: &[Report], names: &[String]) -> Vec<String> {
    let of_run = |(report, name): (&Report, &String)| {
        let cases = report.sections().find(|cases| section_of(&cases[0]) == section);
        let notes = cases.map_or(Vec::new(), |cases| section_notes(cases, &report.run)).into_iter();
        let named = |note| if reports.len() > 1 { format!("{name}: {note}") } else { note };
        notes.map(named).collect::<Vec<_>>()
    };
    distinct(reports.iter().zip(names).flat_map(of_run), Clone::clone)
}
