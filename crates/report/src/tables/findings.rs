//! The first screen: a line per goal, and with several targets a table of targets.

use writebench_model::Workload;

use crate::numbers::{CaseReport, distinct};
use crate::sentences::answer::WorkloadAnswer;
use crate::sentences::finding::Finding;
use crate::sentences::metric::Metric;
use crate::sentences::{NOTHING, Report, or_nothing};
use crate::tables::table::{self, Column, Table};

type Cells<'c> = table::Cells<'c, Finding>;

impl Report {
    /// The best measured case of each workload, or the steps of a search.
    pub(crate) fn findings_table(&self) -> Table {
        let findings = &self.findings;
        let units = self.units();
        let unit = if let [one] = units.as_slice() {
            *one
        } else {
            ""
        };
        let number = |finding: &Finding| match finding.value().as_str() {
            "" => NOTHING.to_owned(),
            value if unit.is_empty() => format!("{value} {}", finding.unit()),
            value => value.to_owned(),
        };
        let (found, beside) = self.headings();
        let mut columns = vec![
            Cells::words("", Finding::heading),
            Cells::words(found, |finding| finding.description.clone()),
        ];
        if self.run.is_side_by_side() {
            columns.push(Cells::text("on", 0, |finding| {
                finding.target.clone().unwrap_or_default()
            }));
        }
        columns.extend([
            Cells::figure("", unit, 0, number),
            Cells::figure("", table::INTERVAL, 1, Finding::interval),
            Cells::figure("", table::SAMPLES, 0, |finding| {
                or_nothing(
                    Some(finding.samples).filter(|&samples| samples > 0),
                    |samples| samples.to_string(),
                )
            }),
            Cells::words(&beside, Finding::speed_ratio),
            Cells::figure("of", "limit", 2, Finding::limit_share).if_any(),
            Cells::text(table::CASE, 3, |finding| {
                finding.case.clone().unwrap_or_default()
            }),
        ]);
        Table::with("", findings, columns)
    }

    fn units(&self) -> Vec<&'static str> {
        distinct(
            self.findings
                .iter()
                .map(Finding::unit)
                .filter(|unit| !unit.is_empty()),
            |unit| *unit,
        )
    }

    /// The value of the best measured method: a row for each workload, and a column for each target.
    pub(crate) fn targets_table(&self) -> Option<Table> {
        let run = &self.run;
        if !self.compares_targets() {
            return None;
        }
        let units = self.units();
        let mut columns = vec![Column {
            wraps: true,
            ..Column::text("", 0)
        }];
        let names = run.targets.iter().map(|target| &target.name);
        columns.extend(names.map(|name| Column::figure("", name, 0)));
        let row = |(answer, finding): (&WorkloadAnswer, &Finding)| {
            let cells = run.targets.iter().map(|target| {
                let (value, unit) = self.best_on(&target.name, &answer.workload);
                if units.len() > 1 && value != NOTHING {
                    format!("{value} {unit}").trim_end().to_owned()
                } else {
                    value
                }
            });
            [finding.heading()].into_iter().chain(cells).collect()
        };
        let rows = self.answers.iter().zip(&self.findings).map(row).collect();
        let unit = match units.as_slice() {
            [one] => format!("{one} of the best measured method"),
            _ => "The best measured method".to_owned(),
        };
        Some(Table::from_rows(unit, columns, rows))
    }

    /// The value of the fastest case with a rank on the target, and its unit.
    fn best_on(&self, target: &str, workload: &Workload) -> (String, &'static str) {
        let of_workload =
            |case: &&CaseReport| case.record.target == target && case.record.workload == *workload;
        // A case without a rank has a value that is no answer.
        let cases = self
            .cases
            .iter()
            .filter(|case| of_workload(case) && (case.is_ranked() || case.not_durable.is_some()));
        let best = cases.min_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
        match best.and_then(|case| Some((case, case.estimate.as_ref()?))) {
            None => (NOTHING.to_owned(), ""),
            Some((case, _)) if case.not_durable.is_some() => ("not durable".to_owned(), ""),
            Some((case, estimate)) => {
                let metric = Metric::for_case(&case.record, estimate);
                (metric.value(estimate), metric.unit)
            }
        }
    }
}
