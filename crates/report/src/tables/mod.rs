//! What the terminal and Markdown show: texts in rows and columns, laid out as the suite asks.

mod bars;
mod cpu_time;
mod matrix;
pub(crate) mod notes;
mod per_case;
pub(crate) mod properties;
mod side_by_side;

use std::borrow::Cow;

use writebench_model::{Layout, RunRecord, TargetRecord};

pub use bars::{Bar, Bars};

use crate::counted;
use crate::sentences::advice::is_look;
use crate::sentences::conclusion::by_contract;
use crate::sentences::report::{CaseReport, Report};
use crate::tables::properties::properties_table;
use crate::visible;

/// A table, ready to be rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What it is about.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a text for every column.
    pub rows: Vec<Vec<String>>,
    /// What is to be said of cases without a figure.
    pub sentences: Vec<Sentence>,
    /// What its words and shares mean.
    pub notes: Vec<String>,
    /// What a terminal draws behind the rows.
    pub bars: Option<Bars>,
}

/// A column's heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What several columns together are about.
    pub group: String,
    /// The heading.
    pub heading: String,
    /// Whether it holds words, and not figures.
    pub is_text: bool,
    /// Where space is short, columns of higher number go first.
    pub rank: u8,
}

/// A sentence about cases that have no figure, or lost theirs on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Whether it tells of a fault, and not of a property of the target.
    pub is_fault: bool,
    /// The words.
    pub text: String,
}

impl Table {
    /// With all of its text safe for a terminal.
    pub(crate) fn made_visible(mut self) -> Self {
        let columns = self.columns.iter_mut().flat_map(|it| [&mut it.group, &mut it.heading]);
        let sentences = self.sentences.iter_mut().map(|it| &mut it.text);
        let texts = columns.chain(self.rows.iter_mut().flatten()).chain(&mut self.notes).chain(sentences);
        for text in texts.chain([&mut self.title]) {
            // Almost all of it is; only what is not is held twice for a moment.
            if let Cow::Owned(safe) = visible(text) {
                *text = safe;
            }
        }
        self
    }
}

impl Column {
    pub(crate) fn figure(group: &str, heading: &str, rank: u8) -> Self {
        Self { group: group.to_owned(), heading: heading.to_owned(), is_text: false, rank }
    }

    pub(crate) fn text(heading: &str, rank: u8) -> Self {
        Self { group: String::new(), heading: heading.to_owned(), is_text: true, rank }
    }
}

impl Report {
    /// The tables of all sections, in order.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        // Hundreds of cheap looks are for the exports; what they left is in the finals.
        let shown = self.sections().filter(|cases| !is_look(&cases[0]));
        let mut tables: Vec<Table> = shown.flat_map(|cases| section_tables(cases, self)).collect();
        let known = |target: &'_ TargetRecord| target.properties.is_some();
        if self.run.targets.iter().any(known) {
            let targets = self.run.targets.iter();
            let properties = targets
                .filter_map(|it| it.properties.as_ref().map(|properties| (it.name.as_str(), properties)));
            tables.push(properties_table(&properties.collect::<Vec<_>>()));
        }
        tables
    }
}

fn section_tables(cases: &[CaseReport], report: &Report) -> Vec<Table> {
    let run = &report.run;
    let first = &cases[0].record;
    let title = format!("{} · {}", first.origin.suite(), first.origin.section());
    let layout = match first.origin.layout() {
        // A grid has an order of its own, and no holes.
        Layout::Matrix | Layout::Ranked if report.is_arranged => Layout::Phases,
        layout => layout,
    };
    if run.is_side_by_side() {
        let mut tables = side_by_side::tables(&title, layout, cases, run);
        if let Some(last) = tables.last_mut() {
            last.notes.extend(section_notes(cases, run));
            last.sentences = sentences(cases);
            last.sentences.extend(missing(run));
        }
        return tables;
    }
    if first.origin.is_search() {
        // All of them satisfy one contract, though some promise more than others.
        let mut table = per_case::ranked(&title, &cases.iter().collect::<Vec<_>>());
        table.sentences = sentences(cases);
        table.notes = section_notes(cases, run);
        return vec![table];
    }
    let mut tables = match layout {
        Layout::Phases => vec![per_case::phases(&title, cases)],
        Layout::Ranked => ranked(&title, cases),
        Layout::Records => vec![per_case::records(&title, cases)],
        Layout::Matrix => matrix::throughput(&title, cases),
        Layout::CpuTime => cpu_time::tables(&title, cases),
    };
    if let Some(last) = tables.last_mut() {
        last.sentences = sentences(cases);
        last.notes = section_notes(cases, run);
        // Its cells have no room for intervals.
        if last.columns.iter().all(|column| column.heading != "interval") {
            last.notes.extend(notes::intervals(cases));
        }
    }
    tables
}

/// What is said below the table of a section, but for its sentences.
pub(crate) fn section_notes(cases: &[CaseReport], run: &RunRecord) -> Vec<String> {
    if run.is_side_by_side() {
        return notes_of_targets(cases, run);
    }
    notes::notes(cases, run.targets.first().map_or(&[][..], |target| &target.limits))
}

/// What the words and shares of each target mean; what is the same for all is said once.
fn notes_of_targets(cases: &[CaseReport], run: &RunRecord) -> Vec<String> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for target in &run.targets {
        let of_target: Vec<CaseReport> =
            cases.iter().filter(|case| case.record.target == target.name).cloned().collect();
        all.push((&target.name, notes::notes(&of_target, &target.limits)));
    }
    let is_everywhere = |note: &String| all.iter().all(|(_, notes)| notes.contains(note));
    let mut lines: Vec<String> = Vec::new();
    for (target, notes) in &all {
        for note in notes {
            // A burst's note has the target in it.
            let line = if is_everywhere(note) || note.contains(&format!(" on {target}: ")) {
                note.clone()
            } else {
                format!("{target}: {note}")
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// Why targets have no figures at all.
fn missing(run: &RunRecord) -> impl Iterator<Item = Sentence> {
    run.missing
        .iter()
        .map(|target| Sentence { is_fault: false, text: format!("{}: {}", target.name, target.why) })
}

/// A table for each contract: nothing else is ranked together.
fn ranked(title: &str, cases: &[CaseReport]) -> Vec<Table> {
    let contracts = by_contract(cases);
    let several = contracts.len() > 1;
    contracts
        .iter()
        .map(|(contract, cases)| {
            let title = if several { format!("{title}: {contract}") } else { title.to_owned() };
            per_case::ranked(&title, cases)
        })
        .collect()
}

/// What is to be said of cases without a figure. Many with the same cause are one sentence.
fn sentences(cases: &[CaseReport]) -> Vec<Sentence> {
    const NAMED: usize = 3;
    let mut causes: Vec<(&'static str, &str, Vec<&CaseReport>)> = Vec::new();
    for case in cases {
        let Some(reason) = case.reason.as_deref() else { continue };
        match causes.iter_mut().find(|(outcome, other, _)| *outcome == case.outcome && *other == reason) {
            Some((_, _, with)) => with.push(case),
            None => causes.push((case.outcome, reason, vec![case])),
        }
    }
    let mut sentences = Vec::new();
    for (outcome, reason, with) in causes {
        let is_fault = outcome != "not-run" && outcome != "unsupported";
        if with.len() <= NAMED {
            sentences.extend(with.iter().map(|case| Sentence { is_fault, text: case_sentence(case, reason) }));
            continue;
        }
        let names: Vec<&str> = with.iter().take(NAMED).map(|case| case.name.as_str()).collect();
        let (count, names, more) = (with.len(), names.join(", "), with.len() - NAMED);
        let text = match outcome {
            "not-run" => format!("{count} cases: {reason}: {names} and {more} more"),
            outcome => format!("{count} cases: {outcome}: {reason}: {names} and {more} more"),
        };
        sentences.push(Sentence { is_fault, text });
    }
    sentences
}

/// What became of a case, and why.
pub(crate) fn case_sentence(case: &CaseReport, reason: &str) -> String {
    let good = case
        .estimate
        .as_ref()
        .map_or(String::new(), |it| format!(" (after {})", counted(it.samples, "good sample")));
    match case.outcome {
        "not-run" => format!("{}: {reason}", case.name),
        outcome => format!("{}: {outcome}: {reason}{good}", case.name),
    }
}
