//! The differences that a machine's noise allows to detect, by kind of work.

use writebench_stats::as_f64;

use crate::numbers::noise::WorkNoise;
use crate::sentences::noise::NoiseReport;
use crate::sentences::number::{microseconds, significant_percent};
use crate::tables::table::{self, Table, or_nothing};

type Cells<'c> = table::Cells<'c, WorkNoise>;

impl NoiseReport {
    /// The table, with a row for each kind of work.
    pub(crate) fn table(&self) -> Table {
        let name = |it: &WorkNoise| it.work.name().replace('-', " ");
        let columns = vec![
            Cells::text("work", 0, name),
            Cells::figure("median", "µs", 0, |it| or_nothing(it.median_ns, microseconds_of)),
            Cells::figure("half are", "within ±", 1, |it| or_nothing(it.spread, significant_percent)),
            Cells::figure("drift in", "the time", 1, |it| or_nothing(it.drift, significant_percent)),
            Cells::figure("medians of 6", "tell", 0, |it| {
                or_nothing(it.difference_with_6, significant_percent)
            }),
            Cells::figure("of 30", "tell", 0, |it| or_nothing(it.difference_with_30, significant_percent)),
            Cells::figure("values", table::SAMPLES, 2, |it| it.values.to_string()),
        ];
        let failed = |it: &WorkNoise| Some(format!("{}: {}", name(it), it.failed.clone()?));
        let notes = self.works.iter().filter_map(failed).collect();
        let seconds = as_f64(self.elapsed_ns) / 1e9;
        let title = format!("Noise over {seconds:.0} s: the smallest difference that can be told at 95 %");
        Table { notes, ..Table::with(title, &self.works, columns) }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration, to the picosecond")]
fn microseconds_of(nanoseconds: f64) -> String {
    // A clock is read in tens of nanoseconds: their tenths are of interest.
    if nanoseconds < 1000.0 { format!("{:.4}", nanoseconds / 1000.0) } else { microseconds(nanoseconds as u64) }
}
