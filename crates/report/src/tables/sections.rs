//! The tables of a report, laid out as each suite asks.

use writebench_model::{Contract, Layout, Outcome, RunRecord, TargetRecord};

use crate::numbers::case::{CaseReport, by_contract};
use crate::numbers::grouped::grouped;
use crate::numbers::search::ADVISE;
use crate::sentences::outcomes::{case_sentence, with_outcome};
use crate::sentences::report::Report;
use crate::sentences::words::list;
use crate::tables::properties::properties_table;
use crate::tables::table::{Sentence, Table};
use crate::tables::{cpu_time, matrix, notes, per_case, side_by_side};

impl Report {
    /// The tables of all sections, in order.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        // Hundreds of cheap looks are for the exports; what they left is in the finals.
        let shown = self.sections().filter(|cases| !cases[0].is_look());
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
    let title = format!("{} · {}", first.suite, first.section);
    let layout = match writebench_model::suite_named(&first.suite).map_or(Layout::Phases, |suite| suite.layout)
    {
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
    if first.suite == ADVISE {
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
    let title = |contract: &Contract| if several { format!("{title}: {contract}") } else { title.to_owned() };
    contracts.iter().map(|(contract, cases)| per_case::ranked(&title(contract), cases)).collect()
}

/// What is to be said of cases without a figure. Many with the same cause are one sentence.
fn sentences(cases: &[CaseReport]) -> Vec<Sentence> {
    const NAMED: usize = 3;
    let without_figure = cases.iter().filter_map(|case| Some((case, case.reason.as_deref()?)));
    let causes = grouped(without_figure, |(case, reason)| (case.outcome_name(), *reason));
    let mut sentences = Vec::new();
    for ((_, reason), with) in causes {
        let is_fault = with[0].0.outcome().is_some_and(Outcome::is_fault);
        let mut say = |text| sentences.push(Sentence { is_fault, text });
        if with.len() <= NAMED {
            with.iter().for_each(|(case, _)| say(case_sentence(case, reason)));
            continue;
        }
        let names: Vec<&str> = with.iter().map(|(case, _)| case.name.as_str()).collect();
        say(format!("{} cases: {}: {}", with.len(), with_outcome(with[0].0, reason), list(&names, NAMED)));
    }
    sentences
}
