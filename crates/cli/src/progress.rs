//! A bar on stderr, in a terminal only.

use std::io;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Bytes, Case};

use crate::output::Output;

/// How far a run is.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar, or nothing where a bar has no place.
    pub fn new(output: &Output) -> Self {
        let target =
            if output.shows_progress() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let progress = Self { bar };
        progress.fit();
        progress.bar.enable_steady_tick(Duration::from_millis(500));
        progress
    }

    /// A sample of that case begins, after so much was written.
    pub fn started(&self, case: &Case, left: usize, bytes_written: u64) {
        self.fit();
        self.bar.set_length(self.bar.position() + left as u64);
        self.bar.set_message(format!("{} written  {case}", Bytes(bytes_written).approximate()));
    }

    /// It has been taken.
    pub fn taken(&self) {
        self.bar.inc(1);
    }

    /// In one line, however wide the terminal is by now: the message is cut, and the bar has no place in a narrow one.
    fn fit(&self) {
        const BAR_COLUMNS: u16 = 72;
        let columns = terminal_size::terminal_size_of(io::stderr()).map_or(BAR_COLUMNS, |(width, _)| width.0);
        let template = match columns {
            BAR_COLUMNS.. => "{bar:24} {pos}/{len} samples, {eta} left  {wide_msg}",
            _ => "{pos}/{len} samples, {eta} left  {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
