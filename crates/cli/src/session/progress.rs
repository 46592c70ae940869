use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;
use writebench_model::Case;

use crate::output::Output;
use crate::progress::{self, Numbers};

const SAMPLES: Numbers = Numbers::Of("samples");

pub(super) fn bar(output: &Output) -> Result<ProgressBar> {
    progress::bar(output, SAMPLES)
}

/// `time` is the rest of the budget, for schedules that know only their next round.
pub(super) fn started(bar: &ProgressBar, case: &Case, left: usize, time: Option<Duration>) {
    bar.set_length(bar.position() + left as u64);
    bar.set_prefix(match time.map(|time| time.as_secs()) {
        Some(0) => "nearly done".to_owned(),
        Some(seconds) => format!("at most {seconds}s left"),
        None => String::new(),
    });
    let numbers = time.map_or(SAMPLES, |_| Numbers::SamplesInTime);
    progress::say(bar, numbers, &case.words());
    // Last, because the bar's thread may draw at any time.
    progress::fit(bar, numbers);
}
