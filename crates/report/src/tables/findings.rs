//! The first screen: a line per goal, and with several targets a table of targets.

use writebench_model::Workload;

use crate::numbers::{CaseReport, distinct};
use crate::sentences::finding::{Finding, IN_PAGE_CACHE};
use crate::sentences::metric::Metric;
use crate::sentences::{NOTHING, Report, or_nothing};
use crate::tables::table::{self, Column, Table};

type Cells<'c> = table::Cells<'c, Finding>;

impl Report {
    /// Without `names`, methods and targets are elsewhere, and the samples give way first.
    pub(crate) fn findings_table(&self, names: bool) -> Table {
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
        let mut columns = vec![Cells::words("", Finding::heading)];
        if names {
            columns.push(Cells::words(found, |finding| finding.description.clone()));
        }
        if names && self.run.is_side_by_side() {
            columns.push(Cells::text("on", 0, |finding| {
                finding.target.clone().unwrap_or_default()
            }));
        }
        columns.extend([
            Cells::figure("", unit, 0, number),
            Cells::figure("", table::INTERVAL, 1, Finding::interval),
            Cells::figure("", table::SAMPLES, u8::from(!names), |finding| {
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

    /// The fastest method of each goal on each target.
    pub(crate) fn targets_table(&self) -> Option<Table> {
        let run = &self.run;
        if !self.compares_targets() {
            return None;
        }
        let heading = |finding: &Finding| {
            let goal = finding.goal.replace(IN_PAGE_CACHE, "");
            let goal = goal.replace(Workload::NOT_SAFE, "");
            let (group, heading) = goal.rsplit_once(' ').unwrap_or(("", &goal));
            Column::figure(group, heading, 0)
        };
        let cell = |target: &str, index: usize| {
            let workload = &self.answers[index].workload;
            let of_goal = |case: &&CaseReport| {
                case.record.target == target && case.record.workload == *workload
            };
            // A case without a rank has a value that is no answer.
            let cases = self
                .cases
                .iter()
                .filter(|case| of_goal(case) && (case.is_ranked() || case.not_durable.is_some()));
            let best = cases.min_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
            or_nothing(
                best.and_then(|case| Some((case, case.estimate.as_ref()?))),
                |(case, estimate)| match case.not_durable {
                    Some(_) => "not durable".to_owned(),
                    None => Metric::for_case(&case.record, estimate).value(estimate),
                },
            )
        };
        let columns = [Column::text("", 0)]
            .into_iter()
            .chain(self.findings.iter().map(heading))
            .collect();
        let row = |target: &str| {
            let cells = (0..self.answers.len()).map(|index| cell(target, index));
            [target.to_owned()].into_iter().chain(cells).collect()
        };
        let rows = run.targets.iter().map(|target| row(&target.name)).collect();
        Some(Table::from_rows(
            format!("{} of the fastest method", self.units().join(" or ")),
            columns,
            rows,
        ))
    }
}
