use writebench_model::{Layout, Outcome, RunRecord, Stage, TargetRecord};

use crate::numbers::{CaseReport, distinct, grouped};
use crate::sentences::{NAMED, Report, case_sentence, listed};
use crate::tables::table::{self, Table};
use crate::tables::{matrix, notes, per_case, side_by_side};

/// The cases that have a row in their table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// All but those that a contest tried only once or twice.
    Compared,
    All,
}

impl Rows {
    fn have(self, case: &CaseReport) -> bool {
        self == Self::All || !case.is_screening()
    }
}

impl Report {
    pub(crate) fn tables(&self, rows: Rows) -> Vec<Table> {
        self.sections()
            .flat_map(|cases| section_tables(cases, rows, self))
            .collect()
    }
}

impl Report {
    /// The limits behind the shares of all tables.
    pub(crate) fn limit_notes(&self, rows: Rows) -> Vec<String> {
        let mut notes = section_notes(&self.cases, rows, &self.run);
        notes.retain(|note| notes::is_of_limit(note));
        notes
    }
}

fn section_tables(cases: &[CaseReport], rows: Rows, report: &Report) -> Vec<Table> {
    let run = &report.run;
    let all: Vec<&CaseReport> = cases.iter().filter(|case| rows.have(case)).collect();
    let Some(first) = all.first().map(|case| &case.record) else {
        return Vec::new();
    };
    let ranks = run
        .cluster
        .as_ref()
        .map(|cluster| format!(" · {cluster}"))
        .unwrap_or_default();
    let title = format!(
        "{} · {}{ranks}",
        first.origin.suite(),
        first.origin.section()
    );
    let layout = layout(cases, report);
    let mut tables = match layout {
        _ if run.is_side_by_side() => side_by_side::tables(&title, layout, &all, run),
        // The first stage of early versions had files of several sizes.
        _ if first.origin.is_stage(Stage::Screening) => ranked(&title, &all),
        // A search has one workload, though some cases promise more.
        _ if first.origin.is_search() => vec![per_case::ranked(&title, &all)],
        Layout::Phases => vec![per_case::phases(&title, &all)],
        Layout::Ranked => ranked(&title, &all),
        Layout::Records => vec![per_case::records(&title, &all)],
        Layout::Matrix => matrix::throughput(&title, &all),
        Layout::CpuTime => per_case::cpu_times(&title, &all),
    };
    if let Some(last) = tables.last_mut() {
        last.notes.extend(section_notes(cases, rows, run));
        last.sentences = sentences(cases);
        if !last.has_column(table::SAMPLES) {
            last.notes.extend(notes::samples(cases));
        }
        if !run.is_side_by_side() && !last.has_column(table::INTERVAL) {
            last.notes.extend(notes::intervals(cases));
        }
    }
    tables
}

fn layout(cases: &[CaseReport], report: &Report) -> Layout {
    let layout = match cases[0].record.origin.layout() {
        // These layouts have an order of their own, and a matrix would have holes.
        Layout::Matrix | Layout::Ranked if report.is_sorted => Layout::Phases,
        layout => layout,
    };
    let are_all_of_records = cases
        .iter()
        .all(|case| case.record.workload.durable_every_bytes.is_some());
    match layout {
        Layout::Phases if are_all_of_records => Layout::Records,
        layout => layout,
    }
}

/// The notes about the cases of a table. A note common to all targets is printed once.
pub(crate) fn section_notes(cases: &[CaseReport], rows: Rows, run: &RunRecord) -> Vec<String> {
    let by_target: Vec<(&str, Vec<String>)> = run
        .targets
        .iter()
        .map(|target| (target.name.as_str(), target_notes(cases, rows, target)))
        .collect();
    let mut lines = Vec::new();
    for (target, notes) in &by_target {
        for note in notes {
            let is_everywhere = by_target.iter().all(|(_, notes)| notes.contains(note));
            // A burst's note names the target.
            let names_target = note.contains(&format!(" on {target}: "));
            lines.push(if is_everywhere || names_target {
                note.clone()
            } else {
                format!("{target}: {note}")
            });
        }
    }
    distinct(lines, Clone::clone)
}

fn target_notes(cases: &[CaseReport], rows: Rows, target: &TargetRecord) -> Vec<String> {
    let on_target: Vec<&CaseReport> = cases
        .iter()
        .filter(|case| case.record.target == target.name && rows.have(case))
        .collect();
    notes::notes(&on_target, &target.limits)
}

/// A table for each workload, because only cases of one workload are ranked together.
fn ranked(title: &str, cases: &[&CaseReport]) -> Vec<Table> {
    let workloads = grouped(cases.iter().copied(), |case| &case.record.workload);
    if let [(_, cases)] = workloads.as_slice() {
        return vec![per_case::ranked(title, cases)];
    }
    workloads
        .iter()
        .map(|(workload, cases)| per_case::ranked(&format!("{title}: {workload}"), cases))
        .collect()
}

/// Why cases have no value or a loss. Cases with the same cause share a sentence if they are many.
fn sentences(cases: &[CaseReport]) -> Vec<(bool, String)> {
    let mut sentences = Vec::new();
    for (cause, cases) in grouped(cases, |case| case.cause()) {
        let Some(cause) = cause else { continue };
        let is_fault = cases[0].outcome().is_some_and(Outcome::is_fault);
        if cases.len() <= NAMED {
            sentences.extend(cases.iter().map(|case| (is_fault, case_sentence(case))));
        } else {
            let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            let names = listed(&names, NAMED);
            sentences.push((is_fault, format!("{} cases: {cause}:{names}", cases.len())));
        }
    }
    sentences
}
