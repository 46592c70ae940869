use writebench_model::{GOALS, RunRecord};

use crate::numbers::{self, CaseReport, FailedCases, Gated, cases, gated, obstacle_to};
use crate::sentences::advice::{Advice, Search, without_advice};
use crate::sentences::answer::{
    ContractAnswer, answers, are_for_each_target, left_out, without_answer,
};
use crate::sentences::failures;
use crate::sentences::finding::Finding;
use crate::sentences::gated::sentences;
use crate::sentences::recommended::has_rounds;
use crate::sentences::remarks::{read_back, remarks, smallest_difference};
use crate::sentences::warning::warnings;

#[derive(Debug, Clone)]
pub struct Report {
    /// In its database.
    pub number: Option<i64>,
    /// Without its cases, which are below.
    pub run: RunRecord,
    /// In the order of the run.
    pub cases: Vec<CaseReport>,
    /// None for runs other than searches.
    pub advice: Option<Advice>,
    /// Empty for a search.
    pub answers: Vec<ContractAnswer>,
    /// A line per goal, or per finalist of a search.
    pub findings: Vec<Finding>,
    pub conclusions: Vec<String>,
    pub remarks: Vec<String>,
    /// Empty without `--fail-if-slower`.
    pub gated: Vec<Gated>,
    /// Cases without a result that had a sample, and candidates of a search.
    pub failures: Vec<FailedCases>,
    /// None if nothing was written.
    pub read_back: Option<String>,
    /// None without comparisons.
    pub smallest_difference: Option<String>,
    pub warnings: Vec<String>,
    /// Not in the order of suites, or incomplete.
    pub is_arranged: bool,
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
        let mut remarks = if is_search {
            Vec::new()
        } else {
            remarks(&run, &answers, &cases)
        };
        remarks.splice(..0, sentences(&run, &gated));
        let failed = numbers::failures(&cases);
        let (findings, mut conclusions) = match &search {
            Some(search) => (search.findings(), search.sentences(&run)),
            None if is_search => (Vec::new(), vec![without_advice(&run, &cases)]),
            None => (
                answers
                    .iter()
                    .map(|answer| answer.finding.clone())
                    .collect(),
                answers
                    .iter()
                    .map(ContractAnswer::text)
                    .chain(remarks.clone())
                    .collect(),
            ),
        };
        let mut warnings = all_warnings(&run, &cases, &answers);
        if is_search {
            conclusions.extend(failures::failures(&failed, &cases));
        } else if cases.iter().all(|case| case.record.origin.suite() == GOALS) {
            warnings.extend(failures::of_goals(&failed, &cases));
        }
        Self {
            read_back: read_back(&cases),
            smallest_difference: smallest_difference(&cases),
            warnings,
            failures: failed,
            is_arranged: false,
            number,
            run,
            advice: search.map(|search| search.advice),
            cases,
            answers,
            findings,
            conclusions,
            remarks,
            gated,
        }
    }

    /// What keeps all cases of `--fail-if-slower` from a verdict, with the remedy.
    pub fn without_verdict(&self) -> String {
        const ROUNDS: usize = 8;
        let cases: Vec<&CaseReport> = self.cases.iter().collect();
        obstacle_to(ROUNDS, &self.run, &cases).map_or(String::new(), |obstacle| obstacle.text())
    }

    /// All cases of runs other than searches.
    fn is_finalist(case: &CaseReport) -> bool {
        !case.record.origin.is_search() || (!case.is_screening() && has_rounds(case))
    }

    /// A case of the answers, or any other finalist.
    pub(crate) fn is_drawn(&self, case: &CaseReport) -> bool {
        let is_named = |finding: &Finding| finding.case.as_deref() == Some(case.record.case.name());
        Self::is_finalist(case) || (!case.is_screening() && self.findings.iter().any(is_named))
    }

    pub(crate) fn whole_run(&self) -> RunRecord {
        let cases = self.cases.iter().map(|case| case.record.clone()).collect();
        RunRecord {
            cases,
            ..self.run.clone()
        }
    }

    /// The run answers goals: the first screen needs no tables.
    pub fn is_brief(&self) -> bool {
        let mut origins = self.cases.iter().map(|case| &case.record.origin);
        !self.is_arranged && origins.all(|origin| origin.is_search() || origin.suite() == GOALS)
    }

    /// Whether each answer is about a goal.
    pub fn is_of_goals(&self) -> bool {
        self.cases
            .iter()
            .all(|case| case.record.origin.suite() == GOALS)
    }

    /// Not with an answer for each target.
    pub(crate) fn compares_targets(&self) -> bool {
        self.run.is_side_by_side() && !are_for_each_target(&self.run, &self.cases)
    }

    pub(crate) fn headings(&self) -> (&'static str, String) {
        // A case that failed is not the fastest.
        let is_any_without = self.findings.iter().any(|finding| finding.value.is_empty());
        let found = match (self.is_brief(), is_any_without) {
            (true, _) => "recommended",
            (false, true) => "fastest, or why none",
            (false, false) => "fastest",
        };
        let found = if self.advice.is_some() {
            "method"
        } else {
            found
        };
        let first = self
            .run
            .targets
            .first()
            .filter(|_| self.advice.is_none() && self.compares_targets());
        (
            found,
            first.map_or("vs. plain write".to_owned(), |first| {
                format!("vs. {}", first.name)
            }),
        )
    }

    pub fn sections(&self) -> impl Iterator<Item = &[CaseReport]> {
        self.cases
            .chunk_by(|a, b| a.record.origin.table() == b.record.origin.table())
    }
}

/// What keeps goals from an answer is said first, and only once.
fn all_warnings(run: &RunRecord, cases: &[CaseReport], answers: &[ContractAnswer]) -> Vec<String> {
    let mut first: Vec<String> = left_out(run, cases).into_iter().collect();
    first.extend(without_answer(run, cases, answers));
    let mut others = warnings(run, cases, run.is_search());
    others.retain(|warning| !first.iter().any(|line| line.ends_with(warning.as_str())));
    first.extend(others);
    first
}
