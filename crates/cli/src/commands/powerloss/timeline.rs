//! The unsafe power losses as text, each at its place among the system calls of the program.

use writebench_report::formats::folded;
use writebench_report::visible;
use writebench_stats::{distinct, grouped};

use super::findings::{Findings, Unsafe};

/// Unsafe power losses between the same two calls. A loop has many such places.
pub(super) struct Window<'f> {
    found: &'f Findings,
    /// The first one decides which calls are shown.
    cuts: Vec<&'f Unsafe>,
}

/// The calls that are shown before and after a window.
const MOST_BEFORE: usize = 7;
const MOST_AFTER: usize = 2;

impl<'f> Window<'f> {
    /// In the order of their first power losses.
    pub(super) fn all(found: &'f Findings) -> Vec<Self> {
        grouped(&found.unsafe_cuts, |cut| cut.place())
            .into_iter()
            .map(|(_, cuts)| Self { found, cuts })
            .collect()
    }

    /// Lines that are at most so wide, unless a path is longer.
    pub(super) fn text(&self, width: usize) -> String {
        let [before, after] = self.found.around(self.cuts[0]);
        let before = repeats_counted(before);
        let after = repeats_counted(after);
        let first_shown = before.len().saturating_sub(MOST_BEFORE);
        let last_shown = after.len().min(MOST_AFTER);
        let mut lines = Vec::new();
        if first_shown > 0 {
            lines.push("    …".to_owned());
        }
        lines.extend(before[first_shown..].iter().map(|call| call_line(call)));
        lines.push(self.mark());
        lines.extend(after[..last_shown].iter().map(|call| call_line(call)));
        if last_shown < after.len() {
            lines.push("    …".to_owned());
        }
        lines.iter().map(|line| folded(line, width, 6)).collect()
    }

    /// `  > 4 UNSAFE here. Number 50: config is empty`
    fn mark(&self) -> String {
        let first = self.cuts[0];
        let places = distinct(&self.cuts, |cut| (cut.recording, cut.calls_before)).len();
        let places = match places {
            1 => "here".to_owned(),
            places => format!("in {places} such places"),
        };
        format!(
            "  > {} UNSAFE {places}. Number {}: {}",
            self.cuts.len(),
            first.number,
            visible(&first.reason)
        )
    }
}

fn call_line(call: &str) -> String {
    format!("    {}", visible(call))
}

/// `write(log), 5 times`
fn repeats_counted(calls: &[String]) -> Vec<String> {
    let runs = calls.chunk_by(|one, next| one == next);
    let counted = |run: &[String]| match run.len() {
        1 => run[0].clone(),
        times => format!("{}, {times} times", run[0]),
    };
    runs.map(counted).collect()
}
