//! Rows are cases, columns are targets, compared with the first. Ratios and verdicts replace bars.

use writebench_model::{Axis, CaseRecord, Layout, RunRecord, TargetRecord};
use writebench_stats::Interval;

use crate::numbers::{
    CaseReport, Estimate, across_targets, distinct, geometric_mean, ratio_in_rounds,
};
use crate::sentences::metric::{self, Metric, RECORDS, THROUGHPUT};
use crate::sentences::{TIMES, or_nothing, verdict_mark};
use crate::tables::table::{self, Column, Table, limit_cell};

pub(super) fn tables(
    title: &str,
    layout: Layout,
    cases: &[&CaseReport],
    run: &RunRecord,
) -> Vec<Table> {
    let grid = Grid::from_cases(cases, run);
    let shown: &[Metric] = match layout {
        Layout::CpuTime => &metric::TIMES,
        Layout::Records => std::slice::from_ref(Metric::files_or(cases, &RECORDS)),
        Layout::Phases | Layout::Ranked | Layout::Matrix => {
            std::slice::from_ref(Metric::files_or(cases, &THROUGHPUT))
        }
    };
    let title_of = |metric: &Metric| format!("{title}: {}", metric.title);
    let mut tables: Vec<Table> = shown
        .iter()
        .map(|metric| grid.table(&title_of(metric), metric))
        .collect();
    if let (Some(table), [first, _, ..]) = (tables.last_mut(), run.targets.as_slice()) {
        table.notes.push(format!(
            "vs. first: times the value of {} (≈ same within 5 %, ? inconclusive, – fewer than 6 rounds)",
            first.name
        ));
    }
    if layout == Layout::CpuTime {
        tables.extend(
            shown
                .iter()
                .map(|metric| grid.turned(&title_of(metric), metric)),
        );
    }
    tables
}

struct Grid<'r> {
    run: &'r RunRecord,
    heads: &'static [Head],
    rows: Vec<GridRow<'r>>,
}

type Head = (&'static str, fn(&CaseRecord) -> String);

/// Some cases of a search have none.
const LABEL: Head = ("", |record| {
    record
        .label
        .clone()
        .unwrap_or_else(|| record.case.to_string())
});
const CHUNK: Head = ("chunk", |record| {
    record.case.value(Axis::Chunk).unwrap_or_default()
});
const CASE: Head = (table::CASE, |record| record.case.to_string());

struct GridRow<'r> {
    /// On the first target that has it.
    first: &'r CaseRecord,
    cells: Vec<Option<&'r CaseReport>>,
}

/// With ratios to the first target.
type Compared<'g> = (&'g GridRow<'g>, Vec<Option<Interval>>);

type Cells<'g> = table::Cells<'g, Compared<'g>>;

impl<'r> Grid<'r> {
    fn from_cases(cases: &[&'r CaseReport], run: &'r RunRecord) -> Self {
        let labels = cases.iter().any(|case| case.record.label.is_some());
        let heads: &[Head] = match (only_chunks_differ(cases), labels) {
            (true, _) => &[CHUNK],
            (false, true) => &[LABEL, CHUNK],
            (false, false) => &[CASE],
        };
        let row = |cases: Vec<&'r CaseReport>| {
            let on = |target: &TargetRecord| {
                cases
                    .iter()
                    .copied()
                    .find(|case| case.record.target == target.name)
            };
            GridRow {
                first: &cases[0].record,
                cells: run.targets.iter().map(on).collect(),
            }
        };
        let on_targets = cases
            .iter()
            .copied()
            .filter(|case| case.target(run).is_some());
        Self {
            run,
            heads,
            rows: across_targets(on_targets).into_iter().map(row).collect(),
        }
    }

    fn table(&self, title: &str, metric: &Metric) -> Table {
        let head =
            |(heading, text): &'static Head| Cells::text(heading, 0, |(row, _)| text(row.first));
        let mut columns: Vec<Cells<'_>> = self.heads.iter().map(head).collect();
        let with_limit = self
            .rows
            .iter()
            .any(|row| row.cells.iter().flatten().any(|case| case.has_limit()));
        let mut ratio_columns = Vec::new();
        for (index, target) in self.run.targets.iter().enumerate() {
            let figure =
                |group: &str, heading: &str, rank, text: fn(&Metric, &Estimate) -> String| {
                    Cells::figure(group, heading, rank, move |(row, _): &Compared<'_>| {
                        or_nothing(row.estimate(index), |estimate| text(metric, estimate))
                    })
                };
            columns.push(figure(&target.name, metric.unit, 0, Metric::value));
            columns.push(figure("", table::INTERVAL, 3, Metric::interval));
            if with_limit {
                columns.push(figure("of", "limit", 4, |_, estimate| {
                    limit_cell(Some(estimate))
                }));
            }
            if index > 0 {
                ratio_columns.push(columns.len());
                let ratio = move |ratios: &[Option<Interval>]| ratios[index - 1];
                columns.push(Cells::figure("vs.", "first", 0, move |(_, ratios)| {
                    or_nothing(ratio(ratios), |ratio| {
                        verdict_mark(ratio.verdict()).to_owned() + &TIMES.text(ratio.estimate)
                    })
                }));
                columns.push(Cells::figure("", table::INTERVAL, 2, move |(_, ratios)| {
                    or_nothing(ratio(ratios), |ratio| TIMES.between(ratio.low, ratio.high))
                }));
            }
        }
        if self.heads[0].0 != CASE.0 {
            columns.push(Cells::text(table::CASE, 7, |(row, _)| {
                row.first.case.to_string()
            }));
        }
        let rows: Vec<Compared<'_>> = self
            .rows
            .iter()
            .map(|row| (row, row.ratios(metric)))
            .collect();
        let mut table = Table::with(title, &rows, columns);
        table
            .rows
            .extend(means(&rows, &ratio_columns, table.columns.len()));
        table
    }

    /// A row per target, a column per case.
    fn turned(&self, title: &str, metric: &Metric) -> Table {
        let heading = |row: &GridRow<'_>| {
            let texts: Vec<String> = self.heads.iter().map(|(_, text)| text(row.first)).collect();
            Column::figure("", &texts.join(" "), 0)
        };
        let columns: Vec<Column> = [Column::text("", 0)]
            .into_iter()
            .chain(self.rows.iter().map(heading))
            .collect();
        let measured = self.run.targets.iter().enumerate().map(|(index, target)| {
            let figure = |row: &GridRow<'_>| {
                or_nothing(row.estimate(index), |estimate| metric.value(estimate))
            };
            [target.name.clone()]
                .into_iter()
                .chain(self.rows.iter().map(figure))
                .collect()
        });
        let rows = measured.collect();
        Table::from_rows(
            format!("{title} ({}), by target", metric.unit),
            columns,
            rows,
        )
    }
}

/// Geometric means over rows with a ratio for every target.
fn means(rows: &[Compared<'_>], ratio_columns: &[usize], width: usize) -> Option<Vec<String>> {
    let estimate = |ratio: &Option<Interval>| {
        ratio
            .map(|ratio| ratio.estimate)
            .filter(|&ratio| ratio > 0.0)
    };
    let estimates = |(_, ratios): &Compared<'_>| ratios.iter().map(estimate).collect();
    let whole: Vec<Vec<f64>> = rows.iter().filter_map(estimates).collect();
    if whole.len() < 2 || ratio_columns.is_empty() {
        return None;
    }
    let mut cells = vec![String::new(); width];
    cells[0] = match whole.len() == rows.len() {
        true => "geometric mean".to_owned(),
        false => format!("geometric mean of {}", whole.len()),
    };
    for (target, column) in ratio_columns.iter().enumerate() {
        cells[*column] = TIMES.text(geometric_mean(
            &whole.iter().map(|row| row[target]).collect::<Vec<_>>(),
        ));
    }
    Some(cells)
}

impl GridRow<'_> {
    fn estimate(&self, target: usize) -> Option<&Estimate> {
        self.cells[target]?.estimate.as_ref()
    }

    /// Of each other target to the first.
    fn ratios(&self, metric: &Metric) -> Vec<Option<Interval>> {
        let first = self.cells.first().copied().flatten();
        let ratio = |case: &Option<&CaseReport>| ratio((*case)?, first?, metric);
        self.cells.iter().skip(1).map(ratio).collect()
    }
}

fn only_chunks_differ(cases: &[&CaseReport]) -> bool {
    let on_first = || {
        cases
            .iter()
            .filter(|case| case.record.target == cases[0].record.target)
    };
    let others = distinct(on_first(), |case| {
        case.record.case.name_without(&[Axis::Chunk])
    });
    on_first().count() > 1 && others.len() == 1
}

/// None from too few rounds, of failed cases, or of disturbed samples only.
fn ratio(case: &CaseReport, first: &CaseReport, metric: &Metric) -> Option<Interval> {
    if !case.is_ranked() || !first.is_ranked() {
        return None;
    }
    let value = |case: &CaseReport| Some((metric.figure)(case.estimate.as_ref()?)?.value);
    let ratio = ratio_in_rounds(
        (&case.record, value(case)?),
        (&first.record, value(first)?),
        metric.sample_value,
    )?;
    (ratio.estimate.is_finite() && ratio.is_sure()).then_some(ratio)
}
