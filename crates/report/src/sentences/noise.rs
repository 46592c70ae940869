//! The differences that a machine's noise allows to detect, with advice.

use serde::Serialize;
use writebench_model::{Noise, Work};
use writebench_stats::as_f64;

use crate::numbers::noise::{MANY, WorkNoise};

/// Differences that people ask about.
const DIFFERENCES: [f64; 3] = [0.1, 0.03, 0.01];

/// The differences that a machine's noise allows to detect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseReport {
    pub elapsed_ns: u64,
    /// The part of a CPU's time that the hypervisor gave to others meanwhile.
    pub steal: f64,
    /// By kind of work.
    pub works: Vec<WorkNoise>,
    /// The detectable differences, in words.
    pub verdicts: Vec<String>,
    /// Advice against the noise.
    pub advice: Vec<String>,
}

impl NoiseReport {
    /// The report on measured noise; `governor` is the CPU frequency governor, where it is known.
    #[must_use]
    pub fn of(noise: &Noise, governor: Option<&str>) -> Self {
        let works: Vec<WorkNoise> = noise.series.iter().map(WorkNoise::of).collect();
        let steal = as_f64(noise.steal_ns) / as_f64(noise.elapsed_ns.max(1));
        let verdicts = verdicts(&works);
        let advice = advice(noise, &works, steal, governor);
        Self { elapsed_ns: noise.elapsed_ns, steal, works, verdicts, advice }
    }
}

/// A verdict on work in the page cache, and one on durable work.
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

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Series, Watch};

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
