use writebench_model::RunRecord;
use writebench_stats::{Gate, GateVerdict, Interval};

use crate::numbers::Gated;
use crate::sentences::{THOUSANDTHS, counted};

/// `5 %` for 50000.
pub fn percent(ppm: u32) -> String {
    format!("{} %", f64::from(ppm) / 1e4)
}

/// The interval of a ratio of speeds: one rounding, outwards, wherever it is printed.
pub fn ratio_interval(ratio: &Interval) -> String {
    THOUSANDTHS.between(ratio.low, ratio.high)
}

/// A line per judged case.
pub(crate) fn verdicts(run: &RunRecord, gated: &[Gated]) -> Vec<String> {
    let limit = percent(run.settings.fail_if_slower_ppm.unwrap_or_default());
    let needed_rounds = Gate::fewest_rounds(gated.len());
    gated
        .iter()
        .map(|gated| sentence(gated, &limit, needed_rounds))
        .collect()
}

fn sentence(gated: &Gated, limit: &str, needed_rounds: usize) -> String {
    let Gated {
        name,
        baseline,
        speed_ratio,
        verdict,
    } = gated;
    let Some(ratio) = speed_ratio else {
        return format!(
            "{name} vs. {baseline}: no verdict, which needs at least {needed_rounds} undisturbed rounds."
        );
    };
    let found = match verdict {
        GateVerdict::Slower => format!("slower by more than {limit}"),
        GateVerdict::Passed => format!("not slower by more than {limit}"),
        GateVerdict::Undecided => format!("undecided whether slower by more than {limit}"),
    };
    let speed = THOUSANDTHS.text(ratio.estimate);
    let interval = ratio_interval(ratio);
    let rounds = counted(ratio.count, "round");
    format!("{name} has {speed} times the speed of {baseline} ({interval}, {rounds}): {found}.")
}
