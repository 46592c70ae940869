//! A progress bar on standard error.

use std::fmt::Write;
use std::io;
use std::thread::Builder;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::style::ProgressTracker;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use writebench_report::counted;
use writebench_report::formats::{display_width, shortened};

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

const BAR_COLUMNS: u16 = 60;
const GRAPH_CELLS: u64 = 16;

/// Fits the bar into one line of the terminal, whose width may have changed.
pub(crate) fn fit(bar: &ProgressBar, numbers: Numbers) {
    let template = match numbers {
        Numbers::SamplesInTime => "{done}, {prefix}  {wide_msg}",
        Numbers::Of(_) if columns() >= BAR_COLUMNS => "{graph}{count}{left}  {wide_msg}",
        Numbers::Of(_) => "{count}{left}  {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        let style = style
            .with_key("graph", write_graph)
            .with_key("done", write_done)
            .with_key("left", write_left);
        bar.set_style(match numbers {
            Numbers::Of(what) => style.with_key("count", Count(what)),
            Numbers::SamplesInTime => style,
        });
    }
}

/// Sets the words beside the numbers. They end with a word, where the bar would end in one.
pub(crate) fn say(bar: &ProgressBar, numbers: Numbers, words: &str) {
    let all = bar.length().unwrap_or(0);
    let longest = match numbers {
        Numbers::SamplesInTime => format!("{}, {}  ", done(bar.position()), bar.prefix()),
        Numbers::Of(what) => format!("{all}/{all} {what}, 59m left  "),
    };
    let graph = if columns() >= BAR_COLUMNS && numbers != Numbers::SamplesInTime {
        usize::try_from(GRAPH_CELLS + 1).unwrap_or(0)
    } else {
        0
    };
    let room = usize::from(columns()).saturating_sub(display_width(&longest) + graph);
    bar.set_message(shortened(words, room));
}

fn columns() -> u16 {
    terminal_size::terminal_size_of(io::stderr()).map_or(BAR_COLUMNS, |(width, _)| width.0)
}

/// `5/20 samples`. Nothing is counted before the first step.
#[derive(Clone)]
struct Count(&'static str);

impl ProgressTracker for Count {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, _: &ProgressState, _: Instant) {}

    fn reset(&mut self, _: &ProgressState, _: Instant) {}

    fn write(&self, state: &ProgressState, out: &mut dyn Write) {
        // The bar has no place for an error.
        let _ = out.write_str(&counts(state.pos(), state.len(), self.0));
    }
}

fn counts(done: u64, all: Option<u64>, what: &str) -> String {
    match all {
        None | Some(0) => "starting".to_owned(),
        Some(all) => format!("{done}/{all} {what}"),
    }
}

fn write_done(state: &ProgressState, out: &mut dyn Write) {
    let _ = out.write_str(&done(state.pos()));
}

/// The number of samples, of which nobody knows how many there will be.
fn done(samples: u64) -> String {
    match samples {
        0 => "first sample".to_owned(),
        samples => counted(usize::try_from(samples).unwrap_or(usize::MAX), "sample"),
    }
}

fn write_graph(state: &ProgressState, out: &mut dyn Write) {
    let _ = out.write_str(&graph(state.pos(), state.len().unwrap_or(0)));
}

/// A bar, and a space after it.
fn graph(done: u64, all: u64) -> String {
    let Some(filled) = (done.min(all) * GRAPH_CELLS).checked_div(all) else {
        return String::new();
    };
    let cells = |count: u64, cell: &str| cell.repeat(usize::try_from(count).unwrap_or(0));
    cells(filled, "█") + &cells(GRAPH_CELLS - filled, "░") + " "
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
    fn nothing_is_counted_before_the_first_step() {
        assert_eq!(counts(0, Some(0), "samples"), "starting");
        assert_eq!(counts(0, Some(12), "samples"), "0/12 samples");
        assert_eq!(
            [done(0), done(1), done(2)],
            ["first sample", "1 sample", "2 samples"]
        );
        assert_eq!(graph(0, 0), "");
        assert_eq!(graph(3, 4), "████████████░░░░ ");
        assert_eq!(graph(9, 4), "████████████████ ");
    }

    #[test]
    fn words_beside_the_numbers_are_whole() {
        let bar = ProgressBar::hidden();
        bar.set_length(20);
        let words = "fallocate(2), then memory copies into mmap(2) in 64 KiB chunks";
        say(&bar, Numbers::Of("samples"), words);
        let said = bar.message();
        let beginning = said.strip_suffix(" …").unwrap_or(&said);
        assert!(
            words.starts_with(beginning) && !beginning.ends_with("(2"),
            "{said}"
        );
        assert!(
            words.len() == beginning.len() || words[beginning.len()..].starts_with(' '),
            "{said}"
        );
    }

    #[test]
    fn a_bar_never_says_that_no_time_is_left() {
        assert_eq!(left(0, Duration::ZERO), "");
        assert_eq!(left(3, Duration::from_secs(12)), ", 12s left");
        assert_eq!(left(8, Duration::from_millis(900)), ", nearly done");
    }
}
