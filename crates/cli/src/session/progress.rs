use std::io;
use std::thread::Builder;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use writebench_model::Case;

use crate::exit;
use crate::output::Output;

/// Hidden unless stderr is a terminal. Ticks in a thread that ends with the bar. The ticker of indicatif panics if no thread
/// can be started.
pub(super) fn bar(output: &Output) -> Result<ProgressBar> {
    if !output.shows_progress() {
        return Ok(ProgressBar::hidden());
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    fit(&bar, false);
    let ticked = bar.downgrade();
    let tick = move || {
        while let Some(bar) = ticked.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            std::thread::sleep(Duration::from_millis(500));
        }
    };
    let started = Builder::new().spawn(tick);
    started.map_err(|error| {
        exit::thread_error("for the progress bar, which --quiet turns off", &error)
    })?;
    Ok(bar)
}

/// `time` is the rest of the budget, for schedules that know only their next round.
pub(super) fn started(bar: &ProgressBar, case: &Case, left: usize, time: Option<Duration>) {
    bar.set_length(bar.position() + left as u64);
    bar.set_prefix(match time.map(|time| time.as_secs()) {
        Some(0) => "nearly done".to_owned(),
        Some(seconds) => format!("at most {seconds}s left"),
        None => String::new(),
    });
    bar.set_message(case.words());
    // Last, because the bar's thread may draw at any time.
    fit(bar, time.is_some());
}

/// Fits the bar into one line of the terminal, whose width may have changed.
fn fit(bar: &ProgressBar, is_timed: bool) {
    const BAR_COLUMNS: u16 = 60;
    let columns =
        terminal_size::terminal_size_of(io::stderr()).map_or(BAR_COLUMNS, |(width, _)| width.0);
    let template = match columns {
        _ if is_timed => "{pos} samples, {prefix}  {wide_msg}",
        BAR_COLUMNS.. => "{bar:16} {pos}/{len} samples, {eta} left  {wide_msg}",
        _ => "{pos}/{len} samples, {eta} left  {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
