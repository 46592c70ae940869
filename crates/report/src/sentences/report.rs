//! A run's numbers, with what they come to in words.

use writebench_model::{GOALS, RunRecord};

use crate::numbers::{CaseReport, cases};
use crate::sentences::advice::{Advice, Search, without_advice};
use crate::sentences::answer::{ContractAnswer, answers, are_for_each_target};
use crate::sentences::finding::Finding;
use crate::sentences::recommended::has_rounds;
use crate::sentences::remarks::{read_back, remarks, smallest_difference};
use crate::sentences::warning::warnings;

/// A run, ready to be rendered.
#[derive(Debug, Clone)]
pub struct Report {
    /// The run's number in its database, where it has one.
    pub number: Option<i64>,
    /// The run as recorded, but for its cases: they are held once, below.
    pub run: RunRecord,
    /// A report for each of the run's cases, in the same order.
    pub cases: Vec<CaseReport>,
    /// The advice of a search; none for other runs.
    pub advice: Option<Advice>,
    /// The answer for each contract; empty for a search.
    pub answers: Vec<ContractAnswer>,
    /// A line for each goal; of a search, for each of its finalists.
    pub findings: Vec<Finding>,
    /// All answers in sentences, or the advice.
    pub conclusions: Vec<String>,
    /// Remarks on the answers: the meaning of many comparisons, and of images.
    pub remarks: Vec<String>,
    /// How much was read back and compared, and where it came from; none where nothing was written.
    pub read_back: Option<String>,
    /// The smallest difference that the run could detect; none without comparisons.
    pub smallest_difference: Option<String>,
    /// Warnings that a reader of the figures needs.
    pub warnings: Vec<String>,
    /// Whether the cases are in another order than that of the suites, or not all there.
    pub is_arranged: bool,
}

impl Report {
    /// The report on a run.
    pub fn from_run(number: Option<i64>, mut run: RunRecord) -> Self {
        let is_search = run.is_search();
        let cases = cases(&mut run);
        let search = Search::from_cases(&cases);
        let answers = if is_search { Vec::new() } else { answers(&run, &cases) };
        let remarks = if is_search { Vec::new() } else { remarks(&run, &answers, &cases) };
        let (findings, conclusions) = match &search {
            Some(search) => (search.findings(), search.sentences(&run)),
            None if is_search => (Vec::new(), vec![without_advice(&cases)]),
            None => (
                answers.iter().map(|answer| answer.finding.clone()).collect(),
                answers.iter().map(ContractAnswer::text).chain(remarks.clone()).collect(),
            ),
        };
        Self {
            read_back: read_back(&cases),
            smallest_difference: smallest_difference(&cases),
            warnings: warnings(&run, &cases, is_search),
            is_arranged: false,
            number,
            run,
            advice: search.map(|search| search.advice),
            cases,
            answers,
            findings,
            conclusions,
            remarks,
        }
    }

    /// Whether the case is one that the final of a search compared with plain write; so is every case of other runs.
    pub(crate) fn is_finalist(case: &CaseReport) -> bool {
        !case.record.origin.is_search() || (!case.is_screening() && has_rounds(case))
    }

    /// A copy of the run as it was recorded, with its cases.
    pub(crate) fn whole_run(&self) -> RunRecord {
        let cases = self.cases.iter().map(|case| case.record.clone()).collect();
        RunRecord { cases, ..self.run.clone() }
    }

    /// Whether the run answers goals, so that its first screen needs no tables.
    pub fn is_brief(&self) -> bool {
        let mut origins = self.cases.iter().map(|case| &case.record.origin);
        !self.is_arranged && origins.all(|origin| origin.is_search() || origin.suite() == GOALS)
    }

    /// Whether each of two targets has its own answers.
    pub(crate) fn is_for_each_target(&self) -> bool {
        are_for_each_target(&self.run, &self.cases)
    }

    /// The headings of the way to a goal, and of its comparison.
    pub(crate) fn headings(&self) -> (&'static str, String) {
        let found = if self.is_brief() { "recommended" } else { "fastest here" };
        let found = if self.advice.is_some() { "way" } else { found };
        let compares_targets = self.run.is_side_by_side() && !self.is_for_each_target();
        let first = self.run.targets.first().filter(|_| self.advice.is_none() && compares_targets);
        (found, first.map_or("vs. plain write".to_owned(), |first| format!("× the same on {}", first.name)))
    }

    /// The rows of each section of a suite, in order.
    pub fn sections(&self) -> impl Iterator<Item = &[CaseReport]> {
        self.cases.chunk_by(|a, b| a.record.origin.table() == b.record.origin.table())
    }
}
