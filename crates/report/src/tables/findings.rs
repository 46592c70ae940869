//! The first screen: a line per goal, and with several targets a table of targets.

use crate::numbers::{CaseReport, distinct};
use crate::sentences::finding::{Finding, IN_PAGE_CACHE, figure, value_of};
use crate::sentences::{NOTHING, Report};
use crate::tables::table::{self, Cells, Column, Table};

const ON: &str = "on";

impl Table {
    /// For layouts with methods and targets elsewhere. The samples give way first.
    pub(crate) fn without_way(mut self) -> Self {
        let of_way = 1..1 + 1 + usize::from(self.columns[2].heading == ON);
        self.columns.drain(of_way.clone());
        self.rows.iter_mut().for_each(|row| drop(row.drain(of_way.clone())));
        let samples = self.columns.iter_mut().filter(|column| column.heading == table::SAMPLES);
        samples.for_each(|column| column.rank = 1);
        self
    }
}

impl Report {
    pub(crate) fn findings_table(&self) -> Table {
        let findings = &self.findings;
        let units = self.units();
        let unit = if let [one] = units.as_slice() { *one } else { "" };
        let number = |finding: &Finding| match finding.figure.as_str() {
            "" => NOTHING.to_owned(),
            figure if unit.is_empty() => format!("{figure} {}", finding.unit),
            figure => figure.to_owned(),
        };
        let (found, beside) = self.headings();
        let mut columns: Vec<Cells<'_, Finding>> = vec![
            Cells::words("", |finding: &Finding| finding.goal.clone()),
            Cells::words(found, |finding: &Finding| finding.way.clone()),
        ];
        if self.run.is_side_by_side() {
            columns.push(Cells::text(ON, 0, |finding: &Finding| finding.target.clone().unwrap_or_default()));
        }
        columns.extend([
            Cells::figure("", unit, 0, number),
            Cells::figure("", table::INTERVAL, 1, |finding: &Finding| finding.interval.clone()),
            Cells::figure("", table::SAMPLES, 0, |finding: &Finding| {
                if finding.samples == 0 { NOTHING.to_owned() } else { finding.samples.to_string() }
            }),
            Cells::words(&beside, |finding: &Finding| finding.compared.clone()),
            Cells::text(table::CASE, 3, |finding: &Finding| finding.case.clone().unwrap_or_default()),
        ]);
        if findings.iter().any(|finding| !matches!(finding.limit.as_str(), "" | NOTHING)) {
            columns.insert(
                columns.len() - 1,
                Cells::figure("of", "limit", 2, |finding: &Finding| finding.limit.clone()),
            );
        }
        Table::with("", findings, columns)
    }

    fn units(&self) -> Vec<&'static str> {
        distinct(self.findings.iter().map(|finding| finding.unit).filter(|unit| !unit.is_empty()), |unit| *unit)
    }

    /// The fastest method of each goal on each target.
    pub(crate) fn targets_table(&self) -> Option<Table> {
        let run = &self.run;
        if !run.is_side_by_side() || self.is_for_each_target() {
            return None;
        }
        let heading = |finding: &Finding| {
            let goal = finding.goal.replace(IN_PAGE_CACHE, "");
            goal.rsplit_once(' ').map_or_else(
                || Column::figure("", &goal, 0),
                |(group, heading)| Column::figure(group, heading, 0),
            )
        };
        let cell = |target: &str, index: usize| {
            let contract = &self.answers[index].contract;
            let of_goal =
                |case: &&CaseReport| case.record.target == target && case.record.contract == *contract;
            let cases = self.cases.iter().filter(of_goal);
            let best = cases.min_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
            match best.and_then(|case| Some((case, case.estimate.as_ref()?))) {
                Some((case, _)) if case.breaks_its_promise => "not durable".to_owned(),
                Some((case, estimate)) => {
                    let (figure, _, quantity) = figure(&case.record, estimate);
                    value_of(estimate, &figure, quantity)
                }
                None => NOTHING.to_owned(),
            }
        };
        let columns = [Column::text("", 0)].into_iter().chain(self.findings.iter().map(heading)).collect();
        let row = |target: &str| {
            let cells = (0..self.answers.len()).map(|index| cell(target, index));
            [target.to_owned()].into_iter().chain(cells).collect()
        };
        let rows = run.targets.iter().map(|target| row(&target.name)).collect();
        Some(Table::from_rows(format!("{} of the fastest method", self.units().join(" or ")), columns, rows))
    }
}
