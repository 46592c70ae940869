//! A progress bar on standard error.

use std::fmt::Write;
use std::io;
use std::thread::Builder;
use std::time::Duration;

use anyhow::Result;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::exit;
use crate::output::Output;

/// Hidden unless stderr is a terminal. Ticks in a thread that ends with the bar. The ticker of indicatif panics if no thread
/// can be started.
pub(crate) fn bar(output: &Output, numbers: Numbers) -> Result<ProgressBar> {
    if !output.shows_progress() {
        return Ok(ProgressBar::hidden());
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    fit(&bar, numbers);
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

/// What a bar says before its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// `5/20 samples, 3s left`, with what is counted. There is no time before the first one.
    Of(&'static str),
    /// The number of samples, and in the bar's prefix the time that is left.
    SamplesInTime,
}

/// Fits the bar into one line of the terminal, whose width may have changed.
pub(crate) fn fit(bar: &ProgressBar, numbers: Numbers) {
    const BAR_COLUMNS: u16 = 60;
    let columns =
        terminal_size::terminal_size_of(io::stderr()).map_or(BAR_COLUMNS, |(width, _)| width.0);
    let template = match numbers {
        Numbers::SamplesInTime => "{pos} samples, {prefix}  {wide_msg}".to_owned(),
        Numbers::Of(what) => {
            let graph = if columns >= BAR_COLUMNS {
                "{bar:16} "
            } else {
                ""
            };
            format!("{graph}{{pos}}/{{len}} {what}{{left}}  {{wide_msg}}")
        }
    };
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.with_key("left", write_left));
    }
}

fn write_left(state: &ProgressState, out: &mut dyn Write) {
    // The bar has no place for an error.
    let _ = out.write_str(&left(state.pos(), state.eta()));
}

/// The first step says how long the others take.
fn left(done: u64, rest: Duration) -> String {
    match (done, rest.as_secs()) {
        (0, _) => String::new(),
        (_, 0) => ", nearly done".to_owned(),
        _ => format!(", {:#} left", HumanDuration(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_never_says_that_no_time_is_left() {
        assert_eq!(left(0, Duration::ZERO), "");
        assert_eq!(left(3, Duration::from_secs(12)), ", 12s left");
        assert_eq!(left(8, Duration::from_millis(900)), ", nearly done");
    }
}
