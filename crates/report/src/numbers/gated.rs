use serde::Serialize;
use writebench_model::{Objective, RunRecord};
use writebench_stats::{Gate, GateVerdict, Interval, distinct, grouped};

use crate::numbers::case::CaseReport;

/// A case of a run with `--fail-if-slower`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gated {
    pub name: String,
    pub baseline: String,
    /// The quotient of the two cases' values, with the interval of their common rounds. It is None with too few of
    /// them.
    pub speed_ratio: Option<Interval>,
    pub verdict: GateVerdict,
}

/// Judges the speed of each case over the first case on its target, the baseline.
pub(crate) fn gated(run: &RunRecord, cases: &[CaseReport]) -> Vec<Gated> {
    let Some(limit_ppm) = run.settings.fail_if_slower_ppm else {
        return Vec::new();
    };
    let different = distinct(cases, |case| (&case.record.target, &case.record.case));
    let targets = grouped(different.iter().copied(), |case| &case.record.target);
    let gate = Gate {
        limit: f64::from(limit_ppm) / 1e6,
        cases: different.len() - targets.len(),
    };
    let mut judged = Vec::new();
    for (_, cases) in targets {
        let baseline = cases[0];
        judged.extend(cases[1..].iter().map(|case| judge(&gate, baseline, case)));
    }
    judged
}

fn judge(gate: &Gate, baseline: &CaseReport, case: &CaseReport) -> Gated {
    let (interval, verdict) = gate.judge(
        &baseline.times(Objective::Time),
        &case.times(Objective::Time),
    );
    let quotient = baseline.time_ns() / case.time_ns();
    // The verdict is that of the interval, which stays as it is.
    let speed_ratio = interval.map(|interval| Interval {
        estimate: quotient.clamp(interval.low, interval.high),
        ..interval
    });
    Gated {
        name: case.name.clone(),
        baseline: baseline.name.clone(),
        speed_ratio,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Outcome, Sample, Settings};
    use writebench_testkit::{example_case, example_run};

    use crate::numbers::cases::cases;

    fn samples(times_ms: &[u64]) -> Vec<Sample> {
        let sample = |(round, &ms): (u32, &u64)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            (sample.phases_ns.write, sample.bytes) = (ms * 1_000_000, 1 << 30);
            sample
        };
        (0..).zip(times_ms).map(sample).collect()
    }

    /// The table beside the sentence has both speeds.
    #[test]
    fn the_ratio_is_that_of_the_speeds_in_the_table() {
        let settings = Settings {
            fail_if_slower_ppm: Some(50_000),
            ..example_run().settings
        };
        let mut run = RunRecord {
            settings,
            ..example_run()
        };
        run.cases = vec![
            example_case(
                "test",
                "write",
                samples(&[100, 140, 100, 190, 100, 150, 110, 240, 105, 160]),
            ),
            example_case(
                "test",
                "pwrite",
                samples(&[130, 150, 190, 170, 120, 260, 180, 230, 110, 210]),
            ),
        ];
        let cases = cases(&mut run);
        let gated = gated(&run, &cases);
        let ratio = gated[0].speed_ratio.expect("ten rounds");
        let speeds: Vec<f64> = cases
            .iter()
            .filter_map(|case| case.estimate.as_ref())
            .map(|estimate| estimate.throughput_bytes_per_s.value)
            .collect();
        assert!(
            (ratio.estimate - speeds[1] / speeds[0]).abs() < 1e-9,
            "{ratio:?} of {speeds:?}"
        );
        assert!(
            ratio.low <= ratio.estimate && ratio.estimate <= ratio.high,
            "{ratio:?}"
        );
    }
}
