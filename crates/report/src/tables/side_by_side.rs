//! Rows are cases, columns are targets, compared with the first. Ratios and verdicts replace bars.

use writebench_model::{Axis, CaseRecord, Layout, RunRecord};
use writebench_stats::Interval;

use crate::numbers::{
    CaseReport, Estimate, across_targets, distinct, geometric_mean, ratio_in_rounds,
};
use crate::sentences::metric::{self, Metric, THROUGHPUT};
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
        Layout::Records => std::slice::from_ref(Metric::files_or_records(cases)),
        Layout::Phases | Layout::Ranked | Layout::Matrix => {
            std::slice::from_ref(Metric::files_or(cases, &THROUGHPUT))
        }
    };
    let mut tables: Vec<Table> = shown
        .iter()
        .map(|metric| grid.table(&format!("{title}: {}", metric.title), metric))
        .collect();
    if let (Some(table), [first, _, ..]) = (tables.last_mut(), run.targets.as_slice()) {
        table.notes.push(format!(
            "vs. first: times the value of {} (≈ same within 5 %, ? inconclusive, – fewer than 6 rounds)",
            first.name
        ));
    }
    if layout == Layout::CpuTime {
        for metric in shown {
            tables.push(grid.turned(&format!("{title}: {}", metric.title), metric));
        }
    }
    tables
}

/// The cases of a table on all targets.
struct Grid<'r> {
    run: &'r RunRecord,
    /// The columns before those of the targets, which say what case a row has.
    heads: &'static [Head],
    rows: Vec<GridRow<'r>>,
}

/// The heading of a column, and its text for a case.
type Head = (&'static str, fn(&CaseRecord) -> String);

/// The label of a case. Some cases of a search have none.
const LABEL: Head = ("", |record| {
    record
        .label
        .clone()
        .filter(|label| !label.is_empty())
        .unwrap_or_else(|| record.case.to_string())
});
const CHUNK: Head = ("chunk", |record| {
    record.case.value(Axis::Chunk).unwrap_or_default()
});
const CASE: Head = (table::CASE, |record| record.case.to_string());

/// A case on each target.
struct GridRow<'r> {
    /// The case on the first target that has it.
    first: &'r CaseRecord,
    /// The case on each of the run's targets.
    cells: Vec<Option<&'r CaseReport>>,
}

/// A row, with the ratio of each other target to the first.
type Compared<'g> = (&'g GridRow<'g>, Vec<Option<Interval>>);

type Cells<'g> = table::Cells<'g, Compared<'g>>;

impl<'r> Grid<'r> {
    fn from_cases(cases: &[&'r CaseReport], run: &'r RunRecord) -> Self {
        let has_labels = cases.iter().any(|case| case.record.label.is_some());
        let heads: &[Head] = match (only_chunks_differ(cases), has_labels) {
            (true, _) => &[CHUNK],
            (false, true) => &[LABEL, CHUNK],
            (false, false) => &[CASE],
        };
        let on_targets = cases
            .iter()
            .copied()
            .filter(|case| case.target(run).is_some());
        Self {
            run,
            heads,
            rows: across_targets(on_targets)
                .into_iter()
                .map(|cases| GridRow::from_cases(&cases, run))
                .collect(),
        }
    }

    fn table(&self, title: &str, metric: &Metric) -> Table {
        let mut columns: Vec<Cells<'_>> = self
            .heads
            .iter()
            .map(|(heading, text)| Cells::text(heading, 0, move |(row, _)| text(row.first)))
            .collect();
        let has_limits = self.has_limits();
        let mut ratio_columns = Vec::new();
        for (index, target) in self.run.targets.iter().enumerate() {
            columns.extend(value_columns(index, &target.name, metric));
            if has_limits {
                columns.push(estimate_column(index, "of", "limit", 4, |estimate| {
                    limit_cell(Some(estimate))
                }));
            }
            if index > 0 {
                ratio_columns.push(columns.len());
                columns.extend(comparison_columns(index - 1));
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

    fn has_limits(&self) -> bool {
        self.rows
            .iter()
            .flat_map(|row| &row.cells)
            .flatten()
            .any(|case| case.has_limit())
    }

    /// The table with a row per target and a column per case.
    fn turned(&self, title: &str, metric: &Metric) -> Table {
        let mut columns = vec![Column::text("", 0)];
        for row in &self.rows {
            let texts: Vec<String> = self.heads.iter().map(|(_, text)| text(row.first)).collect();
            columns.push(Column::figure("", &texts.join(" "), 0));
        }
        let mut rows = Vec::new();
        for (index, target) in self.run.targets.iter().enumerate() {
            let mut cells = vec![target.name.clone()];
            cells.extend(self.rows.iter().map(|row| row.value(index, metric)));
            rows.push(cells);
        }
        let title = format!("{title} ({}), by target", metric.unit);
        Table::from_rows(title, columns, rows)
    }
}

/// A column with a text for each estimate on a target.
fn estimate_column<'g>(
    target_index: usize,
    group: &str,
    heading: &str,
    rank: u8,
    text: impl Fn(&Estimate) -> String + 'g,
) -> Cells<'g> {
    Cells::figure(group, heading, rank, move |(row, _): &Compared<'_>| {
        or_nothing(row.estimate(target_index), &text)
    })
}

/// The values on a target, and their intervals.
fn value_columns<'g>(target_index: usize, target: &str, metric: &'g Metric) -> [Cells<'g>; 2] {
    [
        estimate_column(target_index, target, metric.unit, 0, |estimate| {
            metric.value(estimate)
        }),
        estimate_column(target_index, "", table::INTERVAL, 3, |estimate| {
            metric.interval(estimate)
        }),
    ]
}

/// The ratios of one of the other targets to the first, and their intervals.
fn comparison_columns<'g>(ratio_index: usize) -> [Cells<'g>; 2] {
    [
        Cells::figure("vs.", "first", 0, move |(_, ratios): &Compared<'_>| {
            or_nothing(ratios[ratio_index], |ratio| {
                verdict_mark(ratio.verdict()).to_owned() + &TIMES.text(ratio.estimate)
            })
        }),
        Cells::figure("", table::INTERVAL, 2, move |(_, ratios): &Compared<'_>| {
            or_nothing(ratios[ratio_index], |ratio| {
                TIMES.between(ratio.low, ratio.high)
            })
        }),
    ]
}

/// A row with the geometric means over rows that have a ratio for every target.
fn means(rows: &[Compared<'_>], ratio_columns: &[usize], width: usize) -> Option<Vec<String>> {
    let complete: Vec<Vec<f64>> = rows
        .iter()
        .filter_map(|(_, ratios)| positive_estimates(ratios))
        .collect();
    if complete.len() < 2 || ratio_columns.is_empty() {
        return None;
    }
    let mut cells = vec![String::new(); width];
    cells[0] = if complete.len() == rows.len() {
        "geometric mean".to_owned()
    } else {
        format!("geometric mean of {}", complete.len())
    };
    for (ratio_index, column) in ratio_columns.iter().enumerate() {
        let ratios: Vec<f64> = complete.iter().map(|row| row[ratio_index]).collect();
        cells[*column] = TIMES.text(geometric_mean(&ratios));
    }
    Some(cells)
}

/// The values of the ratios, if all are there and positive.
fn positive_estimates(ratios: &[Option<Interval>]) -> Option<Vec<f64>> {
    ratios
        .iter()
        .map(|ratio| Some(ratio.as_ref()?.estimate).filter(|&estimate| estimate > 0.0))
        .collect()
}

impl<'r> GridRow<'r> {
    /// The row of the same case on the targets that have it.
    fn from_cases(cases: &[&'r CaseReport], run: &RunRecord) -> Self {
        let cells = run.targets.iter().map(|target| {
            cases
                .iter()
                .copied()
                .find(|case| case.record.target == target.name)
        });
        Self {
            first: &cases[0].record,
            cells: cells.collect(),
        }
    }

    fn estimate(&self, target_index: usize) -> Option<&Estimate> {
        self.cells[target_index]?.estimate.as_ref()
    }

    fn value(&self, target_index: usize, metric: &Metric) -> String {
        or_nothing(self.estimate(target_index), |estimate| {
            metric.value(estimate)
        })
    }

    /// The ratio of each other target to the first.
    fn ratios(&self, metric: &Metric) -> Vec<Option<Interval>> {
        let first = self.cells.first().copied().flatten();
        self.cells
            .iter()
            .skip(1)
            .map(|case| ratio((*case)?, first?, metric))
            .collect()
    }
}

fn only_chunks_differ(cases: &[&CaseReport]) -> bool {
    let on_first_target: Vec<&CaseReport> = cases
        .iter()
        .copied()
        .filter(|case| case.record.target == cases[0].record.target)
        .collect();
    let without_chunks = distinct(&on_first_target, |case| {
        case.record.case.name_without(&[Axis::Chunk])
    });
    on_first_target.len() > 1 && without_chunks.len() == 1
}

/// The ratio of a case to the same case on the first target. It is None from too few rounds, of failed cases, or of
/// disturbed samples only.
fn ratio(case: &CaseReport, first: &CaseReport, metric: &Metric) -> Option<Interval> {
    if !case.is_ranked() || !first.is_ranked() {
        return None;
    }
    let value = (metric.figure)(case.estimate.as_ref()?)?.value;
    let first_value = (metric.figure)(first.estimate.as_ref()?)?.value;
    let ratio = ratio_in_rounds(
        (&case.record, value),
        (&first.record, first_value),
        metric.sample_value,
    )?;
    (ratio.estimate.is_finite() && ratio.is_sure()).then_some(ratio)
}
