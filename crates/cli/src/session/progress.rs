//! A bar on stderr, in a terminal only.

use std::io;
use std::thread::Builder;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use writebench_model::{Bytes, Case};

use crate::exit;
use crate::output::Output;

/// How far a run is.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar, or nothing where a bar has no place.
    pub(super) fn new(output: &Output) -> Result<Self> {
        let is_shown = output.shows_progress();
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let progress = Self { bar };
        progress.fit();
        if is_shown {
            progress.tick_steadily()?;
        }
        Ok(progress)
    }

    /// In a thread that ends with the bar. The library's own one panics where none can be started.
    fn tick_steadily(&self) -> Result<()> {
        let bar = self.bar.downgrade();
        let tick = move || {
            while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
                bar.tick();
                drop(bar);
                std::thread::sleep(Duration::from_millis(500));
            }
        };
        let started = Builder::new().spawn(tick);
        started.map_err(|error| exit::no_thread("for the progress bar (--quiet has none)", &error))?;
        Ok(())
    }

    /// A sample of that case begins, after so much was written.
    pub(super) fn started(&self, case: &Case, left: usize, bytes_written: u64) {
        self.fit();
        self.bar.set_length(self.bar.position() + left as u64);
        self.bar.set_message(format!("{} written  {case}", Bytes(bytes_written).approximate()));
    }

    /// It has been taken.
    pub(super) fn taken(&self) {
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
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
