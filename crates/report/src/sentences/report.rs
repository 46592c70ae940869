use std::collections::HashSet;

use writebench_model::{RunRecord, Stage};
use writebench_stats::Gate;

use crate::numbers::{
    self, CaseReport, FailedCases, Gated, Required, cases, gated, obstacle_to, required,
};
use crate::sentences::advice::{Advice, Search, without_advice};
use crate::sentences::answer::{
    WorkloadAnswer, answers, answers_on_each_target, are_for_each_target, left_out, without_answer,
};
use crate::sentences::failures;
use crate::sentences::finding::Finding;
use crate::sentences::gated::verdicts;
use crate::sentences::recommended::has_rounds;
use crate::sentences::required::requirements;
use crate::sentences::run_notes::{lazy_times, read_back, run_notes, smallest_difference};
use crate::sentences::warning::warnings;

/// A run with its numbers and sentences, from which all formats are made.
#[derive(Debug, Clone)]
pub struct Report {
    /// The run's number in its database.
    pub number: Option<i64>,
    /// The run without its cases, which are below.
    pub run: RunRecord,
    /// The cases in the order of the run's tables.
    pub cases: Vec<CaseReport>,
    /// The answer of a search. Other runs have none.
    pub advice: Option<Advice>,
    /// An answer for each workload. A search has none.
    pub answers: Vec<WorkloadAnswer>,
    /// A line per goal, or per finalist of a search.
    pub findings: Vec<Finding>,
    /// What the run says, in sentences: the advice or the answers, and the notes.
    pub conclusions: Vec<String>,
    /// Sentences about the whole run, which belong to no single answer.
    pub run_notes: Vec<String>,
    /// The verdicts of `--fail-if-slower`.
    pub gated: Vec<Gated>,
    /// The verdicts of `--require`.
    pub required: Vec<Required>,
    /// The same in sentences.
    pub requirements: Vec<String>,
    /// Cases without a result that had a sample, and candidates of a search.
    pub failures: Vec<FailedCases>,
    /// How much of the written data was compared. It is None if nothing was written.
    pub read_back: Option<String>,
    /// The smallest difference that the run could detect. It is None without comparisons.
    pub smallest_difference: Option<String>,
    pub warnings: Vec<String>,
    /// The user chose the order of the cases, and maybe their number.
    pub is_sorted: bool,
    /// The recommended cases, each after its target. A run of suites or cases recommends none.
    recommended: HashSet<(String, String)>,
}

impl Report {
    pub fn from_run(number: Option<i64>, mut run: RunRecord) -> Self {
        let is_search = run.is_search();
        let cases = cases(&mut run);
        let search = Search::from_cases(&run, &cases);
        let answers = if is_search {
            Vec::new()
        } else {
            answers(&run, &cases)
        };
        let gated = gated(&run, &cases);
        let required = required(&run, &cases);
        let mut notes = verdicts(&run, &gated);
        if !is_search {
            notes.extend(run_notes(&run, &answers, &cases));
        }
        let failed = numbers::failures(&cases);
        let findings = match &search {
            Some(search) => search.findings(),
            None => answers
                .iter()
                .map(|answer| answer.finding.clone())
                .collect(),
        };
        let mut conclusions = match &search {
            Some(search) => search.sentences(&run),
            None if is_search => vec![without_advice(&run, &cases)],
            None => answers
                .iter()
                .map(WorkloadAnswer::text)
                .chain(notes.clone())
                .collect(),
        };
        let mut warnings = all_warnings(&run, &cases, &answers, is_search);
        if is_search {
            conclusions.extend(lazy_times(&run, &cases));
            conclusions.extend(failures::failures(&failed, &cases));
        } else if cases.iter().all(|case| case.record.origin.is_of_goal()) {
            warnings.extend(failures::failures_in_goals(&failed, &cases));
        }
        let requirements = requirements(&run, &required, &cases);
        conclusions.splice(0..0, requirements.iter().cloned());
        Self {
            required,
            requirements,
            read_back: read_back(&cases),
            smallest_difference: smallest_difference(&cases),
            warnings,
            failures: failed,
            is_sorted: false,
            recommended: recommended(&run, &cases, search.as_ref()),
            number,
            run,
            advice: search.map(|search| search.advice),
            cases,
            answers,
            findings,
            conclusions,
            run_notes: notes,
            gated,
        }
    }

    /// Whether the run is a search. Its record alone does not know, because its cases are in the report.
    pub fn is_search(&self) -> bool {
        self.run.is_search() || self.cases.iter().any(|case| case.record.origin.is_search())
    }

    /// What keeps all cases of `--fail-if-slower` from a verdict, with the remedy.
    pub fn without_verdict(&self) -> String {
        let cases: Vec<&CaseReport> = self.cases.iter().collect();
        obstacle_to(self.rounds_for_verdict(), &self.run, &cases)
            .map_or(String::new(), |obstacle| obstacle.text())
    }

    /// How many rounds a verdict of `--fail-if-slower` needs.
    pub fn rounds_for_verdict(&self) -> usize {
        Gate::fewest_rounds(self.gated.len())
    }

    /// Whether a contest measured the case as often as an interval needs. The first cases of goals, and all cases of other
    /// runs, count as finalists.
    fn is_finalist(case: &CaseReport) -> bool {
        !case.record.origin.is_candidate() || (!case.is_screening() && has_rounds(case))
    }

    /// Whether the run recommends the case on its target.
    pub(crate) fn is_recommended(&self, case: &CaseReport) -> bool {
        let record = &case.record;
        let key = (record.target.clone(), record.case.name().to_owned());
        self.recommended.contains(&key) && !record.origin.is_stage(Stage::Screening)
    }

    /// Whether charts have the case: it is a finalist, or one of the findings, or recommended.
    pub(crate) fn is_drawn(&self, case: &CaseReport) -> bool {
        let name = case.record.case.name();
        let is_found = self
            .findings
            .iter()
            .any(|finding| finding.case.as_deref() == Some(name));
        Self::is_finalist(case) || (!case.is_screening() && is_found) || self.is_recommended(case)
    }

    /// The run with its cases.
    pub(crate) fn whole_run(&self) -> RunRecord {
        let cases = self.cases.iter().map(|case| case.record.clone()).collect();
        RunRecord {
            cases,
            ..self.run.clone()
        }
    }

    /// Whether the run answers goals, so that the first screen needs no tables.
    pub fn is_brief(&self) -> bool {
        let mut origins = self.cases.iter().map(|case| &case.record.origin);
        !self.is_sorted && origins.all(|origin| origin.is_search() || origin.is_of_goal())
    }

    /// Whether each answer is about a goal.
    pub fn is_of_goals(&self) -> bool {
        self.cases
            .iter()
            .all(|case| case.record.origin.is_of_goal())
    }

    /// Whether an answer compares the targets, instead of an answer for each of them.
    pub(crate) fn compares_targets(&self) -> bool {
        self.run.is_side_by_side() && !are_for_each_target(&self.run, &self.cases)
    }

    /// The headings of the findings' columns for the case, and for its comparison.
    pub(crate) fn headings(&self) -> (&'static str, String) {
        // A case that failed is not the fastest.
        let is_any_without = self
            .findings
            .iter()
            .any(|finding| finding.measured.is_none());
        let case = match (self.is_brief(), is_any_without) {
            _ if self.advice.is_some() => "method",
            (true, _) => "recommended",
            (false, true) => "best measured, or why none",
            (false, false) => "best measured",
        };
        let comparison = match self.run.targets.first() {
            Some(first) if self.advice.is_none() && self.compares_targets() => {
                format!("vs. {}", first.name)
            }
            _ => "vs. plain write".to_owned(),
        };
        (case, comparison)
    }

    /// The cases of each table.
    pub fn sections(&self) -> impl Iterator<Item = &[CaseReport]> {
        self.cases
            .chunk_by(|a, b| a.record.origin.table() == b.record.origin.table())
    }
}

/// The recommended cases, each after its target.
fn recommended(
    run: &RunRecord,
    cases: &[CaseReport],
    search: Option<&Search<'_>>,
) -> HashSet<(String, String)> {
    if let Some(search) = search {
        let target = run.targets.first().map(|target| target.name.clone());
        let name = search.advice.recommended.clone();
        return target.map(|target| (target, name)).into_iter().collect();
    }
    if run.is_search() || cases.iter().any(|case| !case.record.origin.is_of_goal()) {
        return HashSet::new();
    }
    let first = run.targets.first();
    let answer = |answer: WorkloadAnswer| {
        let finding = answer.finding;
        let target = finding.target.or_else(|| Some(first?.name.clone()));
        target.zip(finding.case)
    };
    answers_on_each_target(run, cases)
        .into_iter()
        .filter_map(answer)
        .collect()
}

/// All warnings about the run. What keeps goals from an answer is said first, and only once.
fn all_warnings(
    run: &RunRecord,
    cases: &[CaseReport],
    answers: &[WorkloadAnswer],
    is_search: bool,
) -> Vec<String> {
    let mut first: Vec<String> = left_out(run, cases).into_iter().collect();
    first.extend(without_answer(run, cases, answers));
    let mut others = warnings(run, cases, is_search);
    others.retain(|warning| !first.iter().any(|line| line.ends_with(warning.as_str())));
    first.extend(others);
    first
}
