//! What a machine's noise lets be told, and what to do about it.

use serde::Serialize;
use writebench_model::{Noise, Series, Work};

use crate::numbers::estimate::CONFIDENCE;
use crate::sentences::number::{microseconds, significant_percent};
use crate::tables::{Column, Table};

/// Numbers of samples that are looked at: the default of a run, and many.
const FEW: usize = 6;
const MANY: usize = 30;
/// Differences that people ask about.
const DIFFERENCES: [f64; 3] = [0.1, 0.03, 0.01];

/// What the noise of one kind of work lets be told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkNoise {
    /// The work.
    pub work: Work,
    /// So many values were taken, each of `times` repetitions.
    pub values: usize,
    /// Repetitions in a value.
    pub times: u32,
    /// The median of one repetition; none without a value.
    pub median_ns: Option<f64>,
    /// Half of the values are within that part of the median: half the distance of the quartiles.
    pub spread: Option<f64>,
    /// How far the medians of ten pieces of the time are apart, as a part of the median.
    pub drift: Option<f64>,
    /// The smallest difference that medians of 6 values tell, at 95 %.
    pub difference_with_6: Option<f64>,
    /// And of 30.
    pub difference_with_30: Option<f64>,
    /// Why it could not be done, or not to the end.
    pub failed: Option<String>,
}

/// What a machine's noise lets be told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseReport {
    /// How long it was looked at.
    pub elapsed_ns: u64,
    /// The part of a CPU's time that the hypervisor gave to others meanwhile.
    pub steal: f64,
    /// By kind of work.
    pub works: Vec<WorkNoise>,
    /// What can be told, in words.
    pub verdicts: Vec<String>,
    /// What to do about it.
    pub advice: Vec<String>,
}

impl WorkNoise {
    fn of(series: &Series) -> Self {
        let values: Vec<f64> = series.values_ns.iter().map(|&ns| as_f64(ns)).collect();
        let median = writebench_stats::median(&values).filter(|median| *median > 0.0);
        let medians = |pieces: usize| -> Vec<f64> {
            let each = values.len().div_ceil(pieces).max(1);
            values.chunks(each).filter_map(writebench_stats::median).collect()
        };
        let range = |values: &[f64]| {
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            largest - values.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let enough = values.len() >= 20;
        Self {
            work: series.work,
            values: values.len(),
            times: series.times,
            median_ns: median.map(|median| median / f64::from(series.times.max(1))),
            spread: median.filter(|_| enough).map(|median| quartile_distance(&values) / 2.0 / median),
            drift: median.filter(|_| enough).map(|median| range(&medians(10)) / median),
            difference_with_6: writebench_stats::smallest_difference(&values, FEW, CONFIDENCE),
            difference_with_30: writebench_stats::smallest_difference(&values, MANY, CONFIDENCE),
            failed: series.failed.clone(),
        }
    }

    /// With how many samples that difference can be told; none if not even with many.
    fn samples_for(&self, difference: f64) -> Option<usize> {
        let within = |smallest: Option<f64>| smallest.is_some_and(|smallest| smallest <= difference);
        if within(self.difference_with_6) {
            Some(FEW)
        } else if within(self.difference_with_30) {
            Some(MANY)
        } else {
            None
        }
    }

    fn is_known(&self) -> bool {
        self.difference_with_6.is_some()
    }
}

impl NoiseReport {
    /// Of what was measured; `governor` is the CPU frequency governor, where it is known.
    #[must_use]
    pub fn of(noise: &Noise, governor: Option<&str>) -> Self {
        let works: Vec<WorkNoise> = noise.series.iter().map(WorkNoise::of).collect();
        let steal = as_f64(noise.steal_ns) / as_f64(noise.elapsed_ns.max(1));
        let verdicts = verdicts(&works);
        let advice = advice(noise, &works, steal, governor);
        Self { elapsed_ns: noise.elapsed_ns, steal, works, verdicts, advice }
    }

    /// The table, with a row for each kind of work.
    #[must_use]
    pub fn table(&self) -> Table {
        let percent = |part: Option<f64>| part.map_or_else(|| "–".to_owned(), significant_percent);
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
                it.median_ns.map_or_else(|| "–".to_owned(), microseconds_of),
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
        Table { title, columns, rows: rows.collect(), sentences: Vec::new(), notes, bars: None }
    }
}

/// One for what goes into the page cache, one for what becomes durable.
fn verdicts(works: &[WorkNoise]) -> Vec<String> {
    let groups: [(&str, &[Work]); 2] = [
        ("Writes into the page cache", &[Work::MemoryCopy, Work::SmallWrite]),
        ("Durable writes to this target", &[Work::DurableWrite]),
    ];
    let verdict = |(what, kinds): (&str, &[Work])| {
        let of: Vec<&WorkNoise> = works.iter().filter(|it| kinds.contains(&it.work) && it.is_known()).collect();
        if of.is_empty() {
            return format!("{what}: too few values to say; give it more --seconds.");
        }
        let needed = |difference: f64| {
            let needed = of.iter().map(|it| it.samples_for(difference)).collect::<Option<Vec<usize>>>();
            needed.and_then(|needed| needed.into_iter().max())
        };
        let name = |difference: f64| format!("{:.0} %", difference * 100.0);
        let told = |difference: f64| {
            needed(difference).map(|samples| format!("{} with {samples} samples", name(difference)))
        };
        let told: Vec<String> = DIFFERENCES.iter().filter_map(|&difference| told(difference)).collect();
        match DIFFERENCES.iter().find(|&&difference| needed(difference).is_none()) {
            None => format!("{what}: differences can be told of {}.", told.join(", ")),
            Some(&first) if told.is_empty() => {
                format!("{what}: not even differences of {} can be told with {MANY} samples.", name(first))
            }
            Some(&first) => {
                format!("{what}: differences can be told of {}; {} cannot.", told.join(", "), name(first))
            }
        }
    };
    groups.into_iter().map(verdict).collect()
}

fn advice(noise: &Noise, works: &[WorkNoise], steal: f64, governor: Option<&str>) -> Vec<String> {
    const MUCH_STEAL: f64 = 0.01;
    let known = |it: &&WorkNoise| it.difference_with_6.is_some_and(|six| six > DIFFERENCES[2]);
    let (mut helped, mut drifting) = (Vec::new(), Vec::new());
    for it in works.iter().filter(known) {
        let (Some(six), Some(thirty)) = (it.difference_with_6, it.difference_with_30) else { continue };
        let name = it.work.name().replace('-', " ");
        if thirty <= 0.7 * six { helped.push(name) } else { drifting.push(name) }
    }
    let mut advice = Vec::new();
    if !helped.is_empty() {
        advice.push(format!(
            "More samples help ({}): --samples 30, or --precision 1% to take as many as that needs.",
            helped.join(", ")
        ));
    }
    if !drifting.is_empty() {
        advice.push(format!(
            "Slow drift, against which more samples do little ({}): compare only what one run measured, whose rounds take all cases in turn; or measure at another time, when less goes on here.",
            drifting.join(", ")
        ));
    }
    if steal > MUCH_STEAL {
        advice.push(format!(
            "The hypervisor gave {:.0} % of a CPU's time to others (steal): measure at another time, or on a machine of your own.",
            steal * 100.0
        ));
    }
    if let Some(throttled) = noise.watch.throttled_ns.filter(|&ns| ns > 0) {
        advice.push(format!(
            "The control group's CPU limit held the process up for {} ms: raise cpu.max.",
            throttled / 1_000_000
        ));
    }
    if let Some(count) = noise.watch.thermal_throttles.filter(|&count| count > 0) {
        advice.push(format!("A CPU was slowed down because of heat {count} times: mend the cooling first."));
    }
    if let Some(governor) = governor.filter(|governor| *governor != "performance") {
        advice.push(format!("The CPU frequency governor is '{governor}': 'performance' keeps clocks still."));
    }
    if advice.is_empty() {
        advice.push("Nothing to mend: the default of 6 samples will do.".to_owned());
    }
    advice
}

fn quartile_distance(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |quarter: usize| sorted[(sorted.len() - 1) * quarter / 4];
    at(3) - at(1)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration, to the picosecond")]
fn microseconds_of(nanoseconds: f64) -> String {
    // A clock is read in tens of nanoseconds: their tenths are of interest.
    if nanoseconds < 1000.0 { format!("{:.4}", nanoseconds / 1000.0) } else { microseconds(nanoseconds as u64) }
}

#[expect(clippy::cast_precision_loss, reason = "durations are compared")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Watch;

    fn noise(series: Vec<Series>, steal_ns: u64) -> Noise {
        Noise { elapsed_ns: 10_000_000_000, series, steal_ns, watch: Watch::default() }
    }

    fn series(work: Work, value: impl Fn(u64) -> u64) -> Series {
        Series { work, times: 10, values_ns: (0..1200).map(value).collect(), failed: None }
    }

    /// Scattered by up to that many millionths, without drift.
    fn scattered(ppm: u64) -> impl Fn(u64) -> u64 {
        move |index| 1_000_000 + (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % (2 * ppm)
    }

    #[test]
    fn a_quiet_machine_tells_one_percent_and_needs_nothing() {
        let quiet = Work::ALL.iter().map(|&work| series(work, scattered(1000))).collect();
        let report = NoiseReport::of(&noise(quiet, 0), Some("performance"));
        assert_eq!(
            report.verdicts[0],
            "Writes into the page cache: differences can be told of 10 % with 6 samples, 3 % with 6 samples, 1 % with 6 samples."
        );
        assert_eq!(report.advice, ["Nothing to mend: the default of 6 samples will do."]);
        assert!((report.works[0].median_ns.unwrap() - 100_100.0).abs() < 50.0, "of one repetition");
    }

    #[test]
    fn scatter_asks_for_more_samples_and_drift_for_another_time() {
        let drift = |index: u64| 1_000_000 + index * 100;
        let report = NoiseReport::of(
            &noise(
                vec![
                    series(Work::MemoryCopy, scattered(1000)),
                    series(Work::SmallWrite, scattered(60_000)),
                    series(Work::DurableWrite, drift),
                ],
                0,
            ),
            None,
        );
        assert!(report.verdicts[0].ends_with("; 1 % cannot."), "{report:#?}");
        assert!(report.verdicts[1].ends_with("10 % with 6 samples; 3 % cannot."), "{report:#?}");
        assert!(report.advice[0].starts_with("More samples help (small write):"), "{report:#?}");
        assert!(report.advice[1].contains("(durable write)"), "{report:#?}");
        assert_eq!(report.advice.len(), 2);
    }

    #[test]
    fn what_held_the_machine_up_is_named() {
        let mut noise = noise(vec![series(Work::MemoryCopy, scattered(1000))], 2_000_000_000);
        noise.watch.throttled_ns = Some(5_000_000);
        let advice = NoiseReport::of(&noise, Some("powersave")).advice.join("\n");
        for text in ["20 % of a CPU's time", "for 5 ms", "'powersave'"] {
            assert!(advice.contains(text), "{advice}");
        }
    }

    #[test]
    fn work_that_failed_is_in_the_table_with_its_reason() {
        let mut failed = series(Work::DurableWrite, |_| 1);
        failed.values_ns.truncate(3);
        failed.failed = Some("fdatasync: Input/output error (5)".to_owned());
        let report = NoiseReport::of(&noise(vec![failed], 0), None);
        let table = report.table();
        assert_eq!(table.notes, ["durable write: fdatasync: Input/output error (5)"]);
        assert!(table.rows[0][4..6].iter().all(|cell| cell == "–"), "{table:?}");
        assert!(report.verdicts[1].contains("too few values"), "{report:?}");
    }
}
