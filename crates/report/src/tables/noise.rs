//! What a machine's noise lets be told, by kind of work.

use writebench_stats::as_f64;

use crate::numbers::noise::WorkNoise;
use crate::sentences::noise::NoiseReport;
use crate::sentences::number::{microseconds, significant_percent};
use crate::tables::table::{Column, NOTHING, Table};

impl NoiseReport {
    /// The table, with a row for each kind of work.
    pub(crate) fn table(&self) -> Table {
        let percent = |part: Option<f64>| part.map_or_else(|| NOTHING.to_owned(), significant_percent);
        let columns = vec![
            Column::text("work", 0),
            Column::figure("median", "µs", 0),
            Column::figure("half are", "within ±", 1),
            Column::figure("drift in", "the time", 1),
            Column::figure("medians of 6", "tell", 0),
            Column::figure("of 30", "tell", 0),
            Column::figure("values", "n", 2),
        ];
        let rows = self.works.iter().map(|it| {
            vec![
                it.work.name().replace('-', " "),
                it.median_ns.map_or_else(|| NOTHING.to_owned(), microseconds_of),
                percent(it.spread),
                percent(it.drift),
                percent(it.difference_with_6),
                percent(it.difference_with_30),
                it.values.to_string(),
            ]
        });
        let failed =
            |it: &WorkNoise| Some(format!("{}: {}", it.work.name().replace('-', " "), it.failed.clone()?));
        let notes = self.works.iter().filter_map(failed).collect();
        let seconds = as_f64(self.elapsed_ns) / 1e9;
        let title = format!("Noise over {seconds:.0} s: the smallest difference that can be told at 95 %");
        Table { notes, ..Table::of(title, columns, rows.collect()) }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration, to the picosecond")]
fn microseconds_of(nanoseconds: f64) -> String {
    // A clock is read in tens of nanoseconds: their tenths are of interest.
    if nanoseconds < 1000.0 { format!("{:.4}", nanoseconds / 1000.0) } else { microseconds(nanoseconds as u64) }
}
