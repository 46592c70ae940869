use writebench_model::{Contract, Layout, Outcome, RunRecord, TargetRecord};

use crate::numbers::{CaseReport, by_contract, distinct, grouped};
use crate::sentences::{NAMED, Report, case_sentence, list};
use crate::tables::table::{self, Table};
use crate::tables::{matrix, notes, per_case, side_by_side};

impl Report {
    pub(crate) fn tables(&self) -> Vec<Table> {
        // Exports have the screening. Finals have its best cases.
        let shown = self.sections().filter(|cases| !cases[0].is_screening());
        shown
            .flat_map(|cases| section_tables(cases, self))
            .collect()
    }
}

fn section_tables(cases: &[CaseReport], report: &Report) -> Vec<Table> {
    let run = &report.run;
    let first = &cases[0].record;
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
    let layout = match first.origin.layout() {
        // A grid has its own order, without holes.
        Layout::Matrix | Layout::Ranked if report.is_sorted => Layout::Phases,
        layout => layout,
    };
    let all: Vec<&CaseReport> = cases.iter().collect();
    let is_of_records = |case: &&CaseReport| case.record.contract.durable_every_bytes.is_some();
    let layout = match layout {
        Layout::Phases if all.iter().all(is_of_records) => Layout::Records,
        layout => layout,
    };
    let mut tables = match layout {
        _ if run.is_side_by_side() => side_by_side::tables(&title, layout, &all, run),
        // One contract, though some cases promise more.
        _ if first.origin.is_search() => vec![per_case::ranked(&title, &all)],
        Layout::Phases => vec![per_case::phases(&title, &all)],
        Layout::Ranked => ranked(&title, cases),
        Layout::Records => vec![per_case::records(&title, &all)],
        Layout::Matrix => matrix::throughput(&title, &all),
        Layout::CpuTime => per_case::cpu_times(&title, &all),
    };
    if let Some(last) = tables.last_mut() {
        last.notes.extend(section_notes(cases, run));
        last.sentences = sentences(cases);
        if last
            .columns
            .iter()
            .all(|column| column.heading != table::SAMPLES)
        {
            last.notes.extend(notes::samples(cases));
        }
        if !run.is_side_by_side()
            && last
                .columns
                .iter()
                .all(|column| column.heading != table::INTERVAL)
        {
            // Cells have no room for intervals.
            last.notes.extend(notes::intervals(cases));
        }
    }
    tables
}

pub(crate) fn section_notes(cases: &[CaseReport], run: &RunRecord) -> Vec<String> {
    let on = |target: &TargetRecord| {
        let on_target = cases
            .iter()
            .filter(|case| case.record.target == target.name);
        (
            target.name.clone(),
            notes::notes(&on_target.collect::<Vec<_>>(), &target.limits),
        )
    };
    let all: Vec<(String, Vec<String>)> = run.targets.iter().map(on).collect();
    // A note common to all targets is printed once.
    let is_everywhere = |note: &String| all.iter().all(|(_, notes)| notes.contains(note));
    let line = |target: &str, note: &String| {
        // A burst's note names the target.
        let is_plain = is_everywhere(note) || note.contains(&format!(" on {target}: "));
        if is_plain {
            note.clone()
        } else {
            format!("{target}: {note}")
        }
    };
    let lines = all
        .iter()
        .flat_map(|(target, notes)| notes.iter().map(move |note| (target, note)));
    distinct(lines.map(|(target, note)| line(target, note)), Clone::clone)
}

/// Only cases of one contract are ranked together.
fn ranked(title: &str, cases: &[CaseReport]) -> Vec<Table> {
    let contracts = by_contract(cases);
    let several = contracts.len() > 1;
    let title = |contract: &Contract| {
        if several {
            format!("{title}: {contract}")
        } else {
            title.to_owned()
        }
    };
    contracts
        .iter()
        .map(|(contract, cases)| per_case::ranked(&title(contract), cases))
        .collect()
}

/// Cases with the same cause share one.
fn sentences(cases: &[CaseReport]) -> Vec<(bool, String)> {
    let mut sentences = Vec::new();
    for (cause, cases) in grouped(cases, |case| case.cause()) {
        let Some(cause) = cause else { continue };
        let is_fault = cases[0].outcome().is_some_and(Outcome::is_fault);
        let mut say = |text| sentences.push((is_fault, text));
        if cases.len() <= NAMED {
            cases.iter().for_each(|case| say(case_sentence(case)));
        } else {
            let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            say(format!(
                "{} cases: {cause}: {}",
                cases.len(),
                list(&names, NAMED)
            ));
        }
    }
    sentences
}
